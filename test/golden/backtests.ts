import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf, line, tranche } from './job.ts';
import type { Job } from './job.ts';

/** Prices are made here, in whole numbers, so that nothing of the product can change them. */
const START = Date.UTC(2026, 2, 1);
const BAR_MS = 5 * 60_000;
const BARS = 14 * 24 * 12;

/** First price and its smallest step. */
const PAIRS = {
  btcusd: { first: 6_000_000, decimals: 2 },
  ethusd: { first: 300_000, decimals: 2 },
  solusd: { first: 15_000, decimals: 2 },
  ltcusd: { first: 8_000, decimals: 2 },
  xrpusd: { first: 250_000, decimals: 5 },
} as const;

type PairName = keyof typeof PAIRS;
const PAIR_NAMES = Object.keys(PAIRS) as readonly PairName[];

/** Hours of each pair that the tapes with gaps leave out: an hour, half a day, and all pairs at once. */
const GAPS = [
  [30, 31],
  [100, 112],
  [200, 201],
  [250, 256],
] as const;

const ALL_HOLDINGS = 'usd=250000,btc=2,eth=20,sol=300,ltc=200,xrp=20000';

interface Market {
  readonly pairs: readonly PairName[];
  readonly holdings: string;
}

const BTC: Market = { pairs: ['btcusd'], holdings: 'usd=250000,btc=2' };
const ALL: Market = { pairs: PAIR_NAMES, holdings: ALL_HOLDINGS };

const twap = (more: string): string => `kind: twap\npair: btcusd\n${more}\n`;

/** Every kind, with the settings that lead to different code. */
export const STRATEGIES: Readonly<Record<string, Market & { readonly text: string }>> = {
  'twap-buy': {
    ...BTC,
    text: twap(
      "side: buy\ntotal_quantity: { amount: '1.5', currency: btc }\nduration: P2D\nslices: 96\nlimit_price: '60500'",
    ),
  },
  'twap-sell-jitter': {
    ...BTC,
    text: twap(
      "side: sell\ntotal_quantity: { amount: '1.2', currency: btc }\nduration: P1D\ninterval: PT20M\njitter: { time_pct: 40, size_pct: 20, seed: 5 }\ncatch_up: extend",
    ),
  },
  'twap-notional': {
    ...BTC,
    text: twap(
      "side: buy\ntotal_notional: { amount: '90000', currency: usd }\nduration: PT36H\nslices: 72\ncatch_up: skip",
    ),
  },
  vwap: {
    ...BTC,
    text: "kind: vwap\npair: btcusd\nside: buy\ntotal_quantity: { amount: '1.5', currency: btc }\nstart_time: '2026-03-02T13:00:00[Europe/London]'\nduration: PT24H\ninterval: PT20M\nprofile: { time_zone: Europe/London, weights: [2, 1, 1, 1, 2, 3, 4, 5, 7, 8, 3, 2] }\n",
  },
  pov: {
    ...BTC,
    text: "kind: pov\npair: btcusd\nside: buy\ntotal_quantity: { amount: '1.5', currency: btc }\nshare: '0.02'\ninterval: PT10M\nstart_time: '2026-03-02T20:00:00Z'\nduration: PT10H\nmax_slice_quantity: { amount: '0.2', currency: btc }\nlimit_price: '75000'\n",
  },
  shortfall: {
    ...BTC,
    text: "kind: shortfall\npair: btcusd\nside: sell\ntotal_quantity: { amount: '1.5', currency: btc }\nstart_time: '2026-03-03T15:00:00[America/New_York]'\nduration: PT8H\ninterval: PT10M\nrisk_aversion: 5\nvolatility: '0.6'\nimpact: { bps: 2, per_hour: { amount: '0.5', currency: btc }, half_spread_bps: 1.5 }\n",
  },
  recurring: {
    ...BTC,
    text: "kind: recurring\npair: btcusd\nside: buy\neach_notional: { amount: '9000', currency: usd }\nwindow: PT20M\nslices: 4\njitter: { time_pct: 30, size_pct: 10, seed: 7 }\nschedule: { cron: '30 2,14 * * *', time_zone: America/New_York, misfire: once, misfire_after: PT5M }\n",
  },
  hourly: {
    ...BTC,
    text: "kind: recurring\npair: btcusd\nside: buy\neach_quantity: { amount: '0.01', currency: btc }\nschedule: { cron: '0 * * * *', time_zone: UTC }\n",
  },
  limit: {
    ...BTC,
    text: "kind: limit\npair: btcusd\nside: buy\ntotal_quantity: { amount: '1.5', currency: btc }\nlimit_price: '59500'\nmax_slice_notional: { amount: '20000', currency: usd }\nmargin_bps: 4\ninterval: PT2M\n",
  },
  'rebalance-continuous': {
    ...ALL,
    text: "kind: rebalance\ntarget_weights: { btc: '0.4', eth: '0.25', sol: '0.1', ltc: '0.05', xrp: '0.05', usd: '0.15' }\ncash: usd\ndrift_type: relative\ndrift_threshold: '0.04'\nrebalance_to: band_edge\nmin_trade_notional: { amount: '500', currency: usd }\nmin_interval: PT15M\n",
  },
  'rebalance-daily': {
    ...ALL,
    text: "kind: rebalance\ntarget_weights: { btc: '0.3', eth: '0.3', sol: '0.1', ltc: '0.1', xrp: '0.1', usd: '0.1' }\ncash: usd\ncash_buffer: { amount: '40000', currency: usd }\ndrift_type: absolute\ndrift_threshold: '0.005'\nrebalance_to: target\nmax_turnover: '0.2'\nschedule: { cron: '0 9 * * *', time_zone: Europe/London }\n",
  },
  sweep: {
    ...BTC,
    text: "kind: sweep\nfrom: btc\nto: usd\nkeep: { amount: '0.5', currency: btc }\nmin_trade_notional: { amount: '1000', currency: usd }\nmax_slice_notional: { amount: '15000', currency: usd }\ncollect: PT5M\n",
  },
  settle: {
    ...BTC,
    holdings: 'usd=1000,btc=2',
    text: "kind: settle\npairs: [btcusd]\nbefore_grace_ends: PT30M\nmax_carry_bps: 1\nmax_slice_notional: { amount: '15000', currency: usd }\n---\nid: borrower\nkind: twap\npair: btcusd\nside: buy\ntotal_quantity: { amount: '0.5', currency: btc }\nduration: PT6H\nslices: 12\n",
  },
  module: {
    ...BTC,
    text: "kind: module\nmodule: ./dip.ts\npairs: [btcusd]\nside: buy\ntotal_notional: { amount: '40000', currency: usd }\nparams: { pair: btcusd, each: '1000', dip: '0.004', look: PT5M }\n",
  },
  'two-strategies': {
    ...ALL,
    text: "kind: limit\npair: ethusd\nside: sell\ntotal_quantity: { amount: '15', currency: eth }\nlimit_price: '3010'\ninterval: PT10M\nmax_slice_notional: { amount: '6000', currency: usd }\n---\nid: second\nkind: twap\npair: solusd\nside: buy\ntotal_quantity: { amount: '500', currency: sol }\nduration: P3D\nslices: 100\n",
  },
};

