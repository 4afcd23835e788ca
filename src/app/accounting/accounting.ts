import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beancount } from '../../accounting/export/beancount.ts';
import { hledger } from '../../accounting/export/hledger.ts';
import { lineName, netsuite, summarise, xero } from '../../accounting/export/summary.ts';
import type { Per, SummaryLine } from '../../accounting/export/summary.ts';
import { rollForward } from '../../accounting/roll-forward.ts';
import type { AssetRoll, Valuation } from '../../accounting/roll-forward.ts';
import { gainOf } from '../../accounting/subledger.ts';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { fixedEven, text } from '../../core/money.ts';
import type { AnyAmount } from '../../core/money.ts';
import { escapeMarks } from '../../core/text/escape.ts';
import { withSeparators } from '../../core/text/with-separators.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { csvRow } from '../../journal/export.ts';
import { createPrivate } from '../../journal/sqlite/files.ts';
import { openNamed } from '../commands/journal/journal-read.ts';
import type { CommandIo } from '../commands/io.ts';
import { loadAccounting } from './accounting-settings.ts';
import { balanceRows, inPeriod, makeBooks } from './books.ts';
import type { Books } from './books.ts';
import { POSTING_COLUMNS, postingRows } from './posting-rows.ts';

export interface AccountingOptions {
  readonly file?: string | undefined;
  readonly config: string;
  /** The settings of the books. */
  readonly books: string;
  readonly from?: Instant | undefined;
  readonly until?: Instant | undefined;
  readonly out?: string | undefined;
  readonly json?: boolean | undefined;
}

function withBooks<T>(options: AccountingOptions, io: CommandIo, use: (books: Books) => T): T {
  const settings = loadAccounting(options.books, { env: io.env, cwd: io.cwd });
  const { journal } = openNamed(options, io);
  try {
    const books = makeBooks(journal, settings);
    const others = books.modes.filter((mode) => mode !== 'live');
    if (others.length > 0)
      io.stderr.write(
        `This journal is of mode ${others.join(', ')}: its fills are not those of an account.\n`,
      );
    return use(books);
  } finally {
    journal.close();
  }
}

