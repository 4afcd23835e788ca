import { rollForward } from '../../accounting/roll-forward.ts';
import type { AssetRoll, Valuation } from '../../accounting/roll-forward.ts';
import { isLongTerm, jurisdictionOf } from '../../accounting/jurisdictions.ts';
import { DAYS_AFTER } from '../../accounting/share-pool.ts';
import { gainOf } from '../../accounting/subledger.ts';
import type { Gain } from '../../accounting/subledger.ts';
import { ZonedDays } from '../../accounting/zoned-days.ts';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { fixedEven, text } from '../../core/money.ts';
import type { AnyAmount } from '../../core/money.ts';
import { withSeparators } from '../../core/text/with-separators.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { CommandIo } from '../commands/io.ts';
import type { AccountingSettings } from './accounting-settings.ts';
import { balanceRows, inPeriod } from './books.ts';
import { withBooks } from './with-books.ts';
import type { AccountingOptions } from './with-books.ts';
import { csvLines, jsonLines, writeLines } from './write-lines.ts';

export interface GainOptions extends AccountingOptions {
  /** What the period selects: entries, or disposals, whose gain a later entry may change. */
  readonly by: 'booked' | 'disposed';
}

/** Prints each disposal with its gain. @throws OperatorError */
export function printGains(options: GainOptions, io: CommandIo): number {
  return withBooks(options, io, ({ entries, settings }) => {
    const chosen = options.by === 'disposed' ? entries : inPeriod(entries, options);
    const gains = [...chosen].flatMap(({ id, gains: own }) => own.map((gain) => ({ id, gain })));
    const isIn = ({ disposedAt }: Gain): boolean =>
      options.by === 'booked' ||
      (disposedAt >= (options.from ?? 0) && disposedAt < (options.until ?? Infinity));
    const legal = legalColumns(settings);
    const plain = gains
      .filter(({ gain }) => isIn(gain))
      .map(({ id, gain }) => ({
        entry: id,
        currency: gain.currency,
        lot: gain.lot,
        acquired_at: isoOf(gain.acquiredAt),
        disposed_at: isoOf(gain.disposedAt),
        quantity: text(gain.quantity),
        proceeds: text(gain.proceeds),
        cost: text(gain.cost),
        gain: text(gainOf(gain)),
        ...legal.of(gain),
      }));
    printRows([...GAIN_COLUMNS, ...legal.columns], plain, options, io);
    return 0;
  });
}

const GAIN_COLUMNS = ['entry', 'currency', 'lot', 'acquired_at', 'disposed_at', 'quantity', 'proceeds', 'cost', 'gain'] as const; // prettier-ignore

/** Returns the columns of the jurisdiction: whether a disposal is long term, or until when later acquisitions may change its gain. */
function legalColumns({ jurisdiction, method, timeZone }: AccountingSettings): {
  readonly columns: readonly string[];
  readonly of: (gain: Gain) => Readonly<Record<string, string>>;
} {
  const days = new ZonedDays(timeZone);
  const years = jurisdictionOf(jurisdiction)?.longAfterYears;
  if (years !== undefined)
    return {
      columns: ['term'],
      of: ({ acquiredAt, disposedAt }) => ({
        term: isLongTerm(days.dayOf(acquiredAt), days.dayOf(disposedAt), years) ? 'long' : 'short',
      }),
    };
  if (method !== 'pool') return { columns: [], of: () => ({}) };
  return {
    columns: ['provisional_until'],
    of: ({ disposedAt }) => ({ provisional_until: isoOf(days.endOf(days.dayOf(disposedAt) + DAYS_AFTER)) }),
  };
}

const LOT_COLUMNS = ['currency', 'lot', 'acquired_at', 'quantity', 'cost'] as const;

/** Prints rows as CSV, or as JSON lines. */
function printRows<Column extends string>(
  columns: readonly Column[],
  plain: readonly Readonly<Partial<Record<Column, string>>>[],
  { json }: Pick<AccountingOptions, 'json'>,
  io: CommandIo,
): void {
  const cells = [columns, ...plain.map((row) => columns.map((name) => row[name]))];
  writeLines(json === true ? jsonLines(plain) : csvLines(cells), undefined, io);
}

/** Prints the open lots. @throws OperatorError */
export function printLots(options: AccountingOptions, io: CommandIo): number {
  return withBooks(options, io, ({ entries, subledger }) => {
    Array.from(entries); // the lots are complete once all entries are booked
    const plain = [...subledger.lots()]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([currency, lot]) => ({
        currency,
        lot: lot.id,
        acquired_at: isoOf(lot.acquiredAt),
        quantity: text(lot.quantity),
        cost: text(lot.cost),
      }));
    printRows(LOT_COLUMNS, plain, options, io);
    return 0;
  });
}