/** A kernel of a user. */
const MODULE = `
import { defineKernel, greatest, later, price, ratio, scale, subtract, text, z } from 'tranche/strategy';
export const kernel = defineKernel({
  params: z.strictObject({ pair: z.string(), each: z.string(), dip: z.string(), look: z.string() }),
  start: (params, view) => ({ state: { high: '0' }, waits: [{ on: 'at', at: later(view.at, params.look) }] }),
  step(state, _wake, { pair, each, dip, look }, view) {
    if (view.left.lt(each)) return { state, finished: true };
    const waits = [{ on: 'at' as const, at: later(view.at, look) }];
    const now = view.price(pair);
    if (now === undefined || view.open > 0) return { state, waits };
    const high = greatest(price(state.high), now);
    const limit = scale(high, subtract(ratio('1'), ratio(dip)));
    if (now.gt(limit)) return { state: { high: text(high) }, waits };
    return { state: { high: text(now) }, waits, intents: [{ pair, side: 'buy' as const, notional: each, limit }] };
  },
});
`;

interface Scenario {
  readonly args: readonly string[];
  readonly gaps?: boolean;
  readonly config?: string;
  readonly holdings?: string;
}

/** What the market, the venue and the limits do. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  normal: { args: ['--model', 'normal'] },
  stressed: { args: ['--model', 'stressed', '--seed', '2'] },
  gaps: { args: ['--model', 'tight', '--assume', 'fee_bps=4'], gaps: true },
  refusals: {
    args: [
      '--assume',
      'rejected_share=0.3',
      '--assume',
      'unavailable_share=0.08',
      '--assume',
      'last_look_bps=1',
    ],
  },
  'small maximum': { args: ['--assume', 'max_usd=900', '--assume', 'quote_latency_ms=900'] },
  limits: { args: ['--model', 'normal'], config: 'limits.yaml' },
  credit: { args: ['--model', 'credit-model.yaml'], config: 'credit.yaml' },
  'brief quotes': {
    args: ['--assume', 'quote_life_ms=2500', '--assume', 'order_latency_ms=700', '--seed', '9'],
  },
  window: { args: ['--model', 'stressed', '--from', '2026-03-03T07:00:00Z', '--until', '2026-03-06'] },
  'large market': { args: ['--assume', 'impact_bps=300', '--assume', 'half_spread_bps=20'], gaps: true },
  poor: { args: ['--model', 'normal'], holdings: 'usd=9000,btc=0.2,eth=1,sol=10,ltc=10,xrp=500' },
};

const WAYS = {
  jumped: [],
  'every tick': ['--every-tick'],
} as const;

const config = (dayUsd: string, orderUsd: string, more = ''): string => `
mode: paper
venue:
  sell_path: /v1/orders/sell
  simulated: { accounts: [{ balances: { usd: '250000', btc: '1' } }] }
controls:
  max_order_notional: { amount: '${orderUsd}', currency: usd }
  max_day_notional: { amount: '${dayUsd}', currency: usd }
  collar_bps: 100
journal: 'memory:'
strategies: [twap-buy.yaml]
${more}`;

/** Writes what the backtests read: configs, strategies, prices. */
export function writeInputs(folder: string): void {
  const put = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
  };
  put('config.yaml', config('5000000', '250000'));
  put('limits.yaml', config('30000', '4000'));
  put(
    'credit.yaml',
    config(
      '5000000',
      '250000',
      "pts: { use: when_enabled, max_credit: { amount: '40000', currency: usd } }\n",
    ),
  );
  put(
    'credit-model.yaml',
    'base: normal\npts:\n  default_mode: Enabled\n  default_rate: { annual_rate: "0.08", grace_minutes: 1440, frequency_minutes: 60 }\n',
  );
  put('dip.ts', MODULE);
  for (const [id, { text }] of Object.entries(STRATEGIES)) put(`${id}.yaml`, `id: ${id}\n${text}`);
  mkdirSync(join(folder, 'gaps'));
  for (const pair of PAIR_NAMES) {
    put(`${pair}.csv`, bars(pair, []));
    put(join('gaps', `${pair}.csv`), bars(pair, GAPS));
  }
}

