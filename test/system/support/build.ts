import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** `bin/tranche.js` of the built program. */
    program?: string;
  }
}

const ROOT = join(import.meta.dirname, '../../..');

/**
 * Builds the program into a few files for the tests that start hundreds of processes: loading its modules one by one takes a third of
 * the processor time of a start. Worker threads and data files are those of the checkout.
 */
export async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-built-'));
  // Some tests start it as another user.
  chmodSync(folder, 0o755);
  const built = await rolldown({
    input: { main: join(ROOT, 'src/main.ts') },
    platform: 'node',
    plugins: [
      {
        name: 'places',
        transform: (code, id) => ({
          code: code
            .replaceAll(/\bimport\.meta\.url\b/gu, JSON.stringify(pathToFileURL(id).href))
            .replaceAll(/\bimport\.meta\.dirname\b/gu, JSON.stringify(dirname(id))),
          map: null,
        }),
      },
    ],
  });
  await built.write({ dir: join(folder, 'dist'), entryFileNames: '[name].js' });
  await built.close();
  for (const part of ['bin', 'package.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  project.provide('program', join(folder, 'bin/tranche.js'));
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
