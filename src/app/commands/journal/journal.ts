import type { Command } from '@commander-js/extra-typings';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { OperatorError, exitCodes } from '../../../core/errors.ts';
import type { StoredRecord } from '../../../core/record.ts';
import { instant } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import { correctionsIn, exportRecords, readSelection, wholeRecord } from '../../../journal/export.ts';
import type { Corrections, ExportFormat, Selection } from '../../../journal/export.ts';
import type { Journal } from '../../../journal/journal.ts';
import { openJournal } from '../../../journal/open-journal.ts';
import { lineFor } from '../../../journal/format-record.ts';
import { timeOption, wholeNumber } from '../../cli/options.ts';
import type { CliWorld } from '../../cli/options.ts';
import { streams } from './streams.ts';
import type { Given } from '../io.ts';

/** The output of a command: results go to `stdout`, messages for people to `stderr`. */
export interface Out {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** The argument that names a journal. */
export const JOURNAL = [
  '<journal>',
  'journal: a file, or a location such as sqlite:./var/journal.db',
] as const;

/** Returns the location of the journal that an argument names: a location, or a SQLite file. */
export const urlOf = (text: string): string => (/^[a-z]+:/u.test(text) ? text : `sqlite:${text}`);

/** Adds `tranche journal show`. */
export function addShow(journal: Command, { done }: CliWorld): void {
  journal
    .command('show')
    .description('print records, one per line')
    .argument(...JOURNAL)
    .option('--kind <kind>', 'only records of this kind, such as fills or wakes')
    .option('--strategy <id>', 'only records of this strategy')
    .option('--since <time>', 'only records since this time, such as 2026-12-01T09:00:00Z', timeOption)
    .option('--record <numbers>', 'only the records with these numbers, such as 3,5-9')
    .option('--about <text>', 'only records that contain this text, such as the id of an order or a request')
    .option('--limit <n>', 'only the newest n records', wholeNumber(9))
    .option('--json', 'print one JSON object per record')
    .action(async (file, options) => {
      const since = options.since === undefined ? undefined : instant(options.since);
      done(await journalShow(urlOf(file), { ...options, since }, streams()));
    });
}

type ShowOptions = Given<'kind' | 'strategy' | 'record' | 'about', 'json', 'limit'> & {
  readonly since?: Instant | undefined;
};

/** Prints records, oldest first, one per line. Returns the exit code: 0, 64 usage, 65 damage, 74 storage, 78 config. */
export async function journalShow(url: string, options: ShowOptions, out: Out): Promise<number> {
  return await answer(url, out, () => {
    const selection = readSelection(options.kind ?? 'all');
    const isNamed = readNumbers(options.record);
    return async (journal) => {
      const named = Iterator.from(journal.read()).filter(({ seq }) => isNamed(seq));
      const chosen = newest(choose(named, selection, options), options.limit);
      const lineOf = options.json === true ? wholeRecord : (record: StoredRecord) => `${lineFor(record)}\n`;
      let shown = 0;
      for (const record of chosen) {
        await write(out.stdout, lineOf(record));
        shown += 1;
      }
      if (shown === 0) out.stderr.write('no matching records\n');
      return 0;
    };
  });
}

export interface ExportOptions {
  readonly format: ExportFormat;
  /** `fills`, another kind, or `all` (jsonl only). */
  readonly kind: string;
}

/**
 * Writes records for other programs. From a damaged journal, it writes the rows before the damaged record. Exit codes
 * as in `journalShow`.
 */
export async function journalExport(url: string, { format, kind }: ExportOptions, out: Out): Promise<number> {
  return await answer(url, out, () => {
    const selection = readSelection(kind);
    return async (journal) => {
      const corrections = selection === 'fill' ? correctionsOf(journal) : undefined;
      const rows = exportRecords(journal.read(), { format, kind: selection, corrections });
      for (const row of rows) await write(out.stdout, row);
      return 0;
    };
  });
}

/** Returns the corrections of fills. The export itself reports damage, after the rows before it. */
function correctionsOf(journal: Journal): Corrections {
  try {
    return correctionsIn(journal.select({ kinds: ['correction'], order: 'oldest' }));
  } catch (error) {
    if (error instanceof OperatorError) return new Map();
    throw error;
  }
}

/**
 * Parses the options with `prepare`, then runs the command on the journal, opened for reading. It reports a mistyped option even when
 * the journal cannot be opened. Turns an `OperatorError` into a message and an exit code.
 */
export async function answer(
  url: string,
  { stderr }: Out,
  prepare: () => (journal: Journal) => Promise<number>,
): Promise<number> {
  try {
    const command = prepare();
    const journal = openJournal(url, { readOnly: true });
    try {
      return await command(journal);
    } finally {
      journal.close();
    }
  } catch (error) {
    if (error instanceof ReaderGone) return 0;
    if (!(error instanceof OperatorError)) throw error;
    await write(stderr, `${error.message}\n`);
    return exitCodes[error.exit];
  }
}

function choose(
  records: Iterable<StoredRecord>,
  selection: Selection,
  { strategy, since, about }: ShowOptions,
): IteratorObject<StoredRecord> {
  return Iterator.from(records)
    .filter(({ body }) => selection === 'all' || body.kind === selection)
    .filter(({ body }) => strategy === undefined || ('strategy' in body && body.strategy === strategy))
    .filter(({ at }) => since === undefined || at >= since)
    .filter(({ body }) => about === undefined || JSON.stringify(body).includes(about));
}

/** Reads `3,5-9`. @throws OperatorError `usage` for anything else. */
function readNumbers(text: string | undefined): (seq: number) => boolean {
  if (text === undefined) return () => true;
  const ranges = text.split(',').map((part) => {
    const [, first = '', last = first] = /^\s*(\d{1,15})(?:-(\d{1,15}))?\s*$/u.exec(part) ?? [];
    if (first === '')
      throw new OperatorError('usage', `--record: expected numbers of records such as 3,5-9, got "${text}"`);
    return [Number(first), Number(last)] as const;
  });
  return (seq) => ranges.some(([first, last]) => seq >= first && seq <= last);
}

/** Returns the last `limit` records in their order. Never keeps more than twice as many. */
function newest(records: Iterable<StoredRecord>, limit: number | undefined): Iterable<StoredRecord> {
  if (limit === undefined) return records;
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new OperatorError('usage', '--limit: expected a whole number above 0');
  let kept: StoredRecord[] = [];
  for (const record of records) {
    kept.push(record);
    if (kept.length >= 2 * limit) kept = kept.slice(-limit);
  }
  return kept.slice(-limit);
}

/** The reader has closed the output (`| head`). This is not an error, and nothing remains to be done. */
class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

export async function write(stream: Writable, text: string): Promise<void> {
  if (stream.destroyed) throw new ReaderGone();
  if (stream.write(text)) return;
  const settled = new AbortController();
  const waits = ['drain', 'close'].map(
    async (event): Promise<unknown> => await once(stream, event, { signal: settled.signal }),
  );
  try {
    await Promise.race(waits);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE')
      throw new ReaderGone('', { cause: error });
    throw error;
  } finally {
    settled.abort();
    await Promise.allSettled(waits);
  }
}
