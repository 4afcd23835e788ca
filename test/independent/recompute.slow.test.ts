import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HOUR_MS, MINUTE_MS, instant } from '../../src/core/time.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { runLine } from '../support/command.ts';

/** Backtests, recomputed from their inputs by `recompute.py`, which shares no code with the program. README.md in this folder describes it. */
const PROGRAM = fileURLToPath(new URL('recompute.py', import.meta.url));
const DATA = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
const hasNumpy = spawnSync('python3', ['-c', 'import numpy']).status === 0;

const MODEL = { half_spread_bps: 3, impact_bps: 10 };
/** A venue model without randomness, latency and refused sizes. */
const ASSUMED = [
  ...Object.entries(MODEL).map(([name, value]) => `${name}=${value}`),
  'unavailable_share=0',
  'quote_latency_ms=0',
  'order_latency_ms=0',
  'max_usd=100000000',
  'last_look_bps=10000', // prettier-ignore
];
const HOLDINGS = { usd: '200000' };

const weights = { btc: '0.5', eth: '0.3', usd: '0.2' };
const strategies = {
  twap: (from: number) => ({
    kind: 'twap', pair: 'btcusd', side: 'buy', total_quantity: { amount: '1', currency: 'btc' },
    start_time: new Date(from + 3 * HOUR_MS).toISOString(), duration: 'PT7H', slices: 13,
  }),
  dca: () => ({
    kind: 'recurring', pair: 'btcusd', side: 'buy', each_notional: { amount: '1000', currency: 'usd' },
    schedule: { cron: '0 9 * * *', time_zone: 'UTC' },
  }),
  scheduled: () => ({
    kind: 'rebalance', cash: 'usd', target_weights: weights, drift_threshold: '0.01',
    schedule: { cron: '30 9 * * 1', time_zone: 'UTC' },
  }),
  drifting: () => ({
    kind: 'rebalance', cash: 'usd', target_weights: weights, drift_threshold: '0.02', min_interval: 'PT12H',
  }),
}; // prettier-ignore
type Case = keyof typeof strategies;

interface Row {
  readonly at: number;
  readonly close: string;
}
type Bars = Readonly<Record<string, readonly Row[]>>;

const START = Date.UTC(2025, 0, 1);
function madeUp(stepMs: number, rows: number): Bars {
  const random = seededRandom('independent');
  const walk = (price: number): readonly Row[] => {
    let now = price;
    const spread = 0.006 * Math.sqrt(stepMs / HOUR_MS);
    return Array.from({ length: rows }, (_, i) => {
      now *= 1 + spread * (2 * random.next() - 1) * 1.7;
      return { at: START + i * stepMs, close: now.toFixed(2) };
    });
  };
  return { btcusd: walk(60_000), ethusd: walk(3_000) };
}

