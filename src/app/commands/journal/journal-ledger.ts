import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { readFileSync } from 'node:fs';
import { OperatorError, exitCodes } from '../../../core/errors.ts';
import { isAmountText, money, text } from '../../../core/money.ts';
import { parseIso } from '../../../core/time.ts';
import { inBalanceOrder } from '../../../journal/account-history.ts';
import { beancount } from '../../../journal/ledger/beancount.ts';
import { BOOKINGS } from '../../../journal/ledger/entries.ts';
import type { Booking, Cost } from '../../../journal/ledger/entries.ts';
import { hledger } from '../../../journal/ledger/hledger.ts';
import { ledgerCsv } from '../../../journal/ledger/ledger-csv.ts';
import { differences, ledgerOf } from '../../../journal/ledger/ledger.ts';
import type { CliWorld } from '../../cli/options.ts';
import { JOURNAL, answer, journalExport, urlOf, write } from './journal.ts';
import { streams } from './streams.ts';
import { readHistory } from './read-history.ts';
import type { Out } from './journal.ts';
import type { Given } from '../io.ts';

/** Adds `tranche journal export`. */
export function addExport(journal: Command, { done }: CliWorld): void {
  journal
    .command('export')
    .description('export the double-entry ledger of all trades and movements, or records with --kind')
    .argument(...JOURNAL)
    .addOption(
      new Option('--format <format>', 'format of the output; records only as csv or jsonl')
        .choices(['beancount', 'hledger', 'csv', 'jsonl'] as const)
        .default('csv' as const),
    )
    .option('--kind <kind>', 'records of this kind, such as fills, or all (jsonl), instead of the ledger')
    .option('--history <file>', 'what "account transactions --json" printed: deposits, withdrawals, interest')
    .option('--costs <file>', 'CSV file (entry,cost,acquired) with the cost of units that came in')
    .addOption(
      new Option('--booking <method>', 'beancount: how it takes lots; hifo needs beancount 3')
        .choices(BOOKINGS)
        .default('fifo' as const),
    )
    .action(async (file, options) => {
      const { kind, format } = options;
      if (kind === undefined && format !== 'jsonl')
        return done(await exportLedger(urlOf(file), { ...options, format }, streams()));
      if (kind === undefined) throw new OperatorError('usage', '--format jsonl writes records: add --kind');
      if (format === 'beancount' || format === 'hledger')
        throw new OperatorError('usage', `--format ${format} writes the ledger: omit --kind`);
      done(await journalExport(urlOf(file), { format, kind }, streams()));
    });
}

export type LedgerOptions = Given<'history' | 'costs'> & {
  readonly format: 'csv' | 'beancount' | 'hledger';
  readonly booking: Booking;
};

/**
 * Writes the double-entry ledger of a journal and the account's history. Exit codes as in `journalShow`; 65 also if the ledger differs
 * from the balances that the history shows.
 */
export async function exportLedger(url: string, { format, booking, history, costs: file }: LedgerOptions, out: Out): Promise<number> {
  return await answer(url, out, () => {
    const costs = file === undefined ? [] : readCosts(file);
    const rows = history === undefined ? [] : inBalanceOrder(readHistory(history));
    return async (journal) => {
      const ledger = ledgerOf(journal.read(), rows);
      const { texts, unpriced } = format === 'beancount' ? beancount({ ...ledger, costs: new Map([...ledger.costs, ...costs]) }, booking) : { texts: format === 'csv' ? ledgerCsv(ledger.entries) : hledger(ledger.entries), unpriced: [] };
      for (const each of texts) await write(out.stdout, each);
      const others = [...ledger.modes].filter((mode) => mode !== 'live');
      const different = history === undefined ? [] : [...differences(ledger.entries, rows)];
      const notes = [
        others.length === 0 ? '' : `This journal was written in mode ${others.join(', ')}: its fills are not trades of a real account.`,
        history === undefined ? 'Without --history, deposits, withdrawals, interest and trades by hand are missing: "tranche account transactions --json" prints them.' : '',
        unpriced.length === 0 ? '' : `${unpriced.length} entries bring units at an unknown cost, which counts as 0; they have the flag "!". State it with --costs: ${unpriced.slice(0, 10).join(', ')}${unpriced.length > 10 ? ', …' : ''}`,
        ...different.map(([currency, more]) => `${currency}: the ledger holds ${text(more)} more than the account. If the history is older than the journal, add its newest page.`),
      ];
      for (const note of notes) if (note !== '') await write(out.stderr, `${note}\n`);
      return different.length === 0 ? 0 : exitCodes.data;
    };
  });
} // prettier-ignore

const COLUMNS = 'entry,cost,acquired';

/** @throws OperatorError `storage`, or `data` with the line at fault. */
function readCosts(file: string): readonly (readonly [string, Cost])[] {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new OperatorError('storage', `the costs ${file} cannot be read`, cause);
  }
  return content.trimEnd().split(/\r?\n/u).map((line, n): readonly [string, Cost] => {
    const [, id = '', value = '', acquired] = /^([^,]+),(\d[\d.]*),(\d{4}-\d{2}-\d{2})?$/u.exec(line) ?? [];
    const day = parseIso(`${acquired ?? '1970-01-01'}T00:00:00Z`);
    if (n === 0 ? line !== COLUMNS : !isAmountText(value) || day === undefined)
      throw new OperatorError('data', `${file}:${n + 1}: expected ${COLUMNS}, such as transaction 7,45000.00,2024-05-01, got "${line.slice(0, 80)}"`);
    return [id, { value: money(n === 0 ? '0' : value), acquired }];
  });
} // prettier-ignore
