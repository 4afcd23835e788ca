import { createRequire } from 'node:module';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addBacktest } from '../../src/app/cli/backtest-cli.ts';
import { DAY_MS, HOUR_MS, instant } from '../../src/core/time.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { runLine } from '../app/support/cli.ts';

/** The functions of the library in use, so that the compiler need not read all its types. */
interface Peer {
  calculatePortfolioRebalancing(asked: {
    readonly currentWeights: readonly number[];
    readonly targetWeights: readonly number[];
    readonly portfolioValue: number;
    readonly method: 'fixed';
    readonly minTradeSize: 0;
  }): {
    readonly newWeights: readonly number[];
    readonly tradeAmounts: readonly number[];
    readonly turnover: number;
  };
  calculateTimeWeightedReturn(asked: {
    readonly portfolioValues: readonly number[];
    readonly cashFlows: readonly number[];
    readonly annualizationFactor: number;
  }): { readonly twr: number };
  calculateMaxDrawdown(asked: { readonly prices: readonly number[] }): {
    readonly maxDrawdownPercent: number;
  };
}
const library = createRequire(import.meta.url)('@railpath/finance-toolkit') as Peer; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the interface above

/** Compares one rebalancing without costs with an independent library. README.md in this folder states what was searched for. */
const DATA = fileURLToPath(new URL('../../../shared/data/bars_1h/', import.meta.url));
const FILES = { btc: 'BTCUSDT', eth: 'ETHUSDT', ltc: 'LTCUSDT', xrp: 'XRPUSDT' } as const;
type Asset = keyof typeof FILES;
const ASSETS = Object.keys(FILES) as readonly Asset[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- its own keys
const TARGETS = { btc: 0.4, eth: 0.25, ltc: 0.15, xrp: 0.1, usd: 0.1 };
const HELD = { btc: 1.5, eth: 20, ltc: 400, xrp: 9_000, usd: 7_000 };
const HOURS = 24 * 20;
const FREE = ['half_spread_bps', 'impact_bps', 'unavailable_share', 'quote_latency_ms', 'order_latency_ms'].map((each) => `${each}=0`); // prettier-ignore

type Closes = Readonly<Record<Asset, readonly (readonly [at: number, close: string])[]>>;

function madeUp(): Closes {
  const random = seededRandom('peer');
  const walk = (first: number): Closes['btc'] => {
    let price = first;
    return Array.from({ length: HOURS }, (_, i) => {
      price *= 1 + 0.02 * (random.next() - 0.5);
      return [Date.UTC(2025, 0, 1) + i * HOUR_MS, price.toPrecision(6)] as const;
    });
  };
  return { btc: walk(60_000), eth: walk(3_000), ltc: walk(100), xrp: walk(2) };
}

/** A period without gaps. */
function real(): Closes {
  const from = Date.UTC(2021, 2, 10);
  const column = (name: string): Closes['btc'] => {
    const text = gunzipSync(readFileSync(join(DATA, `binance_${name}_1h_2020_2021.csv.gz`))).toString();
    const rows: readonly Readonly<Record<string, string>>[] = parse(text, { columns: true }); // oxlint-disable-line typescript/no-unsafe-assignment -- a header names the columns
    return rows.map((row) => [Number(row['timestamp_ms']), row['close'] ?? ''] as const).filter(([at]) => at >= from && at < from + HOURS * HOUR_MS); // prettier-ignore
  };
  return { btc: column(FILES.btc), eth: column(FILES.eth), ltc: column(FILES.ltc), xrp: column(FILES.xrp) };
}

interface Rebalanced {
  readonly report: Report;
  readonly fills: readonly Readonly<Record<string, string>>[];
}

async function rebalanced(closes: Closes): Promise<Rebalanced> {
  const cwd = mkdtempSync(join(tmpdir(), 'tranche-peer-'));
  onTestFinished(() => {
    rmSync(cwd, { recursive: true });
  });
  for (const asset of ASSETS) {
    const rows = closes[asset].map(([at, close]) => `${at},${close},${close},${close},${close},1`);
    writeFileSync(join(cwd, `${asset}.csv`), ['timestamp_ms,open,high,low,close,volume', ...rows].join('\n'));
  }
  const targets = Object.fromEntries(Object.entries(TARGETS).map(([asset, weight]) => [asset, String(weight)])); // prettier-ignore
  const document = { id: 'one', kind: 'rebalance', target_weights: targets, drift_threshold: '0.001', min_interval: 'P30D', min_trade_notional: { amount: '0.01', currency: 'usd' } }; // prettier-ignore
  writeFileSync(join(cwd, 'one.yaml'), JSON.stringify(document));
  const holdings = Object.entries(HELD).map(([asset, held]) => `${asset}=${held}`);
  const assumed = [...FREE, 'max_usd=100000000', 'price_precision=12', 'last_look_bps=10000'];
  const line = ['backtest', 'one.yaml', '--holdings', holdings.join(), '--out', 'out', ...ASSETS.flatMap((asset) => ['--data', `${asset}usd=${asset}.csv`]), ...assumed.flatMap((one) => ['--assume', one])]; // prettier-ignore
  const { code, err } = await runLine(addBacktest, line, { cwd, now: instant(0), config: 'config/paper.yaml' }); // prettier-ignore
  if (code !== 0) throw new Error(err);
  return {
    report: JSON.parse(readFileSync(join(cwd, 'out/report.json'), 'utf8')) as Report, // oxlint-disable-line typescript/no-unsafe-type-assertion -- its schema is tested elsewhere
    fills: parse(readFileSync(join(cwd, 'out/fills.csv')), { columns: true }), // oxlint-disable-line typescript/no-unsafe-assignment -- a header names the columns
  };
}

const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);
const missing = existsSync(DATA) ? undefined : 'real history lies beside the checkout, and is not there';

