import { describe, expect, it } from 'vitest';
import { money, quantity } from '../../src/core/money.ts';
import type { Minimum } from '../../src/core/instrument.ts';
import type { AnyStrategy } from '../../src/strategy/kernel.ts';
import { strategies } from '../../src/strategy/registry.ts';
import { problemsOf } from './views.ts';

const btc = (amount: string) => ({ amount, currency: 'btc' });
const usd = (amount: string) => ({ amount, currency: 'usd' });
const NINE = '2026-12-01T09:00:00Z';
const TEN = '2026-12-01T10:00:00Z';
const ELEVEN = '2026-12-01T11:00:00Z';
const NEXT = '2026-12-02T10:00:00Z';
const hours = (named: Readonly<Record<number, number>> = {}): readonly number[] =>
  Array.from({ length: 24 }, (_, hour) => named[hour] ?? 1);
const SLICED = { pair: 'btcusd', side: 'buy', total_quantity: btc('1'), duration: 'PT4H', slices: 4 };
const IMPACT = { bps: 3, per_hour: btc('8') };
const jitter = (size_pct: number) => ({ time_pct: 0, size_pct, seed: 1 });
const daily = (over: object) => ({ schedule: { cron: '0 10 * * *', ...over } });

/** A valid document of each kind; those of modules have their own tests. */
const valid: Readonly<Record<string, object>> = {
  twap: SLICED,
  vwap: { ...SLICED, profile: { weights: hours({ 10: 2, 11: 4 }) } },
  shortfall: { ...SLICED, risk_aversion: 3.65, volatility: '0.6', impact: IMPACT },
  limit: {
    pair: 'btcusd',
    side: 'buy',
    total_quantity: btc('1'),
    limit_price: '60000',
    max_slice_quantity: btc('0.4'),
  },
  pov: {
    pair: 'btcusd',
    side: 'buy',
    total_quantity: btc('3'),
    share: '0.1',
    interval: 'PT5M',
    duration: 'PT1H',
  },
  recurring: { pair: 'btcusd', side: 'buy', each_quantity: btc('2'), ...daily({}) },
  sweep: { from: 'btc', to: 'usd', keep: btc('2') },
  settle: { pairs: ['btcusd', 'ethusd'], before_grace_ends: 'PT10M' },
  rebalance: { target_weights: { btc: '0.5', eth: '0.3', usd: '0.2' }, drift_threshold: '0.05' },
};
function kindOf(name: string): AnyStrategy {
  const kind = strategies.get(name);
  if (kind === undefined) throw new Error(`no kind ${name}`);
  return kind;
}
const problems = (name: string, over: object, minimum?: Minimum): readonly string[] =>
  problemsOf(kindOf(name), { ...valid[name], ...over }, minimum);

const five = { notional: money('5') };
const least = (amount: string): Minimum => ({ quantity: quantity(amount) });
const both = { quantity: quantity('0.1'), notional: money('1000') };
const DEAR = { notional: money('120') };
const ETH = { amount: '1', currency: 'eth' };
const EIGHT = { start_time: NINE, total_quantity: btc('8') };
const TWO = ['btcusd', 'btceur'];
const PIECES = { max_slice_quantity: undefined };
const END = { duration: undefined, end_time: TEN };
const NOTIONAL = { total_quantity: undefined, total_notional: usd('5000') };
const EACH = { each_quantity: undefined };
const LIMIT_USD = { total_quantity: undefined, total_notional: usd('1') };
const QUIET = { quiet_hours: [{ from: '09:00', to: '11:00' }] };
const CLOSED = { blackouts: [{ from: '2026-11-01T00:00:00Z', to: '2027-01-01T00:00:00Z' }] };

