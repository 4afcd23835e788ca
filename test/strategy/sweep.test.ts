import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, money, NO_QUANTITY, price, quantity, subtract, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Step } from '../../src/strategy/kernel.ts';
import { sweep } from '../../src/strategy/kinds/sweep.ts';
import { amountOf, intentsOf, Life, NINE } from './views.ts';
import type { Scene } from './views.ts';

/** Payments in btc become usd; 2 btc stay. */
const SELL = { from: 'btc', to: 'usd', keep: { amount: '2', currency: 'btc' } };
/** Cash above 10 000 usd becomes btc. */
const BUY = {
  from: 'usd',
  to: 'btc',
  keep: { amount: '10000', currency: 'usd' },
  min_trade_notional: { amount: '500', currency: 'usd' },
};
const MIDS = { btcusd: '50000' };
const holding = (held: Readonly<Record<string, string>>, over: Scene = {}): Scene => ({
  held,
  mids: MIDS,
  ...over,
});

/** Wakes the strategy with the balance that it waits for. */
function received(life: Life, scene: Scene, lateMs = 0): Step<unknown> {
  const [wait] = life.last.waits.flatMap((one) => (one.on === 'inflow' ? [one] : []));
  if (wait === undefined) throw new Error('it waits for no money');
  const balance = quantity(scene.held?.[wait.currency] ?? '0');
  if (!balance.gt(wait.above)) throw new Error(`${text(balance)} is not above ${wait.above}`);
  return life.wake({ on: 'inflow', at: instant(wait.notBefore + lateMs), balance }, scene);
}
const trades = (step: Step<unknown>): readonly string[] =>
  intentsOf(step).map(
    (one) => `${one.leg}#${one.slice} ${one.side} ${text(amountOf(one))} by ${one.size.by}`,
  );

