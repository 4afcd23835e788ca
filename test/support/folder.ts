import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** Contents by name; a name may have folders. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Writes files into a folder with exactly this mode; only their owner can access them by default. */
export function put(folder: string, files: Files, mode = 0o600): void {
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content);
    chmodSync(file, mode);
  }
}

function filled(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-test-'));
  put(folder, files);
  return folder;
}

const remove = (folder: string) => (): void => {
  rmSync(folder, { recursive: true, force: true });
};

/** A new folder with these files, which is removed after the test. For use in a test or in `beforeEach`. */
export function aFolder(files: Files = {}): string {
  const folder = filled(files);
  onTestFinished(remove(folder));
  return folder;
}

/** A new folder with these files, which is removed after all tests of the file or the `describe`. */
export function aSharedFolder(files: Files = {}): string {
  const folder = filled(files);
  afterAll(remove(folder));
  return folder;
}
