import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';

const FOLDERS = ['packaging/kubernetes'];
const types = {
  Deployment: 'kubernetes-models/apps/v1/Deployment',
  PodDisruptionBudget: 'kubernetes-models/policy/v1/PodDisruptionBudget',
  Namespace: 'kubernetes-models/v1/Namespace',
  ServiceAccount: 'kubernetes-models/v1/ServiceAccount',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
} as const;

const isThere = existsSync('node_modules/kubernetes-models');
const why = 'kubernetes-models is not installed: run npm ci';

/** Returns the compiler output for the manifests as literals of their types: unlike the schemas, it rejects unknown fields. */
function compilerOf(): string {
  // A folder inside the project, so that the compiler finds the modules.
  const folder = mkdtempSync(join(import.meta.dirname, 'typed-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const files = FOLDERS.flatMap((from) => {
    const { resources } = parse(readFileSync(join(from, 'kustomization.yaml'), 'utf8')) as {
      readonly resources: readonly string[];
    };
    return resources.map((file) => join(from, file));
  });
  const code = files.map((file, at) => {
    const manifest = parse(readFileSync(file, 'utf8'), { merge: true }) as {
      readonly kind: keyof typeof types;
    };
    const { kind } = manifest;
    return `import type { I${kind} as T${at} } from '${types[kind]}';\nexport const manifest${at}: T${at} = ${JSON.stringify(manifest)};\n`;
  });
  writeFileSync(join(folder, 'manifests.ts'), code.join(''));
  const { stdout } = spawnSync(
    'node_modules/.bin/tsc',
    [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--types',
      '',
      '--ignoreConfig',
      join(folder, 'manifests.ts'),
    ],
    { encoding: 'utf8' },
  );
  return stdout;
}

describe('the Kubernetes manifests', () => {
  it('contain only fields that the Kubernetes types define', (ctx) => {
    if (!isThere) return ctx.skip(why);
    expect(compilerOf()).toBe('');
  });
});
