import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './folder.ts';
import { indexBytes, readIndex } from './index-file.ts';
import { indexPrices } from './index.ts';
import type { Closes, PriceIndex } from './index.ts';
import { DATA_BYTES_MAX, readRegularFile } from '../../files/regular-file.ts';
import { changeableByOthers } from '../../files/rights.ts';

/** An index of fewer rows is built faster than a file is looked for and checked. */
export const KEPT_ROWS_MIN = 100_000;

/**
 * The index of a tape, out of the folder of tapes where it was kept there before; else it is built, and kept. A file that is
 * damaged is replaced, and a folder that cannot be written to costs the time to build it again: the answer is the same.
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
    return undefined; // no file is the usual case
  }
}

/** Whole or not at all: another process may read it in the meantime. */
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
    // What cannot be kept is built again the next time.
  }
}
