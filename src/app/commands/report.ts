import { resolve } from 'node:path';
import { forTerminal } from '../../core/text/escape.ts';
import type { StoredRecord } from '../../core/record.ts';
import { figuresOf } from '../../report/figures/figures.ts';
import { Oversight } from '../../report/oversight/oversight.ts';
import { reportOf } from '../../report/json/json.ts';
import { shownPath } from '../config/files.ts';
import { REPORT_FILES, refuseToReplace, reportText, writeReport } from '../research/report-files.ts';
import { reportLines } from '../research/report-text.ts';
import { version } from '../version.ts';
import { cacheOption, collect, journalCommand } from '../cli/options.ts';
import type { AddCommands, JournalOptions } from '../cli/options.ts';
import type { CommandIo, Given } from './io.ts';
import { currenciesOf, refuseUnknown } from './journal/journal-names.ts';
import { openNamed, readSpan, readTapes } from './journal/journal-read.ts';

/** Adds `tranche report`. */
export const addReport: AddCommands = (cli, { io, config, done }) => {
  journalCommand(config)(
    cli,
    'report',
    'report trades and their cost from the journal; safe while the daemon runs',
  )
    .option('--strategy <id>', 'only this strategy')
    .option(
      '--since <time>',
      'only parents that started at or after this: a day, a time, or a duration before now such as P7D',
    )
    .option(
      '--until <time>',
      'only parents that started before this: a day, a time, or a duration before now',
    )
    .option(
      '--data <pair=file>',
      'prices of a pair for benchmarks and mark-outs: a tape or a file that data import reads; repeatable',
      collect,
      [],
    )
    .addOption(cacheOption())
    .option(
      '--oversight',
      'also judge each order by the limits of its time, and list outliers, refusals, doubts and who did what',
    )
    .option('--out <folder>', 'write the report files to this folder')
    .option('--overwrite', 'replace an existing report')
    .option('--json', 'print report.json to stdout instead of the summary')
    .action(async (file, options) => {
      done(await report({ ...options, file }, io));
    });
};

type ReportOptions = JournalOptions &
  Given<'strategy' | 'since' | 'until' | 'cache' | 'out', 'overwrite' | 'oversight'> & {
    readonly data?: readonly string[] | undefined;
  };

/**
 * Reports on the trades in a journal, using only the journal and the prices of `data`. It needs no daemon and writes nothing to the
 * journal. Prints a summary for people, or `report.json` with `json`; with `out`, writes all files of the report. Exit codes: 0, 64 for
 * invalid arguments, 65 for a damaged journal or damaged prices, 74 for an unreadable journal or unwritable file.
 */
async function report(options: ReportOptions, io: CommandIo): Promise<number> {
  const { since, until } = readSpan(options, io);
  const folder = options.out === undefined ? undefined : resolve(io.cwd, options.out);
  if (folder !== undefined) refuseToReplace(folder, options);
  const prices = await readTapes(options, io);
  const { journal } = openNamed(options, io);
  try {
    const ids = new Set<string>();
    const oversight = options.oversight === true ? new Oversight() : undefined;
    const figures = figuresOf(noting(journal.read(), ids, oversight), {
      version,
      prices,
      since,
      until,
      strategy: options.strategy,
      currencies: currenciesOf,
      oversight,
    });
    oversight?.finish();
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

/** Yields the same records, and adds the ids of their strategies to `ids`. */
function* noting(
  records: Iterable<StoredRecord>,
  ids: Set<string>,
  oversight: Oversight | undefined,
): Generator<StoredRecord> {
  for (const record of records) {
    oversight?.take(record);
    if (record.body.kind === 'strategy') ids.add(record.body.strategy);
    yield record;
  }
}
