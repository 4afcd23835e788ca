// Builds the dashboard with the Node of the project. Runs after `npm ci`, in plain JavaScript because the running Node may be old.
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
    'The dashboard is not built: its build tools are missing (npm ci without --omit=dev brings them).',
  );
} else if (!isNew && own === undefined) {
  console.log(
    'The dashboard is not built: that needs Node.js 26 (npm ci without --omit=optional brings it).',
  );
} else {
  const node = isNew || own === undefined ? process.execPath : fileURLToPath(own);
  const { status } = spawnSync(node, [fileURLToPath(new URL('build-dashboard.ts', import.meta.url))], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