describe('a rebalancing without costs', () => {
  for (const [over, closesOf, reason] of [
    ['made-up bars', madeUp, undefined],
    ['real bars', real, missing],
  ] as const)
    // prettier-ignore
    it(`matches a peer library over ${over}${reason === undefined ? '' : ` (skipped: ${reason})`}`, async (ctx) => {
      if (reason !== undefined) return ctx.skip(reason);
      const closes = closesOf();
      const { report, fills } = await rebalanced(closes);
      const worths = [...ASSETS.map((asset) => HELD[asset] * Number(closes[asset][0]?.[1])), HELD.usd];
      const value = sum(worths);
      const peer = library.calculatePortfolioRebalancing({
        currentWeights: worths.map((worth) => worth / value),
        targetWeights: Object.values(TARGETS),
        portfolioValue: value,
        method: 'fixed',
        minTradeSize: 0,
      });
      expect(fills.map(({ pair = '' }) => pair).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ASSETS.map((asset) => `${asset}usd`));
      const own = ASSETS.map((asset) => {
        const fill = fills.find(({ pair }) => pair === `${asset}usd`);
        return Number(fill?.['amount']) * (fill?.['side'] === 'sell' ? -1 : 1);
      });
      // Only rounding may differ: a quantity has at most eight decimals, an amount two.
      for (const [i, amount] of [...own, -sum(own)].entries())
        expect(Math.abs(amount - (peer.tradeAmounts[i] ?? Number.NaN))).toBeLessThan(0.06);
      const [first, second, ...rest] = report.portfolios[0]?.course?.points ?? [];
      const turned = sum(own.map(Math.abs)) + Math.abs(sum(own));
      expect(turned / 2 / value).toBeCloseTo(peer.turnover, 6);
      expect(Number(report.portfolios[0]?.start?.value)).toBeCloseTo(value, 1);

      // After the rebalancing: holdings at the weights of the library, valued at each point, with its return and drawdown.
      const bought = ASSETS.map((asset, i) => ((peer.newWeights[i] ?? 0) * value) / Number(closes[asset][0]?.[1])); // prettier-ignore
      const valueAt = (at: number): number => {
        const row = Math.min(Math.round((at - (closes.btc[0]?.[0] ?? 0)) / HOUR_MS) - 1, HOURS - 1);
        return sum(ASSETS.map((asset, i) => (bought[i] ?? 0) * Number(closes[asset][row]?.[1]))) + (peer.newWeights[4] ?? 0) * value; // prettier-ignore
      };
      const points = [first, second, ...rest].flatMap((point) => point ?? []);
      expect(points.length).toBeGreaterThan(10);
      for (const point of points) expect(Math.abs(point.value / valueAt(Date.parse(point.at)) - 1)).toBeLessThan(1e-6);
      const values = points.map((point) => point.value);
      const { twr } = library.calculateTimeWeightedReturn({ portfolioValues: values, cashFlows: values.map(() => 0), annualizationFactor: 365.25 }); // prettier-ignore
      expect(report.portfolios[0]?.course?.return).toBeCloseTo(twr, 7);
      expect(report.portfolios[0]?.course?.drawdown).toBeCloseTo(library.calculateMaxDrawdown({ prices: values }).maxDrawdownPercent, 7); // prettier-ignore
      expect(Date.parse(points.at(-1)?.at ?? '') - Date.parse(points[0]?.at ?? '')).toBeGreaterThan(19 * DAY_MS);
    });
});
