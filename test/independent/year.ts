import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addBacktest } from '../../src/app/cli/backtest-cli.ts';
import { add, money, text } from '../../src/core/money.ts';
import { HOUR_MS, instant } from '../../src/core/time.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { runLine } from '../app/support/cli.ts';

/** A year of purchases and rebalancings over five assets, for books that three other programs recompute. */
const PROGRAM = fileURLToPath(new URL('lots.py', import.meta.url));
export const START = instant(Date.UTC(2025, 0, 1));
const HOURS = 365 * 24;
export const PRICES = { btcusd: 60_000, ethusd: 3_000, solusd: 150, ltcusd: 90, xrpusd: 0.6 };
export const HOLDINGS = '500000';
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

type Texts = Readonly<Record<string, string>>;

/**
 * Runs the year as a backtest over generated prices, with its journal in `run.db`, and writes `prices.csv` with a price of each day. Gives the
 * balances that it ends with: the account.
 */
export async function runYear(folder: string): Promise<Texts> {
  const random = seededRandom('a year');
  const prices: string[] = [];
  for (const [pair, first] of Object.entries(PRICES)) {
    let now = first;
    const rows = Array.from({ length: HOURS }, (_, n) => {
      now *= 1 + 0.012 * (random.next() - 0.5);
      const close = now.toPrecision(8);
      const at = START + n * HOUR_MS;
      if (n % 24 === 0) prices.push(`${new Date(at).toISOString()},${pair.slice(0, -3)},${close},generated`);
      return `${at},${close},${close},${close},${close},1`;
    });
    writeFileSync(
      join(folder, `${pair}.csv`),
      ['timestamp_ms,open,high,low,close,volume', ...rows, ''].join('\n'),
    );
  }
  writeFileSync(join(folder, 'prices.csv'), ['at,currency,price,source', ...prices, ''].join('\n'));
  for (const [id, strategy] of Object.entries(STRATEGIES))
    writeFileSync(join(folder, `${id}.yaml`), JSON.stringify({ id, ...strategy }));
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
    { cwd: folder, now: instant(START), config: 'config/paper.yaml' },
  );
  if (code !== 0) throw new Error(err);
  const report = JSON.parse(out) as { readonly backtest: { readonly holdings: Texts } }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- report.json
  return report.backtest.holdings;
}

/** An event for the plain calculation; amounts as text. */
export interface PlainEvent {
  readonly what: 'opening' | 'fill' | 'correction' | 'deposit' | 'withdrawal' | 'credit';
  readonly id: string;
  /** When it was booked, Unix ms. */
  readonly at: number;
  readonly currency: string;
  readonly quantity: string;
  /** In usd: what a fill is worth, what a deposit or credit cost, or what the fee of a withdrawal is worth. */
  readonly value: string;
  readonly side?: string | undefined;
  readonly fee?: string | undefined;
  /** When the units of a deposit or an opening lot were acquired. */
  readonly acquired?: number | undefined;
}

/** What lots.py makes of events, by currency. */
export function plainLots(
  events: readonly PlainEvent[],
  method: string,
): Readonly<Record<'gains' | 'held' | 'cost', Texts>> {
  const { status, stdout, stderr } = spawnSync('python3', [PROGRAM], {
    input: JSON.stringify({ events, method }),
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Readonly<Record<'gains' | 'held' | 'cost', Texts>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- lots.py says so
}

/** Sums of a column by currency, as canonical text; without those that are zero. */
export function sums(lines: string, column: 'gain' | 'quantity' | 'cost'): Texts {
  const found = new Map<string, ReturnType<typeof money>>();
  for (const line of lines.trim().split('\n')) {
    const row = JSON.parse(line) as Texts; // oxlint-disable-line typescript/no-unsafe-type-assertion -- as printed
    const currency = row['currency'] ?? '';
    found.set(currency, add(found.get(currency) ?? money('0'), money(row[column] ?? '')));
  }
  return Object.fromEntries(
    [...found].filter(([, sum]) => !sum.isZero()).map(([currency, sum]) => [currency, text(sum)]),
  );
}

export const isThere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;
