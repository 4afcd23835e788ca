import { existsSync } from 'node:fs';
import { OperatorError } from '../core/errors.ts';
import type { Journal } from './journal.ts';
import { placeOfJournal } from './journal-place.ts';
import { journalExists, openJournal } from './open-journal.ts';
import { copyIntoPostgres } from './postgres/copy-into-postgres.ts';
import { isPostgres } from './postgres/postgres-url.ts';
import { retirePostgres } from './postgres/retire-postgres.ts';
import { damage } from './proof/chain.ts';
import type { Head } from './proof/chain.ts';
import { saveJournal } from './save-journal.ts';
import { haltFile, haltFileOf } from './sidecar/halt-file.ts';
import { journalFileOf } from './sqlite/files.ts';

/** Result of the copy, after both journals were read again. */
export interface Copied {
  readonly head: Head;
  /** Files beside the source that the desk also needs. */
  readonly filesToMove: readonly string[];
}

/**
 * Suffixes of files that contain the desk's identity. The desk creates all other files again, even the halt file, because
 * the journal records a halt too.
 */
const MOVED = ['.key'];

/**
 * Copies the records of a journal that no process writes, byte for byte, then verifies both chains and compares their
 * heads. The source then refuses to run, because a desk on each of them would trade twice. An interrupted copy into
 * PostgreSQL resumes where it stopped.
 *
 * @throws OperatorError `storage`: there is no source. `usage`: the target contains another journal. `again`: a process uses one of them.
 * `data`: a chain is broken.
 */
export async function copyJournal(from: string, to: string, by: string): Promise<Copied> {
  if (from === to) throw new OperatorError('usage', 'source and target are the same journal');
  for (const url of [from, to])
    if (url === 'memory:') throw new OperatorError('usage', 'a journal in memory cannot be copied');
  if (!journalExists(from))
    throw new OperatorError('storage', `there is no journal ${shownUrl(from)}: check the name`);
  const source = openJournal(from); // opened as its writer, so that nobody adds records in the meantime
  try {
    if (isPostgres(to)) await copyIntoPostgres(to, source);
    else saveJournal(source, journalFileOf(to) ?? to);
    const head = source.head();
    const copied = verifiedHead(to);
    if (copied.seq !== head.seq || copied.hash !== head.hash)
      throw new OperatorError('data', `the copy ends with record ${copied.seq}, the source with ${head.seq}`);
  } finally {
    source.close();
  }
  const filesToMove = filesBeside(from);
  retire(from, to, by);
  return { head: verifiedHead(from), filesToMove };
}

/** Verifies the chain of a journal from its first record. */
function verifiedHead(url: string): Head {
  const journal: Journal = openJournal(url, { readOnly: true });
  try {
    const verdict = journal.verify();
    if (!verdict.ok) throw damage(url, verdict.seq, verdict.why);
    return { seq: verdict.count, hash: verdict.head };
  } finally {
    journal.close();
  }
}

const filesBeside = (url: string): readonly string[] => {
  const place = placeOfJournal(url) ?? '';
  return MOVED.map((suffix) => `${place}${suffix}`).filter((file) => existsSync(file));
};

/** Makes every start on the old journal fail with the reason. */
function retire(from: string, to: string, by: string): void {
  const why = `this journal was copied: the desk runs on ${shownUrl(to)}`;
  if (isPostgres(from)) {
    retirePostgres(from, why);
    return;
  }
  const file = haltFileOf(from);
  if (file !== undefined) haltFile(file).set({ level: 'halt', by, why });
}

const shownUrl = (url: string): string => url.replace(/\?.*$/u, '');
