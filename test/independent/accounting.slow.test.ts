import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAccounting } from '../../src/app/accounting/accounting-cli.ts';
import { addBacktest } from '../../src/app/cli/backtest-cli.ts';
import { add, money, quantity, text } from '../../src/core/money.ts';
import { HOUR_MS, instant } from '../../src/core/time.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { runLine } from '../app/support/cli.ts';
import { appendNow } from '../journal/records.ts';

/** A year of purchases and rebalancings over five assets, with corrections, in books that three other programs recompute. */
const PROGRAM = fileURLToPath(new URL('lots.py', import.meta.url));
const START = Date.UTC(2025, 0, 1);
const HOURS = 365 * 24;
const PRICES = { btcusd: 60_000, ethusd: 3_000, solusd: 150, ltcusd: 90, xrpusd: 0.6 };
const HOLDINGS = '500000';
const STRATEGIES = {
  dca: {
    kind: 'recurring',
    pair: 'btcusd',
    side: 'buy',
    each_notional: { amount: '150', currency: 'usd' },
    window: 'PT20M',
    slices: 1,
    schedule: { cron: '0 9 * * *', time_zone: 'UTC', calendar: { weekend: [] } },
  },
  five: {
    kind: 'rebalance',
    cash: 'usd',
    target_weights: { btc: '0.4', eth: '0.2', sol: '0.1', ltc: '0.1', xrp: '0.1', usd: '0.1' },
    drift_threshold: '0.02',
    continuous: true,
    min_interval: 'PT1H',
    min_trade_notional: { amount: '100', currency: 'usd' },
  },
};

const isThere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;
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
  const random = seededRandom('a year');
  for (const [pair, first] of Object.entries(PRICES)) {
    let now = first;
    const rows = Array.from({ length: HOURS }, (_, n) => {
      now *= 1 + 0.012 * (random.next() - 0.5);
      const close = now.toPrecision(8);
      return `${START + n * HOUR_MS},${close},${close},${close},${close},1`;
    });
    writeFileSync(
      join(folder, `${pair}.csv`),
      ['timestamp_ms,open,high,low,close,volume', ...rows, ''].join('\n'),
    );
  }
  for (const [id, strategy] of Object.entries(STRATEGIES))
    writeFileSync(join(folder, `${id}.yaml`), JSON.stringify({ id, ...strategy }));
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
  const { code, out, err } = await runLine(
    addBacktest,
    [
      'backtest',
      'dca.yaml',
      'five.yaml',
      '--holdings',
      `usd=${HOLDINGS}`,
      '--journal',
      join(folder, 'run.db'),
      '--json',
      ...Object.keys(PRICES).flatMap((pair) => ['--data', `${pair}=${pair}.csv`]),
    ],
    world,
  );
  if (code !== 0) throw new Error(err);
  account = endBalances(out);
  copyWithCorrections();
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The balances that the run ended with. */
function endBalances(json: string): Readonly<Record<string, string>> {
  const report = JSON.parse(json) as {
    readonly backtest: { readonly holdings: Readonly<Record<string, string>> };
  }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- report.json
  return report.backtest.holdings;
}

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
    const part = { quantity: '0.00001', amount: '0.5', fees: '0.01' };
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
  it('hold what the account holds, to the last digit', async () => {
    expect(corrections.length).toBeGreaterThan(5);
    expect(fills.length).toBeGreaterThan(400);
    const rows = (await accounting('balances', 'fifo', '--json')).trim().split('\n');
    const books = rows.map((row) => JSON.parse(row) as { currency: string; books: string }); // oxlint-disable-line typescript/no-unsafe-type-assertion -- as printed
    expect(Object.fromEntries(books.map(({ currency, books: held }) => [currency, held]))).toEqual(
      Object.fromEntries(Object.entries(account).map(([currency, held]) => [currency, text(quantity(held))])),
    );
  });

  it.for(['fifo', 'lifo', 'hifo', 'average'])(
    'gain what a plain calculation gains: %s',
    async (method, ctx) => {
      if (!isThere('python3')) return ctx.skip('python3 is not installed');
      const input = JSON.stringify({ fills, corrections, method });
      const { status, stdout, stderr } = spawnSync('python3', [PROGRAM], {
        input,
        encoding: 'utf8',
        maxBuffer: 1e8,
      });
      expect([status, stderr]).toEqual([0, '']);
      const plain = JSON.parse(stdout) as Readonly<
        Record<'gains' | 'held' | 'cost', Readonly<Record<string, string>>>
      >; // oxlint-disable-line typescript/no-unsafe-type-assertion -- lots.py says so
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
    'are accepted by hledger, which sums the same balances: %s',
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

/** Sums of a column by currency, as canonical text. */
function sums(lines: string, column: 'gain' | 'quantity' | 'cost'): Readonly<Record<string, string>> {
  const found = new Map<string, ReturnType<typeof money>>();
  for (const line of lines.trim().split('\n')) {
    const row = JSON.parse(line) as Readonly<Record<string, string>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- as printed
    const currency = row['currency'] ?? '';
    found.set(currency, add(found.get(currency) ?? money('0'), money(row[column] ?? '')));
  }
  return Object.fromEntries([...found].map(([currency, sum]) => [currency, text(sum)]));
}
