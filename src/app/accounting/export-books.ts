import { resolve } from 'node:path';
import { beancount } from '../../accounting/export/beancount.ts';
import { lineName, netsuite, summarise, xero } from '../../accounting/export/general-ledger.ts';
import type { LedgerLine, LedgerPeriod } from '../../accounting/export/general-ledger.ts';
import { hledger } from '../../accounting/export/hledger.ts';
import { OperatorError } from '../../core/errors.ts';
import { isoOf } from '../../core/time.ts';
import type { CommandIo } from '../commands/io.ts';
import { inPeriod } from './books.ts';
import type { Books } from './books.ts';
import { POSTING_COLUMNS, postingRows } from './posting-rows.ts';
import { withBooks } from './with-books.ts';
import type { AccountingOptions } from './with-books.ts';
import { csvLines, jsonLines, writeLines } from './write-lines.ts';

export const FORMATS = ['beancount', 'hledger', 'csv', 'jsonl', 'netsuite', 'xero', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

/** Writes the entries for other programs. @throws OperatorError */
export async function exportBooks(
  options: AccountingOptions & { readonly format: Format; readonly per: LedgerPeriod },
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
    writeLines(linesOf(books, options), out === undefined ? undefined : resolve(io.cwd, out), io);
  });
  return 0;
}

function linesOf(
  { settings, entries, head, modes, closings }: Books,
  options: AccountingOptions & { readonly format: Format; readonly per: LedgerPeriod },
): Iterable<string> {
  const { currency, method, codes, taxRate } = settings;
  const own = inPeriod(entries, options);
  const about = [
    `Books in ${currency}, lots by ${method}, from a journal written in mode ${modes.join(', ')} up to the record with hash ${head.hash}`,
    ...closings.map(
      ({ seq, until, hash, by }) => `Closed until ${isoOf(until)} by ${by}, record ${seq}, hash ${hash}`,
    ),
  ];
  const codeOf = (line: LedgerLine): string => {
    const name = lineName(line);
    const found = codes.get(name);
    if (found === undefined)
      throw new OperatorError(
        'config',
        `${options.books}: no ledger code for "${name}": add one under codes`,
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
      return csvLines(netsuite(summarise(own, options.per), { currency, codeOf }));
    case 'xero':
      return csvLines(xero(summarise(own, options.per), { codeOf, taxRate }));
    case 'jsonl':
      return jsonLines(postingRows(own));
    default:
      return csvLines([
        [...POSTING_COLUMNS],
        ...[...postingRows(own)].map((row) => POSTING_COLUMNS.map((name) => row[name])),
      ]);
  }
}
