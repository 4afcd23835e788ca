import { describe, expect, it } from 'vitest';
import { quantity, ratio } from '../../src/core/money.ts';
import type { Reason } from '../../src/core/reasons.ts';
import { HOUR_MS, instant, MINUTE_MS, parseTime } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Step } from '../../src/strategy/kernel.ts';
import { rebalance } from '../../src/strategy/kinds/rebalance/rebalance.ts';
import { intentsOf, Life, NINE } from './views.ts';
import type { Scene } from './views.ts';

const PLAN = {
  target_weights: { btc: '0.5', eth: '0.3', usd: '0.2' },
  drift_threshold: '0.05',
};
/** 100000 usd: btc 60 % (target 50), eth 36 % (30), usd 4 % (20): btc and eth are sold. */
const SCENE: Scene = {
  held: { btc: '1', eth: '12', usd: '4000' },
  mids: { btcusd: '60000', ethusd: '3000' },
  valuation: '100000',
};

/** The time until the next check of the drift from the targets. */
const restMs = (step: Step<unknown>, at: Instant): number => {
  const [drift] = step.waits.flatMap((wait) => (wait.on === 'drift' ? [wait.notBefore] : []));
  return (drift ?? Number.NaN) - at;
};

/** Decides, ends every trade as given, and returns the last step. */
function round(
  life: Life,
  at: Instant,
  ends: readonly Partial<Record<'reason' | 'filled', string>>[],
): Step<unknown> {
  let step = life.wake({ on: 'drift', at, drift: ratio('0.1') }, SCENE);
  const legs = intentsOf(step).map(({ leg }) => leg);
  for (const [i, { reason, filled = '0' }] of ends.entries()) {
    const leg = legs[i] ?? 'none';
    const outcome = {
      leg,
      slice: 0,
      filled: quantity(filled),
      result: filled === '0' ? 'skipped' : 'filled',
    } as const;
    step = life.end(reason === undefined ? outcome : { ...outcome, reason: reason as Reason }, at, SCENE);
  }
  expect(intentsOf(step)).toEqual([]);
  return step;
}
type Round = Parameters<typeof round>[2];
const rests = (life: Life, rounds: readonly Round[], from = NINE): readonly number[] => {
  let at = from;
  return rounds.map((ends) => {
    const ms = restMs(round(life, at, ends), at);
    at = instant(at + ms);
    return ms / MINUTE_MS;
  });
};
const BLOCKED = [{ reason: 'not_allowed' }, { reason: 'order_size' }];