/** Each strategy in each scenario, in the two ways of a backtest: the same journal, told by the hash of its head. */
export const backtestJobs = (): readonly Job[] =>
  Object.entries(STRATEGIES).flatMap(([id, strategy]) =>
    Object.entries(SCENARIOS).flatMap(([title, scenario]) =>
      Object.entries(WAYS).map(([way, option]): Job => {
        const name = `backtest ${id}, ${title}, ${way}`;
        return {
          name,
          adds: (each) => each === name,
          async run(folder) {
            const { code, stdout, stderr } = await tranche(folder, [
              ...backtestArgs(id, strategy, scenario),
              ...option,
              '--json',
            ]);
            if (code !== 0) return [line(name, `exit ${code}, ${hashOf(stderr)}`)];
            const report = JSON.parse(stdout) as { readonly made_from: { readonly head: string } };
            return [line(name, `${report.made_from.head.slice(0, 16)} ${hashOf(stdout)}`)];
          },
        };
      }),
    ),
  );

/** The command line of one backtest. */
export function backtestArgs(id: string, { pairs, holdings }: Market, scenario: Scenario): readonly string[] {
  return [
    'backtest',
    `${id}.yaml`,
    '--config',
    scenario.config ?? 'config.yaml',
    ...pairs.flatMap((pair) => ['--data', `${pair}=${scenario.gaps === true ? 'gaps/' : ''}${pair}.csv`]),
    '--holdings',
    holdingsOf(pairs, scenario.holdings ?? holdings),
    ...scenario.args,
  ];
}

/** Only what the pairs can value. */
const holdingsOf = (pairs: readonly PairName[], holdings: string): string =>
  holdings
    .split(',')
    .filter(
      (each) => each.startsWith('usd=') || pairs.some((pair) => each.startsWith(`${pair.slice(0, 3)}=`)),
    )
    .join(',');

/** One backtest that the outputs are made from, with every kind of record in it that a backtest writes. */
export const SAMPLE: readonly string[] = backtestArgs('rebalance-continuous', ALL, {
  args: ['--assume', 'rejected_share=0.2'],
});

/** Bars of five minutes as CSV. The walk is a linear congruential generator over whole numbers: the same everywhere. */
function bars(pair: PairName, gaps: readonly (readonly [number, number])[]): string {
  const { first, decimals } = PAIRS[pair];
  let state = PAIR_NAMES.indexOf(pair) + 1;
  const draw = (range: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >>> 8) % range;
  };
  const text = (price: number): string => (price / 10 ** decimals).toFixed(decimals);
  const rows = ['timestamp_ms,open,high,low,close,volume'];
  let close: number = first;
  const step = Math.max(2, Math.floor(first / 700));
  for (let n = 0; n < BARS; n++) {
    const open = close;
    close = Math.max(step, open + draw(2 * step + 1) - step);
    const high = Math.max(open, close) + draw(step);
    const low = Math.max(1, Math.min(open, close) - draw(step));
    const volume = 1 + draw(900);
    const hour = Math.floor(n / 12);
    if (gaps.some(([from, until]) => hour >= from && hour < until)) continue;
    rows.push([START + n * BAR_MS, text(open), text(high), text(low), text(close), volume].join(','));
  }
  return `${rows.join('\n')}\n`;
}
