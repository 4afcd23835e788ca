import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAccounting } from '../../src/app/accounting/accounting-cli.ts';
import {
  add,
  cost,
  fixedEven,
  money,
  price,
  quantity,
  ratio,
  roundEven,
  scale,
  size,
  subtract,
  text,
} from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import type { FillRecord, RecordBody } from '../../src/core/record.ts';
import { DAY_MS, HOUR_MS, after, instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { HISTORY_COLUMNS, openHistory } from '../../src/journal/account-history.ts';
import type { HistoryRow } from '../../src/journal/account-history.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { runLine } from '../app/support/cli.ts';
import type { Ran } from '../app/support/cli.ts';
import { appendNow } from '../journal/records.ts';
import { HOLDINGS, START, isThere, plainLots, runYear, sums } from './year.ts';
import type { PlainEvent } from './year.ts';

/**
 * The year again, with an account of its own: fees, opening lots, deposits, withdrawals, interest of post-trade settlement, a credit, and orders
 * that were booked in parts. Its books are closed every quarter, and the last order of each is corrected after that.
 */
const METHODS = ['fifo', 'lifo', 'hifo', 'average', 'pool'] as const;
/** Midnights in London. */
const QUARTERS = ['2025-04-01T00:00+01:00', '2025-07-01T00:00+01:00', '2025-10-01T00:00+01:00', '2026-01-01T00:00Z'].map((time) => instant(Date.parse(time))); // prettier-ignore
const PART = { quantity: '0.00001', amount: '0.5', fees: '0.01' };
const folder = mkdtempSync(join(tmpdir(), 'tranche-closed-'));
const on = (month: number, date: number, hour = 12): Instant =>
  instant(Date.UTC(2025, month - 1, date, hour));

/** An event of the account and the desk, with the time when both know it. */
interface Happening {
  readonly known: Instant;
  readonly record?: { readonly body: RecordBody; readonly at: Instant } | undefined;
  readonly rows: readonly Row[];
  readonly event?: Omit<PlainEvent, 'at'> | undefined;
}

/** The change of a balance by a row. */
interface Row extends Partial<HistoryRow> {
  readonly at: Instant;
  readonly currency: string;
  /** With fees. */
  readonly change: string;
}

const balances = new Map<string, Quantity>([['usd', quantity(HOLDINGS)], ['btc', quantity('0.4')]]); // prettier-ignore
const events: PlainEvent[] = [];
const closedRows = new Map<string, string>();
let transactions = 0;

const accounting = async (
  now: Instant,
  command: string,
  method: string,
  ...line: readonly string[]
): Promise<Ran> =>
  await runLine(
    addAccounting,
    ['accounting', command, join(folder, `${method}.db`), '--books', `${method}.yaml`, ...line],
    { cwd: folder, now, config: 'config/paper.yaml', env: { USER: 'ann' } },
  );
const END = after(QUARTERS[3] ?? START, 10 * DAY_MS);

async function printed(command: string, method: string, ...line: readonly string[]): Promise<string> {
  const { code, out, err } = await accounting(END, command, method, ...line);
  if (code !== 0) throw new Error(err);
  return out;
}

/** The rows of a part of an order. */
function rowsOf(fill: FillRecord, part: Pick<FillRecord, 'quantity' | 'amount' | 'fees'>): readonly Row[] {
  const { client_order_id: client, order_id: order, executed_at: at, pair, side, base, quote } = fill;
  const shared = { at, pair, client_order_id: client, order_id: order, trade_id: order, action: side === 'buy' ? 'Buy' : 'Sell' };
  const [come, go] = side === 'buy' ? [base, quote] : [quote, base];
  const signed = { [base]: part.quantity, [quote]: part.amount };
  const paid = money(part.fees);
  return [come, go].map((currency) => {
    const amount = currency === come ? signed[currency] : `-${signed[currency]}`;
    const change = currency === quote ? subtract(money(amount ?? '0'), paid) : money(amount ?? '0');
    return { ...shared, currency, amount: amount ?? '0', fees: currency === quote ? part.fees : '0', change: text(change) };
  });
} // prettier-ignore

/** Fills with fees of ten basis points. Every 40th purchase is booked in parts; the rest of the last of a quarter becomes known after its closing. */
function fillHappenings(): readonly Happening[] {
  const run = sqliteJournal(join(folder, 'run.db'), { readOnly: true });
  const records = [...run.read()];
  run.close();
  const bought = records.flatMap(({ body }) => (body.kind === 'fill' && body.side === 'buy' ? [body] : []));
  const lastOf = new Set(QUARTERS.slice(0, 3).map((end) => bought.findLast((fill) => fill.executed_at < end - HOUR_MS)));
  return records.flatMap(({ at, body }): readonly Happening[] => {
    if (body.kind === 'started') return [{ known: at, record: { body: { ...body, mode: 'live' }, at }, rows: [] }];
    if (body.kind !== 'fill') return [];
    const fill = { ...body, fees: fixedEven(scale(money(body.amount), ratio('0.001')), 2) };
    const { client_order_id: id, base: currency, side, order_id: order } = fill;
    const isLast = lastOf.has(body);
    const plain = { id, currency, side };
    const of = ({ quantity: units, amount }: Pick<FillRecord, 'quantity' | 'amount'>) => ({ quantity: units, value: amount });
    if (!isLast && (side === 'sell' || bought.indexOf(body) % 40 !== 39))
      return [{ known: at, record: { body: fill, at }, rows: rowsOf(fill, fill), event: { ...plain, what: 'fill', ...of(fill) } }];
    const end = QUARTERS.find((each) => each > at);
    const known = isLast && end !== undefined ? after(end, 2 * DAY_MS) : at;
    const rest = {
      quantity: text(subtract(quantity(fill.quantity), quantity(PART.quantity))),
      amount: text(subtract(money(fill.amount), money(PART.amount))),
      fees: text(subtract(money(fill.fees), money(PART.fees))),
    };
    const correction: RecordBody = {
      kind: 'correction', client_order_id: id, order_id: order, price: fill.price, quantity: fill.quantity, amount: fill.amount, fees: fill.fees,
      was_quantity: PART.quantity, was_amount: PART.amount, was_fees: PART.fees,
    };
    return [
      { known: at, record: { body: { ...fill, ...PART }, at }, rows: rowsOf(fill, PART), event: { ...plain, what: 'fill', ...of(PART) } },
      { known, record: { body: correction, at: known }, rows: rowsOf(fill, rest), event: { ...plain, what: 'correction', ...of(fill) } },
    ];
  });
} // prettier-ignore

const prices = new Map<string, string>();
const priceOn = (currency: string, at: Instant): string =>
  prices.get(`${new Date(at).toISOString().slice(0, 10)} ${currency}`) ?? '';

/** Events of the account without a record in the journal. */
function movements(): readonly Happening[] {
  const monthly = Array.from({ length: 12 }, (_, n) => n + 1);
  const cash = (at: Instant, row: Omit<Partial<HistoryRow>, 'at'>, change: string): Happening => ({ known: at, rows: [{ at, currency: 'usd', change, ...row }] }); // prettier-ignore
  const coin = on(3, 10);
  const out = on(8, 20);
  const gift = on(9, 5);
  return [
    ...monthly.map((month) => cash(on(month, 1), { action: 'Deposit', amount: '5000' }, '5000')),
    ...monthly.map((month) => cash(on(month, 15), { action: 'Charge', amount: '-12.345678', description: `interest of position ${month}` }, '-12.345678')), // prettier-ignore
    cash(on(11, 5), { action: 'Withdraw', amount: '-20000', transfer_fee: '25' }, '-20025'),
    {
      known: coin,
      rows: [{ at: coin, currency: 'btc', action: 'Deposit', amount: '0.5', change: '0.5' }],
      event: { what: 'deposit', id: 'coin', currency: 'btc', quantity: '0.5', value: '15000', acquired: Date.UTC(2024, 0, 15) },
    },
    {
      known: out,
      rows: [{ at: out, currency: 'eth', action: 'Withdraw', amount: '-3', transfer_fee: '0.002', change: '-3.002' }],
      event: { what: 'withdrawal', id: 'out', currency: 'eth', quantity: '3', fee: '0.002', value: text(cost(price(priceOn('eth', out)), quantity('0.002'))) },
    },
    {
      known: gift,
      rows: [{ at: gift, currency: 'sol', action: 'Credit', amount: '1.5', change: '1.5' }],
      event: { what: 'credit', id: 'gift', currency: 'sol', quantity: '1.5', value: text(cost(price(priceOn('sol', gift)), quantity('1.5'))) },
    },
  ];
} // prettier-ignore

function historyRow({ change, ...row }: Row): HistoryRow {
  const balance = add(balances.get(row.currency) ?? quantity('0'), quantity(change));
  balances.set(row.currency, balance);
  transactions += 1;
  return {
    ...Object.fromEntries(HISTORY_COLUMNS.map((name) => [name, ''])),
    status: 'done', fees: '0', transfer_fee: '0', amount: '0', ...row, id: transactions, balance: text(balance),
  } as HistoryRow; // oxlint-disable-line typescript/no-unsafe-type-assertion -- all the columns
} // prettier-ignore

/** Writes the events of a quarter; then every method closes the quarter. */
async function tell(happenings: readonly Happening[], end: Instant | undefined): Promise<void> {
  const rows: HistoryRow[] = [];
  for (const { known, rows: own, event } of happenings) {
    for (const row of own) rows.push(historyRow(row));
    if (event !== undefined)
      events.push({ ...event, at: event.what === 'fill' ? (own[0]?.at ?? known) : known });
  }
  const history = openHistory(join(folder, 'history.db'), { account: 'a' });
  history.keep(rows, { completeTo: transactions, walk: undefined });
  history.close();
  for (const method of METHODS) {
    const journal = sqliteJournal(join(folder, `${method}.db`));
    for (const { record } of happenings)
      if (record !== undefined) appendNow(journal, [record.body], record.at);
    journal.close();
    if (end === undefined) continue;
    const { code, err } = await accounting(
      after(end, DAY_MS),
      'close',
      method,
      '--until',
      new Date(end).toISOString(),
    );
    if (code !== 0) throw new Error(`${method}: ${err}`);
    closedRows.set(`${method} ${end}`, (await accounting(after(end, DAY_MS), 'export', method, '--format', 'csv', '--until', new Date(end).toISOString())).out); // prettier-ignore
  }
}

beforeAll(async () => {
  await runYear(folder);
  const [, ...lines] = readFileSync(join(folder, 'prices.csv'), 'utf8').trim().split('\n');
  for (const line of lines) {
    const [at = '', currency = '', each = ''] = line.split(',');
    prices.set(`${at.slice(0, 10)} ${currency}`, each);
  }
  const opening = [
    { currency: 'usd', quantity: HOLDINGS, acquired_at: new Date(START).toISOString(), lot: 'cash' },
    { currency: 'btc', quantity: '0.4', cost: '20000', acquired_at: '2024-05-01T00:00:00Z', lot: 'cold' },
  ];
  events.push({ what: 'opening', id: 'cold', at: Date.UTC(2024, 4, 1), acquired: Date.UTC(2024, 4, 1), currency: 'btc', quantity: '0.4', value: '20000' }); // prettier-ignore
  const all = [...fillHappenings(), ...movements()].toSorted((a, b) => a.known - b.known);
  // The number of a row is unknown until the row is written.
  const before = all.filter(({ known }) => known < on(3, 10)).reduce((sum, { rows }) => sum + rows.length, 0);
  for (const method of METHODS)
    writeFileSync(
      join(folder, `${method}.yaml`),
      JSON.stringify({
        ...(method === 'pool' ? { jurisdiction: 'GB' } : { method }),
        history: 'history.db',
        prices: 'prices.csv',
        opening,
        deposits: { [`transaction ${before + 1}`]: { cost: '15000', acquired_at: '2024-01-15T00:00:00Z' } },
      }),
    );
  let from = 0;
  for (const end of QUARTERS) {
    // A closing is made a day later.
    const part = all.filter(({ known }) => known >= from && known < after(end, DAY_MS));
    await tell(part, end);
    from = after(end, DAY_MS);
  }
  await tell(
    all.filter(({ known }) => known >= from),
    undefined,
  );
  events.sort((a, b) => a.at - b.at);
}, 300_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe.each(METHODS)('the closed books of a year: %s', (method) => {
  it('equal the balances of the account to the last digit', async () => {
    const { code, out, err } = await accounting(END, 'balances', method, '--json');
    expect([code, err]).toEqual([0, '']);
    const rows = out.trim().split('\n').map((row) => JSON.parse(row) as Record<string, string>); // oxlint-disable-line typescript/no-unsafe-type-assertion -- as printed
    expect(Object.fromEntries(rows.map(({ currency = '', books }) => [currency, books]))).toEqual(
      Object.fromEntries([...balances].map(([currency, held]) => [currency, text(held)])),
    );
  }); // prettier-ignore

  it('have the gains and lots of a simple calculation in Python', async (ctx) => {
    if (!isThere('python3')) return ctx.skip('python3 is not installed');
    const plain = plainLots(events, method);
    expect(sums(await printed('gains', method, '--json'), 'gain')).toEqual(plain.gains);
    const lots = await printed('lots', method, '--json');
    expect([sums(lots, 'quantity'), sums(lots, 'cost')]).toEqual([plain.held, plain.cost]);
  });

  it('keep the entries of closed quarters unchanged and contain adjustments of them', async () => {
    const { code, out } = await accounting(END, 'verify', method);
    expect([code, out.match(/ same$/gmu)?.length]).toEqual([0, 4]);
    for (const end of QUARTERS) {
      const time = new Date(end).toISOString();
      const now = await printed('export', method, '--format', 'csv', '--until', time);
      // Only the column of the closing was added since.
      const withoutClosing = (lines: string): string => lines.replaceAll(/,\d*,([^,]*)\r\n/gu, ',$1\r\n');
      expect(withoutClosing(now)).toBe(withoutClosing(closedRows.get(`${method} ${end}`) ?? ''));
    }
    const all = await printed('export', method, '--format', 'csv');
    expect(all.match(/adjustment of the period closed until/gu)?.length).toBeGreaterThanOrEqual(3 * 4);
    const identified = all.match(/^identification /gmu)?.length ?? 0;
    expect(method === 'pool' ? identified > 100 : identified === 0).toBe(true);
  });

  it('have separate accounts for fees, interest, deposits and withdrawals', async () => {
    const rows = (await printed('export', method, '--format', 'jsonl')).trim().split('\n').map((row) => JSON.parse(row) as Record<string, string>); // oxlint-disable-line typescript/no-unsafe-type-assertion -- as printed
    const total = (account: string): string =>
      text(rows.filter((row) => row['account'] === account).reduce((sum, row) => add(sum, money(row['value'] ?? '0')), money('0')));
    expect([total('interest'), total('deposits')]).toEqual(['148.148136', '-75000']);
    expect(roundEven(size(money(total('transfer fees'))), 0).toNumber()).toBeGreaterThan(25);
    const fees = events.filter(({ what }) => what === 'fill').length;
    expect(rows.filter((row) => row['account'] === 'trading fees').length).toBeGreaterThan(fees);
    const whole = rows.reduce((sum, row) => add(sum, money(row['value'] ?? '0')), money('0'));
    expect(text(whole)).toBe('0');
  }); // prettier-ignore

  it('are accepted by beancount', async (ctx) => {
    if (!isThere('bean-check')) return ctx.skip('beancount is not installed');
    await printed('export', method, '--format', 'beancount', '--out', `${method}.beancount`);
    const { status, stdout, stderr } = spawnSync('bean-check', [join(folder, `${method}.beancount`)], {
      encoding: 'utf8',
    });
    expect([status, stdout.slice(0, 2_000), stderr.slice(0, 2_000)]).toEqual([0, '', '']);
  });

  it('are accepted by hledger with the same balances', async (ctx) => {
    if (!isThere('hledger')) return ctx.skip('hledger is not installed');
    await printed('export', method, '--format', 'hledger', '--out', `${method}.journal`);
    const file = join(folder, `${method}.journal`);
    expect(spawnSync('hledger', ['-f', file, 'check'], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
    const { stdout } = spawnSync(
      'hledger',
      ['-f', file, 'balance', 'Assets', '--flat', '--no-total', '-O', 'csv'],
      { encoding: 'utf8' },
    );
    const cells = [...stdout.matchAll(/"Assets:Venue:([A-Z]+)","([\d.]+) [A-Z]+"/gu)];
    expect(
      Object.fromEntries(
        cells.map(([, currency = '', held = '']) => [currency.toLowerCase(), text(quantity(held))]),
      ),
    ).toEqual(Object.fromEntries([...balances].map(([currency, held]) => [currency, text(held)])));
  });
});
