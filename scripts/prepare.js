// Builds the dashboard and writes the schemas for editors, with the Node of the project. Runs after `npm ci`, in plain
// JavaScript because the running Node may be old.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const modules = new URL('../node_modules/', import.meta.url);
const own = [new URL('.bin/node', modules), new URL('.bin/node.exe', modules)].find((path) =>
  existsSync(path),
);
const isNew = Number(process.versions.node.split('.')[0]) >= 26;

if (!existsSync(new URL('vite/package.json', modules))) {
  console.log(
    'The dashboard and the schemas are not built: the build tools are missing (npm ci without --omit=dev brings them).',
  );
} else if (!isNew && own === undefined) {
  console.log(
    'The dashboard and the schemas are not built: that needs Node.js 26 (npm ci without --omit=optional brings it).',
  );
} else {
  const node = isNew || own === undefined ? process.execPath : fileURLToPath(own);
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const steps = [['scripts/build-dashboard.ts'], ['bin/tranche.js', 'schema', '--write', 'config/schema']];
  const failed = steps.find((step) => spawnSync(node, step, { cwd, stdio: 'inherit' }).status !== 0);
  process.exitCode = failed === undefined ? 0 : 1;
}
