import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportLedger } from '../../src/app/commands/journal/journal-ledger.ts';
import {
  NO_QUANTITY,
  add,
  negate,
  quantity,
  roundEven,
  shareEven,
  subtract,
  text,
} from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import type { FillRecord } from '../../src/core/record.ts';
import { DAY_MS } from '../../src/core/time.ts';
import type { HistoryRow } from '../../src/journal/account-history.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aHistoryRow, writeHistory } from '../journal/history-file.ts';
import { loadBeancount, loadHledger, noBeancount, noHledger } from '../journal/plain-text-accounting.ts';
import { appendNow } from '../journal/records.ts';
import { HOLDINGS, START, runYear } from './year.ts';

/** A year over five assets: its journal, with orders that the account showed in parts first, and the history of its account. */
const folder = mkdtempSync(join(tmpdir(), 'tranche-year-'));
/** The part of an order that the account shows first. */
const PART = { quantity: '0.00001', amount: '0.5', fees: '0.01' };
const fills: FillRecord[] = [];
const rows: HistoryRow[] = [];
const balances = new Map<string, Quantity>();
/** What the trades alone make of the account, and what the backtest ended with. */
let trades: readonly Readonly<Record<string, string>>[] = [];
/** What the account holds at the end, by commodity. */
let account: Readonly<Record<string, string>> = {};

const units = (of: ReadonlyMap<string, Quantity>, currency: string): Quantity =>
  of.get(currency) ?? NO_QUANTITY;
const named = (held: readonly (readonly [currency: string, held: Quantity])[]): Readonly<Record<string, string>> =>
  Object.fromEntries(held.map(([currency, each]) => [currency === 's' ? 'X-S' : currency.toUpperCase(), text(each)])); // prettier-ignore

/** Adds a row that changes the balance by its amount without its fee. */
function show(at: number, currency: string, amount: string, over: Partial<HistoryRow>): void {
  const fee = quantity(over.fees ?? over.transfer_fee ?? '0');
  balances.set(currency, subtract(add(units(balances, currency), quantity(amount)), fee));
  const balance = text(units(balances, currency));
  rows.push(aHistoryRow({ id: rows.length + 1, at, currency, amount, balance, ...over }));
}

/** What a bank and a venue add to the trades of a month. */
function showMonth(at: number): void {
  show(at, 'usd', '1234.56', { action: 'Deposit' });
  show(at + 1, 'usd', '-3.21', { action: 'Charge', description: 'interest of position 7' });
  show(at + 2, 's', '0.5', { action: 'Credit', description: 'reward' });
  show(at + 3, 'btc', '-0.0012', { action: 'Withdraw', transfer_fee: '0.00001' });
}

/** Writes the year's journal, in which some purchases are corrected. */
function copyWithCorrections(): void {
  const [run, year] = [
    sqliteJournal(join(folder, 'run.db'), { readOnly: true }),
    sqliteJournal(join(folder, 'year.db')),
  ];
  for (const { at, body } of run.read()) {
    if (body.kind === 'fill') fills.push(body);
    if (body.kind !== 'fill' || fills.length % 40 !== 0) {
      appendNow(year, [body], at);
      continue;
    }
    const { client_order_id, order_id, quantity: whole, price, amount, fees } = body;
    const was = { was_quantity: PART.quantity, was_amount: PART.amount, was_fees: PART.fees, rows: [] };
    appendNow(year, [{ ...body, ...PART }], at);
    appendNow(year, [{ kind: 'correction', client_order_id, order_id, quantity: whole, price, amount, fees, ...was }], at); // prettier-ignore
  }
  run.close();
  year.close();
}

async function exported(format: 'beancount' | 'hledger'): Promise<string> {
  const texts: string[] = [];
  const stream = (): Writable =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        texts.push(chunk.toString());
        done();
      },
    });
  const file = join(folder, `year.${format}`);
  const code = await exportLedger(
    `sqlite:${join(folder, 'year.db')}`,
    { format, booking: 'fifo', history: join(folder, 'history.jsonl') },
    { stdout: stream(), stderr: new Writable({ write: (_chunk, _encoding, done) => done() }) },
  );
  expect(code).toBe(0);
  writeFileSync(file, texts.join(''));
  return file;
}

