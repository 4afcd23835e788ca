/**
 * A process that writes a journal without end: `node holder.ts FILE`. Prints the number of the newest record after each
 * append that succeeded, and ends with exit 3 and the reasons of two refusals when one fails.
 */
import { writeSync } from 'node:fs';
import { defer } from 'rxjs';
import type { RecordBody } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';

const STDOUT = 1;
const [, , file = ''] = process.argv;
const journal = sqliteJournal(file);
const filler: RecordBody = { kind: 'control', state: 'active', by: 'holder', why: 'x'.repeat(2_000) };

const append = (): boolean => {
  let isStored = false;
  defer(() => toObservable(journal.append([filler, filler], instant(1_800_000_000_000)))).subscribe({
    next: (stored) => {
      isStored = true;
      writeSync(STDOUT, `${stored.at(-1)?.seq}\n`);
    },
    error: (error: unknown) => {
      writeSync(STDOUT, `refused ${String(error)}\n`);
    },
  });
  return isStored;
};

// Between appends the loop lets the kernel deliver signals; a kill may still hit any instruction.
const next = (): void => {
  if (append()) {
    setImmediate(next);
    return;
  }
  append();
  process.exitCode = 3;
};
next();
