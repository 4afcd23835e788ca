import { presetModel } from '../../src/backtest/model.ts';
import type { ExecutionModel } from '../../src/backtest/model.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import type { Policy } from '../../src/engine/policy.ts';
import { aPolicy, aStrategy, aTwap } from '../engine/harness.ts';
import type { RunShape } from './bench.ts';

/** Desks that together hold every kind of strategy that comes with the program, over BTC, ether and the cross of the two. */
export interface EveryKind extends Pick<RunShape, 'strategies'> {
  readonly holdings: Readonly<Record<string, string>>;
  readonly policy?: Partial<Policy> | undefined;
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
    continuous: true,
    min_interval: 'PT67.003S',
    min_trade_notional: usd('50'),
    ...over,
  });

const rate = { annualRate: '0.9', graceMinutes: 40, frequencyMinutes: 20 };

export const everyKind: Readonly<Record<string, EveryKind>> = {
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
    strategies: [band({ continuous: false, drift_threshold: '0', schedule: { cron: '*/20 * * * *' } })],
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