beforeAll(async () => {
  const end = await runYear(folder);
  copyWithCorrections();
  const oldestFirst = fills.toSorted((a, b) => a.executed_at - b.executed_at);
  show(START - DAY_MS, 'usd', HOLDINGS, { action: 'Deposit' });
  let month = 1;
  for (const { executed_at: at, client_order_id, base, side, pair, ...fill } of oldestFirst) {
    for (; at > Date.UTC(2025, month, 1); month += 1) showMonth(Date.UTC(2025, month, 1));
    const trade = { action: side === 'buy' ? 'Buy' : 'Sell', pair, client_order_id };
    const [paid, got] = [text(negate(quantity(fill.amount))), text(negate(quantity(fill.quantity)))];
    show(at, base, side === 'buy' ? fill.quantity : got, trade);
    show(at, 'usd', side === 'buy' ? paid : fill.amount, { ...trade, fees: fill.fees });
  }
  writeHistory(join(folder, 'history.jsonl'), rows);
  const moved = rows.filter(({ client_order_id: id, at }) => id === '' && at > START);
  const alone = new Map(balances);
  for (const { currency, amount, transfer_fee: fee } of moved)
    alone.set(currency, add(subtract(units(alone, currency), quantity(amount)), quantity(fee)));
  alone.delete('s');
  trades = [
    named([...alone]),
    named(Object.entries(end).map(([currency, held]) => [currency, quantity(held)])),
  ];
  account = named([...balances]);
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The gains of the year by hand: a queue of lots for each currency, from which a sale and a withdrawal take the oldest first. */
function plainGains(): readonly (readonly [id: string, gain: string])[] {
  const lots = new Map<string, { quantity: Quantity; cost: Quantity }[]>();
  const of = (currency: string): { quantity: Quantity; cost: Quantity }[] => {
    const queue = lots.get(currency) ?? [];
    lots.set(currency, queue);
    return queue;
  };
  const take = (currency: string, wanted: Quantity): Quantity => {
    let [left, cost] = [wanted, NO_QUANTITY];
    for (let [lot] = of(currency); lot !== undefined && !left.isZero(); [lot] = of(currency)) {
      const part = left.lt(lot.quantity) ? left : lot.quantity;
      const share = shareEven(lot.cost, part, lot.quantity, 30);
      [left, cost] = [subtract(left, part), add(cost, share)];
      Object.assign(lot, { quantity: subtract(lot.quantity, part), cost: subtract(lot.cost, share) });
      if (lot.quantity.isZero()) of(currency).shift();
    }
    return cost;
  };
  const byId = new Map(fills.map((fill) => [fill.client_order_id, fill]));
  const gains: (readonly [string, string])[] = [];
  for (const { currency, action, amount, transfer_fee: fee, client_order_id: id } of rows) {
    if (currency === 'usd') continue;
    const changed = quantity(amount);
    if (action === 'Withdraw') take(currency, add(negate(changed), quantity(fee)));
    if (action === 'Buy')
      of(currency).push({ quantity: changed, cost: quantity(byId.get(id)?.amount ?? '') });
    if (action === 'Sell') {
      const gain = subtract(quantity(byId.get(id)?.amount ?? ''), take(currency, negate(changed)));
      gains.push([id, text(roundEven(gain, 8))]);
    }
  }
  return gains;
}

describe('the ledger of a year over five assets', () => {
  it('is booked by beancount, with the balances of the account and the gains of a plain calculation', async (ctx) => {
    expect(trades[0]).toEqual(trades[1]);
    expect([fills.length > 400, Object.keys(account).length]).toEqual([true, 7]);
    const file = await exported('beancount');
    if (noBeancount !== undefined) return ctx.skip(noBeancount);
    const { errors, held, gains } = loadBeancount(file);
    expect(errors).toEqual([]);
    expect(held).toEqual(account);
    expect(gains.length).toBeGreaterThan(40);
    expect(gains).toEqual(plainGains());
    return undefined;
  });

  it('is accepted by hledger, with the balances of the account', async (ctx) => {
    const file = await exported('hledger');
    if (noHledger !== undefined) return ctx.skip(noHledger);
    expect(loadHledger(file)).toEqual(account);
    return undefined;
  });
});
