import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAccounting } from '../../src/app/accounting/accounting-cli.ts';
import { quantity, text } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { runLine } from '../app/support/cli.ts';
import { appendNow } from '../journal/records.ts';
import { HOLDINGS, START, isThere, plainLots, runYear, sums } from './year.ts';
import type { PlainEvent } from './year.ts';

/** The books of an open year, with orders that were booked in parts. */
const folder = mkdtempSync(join(tmpdir(), 'tranche-year-'));
const world = { cwd: folder, now: instant(START), config: 'config/paper.yaml' };
/** The end balances of the backtest, by currency: the account. */
let account: Readonly<Record<string, string>> = {};

interface Fill {
  readonly client_order_id: string;
  readonly pair: string;
  readonly side: string;
  readonly quantity: string;
  readonly amount: string;
  readonly executed_at: number;
}
/** The part of an order that the account shows first. */
const PART = { quantity: '0.00001', amount: '0.5', fees: '0.01' };
const fills: Fill[] = [];
const corrections: { client_order_id: string; quantity: string; amount: string; fees: string }[] = [];

async function accounting(command: string, method: string, ...line: readonly string[]): Promise<string> {
  const { code, out, err } = await runLine(
    addAccounting,
    ['accounting', command, join(folder, 'year.db'), '--books', `${method}.yaml`, ...line],
    world,
  );
  if (code !== 0) throw new Error(err);
  return out;
}

beforeAll(async () => {
  for (const method of ['fifo', 'lifo', 'hifo', 'average'])
    writeFileSync(
      join(folder, `${method}.yaml`),
      JSON.stringify({
        method,
        opening: [
          { currency: 'usd', quantity: HOLDINGS, acquired_at: new Date(START).toISOString(), lot: 'cash' },
        ],
      }),
    );
  account = await runYear(folder);
  copyWithCorrections();
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/**
 * The journal of the run once more. Of every fortieth purchase the account first showed a part, as of an order that a venue books in parts:
 * its fill is that part, and a correction a second later has the whole.
 */
function copyWithCorrections(): void {
  const [run, year] = [
    sqliteJournal(join(folder, 'run.db'), { readOnly: true }),
    sqliteJournal(join(folder, 'year.db')),
  ];
  let bought = 0;
  for (const { at, body } of run.read()) {
    if (body.kind !== 'fill') {
      appendNow(year, [body], at);
      continue;
    }
    fills.push(body);
    if (body.side === 'buy') bought += 1;
    if (body.side === 'sell' || bought % 40 !== 0) {
      appendNow(year, [body], at);
      continue;
    }
    const part = PART;
    appendNow(year, [{ ...body, ...part }], at);
    const { client_order_id: id, order_id: order, quantity: units, price, amount, fees } = body;
    appendNow(
      year,
      [
        {
          kind: 'correction',
          client_order_id: id,
          order_id: order,
          quantity: units,
          price,
          amount,
          fees,
          was_quantity: part.quantity,
          was_amount: part.amount,
          was_fees: part.fees,
        },
      ],
      at,
    );
    corrections.push({ client_order_id: id, quantity: units, amount, fees });
  }
  run.close();
  year.close();
}

describe('the books of a year over five assets', () => {
  it('equal the balances of the account to the last digit', async () => {
    expect(corrections.length).toBeGreaterThan(5);
    expect(fills.length).toBeGreaterThan(400);
    const rows = (await accounting('balances', 'fifo', '--json')).trim().split('\n');
    const books = rows.map((row) => JSON.parse(row) as { currency: string; books: string }); // oxlint-disable-line typescript/no-unsafe-type-assertion -- as printed
    expect(Object.fromEntries(books.map(({ currency, books: held }) => [currency, held]))).toEqual(
      Object.fromEntries(Object.entries(account).map(([currency, held]) => [currency, text(quantity(held))])),
    );
  });

  it.for(['fifo', 'lifo', 'hifo', 'average'])(
    'have the gains and lots of a simple calculation in Python: %s',
    async (method, ctx) => {
      if (!isThere('python3')) return ctx.skip('python3 is not installed');
      const shown = new Map(corrections.map((each) => [each.client_order_id, each]));
      const events = fills.flatMap((fill): readonly PlainEvent[] => {
        const { client_order_id: id, executed_at: at, pair, side } = fill;
        const plain = { id, at, currency: pair.slice(0, -3), side };
        const correction = shown.get(id);
        const first = correction === undefined ? fill : PART;
        return [
          { ...plain, what: 'fill', quantity: first.quantity, value: first.amount },
          ...(correction === undefined ? [] : [{ ...plain, what: 'correction' as const, quantity: correction.quantity, value: correction.amount }]),
        ];
      }); // prettier-ignore
      const plain = plainLots(events, method);
      const gains = sums(await accounting('gains', method, '--json'), 'gain');
      expect(gains).toEqual(plain.gains);
      const lots = await accounting('lots', method, '--json');
      expect([sums(lots, 'quantity'), sums(lots, 'cost')]).toEqual([plain.held, plain.cost]);
    },
  );

  it.for(['fifo', 'lifo', 'hifo', 'average'])('are accepted by beancount: %s', async (method, ctx) => {
    if (!isThere('bean-check')) return ctx.skip('beancount is not installed');
    await accounting('export', method, '--format', 'beancount', '--out', `${method}.beancount`);
    const { status, stdout, stderr } = spawnSync('bean-check', [join(folder, `${method}.beancount`)], {
      encoding: 'utf8',
    });
    expect([status, stdout.slice(0, 2_000), stderr.slice(0, 2_000)]).toEqual([0, '', '']);
  });

  it.for(['fifo', 'lifo', 'hifo', 'average'])(
    'are accepted by hledger with the same balances: %s',
    async (method, ctx) => {
      if (!isThere('hledger')) return ctx.skip('hledger is not installed');
      await accounting('export', method, '--format', 'hledger', '--out', `${method}.journal`);
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
      ).toEqual(
        Object.fromEntries(
          Object.entries(account).map(([currency, held]) => [currency, text(quantity(held))]),
        ),
      );
    },
  );
});
