import { presetModel } from '../../src/research/run/model.ts';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { defineKernel, iso, later, nextBar, price, ratio, scale, text, z } from '../../src/strategy/sdk.ts';
import { aPolicy, aStrategy, aTwap } from '../engine/harness.ts';
import type { RunShape } from './bench.ts';
import { moduleWith } from '../strategy/module-kind.ts';

/** Desks that together contain every kind of strategy, including a user's own kind, over BTC, ether and their cross. */
export interface EveryKind extends Pick<RunShape, 'strategies'> {
  readonly holdings: Readonly<Record<string, string>>;
  readonly policy?: Partial<DeskSettings> | undefined;
  readonly pts?: ExecutionModel['pts'] | undefined;
}

const usd = (amount: string): { readonly amount: string; readonly currency: string } => ({
  amount,
  currency: 'usd',
});
const btc = (amount: string): { readonly amount: string; readonly currency: string } => ({
  amount,
  currency: 'btc',
});
const WEIGHTS = Array.from({ length: 24 }, (_, hour) => 1 + ((hour * 7) % 5));

const scheduled: readonly StrategySource[] = [
  aTwap('twap', {
    duration: 'PT150M',
    slices: 30,
    limit_price: '60300',
    jitter: { time_pct: 30, size_pct: 20, seed: 3 },
  }),
  aStrategy('vwap', 'vwap', {
    pair: 'ethusd',
    side: 'sell',
    total_quantity: { amount: '20', currency: 'eth' },
    duration: 'PT3H',
    slices: 18,
    profile: { weights: WEIGHTS },
    catch_up: 'pace',
  }),
  aStrategy('fall', 'shortfall', {
    pair: 'btcusd',
    side: 'sell',
    total_quantity: btc('0.9'),
    duration: 'PT3H',
    slices: 12,
    risk_aversion: 5,
    volatility: '0.6',
    impact: { bps: 4, per_hour: btc('20') },
  }),
  aStrategy('part', 'pov', {
    pair: 'ethusd',
    side: 'buy',
    total_quantity: { amount: '9', currency: 'eth' },
    share: '0.07',
    interval: 'PT4M',
    duration: 'PT3H',
    max_slice_quantity: { amount: '0.5', currency: 'eth' },
  }),
  aStrategy('plan', 'recurring', {
    pair: 'ethbtc',
    side: 'buy',
    each_notional: btc('0.01'),
    schedule: { cron: '*/9 * * * *', time_zone: 'Europe/Berlin' },
  }),
  aStrategy('dip', 'limit', {
    pair: 'btcusd',
    side: 'buy',
    limit_price: '59850',
    total_quantity: btc('0.5'),
    interval: 'PT33S',
    max_slice_notional: usd('9000'),
  }),
  aStrategy('rise', 'limit', {
    pair: 'ethusd',
    side: 'sell',
    limit_price: '3010',
    total_quantity: { amount: '5', currency: 'eth' },
    max_slice_notional: usd('4000'),
  }),
];

const band = (over: Record<string, unknown>): StrategySource =>
  aStrategy('band', 'rebalance', {
    target_weights: { btc: '0.4', eth: '0.3', usd: '0.3' },
    drift_type: 'absolute',
    drift_threshold: '0.004',
    min_interval: 'PT67.003S',
    min_trade_notional: usd('50'),
    ...over,
  });

/**
 * A user's kernel that uses prices, balances and drifts: it buys ether after a fall and when the weights have moved, and
 * waits for a level that it computes from the current price.
 */
const kernel = defineKernel({
  params: z.strictObject({ fall: z.string(), each: z.string() }),

  start: (_, view) => ({
    state: { high: '0', bought: 0 },
    waits: [{ on: 'at', at: later(view.at, 'PT41S') }],
  }),

  step(state, wake, { fall, each }, view) {
    if (view.left.lt(each)) return { state, finished: true, note: 'the total is used up' };
    const now = view.price('ethusd');
    const held = [view.balance('btc'), view.balance('eth')];
    const at = later(view.at, 'PT7M13S');
    if (now === undefined || held.includes(undefined))
      return { state, waits: [{ on: 'at', at }], note: 'nothing is known' };
    const waits = [
      { on: 'at', at },
      {
        on: 'price',
        pair: 'ethusd',
        is: 'at_or_below',
        level: text(price(scale(now, ratio(fall)).toFixed(2))),
      },
      {
        on: 'drift',
        targets: { btc: '0.6', eth: '0.4' },
        cash: 'usd',
        driftType: 'absolute',
        threshold: (0.02 + 0.01 * (state.bought % 5)).toFixed(2),
        notBefore: later(view.at, 'PT3M'),
      },
    ] as const;
    if (wake.on === 'at' || wake.on === 'outcome') return { state: { ...state, high: text(now) }, waits };
    const intents = [{ pair: 'ethusd', side: 'buy', quantity: each, within: 'PT50S' }] as const;
    return { state: { high: text(now), bought: state.bought + 1 }, waits, intents };
  },
});

