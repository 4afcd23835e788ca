import { join, resolve } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import type { StoredRecord } from '../../core/record.ts';
import { SECOND_MS, instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { wholeRecord } from '../../journal/export.ts';
import { lineFor } from '../../journal/format-record.ts';
import type { Journal } from '../../journal/journal.ts';
import { ApprovalsProof } from '../../journal/proof/approvals-proof.ts';
import type { Checked } from '../../report/best-execution/oversight-json.ts';
import { packOf } from '../../report/best-execution/pack.ts';
import type { Pack, PackInput, PeriodSpan } from '../../report/best-execution/pack.ts';
import type { RecordLinks } from '../../report/best-execution/record-links.ts';
import { namedZone, readSince, zoned } from '../cli/local-time.ts';
import { shownPath } from '../config/files.ts';
import { packLines } from '../research/pack-text.ts';
import { refuseToReplace, writePrivate } from '../research/report-files.ts';
import { version } from '../version.ts';
import type { CommandIo } from './io.ts';
import { currenciesOf, refuseUnknown } from './journal/journal-names.ts';
import { openNamed, readTapes } from './journal/journal-read.ts';
import type { JournalOptions } from './journal/journal-read.ts';
import { recordRows, recordsAt } from './journal/record-rows.ts';

export interface BestExecutionOptions extends JournalOptions {
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  readonly per: 'month' | 'window';
  /** Time zone of days and months. */
  readonly zone: string;
  readonly strategy?: string | undefined;
  /** Prices of pairs, each as `btcusd=FILE`. */
  readonly data?: readonly string[] | undefined;
  readonly cache?: string | undefined;
  /** Folder for the files of the pack. */
  readonly out?: string | undefined;
  readonly overwrite?: boolean | undefined;
  /** Figure whose records the command prints instead of the pack. */
  readonly list?: string | undefined;
  /** Field of the JSON to print instead of all fields. */
  readonly part?: string | undefined;
}

/** The files of a pack. Scripts rely on the names. */
const PACK_FILES = ['best-execution.html', 'best-execution.json'] as const;

/**
 * Makes the best execution pack of a journal, using only the journal and the prices of `data`. The desk may be running, and the command
 * writes nothing to the journal. Exit codes as of `tranche report`.
 */
export async function bestExecution(options: BestExecutionOptions, io: CommandIo): Promise<number> {
  const zone = namedZone(options.zone);
  const window = readWindow(options, { zone, now: io.now });
  const folder = options.out === undefined ? undefined : resolve(io.cwd, options.out);
  if (folder !== undefined) refuseToReplace(folder, options, PACK_FILES);
  const prices = await readTapes(options, io);
  const { journal } = openNamed(options, io);
  try {
    const periods = periodsOf(windowOf(journal, window), { per: options.per, zone });
    const ids = new Set<string>();
    const approvals = new CheckedApprovals();
    const input: PackInput = {
      version,
      prices,
      strategy: options.strategy,
      currencies: currenciesOf,
      periods,
      checked: () => approvals.found,
    };
    const { pack: figures, links } = packOf(approvals.over(noting(journal.read(), ids)), input);
    refuseUnknown(options.strategy, ids);
    if (options.list !== undefined)
      return printListed(options.list, { links, journal, json: options.json }, io);
    const rows = recordRows(journal, links.named);
    const records = rows.map(({ seq, at, kind, hash }) => ({ seq, at, kind, hash }));
    const pack: Pack = { ...figures, records };
    if (folder !== undefined) {
      const { packHtml } = await import('../../report/html/best-execution.ts');
      const words = new Map(rows.map((row) => [row.seq, row.words]));
      await writePrivate(join(folder, 'best-execution.html'), packHtml(pack, { words }));
      await writePrivate(join(folder, 'best-execution.json'), textOf(pack));
    }
    if (options.part !== undefined) io.stdout.write(textOf(partOf(pack, options.part)));
    else if (options.json === true) io.stdout.write(textOf(pack));
    else for (const line of packLines(pack)) io.stderr.write(`${forTerminal(line)}\n`);
    if (folder !== undefined)
      io.stderr.write(`written to ${forTerminal(shownPath(folder, io.cwd))}: ${PACK_FILES.join(', ')}\n`);
    return 0;
  } finally {
    journal.close();
  }
}

const textOf = (value: unknown): string => `${escapeMarks(JSON.stringify(value, undefined, 2))}\n`;

/** Returns one part of a pack. @throws OperatorError `usage` for a part that a pack does not have. */
function partOf(pack: Pack, name: string): unknown {
  const part = Object.entries(pack).find(([key]) => key === name);
  if (part !== undefined) return part[1];
  throw new OperatorError('usage', `--part: expected one of ${Object.keys(pack).join(', ')}, got "${name}"`);
}

interface Window {
  readonly from: Instant | undefined;
  readonly until: Instant | undefined;
}

function readWindow(
  { from, until }: BestExecutionOptions,
  { zone, now }: { readonly zone: string; readonly now: Instant },
): Window {
  const timeOf = (text: string | undefined, option: string): Instant | undefined =>
    text === undefined ? undefined : readSince(text, { option, now, zone });
  const window = { from: timeOf(from, '--from'), until: timeOf(until, '--until') };
  if (window.from !== undefined && window.until !== undefined && window.until <= window.from)
    throw new OperatorError('usage', '--until must be after --from');
  return window;
}

/**
 * Returns the window; where the options name no bound, the first or last record is the bound. @throws OperatorError for
 * an empty journal or window.
 */
function windowOf(
  journal: Journal,
  { from, until }: Window,
): { readonly from: Instant; readonly until: Instant } {
  const [first, last] = (['oldest', 'newest'] as const).map((order) => {
    for (const { at } of journal.select({ order })) return at;
    return undefined;
  });
  if (first === undefined || last === undefined)
    throw new OperatorError('data', 'the journal has no records');
  const window = {
    from: from ?? first,
    until: until ?? instant(Math.floor(last / SECOND_MS + 1) * SECOND_MS),
  };
  if (window.until <= window.from)
    throw new OperatorError(
      'usage',
      `no records between ${isoOf(window.from)} and ${isoOf(window.until)}: the records of the journal are from ${isoOf(first)} to ${isoOf(last)}`,
    );
  return window;
}

/** Ten years, in months, so that the command detects a mistyped year. */
const PERIODS_MAX = 120;

function periodsOf(
  { from, until }: { readonly from: Instant; readonly until: Instant },
  { per, zone }: { readonly per: 'month' | 'window'; readonly zone: string },
): readonly PeriodSpan[] {
  if (per === 'window') return [{ name: 'window', from, until }];
  const periods: PeriodSpan[] = [];
  let start = from;
  while (start < until) {
    const month = zoned(start, zone).toPlainDate().toPlainYearMonth();
    const next = month.add({ months: 1 }).toPlainDate({ day: 1 }).toZonedDateTime(zone);
    const end = instant(Math.min(next.epochMilliseconds, until));
    periods.push({ name: month.toString(), from: start, until: end });
    if (periods.length > PERIODS_MAX)
      throw new OperatorError(
        'usage',
        `more than ${PERIODS_MAX} months: name a shorter window, or --per window`,
      );
    start = end;
  }
  return periods;
}

/** Yields the same records, and adds the ids of their strategies to `ids`. */
function* noting(records: Iterable<StoredRecord>, ids: Set<string>): Generator<StoredRecord> {
  for (const record of records) {
    if (record.body.kind === 'strategy') ids.add(record.body.strategy);
    yield record;
  }
}

/** Checks the approvals in the records that it passes on. */
class CheckedApprovals {
  readonly #proof = new ApprovalsProof();
  readonly #times = new Map<number, Instant>();

  *over(records: Iterable<StoredRecord>): Generator<StoredRecord> {
    for (const record of records) {
      const before = this.#proof.findings.length;
      this.#proof.take(record);
      if (this.#proof.findings.length > before) this.#times.set(record.seq, record.at);
      yield record;
    }
  }

  get found(): ReadonlyMap<number, Checked> {
    return new Map(
      this.#proof.findings.map(({ seq, by, proof, fault, unchecked }) => [
        seq,
        { at: this.#times.get(seq) ?? instant(0), by, proof, fault, unchecked },
      ]),
    );
  }
}

function printListed(
  name: string,
  { links, journal, json }: { readonly links: RecordLinks; readonly journal: Journal; readonly json?: boolean | undefined }, // prettier-ignore
  io: CommandIo,
): number {
  const seqs = links.listed(name);
  if (seqs === undefined)
    throw new OperatorError(
      'usage',
      `--list: no figure of this window has records under the name "${name}"; names are the "list" fields of the pack, such as ${links.names[0] ?? '2026-12/dca/btcusd/buy/fills'}`,
    );
  for (const record of recordsAt(journal, seqs))
    io.stdout.write(json === true ? wholeRecord(record) : `${record.seq}  ${lineFor(record)}\n`);
  return 0;
}