describe('a continuous rebalancing blocked by a limit', () => {
  const same = (count: number, one: Round): readonly Round[] => Array.from({ length: count }, () => one);
  const both = (reason: string): Round => [{ reason }, { reason }];
  const traded = [{ filled: '0.1', reason: 'no_funds' }, { reason: 'order_size' }];
  const half = [{ reason: 'halted' }, { reason: 'no_funds' }];
  const venue = [{ reason: 'not_allowed' }, { reason: 'quotes_unavailable' }];
  const late = parseTime('2026-12-01T23:50:00Z');

  type Rests = readonly [string, readonly Round[], readonly number[]];
  it.each<Rests | readonly [...Rests, object] | readonly [...Rests, object, Instant]>([
    ['doubles its wait each time, up to an hour', same(9, BLOCKED), [1, 2, 4, 8, 16, 32, 60, 60, 60]],
    ['waits its interval if that is longer', same(2, BLOCKED), [90, 90], { min_interval: 'PT90M' }],
    ['begins again after a trade', [...same(3, BLOCKED), traded, ...same(2, BLOCKED)], [1, 2, 4, 1, 1, 2]],
    ['begins again at another limit', [BLOCKED, BLOCKED, both('halted'), half, half], [1, 2, 1, 2, 4]],
    ['waits its interval, then ten minutes, for the venue', same(7, venue), [1, 1, 1, 1, 10, 10, 10]],
    ['does not wait past the end of the day', same(6, both('day_limit')), [1, 2, 4, 3, 16, 32], {}, late],
    ['looks every 15 minutes at restricted hours', same(6, both('restricted_hours')), [1, 2, 4, 8, 15, 15]],
  ])('%s', (_, rounds, minutes, over?: object, from?: Instant) => {
    expect(rests(new Life(rebalance, { ...PLAN, ...over }), rounds, from)).toEqual(minutes);
  });

  it.each([['not_allowed'], ['no_usd_rate'], ['too_large'], ['quotes_unavailable'], ['order_refused']])(
    'fails the same way at most ten times an hour, however short its interval, and reports that once: %s',
    (reason) => {
      const life = new Life(rebalance, { ...PLAN, min_interval: 'PT1S' });
      let at = NINE;
      const said: number[] = [];
      const times: number[] = [];
      for (let i = 0; i < 30; i++) {
        const step = round(life, at, [{ reason }, { reason }]);
        if (step.reason === 'strategy_blocked') said.push(i);
        times.push(at);
        at = instant(at + restMs(step, at));
      }
      expect(said).toEqual([9]);
      const most = times.map((from) => times.filter((one) => one >= from && one < from + HOUR_MS).length);
      expect(Math.max(...most)).toBeLessThanOrEqual(10);
    },
  );

  it('fails to decide for the same reason at most ten times an hour, and reports that once', () => {
    const life = new Life(rebalance, { ...PLAN, min_interval: 'PT1S' });
    const { valuation: _, ...unvalued } = SCENE;
    let at = NINE;
    const steps = Array.from({ length: 20 }, () => {
      const step = life.wake({ on: 'drift', at, drift: ratio('0.1') }, unvalued);
      const told = { at, reason: step.reason };
      at = instant(at + restMs(step, at));
      return told;
    });
    expect(steps.filter((one) => one.reason === 'strategy_blocked')).toHaveLength(1);
    expect(steps[0]?.reason).toBe('valuation_mismatch');
    expect(steps.filter((one) => one.at < NINE + HOUR_MS).length).toBeLessThanOrEqual(10);
  });

  it('checks for a change at most ten times an hour once it waits for one', () => {
    const life = new Life(rebalance, PLAN);
    let step: Step<unknown> | undefined;
    for (let i = 0; i < 10; i++) step = round(life, instant(NINE + i * HOUR_MS), BLOCKED);
    const at = NINE + 9 * HOUR_MS;
    expect(step?.waits).toMatchObject([
      { on: 'drift', notBefore: at + 24 * HOUR_MS },
      { on: 'lifted', notBefore: at + 6 * MINUTE_MS },
      { on: 'drift', notBefore: at + HOUR_MS },
    ]);
  });

  it('starts doubling again once the portfolio was within its band', () => {
    const life = new Life(rebalance, PLAN);
    expect(rests(life, [BLOCKED, BLOCKED])).toEqual([1, 2]);
    const straight: Scene = { ...SCENE, held: { btc: '0.83333334', eth: '10', usd: '20000' } };
    const at = instant(NINE + HOUR_MS);
    expect(life.wake({ on: 'lifted', at }, straight)).toMatchObject({ reason: 'inside_band' });
    expect(rests(life, [BLOCKED], instant(at + MINUTE_MS))).toEqual([1]);
  });

  it('checks earlier if balances change, something is resumed, or the weights move by a band', () => {
    const life = new Life(rebalance, PLAN);
    round(life, NINE, BLOCKED);
    const at = instant(NINE + MINUTE_MS);
    expect(round(life, at, BLOCKED).waits).toMatchObject([
      { on: 'drift', targets: PLAN.target_weights, notBefore: at + 2 * MINUTE_MS },
      { on: 'lifted', held: SCENE.held, since: at, notBefore: at + MINUTE_MS },
      {
        on: 'drift',
        targets: { btc: '0.600000', eth: '0.360000', usd: '0.040000' },
        driftType: 'absolute',
        threshold: '0.05',
        notBefore: at + MINUTE_MS,
      },
    ]);
  });

  it('measures a move by its narrowest band, but by at least one percentage point of weight', () => {
    const widths = [{ drift_type: 'relative', drift_threshold: '0.1' }, { drift_threshold: '0.001' }].map(
      (over) => {
        const life = new Life(rebalance, { ...PLAN, ...over });
        round(life, NINE, BLOCKED);
        const { waits } = round(life, instant(NINE + MINUTE_MS), BLOCKED);
        return waits.flatMap((wait) => (wait.on === 'drift' ? [wait.threshold] : []));
      },
    );
    expect(widths).toEqual([
      ['0.1', '0.02'],
      ['0.001', '0.01'],
    ]);
  });

  it('does not change the times of a schedule', () => {
    const life = new Life(rebalance, { ...PLAN, schedule: { cron: '0 * * * *' } });
    for (const hour of [0, 1, 2]) {
      const at = instant(NINE + hour * HOUR_MS);
      life.wake({ on: 'at', at, due: at }, SCENE);
      life.end({ leg: `${hour + 1}.btcusd.sell`, slice: 0, result: 'skipped', reason: 'halted' }, at);
      const step = life.end(
        { leg: `${hour + 1}.ethusd.sell`, slice: 0, result: 'skipped', reason: 'halted' },
        at,
      );
      expect(step.waits).toEqual([{ on: 'at', at: at + HOUR_MS }]);
      expect(step.state).toEqual({ decisions: hour + 1, legs: [] });
    }
  });
});