export const FORMATS = ['beancount', 'hledger', 'csv', 'jsonl', 'netsuite', 'xero', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

/** Writes the entries for other programs. @throws OperatorError */
export async function exportBooks(
  options: AccountingOptions & { readonly format: Format; readonly per: Per },
  io: CommandIo,
): Promise<number> {
  const { format, out } = options;
  if (format === 'parquet') {
    if (out === undefined)
      throw new OperatorError('usage', 'Parquet is a binary format: name the output file with --out FILE');
    const { writeEntries } = await import('./accounting-parquet.ts');
    const books = withBooks(options, io, (made) => made);
    await writeEntries(resolve(io.cwd, out), inPeriod(books.entries, options));
    return 0;
  }
  withBooks(options, io, (books) => {
    writeText(linesOf(books, options), out === undefined ? undefined : resolve(io.cwd, out), io);
  });
  return 0;
}

function linesOf(
  { settings, entries, head, modes }: Books,
  options: AccountingOptions & { readonly format: Format; readonly per: Per },
): Iterable<string> {
  const { currency, method, codes, taxRate } = settings;
  const own = inPeriod(entries, options);
  const about = [
    `Books in ${currency}, lots by ${method}, of a journal of mode ${modes.join(', ')} up to the record with hash ${head}`,
  ];
  const codeOf = (line: SummaryLine): string => {
    const name = lineName(line);
    const found = codes.get(name);
    if (found === undefined)
      throw new OperatorError(
        'config',
        `${options.books}: add the code of your ledger under codes: ${name}: '…'`,
      );
    return found;
  };
  switch (options.format) {
    case 'beancount':
      if (options.from !== undefined)
        throw new OperatorError('usage', '--from: beancount needs all entries since the first, for its lots');
      return beancount(own, { currency, method, about });
    case 'hledger':
      return hledger(own, { currency, method, about });
    case 'netsuite':
      return rows(netsuite(summarise(own, options.per), { currency, codeOf }));
    case 'xero':
      return rows(xero(summarise(own, options.per), { codeOf, taxRate }));
    case 'jsonl':
      return objects(postingRows(own));
    default:
      return rows([
        [...POSTING_COLUMNS],
        ...[...postingRows(own)].map((row) => POSTING_COLUMNS.map((name) => row[name])),
      ]);
  }
}

/** Prints each disposal with what it gained. @throws OperatorError */
export function printGains(options: AccountingOptions, io: CommandIo): number {
  return withBooks(options, io, ({ entries }) => {
    const gains = [...inPeriod(entries, options)].flatMap(({ id, gains: own }) =>
      own.map((gain) => ({ id, gain })),
    );
    const plain = gains.map(({ id, gain }) => ({
      entry: id,
      currency: gain.currency,
      lot: gain.lot,
      acquired_at: isoOf(gain.acquiredAt),
      disposed_at: isoOf(gain.disposedAt),
      quantity: text(gain.quantity),
      proceeds: text(gain.proceeds),
      cost: text(gain.cost),
      gain: text(gainOf(gain)),
    }));
    printRows(GAIN_COLUMNS, plain, options, io);
    return 0;
  });
}

const GAIN_COLUMNS = ['entry', 'currency', 'lot', 'acquired_at', 'disposed_at', 'quantity', 'proceeds', 'cost', 'gain'] as const; // prettier-ignore
const LOT_COLUMNS = ['currency', 'lot', 'acquired_at', 'quantity', 'cost'] as const;

/** As CSV, or as JSON lines. */
function printRows<Column extends string>(
  columns: readonly Column[],
  plain: readonly Readonly<Record<Column, string>>[],
  { json }: Pick<AccountingOptions, 'json'>,
  io: CommandIo,
): void {
  const cells = [columns, ...plain.map((row) => columns.map((name) => row[name]))];
  writeText(json === true ? objects(plain) : rows(cells), undefined, io);
}

/** Prints the open lots. @throws OperatorError */
export function printLots(options: AccountingOptions, io: CommandIo): number {
  return withBooks(options, io, ({ entries, subledger }) => {
    Array.from(entries); // the lots are complete once all are booked
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

/** Prints holdings, and compares them with the account. Exit code 65 where they differ. @throws OperatorError */
export function printBalances(options: AccountingOptions, io: CommandIo): number {
  return withBooks(options, io, (books) => {
    const found = balanceRows(books);
    if (options.json === true) writeText(objects(found), undefined, io);
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
        `${currency}: the books hold ${difference} more than the account. Was something held before the first transaction? Add it under opening. Is the history older than the journal? Run tranche account sync.\n`,
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
        `${options.books}: set prices: the file with the prices to value holdings at`,
      );
    if (options.until <= options.from) throw new OperatorError('usage', '--until must be after --from');
    const { from, until } = options;
    const rolls = rollForward(entries, {
      from,
      until,
      currency: settings.currency,
      valueAt: (currency, at) => prices.at(currency, at),
    });
    if (options.json === true) writeText(objects(rolls.map(plainRoll)), undefined, io);
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

function* rows(cells: Iterable<readonly unknown[]>): Generator<string> {
  for (const row of cells) yield csvRow(row);
}

function* objects(values: Iterable<unknown>): Generator<string> {
  for (const value of values) yield `${escapeMarks(JSON.stringify(value))}\n`;
}

/** Writes to a file that only its owner reads and that appears once it is whole, or to stdout. */
function writeText(lines: Iterable<string>, file: string | undefined, io: CommandIo): void {
  if (file === undefined) {
    for (const chunk of chunksOf(lines)) io.stdout.write(chunk);
    return;
  }
  const part = `${file}.part`;
  try {
    rmSync(part, { force: true });
    createPrivate(part);
    const handle = openSync(part, 'w');
    try {
      for (const chunk of chunksOf(lines)) writeFileSync(handle, chunk);
    } finally {
      closeSync(handle);
    }
    renameSync(part, file);
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new OperatorError('storage', `${file} cannot be written: ${why}`, cause);
  }
}

const CHUNK = 64 * 1_024;

/** Lines in pieces that are worth a write. */
function* chunksOf(lines: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