describe('a document', () => {
  it.each(Object.keys(valid))('of kind %s is valid', (kind) => {
    expect(problems(kind, {}, five)).toEqual([]);
  });

  it.each<readonly [string, object] | readonly [string, object, Minimum]>([
    ['twap', { slices: undefined, interval: 'PT15M' }],
    ['twap', { slices: 10 }, both],
    ['twap', { slices: 7, jitter: jitter(30) }, both],
    ['twap', { ...NOTIONAL, slices: 5 }, both],
    ['twap', { slices: 5, limit_price: '5000' }, both],
    ['twap', { slices: 1000 }, { notional: money('1000') }],
    ['twap', { slices: 1000 }, least('0')],
    ['twap', { side: 'sell', keep: btc('1') }],
    ['recurring', { side: 'sell', keep: btc('1') }],
    ['vwap', { duration: 'P366D' }],
    ['limit', { max_slice_quantity: undefined }],
    ['recurring', { slices: 6 }, least('0.3')],
    ['recurring', daily({ cron: '0 10 1 * *', calendar: {} })],
    ['recurring', daily({ cron: '0 10 29 2 *' })],
    ['recurring', { end_time: '2026-12-02T00:00:00Z' }],
    ['settle', { max_slice_notional: usd('10') }, five],
    ['sweep', { from: 'usd', to: 'btc', keep: usd('10000'), min_trade_notional: usd('500') }],
  ])('of kind %s is accepted with %j', (kind, over, minimum?: Minimum) => {
    expect(problems(kind, over, minimum)).toEqual([]);
  });

  it.each<readonly [string, object, string] | readonly [string, object, string, Minimum]>([
    ['twap', { total_notional: usd('1') }, 'total_notional: give either total_quantity or'],
    ['twap', { total_quantity: undefined }, ': give one of total_quantity and total_notional'],
    ['twap', { interval: 'PT1H' }, 'slices: give either interval or slices, not both: remove one'],
    ['twap', { slices: undefined }, ': give one of interval and slices'],
    ['twap', { end_time: NINE }, 'end_time: give either duration or end_time, not both: remove one'],
    ['twap', { duration: undefined }, ': give one of duration and end_time'],
    ['twap', { total_quantity: usd('1') }, 'must be in btc, not usd; for usd write total_notional'],
    ['twap', { ...NOTIONAL, total_notional: btc('1') }, 'not btc; for btc write total_quantity'],
    ['twap', { total_quantity: ETH }, 'total_quantity of btcusd must be in btc, not eth'],
    ['twap', { slices: undefined, interval: 'PT7M' }, 'window of 14400 s; write slices: 34 instead'],
    ['twap', { slices: undefined, interval: 'P1D' }, 'window of 14400 s; write slices: 1 instead'],
    ['twap', { slices: undefined, interval: 'PT0.1S' }, 'interval: more than 100000 slices'],
    ['twap', { keep: btc('1') }, 'keep.currency: keep of a buy of btcusd must be in usd, the currency'],
    ['twap', { min_trade_notional: btc('1') }, 'min_trade_notional of a buy of btcusd must be in usd'],
    ['recurring', { keep: btc('1') }, 'keep.currency: keep of a buy of btcusd must be in usd'],
    ['recurring', { min_trade_notional: btc('1') }, 'must be in usd, the quote currency, not btc'],
    ['twap', END, 'end_time: end_time needs start_time; or write duration instead'],
    ['twap', { ...END, start_time: TEN }, 'end_time: end_time must be later than start_time'],
    ['twap', { slices: 11 }, 'slices: 1 btc in 11 slices: the smallest is 0.0909090', both],
    ['twap', { slices: 8, jitter: jitter(30) }, 'at most 7 slices', both],
    ['twap', { ...NOTIONAL, slices: 6 }, 'minimum of 1000 usd; at most 5', both],
    // 1 btc at 5000 is 5000 usd: at most 5 slices of 1000, though 10 would meet the minimum quantity.
    ['twap', { slices: 6, limit_price: '5000' }, 'at most 5', both],
    ['twap', { slices: 11, limit_price: '50000' }, 'at most 10', both],
    ['twap', { total_quantity: btc('0.09') }, '0.1 btc; write total_quantity: 0.4', both],
    ['vwap', { duration: 'P367D' }, 'duration: '],
    ['vwap', { duration: undefined, start_time: NINE, end_time: '2027-12-03T09:00:00Z' }, 'end_time: '],
    ['vwap', { duration: undefined, end_time: '2027-12-03T09:00:00Z' }, 'end_time: '],
    ['vwap', EIGHT, '8 btc in 4 slices: the smallest is 1 btc', least('1.1')],
    ['vwap', { ...EIGHT, jitter: jitter(10) }, 'the smallest is 0.9 btc', least('1.1')],
    ['shortfall', { impact: { bps: 3, per_hour: usd('8') } }, 'impact.per_hour.currency: per_hour must be'],
    ['limit', { total_quantity: undefined }, ': give one of total_quantity and total_notional'],
    ['limit', { total_notional: usd('1'), max_slice_quantity: undefined }, 'total_notional: give either'],
    ['limit', { total_quantity: usd('1') }, 'total_quantity.currency: '],
    ['limit', { max_slice_quantity: usd('1') }, 'max_slice_quantity.currency: '],
    ['limit', { max_slice_notional: usd('1') }, 'max_slice_notional: give either'],
    ['limit', LIMIT_USD, 'max_slice_quantity: with total_notional, the pieces must'],
    ['limit', { start_time: NINE, good_til: NINE }, 'good_til: good_til must be later than start_time'],
    ['limit', { interval: 'PT0.5S' }, 'interval: the interval must be at least one second (PT1S)'],
    ['limit', { max_slice_quantity: btc('0.00001') }, 'max_slice_quantity.amount: more than 10000'],
    ['limit', {}, 'minimum is 0.35 at limit_price: allow pieces of 0.5 btc', least('0.35')],
    ['limit', { ...PIECES, max_slice_notional: usd('100') }, 'at limit_price: allow pieces of 120 usd', DEAR],
    ['limit', { total_quantity: btc('0.00001') }, 'total_quantity.amount: the whole total is below', five],
    ['pov', { share: '0' }, 'share: expected a share above 0 and below 1, such as "0.05"'],
    ['pov', { share: '1' }, 'share: expected a share above 0 and below 1, such as "0.05"'],
    ['pov', { duration: undefined }, ': give one of duration and end_time'],
    ['pov', END, 'end_time: end_time needs start_time; or write duration instead'],
    ['pov', { total_quantity: usd('3') }, 'total_quantity must be in btc, not usd'],
    ['pov', { interval: 'PT0.01S' }, 'interval: more than 100000 intervals: choose a longer one'],
    ['recurring', EACH, ': give one of each_quantity and each_notional'],
    ['recurring', { each_notional: usd('1') }, 'each_notional: give either'],
    ['recurring', { each_quantity: usd('1') }, 'each_quantity.currency: '],
    ['recurring', { start_time: NEXT, end_time: TEN }, 'end_time: '],
    ['recurring', { start_time: ELEVEN, end_time: NEXT }, 'schedule.cron: the schedule has no time'],
    ['recurring', { window: 'P8D' }, 'P7D'],
    ['recurring', { window: 'PT25H' }, 'write at most PT86400S'],
    ['recurring', daily(QUIET), 'quiet hours 09:00 to 11:00'],
    ['recurring', daily({ cut_off: '10:00' }), 'cut-off at 10:00'],
    ['recurring', daily({ cron: '0 10 * * 6', calendar: {} }), 'weekend (saturday)'],
    ['recurring', { start_time: NINE, end_time: NEXT, ...daily(CLOSED) }, 'blackout until 2027'],
    ['recurring', { slices: 10 }, 'at most 6 slices are possible', least('0.3')],
    ['recurring', {}, 'each_quantity.amount: 2 btc, below the venue', least('3')],
    ['sweep', { to: 'btc' }, 'to: from and to are both btc: name two currencies'],
    ['sweep', { pair: 'ethusd' }, 'pair: ethusd is not a pair of btc and usd: write btcusd or usdbtc'],
    ['sweep', { keep: usd('1') }, 'keep.currency: keep must be in btc, not usd'],
    ['sweep', { min_trade_notional: btc('1') }, 'must be in usd'],
    ['sweep', { max_slice_notional: usd('9') }, 'max_slice_notional.amount: pieces could be below', five],
    ['sweep', { collect: 'PT1M', schedule: { cron: '0 17 * * *' } }, 'collect: give either'],
    ['sweep', { start_time: TEN, end_time: NINE }, 'end_time: end_time must be later than start_time'],
    ['sweep', { interval: 'PT0.2S' }, 'interval: the interval must be at least one second (PT1S)'],
    ['settle', { before_grace_ends: undefined }, ': closing times are missing'],
    ['settle', { pairs: ['btcusd', 'btcusd'] }, 'pairs.1: btcusd is listed twice: remove one'],
    ['settle', { interval: 'PT0.1S' }, 'interval: the interval must be at least one second (PT1S)'],
    ['settle', { pairs: TWO, max_slice_notional: usd('10') }, 'pairs.1: max_slice_notional is in usd, but'],
    ['settle', { pairs: ['btcusd'], max_slice_notional: usd('9') }, 'at least twice', five],
    ['rebalance', { target_weights: { btc: '0.5', usd: '0.4999' } }, 'not 1: add 0.0001'],
    ['rebalance', { target_weights: { btc: '0.7', usd: '0.4' } }, 'not 1: subtract 0.1'],
    ['rebalance', { target_weights: { usd: '1' } }, 'target_weights: name at least one currency besides usd'],
    ['rebalance', { min_trade_notional: btc('1') }, 'must be in the cash currency: write usd'],
    ['rebalance', { cash_buffer: btc('1') }, 'cash_buffer.currency: '],
    ['rebalance', { end_time: NINE, duration: 'P1D' }, 'duration: give either'],
    ['rebalance', { start_time: NINE, end_time: NINE }, 'end_time: end_time must be later than start_time'],
    ['rebalance', { via: { doge: 'btc' } }, 'not among target_weights'],
    ['rebalance', { via: { eth: 'usd' } }, 'from via'],
    ['rebalance', { via: { eth: 'eth' } }, 'than eth'],
    ['rebalance', { via: { eth: 'sol' } }, 'than eth'],
  ])('of kind %s with %j is refused: %s', (kind, over, problem, minimum?: Minimum) => {
    expect(problems(kind, over, minimum)).toEqual([expect.stringContaining(problem)]);
  });

  it.each<readonly [kind: string, over: object, path: string]>([
    ['twap', { slices: 0 }, 'slices'],
    ['twap', { slices: 1.5 }, 'slices'],
    ['twap', { slices: '4' }, 'slices'],
    ['twap', { side: 'BUY' }, 'side'],
    ['twap', { duration: '4h' }, 'duration'],
    ['twap', { duration: 'PT0S' }, 'duration'],
    ['twap', { total_quantity: { amount: 1.5, currency: 'btc' } }, 'total_quantity.amount'],
    ['twap', { total_quantity: btc('0') }, 'total_quantity.amount'],
    ['twap', { total_quantity: btc('-1') }, 'total_quantity.amount'],
    ['twap', { total_quantity: btc('1e3') }, 'total_quantity.amount'],
    ['twap', { total_quantity: '1.5' }, 'total_quantity'],
    ['twap', { limit_price: '0.000' }, 'limit_price'],
    ['twap', { start_time: '2026-12-01T09:00:00' }, 'start_time'],
    ['twap', { start_time: '2026-03-29T01:30:00[Europe/London]' }, 'start_time'],
    ['twap', { jitter: { time_pct: 96, seed: 1 } }, 'jitter.time_pct'],
    ['twap', { jitter: { size_pct: 51, seed: 1 } }, 'jitter.size_pct'],
    ['twap', { jitter: { size_pct: 10 } }, 'jitter.seed'],
    ['twap', { catch_up: 'burst' }, 'catch_up'],
    ['twap', { catchup: 'pace' }, ''],
    ['twap', { max_slippage_bps: -1 }, 'max_slippage_bps'],
    ['twap', { max_spread_bps: '30' }, 'max_spread_bps'],
    ['twap', { min_trade_notional: '30' }, 'min_trade_notional'],
    ['vwap', { profile: { weights: hours().slice(1) } }, 'profile.weights'],
    ['vwap', { profile: { weights: [] } }, 'profile.weights'],
    ['vwap', { profile: { weights: hours({ 3: 0 }) } }, 'profile.weights.3'],
    ['vwap', { profile: { weights: ['1'] } }, 'profile.weights.0'],
    ['vwap', { profile: { weights: [1], time_zone: 'London' } }, 'profile.time_zone'],
    ['vwap', { profile: { period: 'week', weights: [...hours(), 1] } }, 'profile.weights'],
    ['vwap', { profile: { period: 'day', weights: [...hours(), 1] } }, 'profile.weights'],
    ['vwap', { profile: undefined }, 'profile'],
    ['shortfall', { risk_aversion: -1 }, 'risk_aversion'],
    ['shortfall', { risk_aversion: '3' }, 'risk_aversion'],
    ['shortfall', { risk_aversion: undefined }, 'risk_aversion'],
    ['shortfall', { volatility: '60' }, 'volatility'],
    ['shortfall', { volatility: '0' }, 'volatility'],
    ['shortfall', { volatility: 0.6 }, 'volatility'],
    ['shortfall', { impact: { ...IMPACT, bps: 0 } }, 'impact.bps'],
    ['shortfall', { impact: { bps: 3, per_hour: '8' } }, 'impact.per_hour'],
    ['shortfall', { impact: { ...IMPACT, half_spread_bps: -1 } }, 'impact.half_spread_bps'],
    ['shortfall', { impact: undefined }, 'impact'],
    ['rebalance', { target_weights: { btc: 0.5, usd: '0.5' } }, 'target_weights.btc'],
    ['rebalance', { target_weights: { btc: '-0.5', usd: '1.5' } }, 'target_weights.btc'],
    ['rebalance', { target_weights: { BTC: '0.5', usd: '0.5' } }, 'target_weights.BTC'],
    ['rebalance', { drift_threshold: '5' }, 'drift_threshold'],
    ['rebalance', { drift_threshold: undefined }, 'drift_threshold'],
    ['rebalance', { rebalance_to: 'middle' }, 'rebalance_to'],
    ['rebalance', { leg_timeout: '2 minutes' }, 'leg_timeout'],
    ['rebalance', { threshold: '0.1' }, ''],
    ['rebalance', { schedule: { first: '2026-12-01T09:00:00[Europe/London]' } }, 'schedule'],
    ['rebalance', { schedule: { time_zone: 'London' } }, 'schedule.time_zone'],
  ])('of kind %s with %j is refused by its schema, which names "%s"', (kind, over, path) => {
    const { error } = kindOf(kind).params.safeParse({ ...valid[kind], ...over });
    expect(error?.issues.map((one) => one.path.join('.'))).toContain(path);
  });

  it('suggests a maximum piece size that it then accepts, with and without jitter', () => {
    for (const size_pct of [0, 20, 50]) {
      const over = { jitter: jitter(size_pct), max_slice_quantity: btc('0.029') };
      const [message = ''] = problems('limit', over, least('0.03'));
      const [, amount = ''] = /allow pieces of ([\d.]+) btc/u.exec(message) ?? [];
      expect(problems('limit', { ...over, max_slice_quantity: btc(amount) }, least('0.03'))).toEqual([]);
    }
  });
});