describe('a sweep', () => {
  it('waits for the balance to rise above the amount to keep, and sells the excess', () => {
    const life = new Life(sweep, SELL, holding({ btc: '2' }));
    expect(life.last.waits).toEqual([{ on: 'inflow', currency: 'btc', above: '2', notBefore: NINE }]);
    const step = received(life, holding({ btc: '3.5' }));
    expect(trades(step)).toEqual(['1#0 sell 1.5 by quantity']);
    expect(step.waits).toEqual([{ on: 'outcome', leg: '1', slice: 0 }]);
  });

  it('buys with cash, sized in cash, once the minimum trade has come in', () => {
    const life = new Life(sweep, BUY, holding({ usd: '10000' }));
    expect(life.last.waits).toMatchObject([{ currency: 'usd', above: '10499.99' }]);
    expect(trades(received(life, holding({ usd: '10500' })))).toEqual(['1#0 buy 500 by amount']);
  });

  it('sweeps a balance that existed before its start', () => {
    const life = new Life(sweep, { from: 'btc', to: 'usd' }, holding({ btc: '1' }, { mids: {} }));
    expect(trades(received(life, holding({ btc: '1' })))).toEqual(['1#0 sell 1 by quantity']);
  });

  it('buys less, so that the fee does not reduce the amount to keep', () => {
    const life = new Life(sweep, { ...BUY, fee_bps: 25 }, holding({ usd: '0' }));
    // 500 usd of purchase cost 501.25.
    expect(life.last.waits).toMatchObject([{ above: '10501.24' }]);
    expect(trades(received(life, holding({ usd: '10501.25' })))).toEqual(['1#0 buy 500 by amount']);
    const other = new Life(sweep, { ...BUY, fee_bps: 25 }, holding({ usd: '0' }));
    const [bought = ''] = trades(received(other, holding({ usd: '20000' }))).map(
      (one) => one.split(' ')[2] ?? '',
    );
    expect(Number(bought) * 1.0025).toBeLessThanOrEqual(10_000);
    expect(Number(bought) * 1.0025).toBeGreaterThan(9_999.9);
  });

  it('trades in the fewest allowed pieces, one per interval, which sum to the decided size', () => {
    const pieces = { max_slice_notional: { amount: '20000', currency: 'usd' }, interval: 'PT30S' };
    const life = new Life(sweep, { ...SELL, ...pieces }, holding({ btc: '2' }));
    const first = received(life, holding({ btc: '3' }));
    expect(trades(first)).toEqual(['1#0 sell 0.33333334 by quantity']);
    expect(intentsOf(first)[0]?.deadline).toBe(NINE + 30 * SECOND_MS);
    expect(life.fill('0.33333334').waits).toEqual([{ on: 'at', at: NINE + 30 * SECOND_MS }]);
    expect(trades(life.arrive(0, holding({ btc: '2.66666666' })))).toEqual([
      '1#1 sell 0.33333333 by quantity',
    ]);
    life.fill('0.33333333');
    expect(trades(life.arrive(0, holding({ btc: '2.33333333' })))).toEqual([
      '1#2 sell 0.33333333 by quantity',
    ]);
    const done = life.fill('0.33333333', { scene: holding({ btc: '2' }) });
    expect(done.waits).toMatchObject([{ on: 'inflow', above: '2' }]);
    expect(done.state).toMatchObject({ sweeps: 1 });
  });

  it('leaves later inflows to the next sweep, which is a separate parent', () => {
    const life = new Life(sweep, SELL, holding({ btc: '2' }));
    received(life, holding({ btc: '3' }));
    const idle = life.fill('1', { scene: holding({ btc: '2.5' }) });
    expect(idle.waits).toMatchObject([{ on: 'inflow', notBefore: NINE + MINUTE_MS }]);
    expect(trades(received(life, holding({ btc: '2.5' })))).toEqual(['2#0 sell 0.5 by quantity']);
  });

  it('retries the untraded part at doubling intervals', () => {
    const life = new Life(sweep, { ...SELL, interval: 'PT10S' }, holding({ btc: '2' }));
    received(life, holding({ btc: '3' }));
    const pauses: number[] = [];
    for (let n = 0; n < 6; n++) {
      const deadline = intentsOf(life.last)[0]?.deadline ?? 0;
      expect(life.fill('0').reason).toBe('waiting');
      pauses.push((life.due - deadline) / (10 * SECOND_MS));
      life.arrive(0, holding({ btc: '3' }));
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 16]);
    life.fill('0.4');
    expect(trades(life.arrive(0, holding({ btc: '2.6' })))).toEqual(['1#7 sell 0.6 by quantity']);
  });

  it('starts another parent before the controls halt the first because of too many pieces', () => {
    const pieces = { max_slice_notional: { amount: '1000', currency: 'usd' } };
    const life = new Life(sweep, { ...SELL, ...pieces }, holding({ btc: '2' }));
    let held = quantity('3');
    received(life, holding({ btc: text(held) }));
    const legs: string[] = [];
    for (let n = 0; n < 50; n++) {
      const [intent] = intentsOf(life.last);
      legs.push(`${intent?.leg}#${intent?.slice}`);
      const size = intent === undefined ? NO_QUANTITY : amountOf(intent);
      held = subtract(held, size);
      life.fill(text(size), { scene: holding({ btc: text(held) }) });
      if (n < 49) life.arrive(0, holding({ btc: text(held) }));
    }
    expect([legs[39], legs[40], legs[49]]).toEqual(['1#39', '2#0', '2#9']);
    expect(text(held)).toBe('2');
  });

  it('waits for more inflow, or for a price at which it suffices, if too little has come in', () => {
    const life = new Life(
      sweep,
      { ...SELL, min_trade_notional: { amount: '1000', currency: 'usd' } },
      holding({}),
    );
    const step = received(life, holding({ btc: '2.01' }));
    expect(step).toMatchObject({ reason: 'below_min_trade', note: '0.01 btc above keep' });
    expect(step.waits).toEqual([
      { on: 'inflow', currency: 'btc', above: '2.01999999', notBefore: NINE + MINUTE_MS },
      { on: 'price', pair: 'btcusd', is: 'at_or_above', level: '100000', notBefore: NINE + MINUTE_MS },
    ]);
    const dear = holding({ btc: '2.01' }, { mids: { btcusd: '100000' } });
    expect(
      trades(life.wake({ on: 'price', at: instant(NINE + MINUTE_MS), price: price('100000') }, dear)),
    ).toEqual(['1#0 sell 0.01 by quantity']);
  });

  it.each<readonly [string, Scene, string]>([
    ['the account is unknown', { mids: MIDS }, 'no_balances'],
    ['no price is known', { held: { btc: '3' } }, 'no_reference'],
    ['the excess is gone again', holding({ btc: '1.5' }), 'kept_back'],
  ])('trades nothing if %s, and checks again later', (_, scene, reason) => {
    const life = new Life(sweep, SELL, holding({ btc: '2' }));
    const step = life.wake({ on: 'inflow', at: NINE, balance: quantity('3') }, scene);
    expect([step.reason, trades(step)]).toEqual([reason, []]);
    expect(step.waits).toMatchObject([{ on: 'inflow', notBefore: NINE + MINUTE_MS }]);
  });

  it('collects for a while, so that payments close together become one trade', () => {
    const life = new Life(sweep, { ...SELL, collect: 'PT5M' }, holding({ btc: '2' }));
    expect(received(life, holding({ btc: '2.5' })).waits).toEqual([{ on: 'at', at: NINE + 5 * MINUTE_MS }]);
    expect(trades(life.arrive(0, holding({ btc: '4' })))).toEqual(['1#0 sell 2 by quantity']);
  });

  it('checks only at the times of its schedule if it has one', () => {
    const schedule = { cron: '0 17 * * *', time_zone: 'Europe/London' };
    const life = new Life(sweep, { ...SELL, schedule }, holding({ btc: '3' }));
    expect(life.last.waits).toEqual([{ on: 'at', at: Date.UTC(2026, 11, 1, 17) }]);
    expect(trades(life.arrive(0, holding({ btc: '3' })))).toEqual(['1#0 sell 1 by quantity']);
    // A later inflow also waits for the next time.
    const next = [{ on: 'at', at: Date.UTC(2026, 11, 2, 17) }];
    expect(life.fill('1', { scene: holding({ btc: '2.5' }) }).waits).toEqual(next);
  });

  it.each([
    ['skip', 'missed_slot', []],
    ['once', undefined, ['1#0 sell 1 by quantity']],
  ])('follows misfire: %s after a downtime', (misfire, reason, traded) => {
    const schedule = { cron: '0 17 * * *', time_zone: 'UTC', misfire };
    const life = new Life(sweep, { ...SELL, schedule }, holding({ btc: '3' }));
    const step = life.arrive(10 * MINUTE_MS, holding({ btc: '3' }));
    expect([step.reason, trades(step)]).toEqual([reason, traded]);
  });

  it('trades nothing at a time when the calendar is closed', () => {
    const schedule = { cron: '0 17 * * *', time_zone: 'UTC', calendar: { weekend: ['tuesday'] } };
    const life = new Life(sweep, { ...SELL, schedule }, holding({ btc: '3' }));
    expect(life.arrive(0, holding({ btc: '3' }))).toMatchObject({ reason: 'blackout' });
  });

  it('ends at end_time, and no piece lives longer', () => {
    const life = new Life(sweep, { ...SELL, end_time: '2026-12-01T09:00:20Z' }, holding({ btc: '2' }));
    const [piece] = intentsOf(received(life, holding({ btc: '3' }), 10 * SECOND_MS));
    expect(piece?.deadline).toBe(NINE + 20 * SECOND_MS);
    life.fill('0.4', { scene: holding({ btc: '2.6' }) });
    expect(life.arrive(0, holding({ btc: '2.6' }))).toMatchObject({
      finished: 'window_over',
      note: '1 sweeps; 0.6 btc of the last not traded',
    });
  });

  it('ignores a late trade of an earlier sweep, because the balance already contains it', () => {
    const life = new Life(sweep, SELL, holding({ btc: '2' }));
    received(life, holding({ btc: '3' }));
    life.fill('1', { scene: holding({ btc: '2' }) });
    const late = {
      leg: '1',
      slice: 0,
      result: 'filled',
      filled: quantity('1'),
      filledAmount: money('1'),
    } as const;
    const step = life.wake({ on: 'outcome', at: NINE, outcome: late }, holding({ btc: '2' }));
    expect([step.reason, trades(step), step.waits.length]).toEqual(['waiting', [], 1]);
  });
});

