import {
  NO_MONEY,
  add,
  fixedEven,
  isAboveZero,
  isBelowZero,
  negate,
  roundEven,
  subtract,
} from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import type { Account, Entry } from '../subledger.ts';

/** A general-ledger journal: the change of each account in one day or month, in whole cents. */
export interface LedgerJournal {
  /** The last day of the period, `2026-01-31`. */
  readonly date: string;
  /** `2026-01` or `2026-01-31`. */
  readonly period: string;
  readonly lines: readonly LedgerLine[];
  /** Number of the record that closed it; absent while any of its entries is open. */
  readonly closing?: number | undefined;
}

export interface LedgerLine {
  readonly account: Account | 'rounding';
  /** Currency of a holding. */
  readonly currency?: string | undefined;
  /** Two decimals; positive for a debit. */
  readonly value: Money;
}

export type LedgerPeriod = 'day' | 'month';

/**
 * Sums entries for a general ledger, which uses cents. The rounding remainder of a journal is a line of its own, so that each
 * journal balances. Entries come oldest first.
 */
export function* summarise(entries: Iterable<Entry>, per: LedgerPeriod): Generator<LedgerJournal> {
  let period: string | undefined;
  let sums = new Map<string, { account: Account; currency: string; value: Money }>();
  let closing: number | undefined;
  for (const { at, postings, closing: closed } of entries) {
    const own = isoOf(at).slice(0, per === 'day' ? 10 : 7);
    if (period !== undefined && own !== period) {
      yield { ...journalOf(period, [...sums.values()]), closing };
      sums = new Map();
    }
    period = own;
    closing = closed; // from the last entry: the same record or an earlier one closed the entries before it
    for (const { account, currency, value } of postings) {
      const key = account === 'holdings' ? `${account} ${currency}` : account;
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { account, currency, value });
      else sum.value = add(sum.value, value);
    }
  }
  if (period !== undefined) yield { ...journalOf(period, [...sums.values()]), closing };
}

function journalOf(
  period: string,
  sums: readonly { readonly account: Account; readonly currency: string; readonly value: Money }[],
): LedgerJournal {
  const lines: LedgerLine[] = sums
    .map(({ account, currency, value }) => ({
      account,
      ...(account === 'holdings' ? { currency } : {}),
      value: roundEven(value, 2),
    }))
    .filter(({ value }) => !value.isZero());
  const left = lines.reduce((sum, { value }) => subtract(sum, value), NO_MONEY);
  if (!left.isZero()) lines.push({ account: 'rounding', value: left });
  return { period, date: lastDayOf(period), lines };
}

function lastDayOf(period: string): string {
  if (period.length === 10) return period;
  const [year = '', month = ''] = period.split('-');
  return new Date(Date.UTC(Number(year), Number(month), 0)).toISOString().slice(0, 10);
}

export type CodeOf = (line: LedgerLine) => string;

/** Yields a header and rows for importing journal entries into NetSuite. Oracle: "Journal Entry Line-Level Fields". */
export function* netsuite(
  journals: Iterable<LedgerJournal>,
  { currency, codeOf }: { currency: string; codeOf: CodeOf },
): Generator<readonly string[]> {
  yield ['External ID', 'Date', 'Currency', 'Memo', 'Account', 'Debit', 'Credit', 'Line Memo'];
  for (const { period, date, lines, closing } of journals)
    for (const line of lines)
      yield [
        `tranche-${period}`,
        date,
        currency.toUpperCase(),
        memoOf(period, closing),
        codeOf(line),
        isAboveZero(line.value) ? fixedEven(line.value, 2) : '',
        isBelowZero(line.value) ? fixedEven(negate(line.value), 2) : '',
        lineName(line),
      ];
}

/**
 * Yields rows of Xero's template of manual journals. Xero: "Add multiple draft manual journals at once", at most 300
 * lines per file.
 */
export function* xero(
  journals: Iterable<LedgerJournal>,
  { codeOf, taxRate }: { readonly codeOf: CodeOf; readonly taxRate: string },
): Generator<readonly string[]> {
  yield ['*Narration', '*Date', 'Description', '*AccountCode', '*TaxRate', '*Amount'];
  for (const { period, date, lines, closing } of journals)
    for (const line of lines)
      yield [
        memoOf(period, closing),
        date.split('-').toReversed().join('/'),
        lineName(line),
        codeOf(line),
        taxRate,
        fixedEven(line.value, 2),
      ];
}

const memoOf = (period: string, closing: number | undefined): string =>
  `Digital assets ${period}${closing === undefined ? '' : `, closed by record ${closing}`}`;

export const lineName = ({ account, currency }: LedgerLine): string =>
  currency === undefined ? account : `${account} ${currency}`;