/** A user's kernel that uses bars of two lengths: it trades when the shorter mean crosses the longer one. */
const crossing = defineKernel({
  params: z.strictObject({ each: z.string() }),
  bars: () => [
    { pair: 'btcusd', interval: 'PT5M', count: 4 },
    { pair: 'ethusd', interval: 'PT15M', count: 3 },
  ],
  start: (_, view) => ({ state: { seen: '' }, waits: [{ on: 'at', at: nextBar(view.at, 'PT5M') }] }),
  step(_state, wake, { each }, view) {
    const [short, long] = [view.bars('btcusd', 'PT5M'), view.bars('ethusd', 'PT15M')];
    const seen = [...short, ...long].map(({ from, close }) => `${iso(from)} ${text(close)}`).join(', ');
    const waits = [{ on: 'at', at: nextBar(view.at, 'PT5M') }] as const;
    const [first, last] = [short[0], short.at(-1)];
    if (wake.on === 'outcome' || first === undefined || last === undefined || view.left.lt(each))
      return { state: { seen }, waits };
    const side = last.close.gt(first.close) ? 'buy' : 'sell';
    const intents = [{ pair: 'btcusd', side, quantity: each, within: 'PT50S' }] as const;
    return { state: { seen }, waits, intents };
  },
});

function crossingStrategy(): StrategySource {
  const document = {
    module: './crossing.ts',
    pairs: ['btcusd', 'ethusd'],
    total_quantity: { amount: '12', currency: 'btc' },
    params: { each: '0.25' },
  };
  return { id: 'cross', kind: 'module', hash: 'cross', document, bound: moduleWith(crossing).bind(document) };
}

function ownStrategy(): StrategySource {
  const document = {
    module: './own.ts',
    pairs: ['btcusd', 'ethusd'],
    side: 'buy',
    total_quantity: { amount: '12', currency: 'eth' },
    max_intents_per_minute: 6,
    params: { fall: '0.997', each: '0.25' },
  };
  return { id: 'own', kind: 'module', hash: 'own', document, bound: moduleWith(kernel).bind(document) };
}

const rate = { annualRate: '0.9', graceMinutes: 40, frequencyMinutes: 20 };

export const everyKind: Readonly<Record<string, EveryKind>> = {
  module: { strategies: [ownStrategy()], holdings: { usd: '90000', btc: '2', eth: '30' } },
  bars: { strategies: [crossingStrategy()], holdings: { usd: '90000', btc: '20', eth: '30' } },
  schedules: { strategies: scheduled, holdings: { usd: '200000', btc: '2', eth: '60' } },
  band: { strategies: [band({})], holdings: { usd: '90000', btc: '2', eth: '30' } },
  cross: {
    strategies: [
      band({
        drift_type: 'relative',
        drift_threshold: '0.01',
        rebalance_to: 'band_edge',
        via: { eth: 'btc' },
      }),
    ],
    holdings: { usd: '90000', btc: '2', eth: '30' },
  },
  calendar: {
    strategies: [band({ drift_threshold: '0', schedule: { cron: '*/20 * * * *' } })],
    holdings: { usd: '90000', btc: '2', eth: '30' },
  },
  inflow: {
    strategies: [
      aTwap('in', { duration: 'PT150M', slices: 15, total_quantity: btc('2') }),
      aStrategy('out', 'sweep', {
        pair: 'btcusd',
        from: 'btc',
        to: 'usd',
        keep: btc('0.3'),
        min_trade_notional: usd('12000'),
        max_slice_notional: usd('9000'),
      }),
    ],
    holdings: { usd: '150000' },
  },
  credit: {
    strategies: [
      aTwap('loan', { duration: 'PT2H', slices: 8, total_quantity: btc('2') }),
      aStrategy('close', 'settle', {
        pairs: ['btcusd'],
        before_grace_ends: 'PT10M',
        max_slice_notional: usd('20000'),
      }),
    ],
    holdings: { usd: '20000' },
    policy: { pts: { ...aPolicy().pts, use: 'when_enabled' } },
    pts: { ...presetModel('normal').pts, modes: { btcusd: 'Enabled' }, rates: { usd: rate, btc: rate } },
  },
};
