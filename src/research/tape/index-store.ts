import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './folder.ts';
import { indexBytes, readIndex } from './index-file.ts';
import { indexPrices } from './index.ts';
import type { Closes, PriceIndex } from './index.ts';
import { DATA_BYTES_MAX, readRegularFile } from '../../files/regular-file.ts';
import { changeableByOthers } from '../../files/rights.ts';

/**
 * Smallest number of rows for which the index is stored, because building a smaller index is faster than finding and
 * checking a file.
 */
export const KEPT_ROWS_MIN = 100_000;

/**
 * Returns the index of a tape, from the folder of tapes if it is stored there; otherwise builds and stores it. A
 * damaged file is replaced. If the folder is not writable, the index is built again each time, with the same result.
 */
export function indexThrough(folder: string, tape: Closes, rowsMin = KEPT_ROWS_MIN): PriceIndex {
  if (tape.rows < rowsMin || changeableByOthers(folder) !== undefined) return indexPrices(tape);
  const file = join(folder, `${tape.hash.slice(0, 32)}-${tape.barMs}.index`);
  const kept = readKept(file, tape);
  if (kept !== undefined) return kept;
  const index = indexPrices(tape);
  keep(file, folder, indexBytes(index));
  return index;
}

function readKept(file: string, tape: Closes): PriceIndex | undefined {
  try {
    return readIndex(readRegularFile(file, { maxBytes: DATA_BYTES_MAX }), tape);
  } catch {
    return undefined; // usually, there is no file
  }
}

/** Writes the file completely or not at all, because another process may read it meanwhile. */
function keep(file: string, folder: string, bytes: Uint8Array): void {
  try {
    makeFolder(folder);
    const aside = mkdtempSync(`${file}.new-`);
    try {
      writeFileSync(join(aside, 'index'), bytes);
      renameSync(join(aside, 'index'), file);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  } catch {
    // Without the file, the next call builds the index again.
  }
}