/** Prints holdings, and compares them with the account. Exit code 65 when they differ. @throws OperatorError */
export function printBalances(options: AccountingOptions, io: CommandIo): number {
  return withBooks(options, io, (books) => {
    const found = balanceRows(books);
    if (options.json === true) writeLines(jsonLines(found), undefined, io);
    else {
      const header = ['currency', 'books', 'account', 'difference'] as const;
      const cells = [header, ...found.map((row) => header.map((name) => row[name] ?? ''))];
      const widths = header.map((_, n) => Math.max(...cells.map((row) => row[n]?.length ?? 0)));
      for (const row of cells)
        io.stdout.write(`${row.map((cell, n) => cell.padStart(widths[n] ?? 0)).join('  ')}\n`);
    }
    if (books.balances === undefined) {
      io.stderr.write(
        'Not compared with the account: set history in the settings of the books, and run tranche account sync.\n',
      );
      return 0;
    }
    const off = found.filter(({ difference }) => difference !== '0');
    for (const { currency, difference = '' } of off)
      io.stderr.write(
        `${currency}: the books hold ${difference} more than the account. If the account held assets before the first transaction, add them under opening. If the history is older than the journal, run tranche account sync.\n`,
      );
    return off.length === 0 ? 0 : exitCodes.data;
  });
}

/** Prints the roll-forward of fair values. @throws OperatorError */
export function printRollForward(
  options: AccountingOptions & { readonly from: Instant; readonly until: Instant },
  io: CommandIo,
): number {
  return withBooks(options, io, ({ entries, settings, prices }) => {
    if (prices === undefined)
      throw new OperatorError(
        'config',
        `${options.books}: set prices: the file with the prices that value the holdings`,
      );
    if (options.until <= options.from) throw new OperatorError('usage', '--until must be after --from');
    const { from, until } = options;
    const rolls = rollForward(entries, {
      from,
      until,
      currency: settings.currency,
      valueAt: (currency, at) => prices.at(currency, at),
    });
    if (options.json === true) writeLines(jsonLines(rolls.map(plainRoll)), undefined, io);
    else
      for (const line of rollText(rolls, { from, until, currency: settings.currency }))
        io.stdout.write(`${line}\n`);
    return 0;
  });
}

const plainRoll = (roll: AssetRoll): Record<string, unknown> => ({
  currency: roll.currency,
  opening_units: text(roll.openingUnits),
  opening: text(roll.opening),
  additions: text(roll.additions),
  dispositions: text(roll.dispositions),
  gain: text(roll.gain),
  closing_units: text(roll.closingUnits),
  closing: text(roll.closing),
  closing_cost: text(roll.closingCost),
  realised_gains: text(roll.realisedGains),
  realised_losses: text(roll.realisedLosses),
  opening_price: plainPrice(roll.openingPrice),
  closing_price: plainPrice(roll.closingPrice),
});

const plainPrice = (found: Valuation | undefined): unknown =>
  found === undefined ? undefined : { price: text(found.price), at: isoOf(found.at), source: found.source };

function* rollText(
  rolls: readonly AssetRoll[],
  { from, until, currency }: { readonly from: Instant; readonly until: Instant; readonly currency: string },
): Generator<string> {
  const shown = (amount: AnyAmount): string => withSeparators(fixedEven(amount, 2)).padStart(18);
  yield `Fair value in ${currency}, ${isoOf(from)} to ${isoOf(until)}`;
  yield '';
  yield `${'asset'.padEnd(8)}${['opening', 'additions', 'dispositions', 'gain', 'closing', 'cost'].map((name) => name.padStart(18)).join('')}`;
  for (const roll of rolls)
    yield `${roll.currency.padEnd(8)}${[roll.opening, roll.additions, roll.dispositions, roll.gain, roll.closing, roll.closingCost].map(shown).join('')}`;
  yield '';
  for (const {
    currency: asset,
    realisedGains,
    realisedLosses,
    closingUnits,
    openingPrice,
    closingPrice,
  } of rolls) {
    yield `${asset}: ${text(closingUnits)} held; realised gains ${fixedEven(realisedGains, 2)}, losses ${fixedEven(realisedLosses, 2)}`;
    for (const [name, found] of [
      ['opening', openingPrice],
      ['closing', closingPrice],
    ] as const)
      if (found !== undefined) yield `  ${name} at ${text(found.price)}, ${isoOf(found.at)}, ${found.source}`;
  }
}
