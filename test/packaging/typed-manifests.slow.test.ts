import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isThere, modules, readManifest, why } from './manifests.ts';

const FOLDER = 'packaging/kubernetes';
const FLAGS = [
  '--noEmit',
  '--strict',
  '--skipLibCheck',
  '--module',
  'nodenext',
  '--types',
  '',
  '--ignoreConfig',
];

it('the Kubernetes manifests contain only fields that the Kubernetes types define', (ctx) => {
  if (!isThere) return ctx.skip(why);
  // A folder inside the project, so that the compiler finds the modules.
  const folder = mkdtempSync(join(import.meta.dirname, 'typed-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const { resources } = readManifest(FOLDER, 'kustomization.yaml') as {
    readonly resources: readonly string[];
  };
  // As literals of their types: unlike the schemas, the compiler rejects unknown fields.
  const code = resources.map((file, at) => {
    const manifest = readManifest(FOLDER, file) as { readonly kind: keyof typeof modules };
    const from = `kubernetes-models/${modules[manifest.kind]}`;
    return `import type { I${manifest.kind} as T${at} } from '${from}';\nexport const manifest${at}: T${at} = ${JSON.stringify(manifest)};\n`;
  });
  writeFileSync(join(folder, 'manifests.ts'), code.join(''));
  const { stdout } = spawnSync('node_modules/.bin/tsc', [...FLAGS, join(folder, 'manifests.ts')], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
});
