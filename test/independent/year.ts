import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOUR_MS, instant } from '../../src/core/time.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { runLine } from '../support/command.ts';

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
    min_interval: 'PT1H',
    min_trade_notional: { amount: '100', currency: 'usd' },
  },
};

type Texts = Readonly<Record<string, string>>;

/**
 * Runs a year of purchases and rebalancings over five assets as a backtest over generated prices, with its journal in `run.db`. Gives
 * the balances that it ends with.
 */
export async function runYear(folder: string): Promise<Texts> {
  const random = seededRandom('a year');
  for (const [pair, first] of Object.entries(PRICES)) {
    let now = first;
    const rows = Array.from({ length: HOURS }, (_, n) => {
      now *= 1 + 0.012 * (random.next() - 0.5);
      const close = now.toPrecision(8);
      const at = START + n * HOUR_MS;
      return `${at},${close},${close},${close},${close},1`;
    });
    writeFileSync(
      join(folder, `${pair}.csv`),
      ['timestamp_ms,open,high,low,close,volume', ...rows, ''].join('\n'),
    );
  }
  for (const [id, strategy] of Object.entries(STRATEGIES))
    writeFileSync(join(folder, `${id}.yaml`), JSON.stringify({ id, ...strategy }));
  const { code, out, err } = await runLine(
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