describe('the pieces of sweeps', () => {
  const anyLife = fc.record({
    // Satoshis that come in before each check.
    inflows: fc.array(fc.bigInt({ min: 0n, max: 10n ** 9n }), { minLength: 1, maxLength: 20 }),
    fates: fc.array(fc.constantFrom(1, 1, 0.3, 0), { minLength: 1, maxLength: 12 }),
    largestUsd: fc.integer({ min: 100, max: 200_000 }),
  });

  interface Piece {
    readonly size: Quantity;
    readonly held: Quantity;
    readonly leg: string;
    readonly at: Instant;
  }

  /** Runs a sweep with an inflow before each check; each piece trades the part in `fates`. */
  function run({ inflows, fates, largestUsd }: typeof anyLife extends fc.Arbitrary<infer T> ? T : never): {
    readonly pieces: readonly Piece[];
    readonly held: Quantity;
    readonly brought: Quantity;
  } {
    let held = quantity('2');
    let [brought, turn] = [quantity('2'), 0];
    const scene = (): Scene => holding({ btc: text(held) }, { minimum: { notional: money('5') } });
    const plan = { ...SELL, max_slice_notional: { amount: String(largestUsd), currency: 'usd' } };
    const life = new Life(sweep, plan, scene());
    const pieces: Piece[] = [];
    const arrive = (): void => {
      const inflow = quantity(`${inflows[turn++] ?? 0n}e-8`);
      held = add(held, inflow);
      brought = add(brought, inflow);
    };
    for (let n = 0; n < 60; n++) {
      arrive();
      const [intent] = intentsOf(life.last);
      if (intent !== undefined) {
        const part = fates[n % fates.length] ?? 1;
        const filled = quantity(amountOf(intent).times(part).toFixed(8));
        pieces.push({ size: amountOf(intent), held, leg: intent.leg, at: intent.deadline });
        held = subtract(held, filled);
        life.fill(text(filled), { scene: scene() });
        continue;
      }
      const [wait] = life.last.waits;
      if (wait?.on === 'at') life.arrive(0, scene());
      else if (wait?.on === 'inflow' && held.gt(wait.above)) received(life, scene());
    }
    return { pieces, held, brought };
  }

  it('keep the balance above the amount to keep, an interval apart and reproducibly, whatever comes in and trades', () => {
    fc.assert(
      fc.property(anyLife, (life) => {
        const { pieces } = run(life);
        expect(pieces.filter(({ size, held }) => held.minus(size).lt('2'))).toEqual([]);
        expect(pieces.filter(({ size }) => size.times('50000').gt(life.largestUsd))).toEqual([]);
        const early = pieces.filter(({ at }, n) => at - (pieces[n - 1]?.at ?? 0) < 15 * SECOND_MS);
        expect(early).toEqual([]);
        expect(run(life).pieces).toEqual(pieces);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the check of a sweep document', () => {
  it.each([
    [{ from: 'btc', to: 'usd' }, 'btcusd'],
    [{ from: 'usd', to: 'btc' }, 'btcusd'],
    [{ from: 'usd', to: 'usdc' }, 'usdcusd'],
    [{ from: 'eur', to: 'usd' }, 'eurusd'],
    [{ from: 'btc', to: 'eth' }, 'ethbtc'],
    [{ from: 'sol', to: 'ada' }, 'solada'],
    [{ from: 'btc', to: 'eth', pair: 'btceth' }, 'btceth'],
  ])('reads the pair of %j as %s', (names, pair) => {
    expect(sweep.bind(names).pairs).toEqual([pair]);
  });
});
