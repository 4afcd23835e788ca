import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exact } from '../../src/core/text/json.ts';
import { text } from '../../src/core/money.ts';
import type { FillRecord } from '../../src/core/record.ts';
import { exportRecords } from '../../src/journal/export.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { readBody, readMessage } from '../../src/wire/message.ts';
import { orderSchema } from '../../src/wire/order.ts';
import { quoteSchema } from '../../src/wire/quote.ts';
import { aFill, appendNow } from './records.ts';
import { aFolder } from '../support/folder.ts';

/** Decimals in canonical form: at most 18 digits after the point and 30 in total. */
const decimal = fc
  .tuple(
    fc.boolean(),
    fc.stringMatching(/^(?:0|[1-9]\d{0,11})$/u),
    fc.stringMatching(/^(?:\d{0,17}[1-9])?$/u),
  )
  .map(([negative, whole, part]) => `${negative ? '-' : ''}${whole}${part === '' ? '' : `.${part}`}`)
  .filter((literal) => literal !== '-0');

const FILLS = 1_000;
const RUNS = 25;
const AMOUNTS = 4; // of each fill
const FIELDS = ['quantity', 'price', 'amount', 'fees'] as const;
type Literals = readonly [quantity: string, price: string, amount: string, fees: string];

/** The message of the venue with unchanged literals. */
const quoteText = ([quantity, price, amount]: Literals): string =>
  `{"quote_id":"q","quantity":${quantity},"amount": ${amount},"pair":"btcusd","side":"BUY","buy_price":${price},` +
  '"date_quote":"2026-12-01T09:00:00Z","date_expiry":"2026-12-01T09:00:15Z"}';
const orderText = ([quantity, price, amount, fees]: Literals): string =>
  `{"id":7,"action":"Buy","pair":"btcusd","filled":${quantity},"vwap":${price},"filled_amount":${amount},"fees":${fees},` +
  '"status":"Filled","client_order_id":"c","quote_id":"q"}';

function fillOf(literals: Literals, slice: number): FillRecord {
  const quote = readMessage(quoteSchema, readBody(quoteText(literals)));
  const order = readMessage(orderSchema, readBody(orderText(literals)));
  if (!quote.ok || !order.ok) throw new Error(`unreadable: ${JSON.stringify([quote, order])}`);
  // Figures of both messages, so that both must be parsed exactly.
  return aFill({
    slice,
    quantity: text(quote.value.quantity),
    price: text(order.value.vwap),
    amount: text(quote.value.amount),
    fees: text(order.value.fees),
  });
}

/** An exported row as a message with exact number literals. */
const wireText = (row: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.fromEntries(FIELDS.map((field) => [field, exact(row[field] ?? '')])));
const wanted = (literals: Literals): string =>
  `{${FIELDS.map((field, i) => `"${field}":${literals[i]}`).join(',')}}`;

describe('an amount', () => {
  it(`survives a round trip through wire, journal and export byte for byte: ${FILLS * RUNS * AMOUNTS} random amounts`, () => {
    const fills = fc.array(fc.tuple(decimal, decimal, decimal, decimal), {
      minLength: FILLS,
      maxLength: FILLS,
      size: 'max',
    });
    const folder = aFolder();
    let run = 0;
    let survived = 0;
    fc.assert(
      fc.property(fills, (all) => {
        run += 1;
        const file = join(folder, `${run}.db`);
        const journal = sqliteJournal(file);
        appendNow(journal, all.map(fillOf));
        journal.close();

        const reader = sqliteJournal(file, { readOnly: true });
        const csv = [...exportRecords(reader.read(), { format: 'csv', kind: 'fill' })].join('');
        const lines = [...exportRecords(reader.read(), { format: 'jsonl', kind: 'fill' })];
        reader.close();

        const literals = all.map(wanted);
        const rows = parse(csv, { columns: true }) as Record<string, string>[];
        expect(rows.map(wireText)).toEqual(literals);
        expect(lines.map((line) => wireText(JSON.parse(line) as Record<string, string>))).toEqual(literals);
        survived += AMOUNTS * all.length;
      }),
      { numRuns: RUNS, seed: 20_261_201, endOnFailure: true },
    );
    expect(survived).toBe(100_000);
  });
});
