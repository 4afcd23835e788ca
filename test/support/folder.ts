import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder, which is removed after the test. For use in a test or in `beforeEach`. */
export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-test-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