const real = (folder: string, files: Readonly<Record<string, string>>, from: number, until: number): Bars =>
  Object.fromEntries(
    Object.entries(files).map(([pair, file]) => {
      const text = gunzipSync(readFileSync(join(DATA, folder, file))).toString();
      const rows = parse(text, { columns: true }) as readonly Record<string, string>[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- a header names the columns
      const own = rows.map((row) => ({ at: Number(row['timestamp_ms']), close: row['close'] ?? '' }));
      return [pair, own.filter(({ at }) => at >= from && at < until)];
    }),
  );

interface Told {
  readonly fills: readonly (readonly (string | number)[])[];
  readonly course: (Readonly<Record<string, unknown>> & { readonly values: readonly number[] }) | null;
}

/** The same strategy over the same bars: the report of the program, and the results of Python. */
async function both(name: Case, bars: Bars): Promise<{ readonly program: Told; readonly python: Told }> {
  const cwd = mkdtempSync(join(tmpdir(), 'tranche-independent-'));
  onTestFinished(() => {
    rmSync(cwd, { recursive: true });
  });
  const pairs = name === 'twap' || name === 'dca' ? ['btcusd'] : ['btcusd', 'ethusd'];
  for (const pair of pairs) {
    const rows = bars[pair]?.map(({ at, close }) => `${at},${close},${close},${close},${close},1`) ?? [];
    writeFileSync(
      join(cwd, `${pair}.csv`),
      ['timestamp_ms,open,high,low,close,volume', ...rows, ''].join('\n'),
    );
  }
  const strategy = strategies[name](bars['btcusd']?.[0]?.at ?? 0);
  writeFileSync(join(cwd, 'one.yaml'), JSON.stringify({ id: 'one', ...strategy }));
  const line = [
    'backtest',
    'one.yaml',
    '--holdings',
    'usd=200000',
    '--out',
    'out', // prettier-ignore
    ...pairs.flatMap((pair) => ['--data', `${pair}=${pair}.csv`]),
    ...ASSUMED.flatMap((setting) => ['--assume', setting]),
  ];
  const { code, err } = await runLine(line, {
    cwd,
    now: instant(0),
    config: 'config/paper.yaml',
  });
  if (code !== 0) throw new Error(err);
  const files = Object.fromEntries(pairs.map((pair) => [pair, join(cwd, `${pair}.csv`)]));
  const input = JSON.stringify({ strategy, bars: files, holdings: HOLDINGS, model: MODEL });
  const { status, stdout, stderr } = spawnSync('python3', [PROGRAM], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const python = JSON.parse(stdout) as Told; // oxlint-disable-line typescript/no-unsafe-type-assertion -- recompute.py says so
  return { program: told(join(cwd, 'out'), python), python };
}

interface Reported {
  readonly portfolios: readonly {
    readonly gains: readonly unknown[];
    readonly at_costs: readonly unknown[];
    readonly course: Readonly<Record<string, unknown>> & { readonly points: readonly { readonly value: number }[] };
  }[];
} // prettier-ignore

/** The contents of the report files, in the format of the results of Python. */
function told(folder: string, python: Told): Told {
  const rows = parse(readFileSync(join(folder, 'fills.csv')), { columns: true }) as readonly Record<string, string>[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- a header names the columns
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as Reported; // oxlint-disable-line typescript/no-unsafe-type-assertion -- its schema is tested elsewhere
  const [portfolio] = report.portfolios;
  const course = portfolio && { ...portfolio.course, gains: portfolio.gains, at_costs: portfolio.at_costs };
  const fieldOf = (name: string): unknown => Object.entries(course ?? {}).find(([key]) => key === name)?.[1];
  return {
    fills: rows.map((row) => [Date.parse(row['executed_at'] ?? ''), ...['pair', 'side', 'quantity', 'price', 'amount'].map((each) => row[each] ?? '')]),
    course:
      course === undefined || python.course === null
        ? null
        : {
            ...Object.fromEntries(Object.keys(python.course).map((each) => [each, fieldOf(each)])),
            values: course.points.map(({ value }) => value),
          },
  };
} // prettier-ignore

const cases = Object.keys(strategies) as readonly Case[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- its own keys

/** A day of minutes for the twap, weeks of hours for all others: real bars without a gap. */
const realBars = (name: Case): Bars =>
  name === 'twap'
    ? real('bars_1m', { btcusd: 'bitfinex_BTCUSD_1m_2018.csv.gz' }, Date.UTC(2018, 2, 5), Date.UTC(2018, 2, 6))
    : real('bars_1h', { btcusd: 'binance_BTCUSDT_1h_2020_2021.csv.gz', ethusd: 'binance_ETHUSDT_1h_2020_2021.csv.gz' }, Date.UTC(2021, 0, 1), Date.UTC(2021, 1, 11)); // prettier-ignore

const sources = [
  {
    over: 'made-up bars',
    missing: undefined,
    bars: (name: Case): Bars => (name === 'twap' ? madeUp(MINUTE_MS, 1_440) : madeUp(HOUR_MS, 24 * 90)),
  },
  {
    over: 'real bars',
    missing: existsSync(DATA) ? undefined : 'real history lies beside the checkout, and is not there',
    bars: realBars,
  },
];

for (const { over, missing, bars } of sources) {
  const reason = missing ?? (hasNumpy ? undefined : 'there is no python3 with numpy');
  describe(`a backtest over ${over}${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
    for (const name of cases)
      it(`has the fills and the course that Python recomputes, to the last digit: ${name}`, async (ctx) => {
        if (reason !== undefined) return ctx.skip(reason);
        const { program, python } = await both(name, bars(name));
        expect(python.fills.length).toBeGreaterThanOrEqual(name === 'scheduled' ? 6 : 10);
        expect(program).toEqual(python);
      });
  });
}
