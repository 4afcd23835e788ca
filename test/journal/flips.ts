import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { OperatorError } from '../../src/core/errors.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aFill, appendNow } from './records.ts';
import { aFile } from '../support/sqlite.ts';

/** A journal of fifty records: closed normally, or as a crash leaves it, with its log not written back. */
export function aJournalOfFifty(state: 'closed' | 'dead'): string {
  const file = aFile();
  const journal = sqliteJournal(file);
  for (let n = 0; n < 10; n++)
    appendNow(
      journal,
      Array.from({ length: 5 }, (_, i) => aFill({ slice: 5 * n + i, order_id: `o-${n}-${i}` })),
    );
  const dead = `${file}.dead`;
  for (const end of ['', '-wal']) copyFileSync(file + end, dead + end);
  journal.close();
  return state === 'closed' ? file : dead;
}

/** The result of reading a changed journal: `refused`, or all of its lines. */
function reading(file: string): string {
  try {
    const journal = sqliteJournal(file, { readOnly: true });
    try {
      const verdict = journal.verify();
      return verdict.ok ? JSON.stringify([...journal.lines()]) : 'refused';
    } finally {
      journal.close();
    }
  } catch (error) {
    if (error instanceof OperatorError && (error.exit === 'data' || error.exit === 'storage'))
      return 'refused';
    throw error;
  }
}

/** Bits whose flip changed the content without being noticed: must be empty. Flips each of `bits`, or one in so many. */
export function flip(
  file: string,
  part: '' | '-wal',
  bits: number | readonly number[],
): { readonly accepted: readonly string[]; readonly refused: number; readonly tried: number } {
  const path = file + part;
  const target = aFile();
  const wal = `${file}-wal`;
  const intact = readFileSync(path);
  const before = reading(file);
  const other = part === '' ? '-wal' : '';
  const accepted: string[] = [];
  let refused = 0;
  let tried = 0;
  const lastTransaction = part === '-wal' ? startOfLast(intact) : Number.POSITIVE_INFINITY;
  const all = 8 * Math.min(intact.length, lastTransaction);
  const chosen =
    typeof bits === 'number' ? Array.from({ length: Math.ceil(all / bits) }, (_, i) => i * bits) : bits;
  for (const bit of chosen.filter((one) => one < all)) {
    const at = bit >> 3;
    const flipped = Buffer.from(intact);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(target + part, flipped);
    if (other === '' || existsSync(wal)) copyFileSync(file + other, target + other);
    const after = reading(target);
    tried++;
    if (after === 'refused') refused++;
    else if (after !== before) accepted.push(`bit ${bit} of ${path}`);
  }
  return { accepted, refused, tried };
}

/**
 * Where the last transaction of a log begins. Damage in it cannot be told from a write that a crash cut off: it is what the
 * account of the venue is compared with at start.
 */
function startOfLast(log: Buffer): number {
  const frame = 24 + log.readUInt32BE(8);
  const commits = Array.from(
    { length: Math.floor((log.length - 32) / frame) },
    (_, i) => 32 + i * frame,
  ).filter((at) => log.readUInt32BE(at + 4) !== 0);
  return (commits.at(-2) ?? 32) + frame;
}

export const bitsOf = (file: string, part: '' | '-wal'): number => 8 * statSync(file + part).size;
