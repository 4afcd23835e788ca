import { resolve } from 'node:path';
import type { Tape } from '../../backtest/tape.ts';
import { OperatorError } from '../../core/errors.ts';
import { forTerminal } from '../../core/escape.ts';
import type { StoredRecord } from '../../core/record.ts';
import { openJournal } from '../../journal/open.ts';
import { figuresOf } from '../../report/figures.ts';
import { reportOf } from '../../report/json.ts';
import { TAPES } from '../tape-options.ts';
import { readSince, zoneHere } from '../local-time.ts';
import { shownPath } from '../files.ts';
import { REPORT_FILES, refuseToReplace, reportText, writeReport } from '../report-files.ts';
import { reportLines } from '../report-words.ts';
import { readName, readTape } from '../tape-file.ts';
import { version } from '../version.ts';
import { locate } from './daemon-client.ts';
import type { DaemonOptions } from './daemon-client.ts';
import type { CommandIo } from './io.ts';
import { currenciesOf, refuseUnknown } from './journal-names.ts';

export interface ReportOptions extends DaemonOptions {
  readonly strategy?: string | undefined;
  /** Only parents that were begun from then on, and before: a time, a day, or how long ago. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** `btcusd=FILE`, each: prices of a pair. */
  readonly data?: readonly string[] | undefined;
  /** Folder of market history that was read before. */
  readonly cache?: string | undefined;
  /** Folder that the files go to. */
  readonly out?: string | undefined;
  readonly overwrite?: boolean | undefined;
}

/**
 * Judges what a journal says was traded, from the journal alone: it need not run, and nothing is written to it. Prints a
 * summary for people, or `report.json` with `json`; with `out`, writes all files of the report. Exit codes: 0, 64 for a mistake in
 * the arguments, 65 a damaged journal or damaged prices, 74 a journal that cannot be read or a file that cannot be written.
 */
export async function report(options: ReportOptions, io: CommandIo): Promise<number> {
  const zone = zoneHere();
  const timeOf = (text: string | undefined, option: string): ReturnType<typeof readSince> | undefined =>
    text === undefined ? undefined : readSince(text, { option, now: io.now, zone });
  const [since, until] = [timeOf(options.since, '--since'), timeOf(options.until, '--until')];
  if (since !== undefined && until !== undefined && until <= since)
    throw new OperatorError('usage', '--until: it must be after --since');
  const folder = options.out === undefined ? undefined : resolve(io.cwd, options.out);
  if (folder !== undefined) refuseToReplace(folder, options);
  const { journal: url } = locate(options, io);
  if (url === 'memory:')
    throw new OperatorError('config', 'this config keeps its journal in memory: it is gone with its daemon');
  const prices = await pricesOf(options, io);
  const journal = openJournal(url, { readOnly: true });
  try {
    const ids = new Set<string>();
    const figures = figuresOf(noting(journal.read(), ids), {
      version,
      prices,
      since,
      until,
      strategy: options.strategy,
      currencies: currenciesOf,
    });
    refuseUnknown(options.strategy, ids);
    const made = folder === undefined ? reportOf(figures) : await writeReport(figures, folder, options);
    if (options.json === true) io.stdout.write(reportText(made));
    else for (const line of reportLines(made)) io.stderr.write(`${forTerminal(line)}\n`);
    if (folder !== undefined)
      io.stderr.write(`written to ${forTerminal(shownPath(folder, io.cwd))}: ${REPORT_FILES.join(', ')}\n`);
    return 0;
  } finally {
    journal.close();
  }
}

async function pricesOf(
  { data = [], cache = TAPES }: Pick<ReportOptions, 'data' | 'cache'>,
  { cwd }: CommandIo,
): Promise<readonly Tape[]> {
  const tapes: Tape[] = [];
  for (const { pair, file } of data.map(readName))
    tapes.push(await readTape({ pair, name: file, cwd, cacheFolder: cache }));
  return tapes;
}

/** The same records; ids of strategies are noted as they come by. */
function* noting(records: Iterable<StoredRecord>, ids: Set<string>): Generator<StoredRecord> {
  for (const record of records) {
    if (record.body.kind === 'strategy') ids.add(record.body.strategy);
    yield record;
  }
}
