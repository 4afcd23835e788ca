import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { ControlCli } from '../cli/control-cli.ts';
import { JOURNAL } from '../cli/journal-cli.ts';
import { timeOption } from '../cli/option-values.ts';

const BOOKS = 'books.yaml';

/** Adds `tranche accounting …`. */
export function addAccounting(cli: Command, { io, config, done }: ControlCli): void {
  const accounting = cli
    .command('accounting')
    .description(
      'keep double-entry books with tax lots, built from the journal and the account history; see docs/accounting.md',
    );
  // A date without a time means midnight in UTC.
  const time = (text: string): Instant =>
    instant(timeOption(/^\d{4}-\d{2}-\d{2}$/u.test(text) ? `${text}T00:00:00Z` : text));
  const settings = (): Option<'--books <file>', undefined, string> =>
    new Option('--books <file>', 'file with the settings of the books: method, prices, opening lots').default(
      BOOKS,
    );
  accounting
    .command('export')
    .description('write the entries for another program')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .addOption(settings())
    .addOption(
      new Option('--format <format>', 'format of the output')
        .choices(['beancount', 'hledger', 'csv', 'jsonl', 'netsuite', 'xero', 'parquet'] as const)
        .makeOptionMandatory(),
    )
    .option('--from <time>', 'only entries from this time on, such as 2026-01-01T00:00:00Z', time)
    .option('--until <time>', 'only entries before this time', time)
    .addOption(
      new Option('--per <period>', 'netsuite and xero: write one journal per period')
        .choices(['day', 'month'] as const)
        .default('month' as const),
    )
    .option('--out <file>', 'file to write (default: standard output)')
    .action(async (file, options) => {
      const { exportBooks } = await import('./export-books.ts');
      done(await exportBooks({ ...options, file }, io));
    });
  accounting
    .command('close')
    .description('close a period: write the hash of its entries and lots into the journal')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .addOption(settings())
    .requiredOption('--until <time>', 'first instant after the period, such as 2026-02-01', time)
    .option(
      '--unreconciled <reason>',
      'close the period although the books differ from the account, for this reason; recorded in the journal',
    )
    .option('--why <reason>', 'reason, recorded in the journal')
    .option('--by <name>', 'name of the person who closes the period (default: user name on this machine)')
    .option('--store <url>', 'PostgreSQL of a fleet: the owner of --desk writes the record, wherever it runs')
    .option('--desk <name>', 'with --store: name of the desk')
    .option('--dry-run', 'show what would be recorded')
    .option('--json', 'print the record as JSON')
    .action(async (file, options) => {
      const { closeBooks } = await import('./close-books.ts');
      done(await closeBooks({ ...options, file }, io));
    });
  accounting
    .command('verify')
    .description('recompute the hash of each closed period and compare it with the journal')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .addOption(settings())
    .option(
      '--print <time>',
      'print the text of the period that ends at this time; its SHA-256 is the hash',
      time,
    )
    .option('--json', 'print one JSON object per period')
    .action(async (file, options) => {
      const { verifyBooks } = await import('./verify-books.ts');
      done(verifyBooks({ ...options, file }, io));
    });
  accounting
    .command('gains')
    .description('list every disposal: lot, proceeds, cost, gain')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .addOption(settings())
    .option('--from <time>', 'only entries from this time on, such as 2026-01-01T00:00:00Z', time)
    .option('--until <time>', 'only entries before this time', time)
    .addOption(
      new Option('--by <date>', 'date that --from and --until apply to: the entry or the disposal')
        .choices(['booked', 'disposed'] as const)
        .default('booked' as const),
    )
    .option('--json', 'print one JSON object per line')
    .action(async (file, options) => {
      const { printGains } = await import('./print-books.ts');
      done(printGains({ ...options, file }, io));
    });
  accounting
    .command('lots')
    .description('list the open lots')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .addOption(settings())
    .option('--json', 'print one JSON object per line')
    .action(async (file, options) => {
      const { printLots } = await import('./print-books.ts');
      done(printLots({ ...options, file }, io));
    });
  accounting
    .command('balances')
    .description('compare the balances of the books with the account, to the last digit')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .addOption(settings())
    .option('--json', 'print one JSON object per line')
    .action(async (file, options) => {
      const { printBalances } = await import('./print-books.ts');
      done(printBalances({ ...options, file }, io));
    });
  accounting
    .command('roll-forward')
    .description('report the fair value of each asset from the start to the end of a period (ASU 2023-08)')
    .argument('[journal]', JOURNAL)
    .addOption(config())
    .addOption(settings())
    .requiredOption('--from <time>', 'start, such as 2026-01-01T00:00:00Z', time)
    .requiredOption('--until <time>', 'end', time)
    .option('--json', 'print one JSON object per line')
    .action(async (file, options) => {
      const { printRollForward } = await import('./print-books.ts');
      done(printRollForward({ ...options, file }, io));
    });
}
