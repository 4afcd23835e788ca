import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, money, NO_QUANTITY, price, quantity, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Step } from '../../src/strategy/kernel.ts';
import { limit } from '../../src/strategy/kinds/limit.ts';
import { amountOf, instrumentOf, intentsOf, Life, NINE } from './views.ts';
import type { Scene } from './views.ts';

/** Buys 1 btc at or below 60 000, at most 0.4 at a time. */
const PLAN = {
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: '1', currency: 'btc' },
  limit_price: '60000',
  max_slice_quantity: { amount: '0.4', currency: 'btc' },
};
const aLife = (over: object = {}, scene: Scene = {}): Life => new Life(limit, { ...PLAN, ...over }, scene);

/** Reports the price, `lateMs` after the strategy may act on it. */
function priced(life: Life, mid = '59000', lateMs = 0): Step<unknown> {
  const [wait] = life.last.waits.flatMap((one) => (one.on === 'price' ? [one] : []));
  if (wait === undefined) throw new Error('it waits for no price');
  return life.wake({ on: 'price', at: instant(wait.notBefore + lateMs), price: price(mid) });
}
const sizes = (step: Step<unknown>): readonly string[] => intentsOf(step).map((one) => text(amountOf(one)));

describe('a limit order', () => {
  it('waits only for the reference price to reach its limit', () => {
    expect(aLife().last).toMatchObject({
      waits: [{ on: 'price', pair: 'btcusd', is: 'at_or_below', level: '60000', notBefore: NINE }],
    });
    expect(aLife({ side: 'sell' }).last.waits).toMatchObject([{ is: 'at_or_above', level: '60000' }]);
  });

  it.each([
    ['buy', 'at_or_below', '59970'],
    ['sell', 'at_or_above', '60030'],
  ])(
    'requests no quote for a %s before the market is better than the limit by its margin',
    (side, is, level) => {
      expect(aLife({ side, margin_bps: 5 }).last.waits).toMatchObject([{ is, level }]);
    },
  );

  it('is one piece without a maximum piece size, with its limit as the worst price', () => {
    const [intent] = intentsOf(priced(aLife({ max_slice_quantity: undefined })));
    expect(intent).toMatchObject({ side: 'buy', limit: price('60000'), slice: 0, leg: 'all' });
    expect(intent === undefined ? '' : text(amountOf(intent))).toBe('1');
  });

  it('counts a trade that is reported late, and does not request it again', () => {
    const life = aLife({ max_slice_quantity: undefined });
    priced(life);
    life.fill('0', { reason: 'limit_price' });
    const late = { leg: 'all', slice: 0, filled: quantity('1'), filledAmount: money('59000') };
    expect(life.end(late, instant(NINE + MINUTE_MS))).toMatchObject({ finished: 'finished' });
  });

  it('doubles its wait after each piece without a trade, up to sixteen intervals, and resets it after a trade', () => {
    const life = aLife({ interval: 'PT10S' });
    const pauses: number[] = [];
    for (let n = 0; n < 7; n++) {
      const [piece] = intentsOf(priced(life));
      const step = life.fill('0', { reason: 'limit_price' });
      const [wait] = step.waits.flatMap((one) => (one.on === 'price' ? [one] : []));
      pauses.push(((wait?.notBefore ?? 0) - (piece?.deadline ?? 0)) / (10 * SECOND_MS));
      expect([step.reason, step.note]).toEqual([
        'waiting',
        `${n === 0 ? '1 piece' : `${n + 1} pieces in a row`} did not trade: limit_price`,
      ]);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 16, 16]);
    priced(life);
    expect(life.fill('0.1').state).toMatchObject({ misses: 0 });
  });

  it('ends at good_til, reports the remainder, and lets no piece live longer', () => {
    const end = instant(NINE + 20 * SECOND_MS);
    const life = aLife({ good_til: new Date(end).toISOString() });
    expect(life.last.waits).toMatchObject([{ on: 'at', at: end }, { on: 'price' }]);
    priced(life);
    life.fill('0.2');
    const [second] = intentsOf(priced(life));
    expect(second?.deadline).toBe(end);
    // The window ended while the outcome of an order was unknown: its trade counts, and no further piece starts.
    const step = life.end({ leg: 'all', slice: 1, filled: quantity('0.3') }, instant(end + MINUTE_MS));
    expect(step).toMatchObject({ finished: 'window_over', note: '0.5 of 1 btc not traded', waits: [] });
    const other = aLife({ good_til: new Date(end).toISOString() });
    expect(other.arrive()).toMatchObject({ finished: 'window_over' });
    const late = aLife({ good_til: new Date(end).toISOString() });
    expect(intentsOf(priced(late, '59000', MINUTE_MS))).toEqual([]);
  });

  it('does not trade before its start', () => {
    const life = aLife({ start_time: '2026-12-02T09:00:00Z' });
    expect(life.last.waits).toMatchObject([{ notBefore: Date.UTC(2026, 11, 2, 9) }]);
  });

  it.each<readonly [string, object, string, string]>([
    ['for a buy at its limit price, however low the market is', { side: 'buy' }, '30000', '0.1'],
    ['for a sell at the market price if that is higher', { side: 'sell' }, '80000', '0.075'],
  ])('converts the maximum amount into a quantity: %s', (_, over, mid, size) => {
    const pieces = { max_slice_quantity: undefined, max_slice_notional: { amount: '6000', currency: 'usd' } };
    const [piece] = sizes(priced(aLife({ ...pieces, ...over }), mid));
    expect(Number(piece)).toBeLessThanOrEqual(Number(size));
    expect(Number(piece)).toBeGreaterThan(0.9 * Number(size));
  });

  it('ends if the remainder can never be traded; a sell instead waits for a price at which it can', () => {
    const minimum = { notional: money('5') };
    const scene = { minimum };
    const life = aLife({}, scene);
    priced(life);
    const crumb = { leg: 'all', slice: 0, filled: quantity('0.99999') };
    life.wake(
      {
        on: 'outcome',
        at: NINE,
        outcome: { ...crumb, result: 'filled', filledAmount: money('1') },
      },
      scene,
    );
    expect(life.last).toMatchObject({
      finished: 'below_minimum',
      note: '0.00001 btc left, which is below the minimum of the venue',
    });
    const sell = aLife({ side: 'sell' }, scene);
    priced(sell);
    sell.wake(
      { on: 'outcome', at: NINE, outcome: { ...crumb, result: 'filled', filledAmount: money('1') } },
      scene,
    );
    expect(sell.last.finished).toBeUndefined();
  });

  it.each([
    [
      'more decimals than the currency has',
      { total_quantity: { amount: '1.123456789', currency: 'btc' } },
      {},
    ],
    ['a piece below the minimum', {}, { minimum: { quantity: quantity('0.34') } }],
  ])('ends at once without a trade if the venue makes the plan impossible: %s', (_, over, scene) => {
    expect(aLife(over, scene).last).toMatchObject({ finished: 'invalid_plan', waits: [] });
  });
});

describe('the pieces of a limit order', () => {
  const anyOrder = fc.record({
    units: fc.bigInt({ min: 10n ** 4n, max: 10n ** 12n }),
    // The part of each piece that trades.
    fates: fc.array(fc.constantFrom(1, 1, 1, 0.5, 0), { minLength: 1, maxLength: 30 }),
    share: fc.integer({ min: 1, max: 40 }),
    jitter: fc.option(
      fc.record({
        time_pct: fc.integer({ min: 0, max: 95 }),
        size_pct: fc.integer({ min: 0, max: 50 }),
        seed: fc.nat(),
      }),
      { nil: undefined },
    ),
  });

  interface Told {
    readonly size: Quantity;
    readonly from: Instant;
    readonly deadline: Instant;
  }

  function run(order: typeof anyOrder extends fc.Arbitrary<infer T> ? T : never): {
    readonly pieces: readonly Told[];
    readonly traded: Quantity;
    readonly life: Life;
    readonly largest: Quantity;
  } {
    const largest = quantity(`${order.units / BigInt(order.share) + 1n}e-8`);
    const life = aLife({
      total_quantity: { amount: text(quantity(`${order.units}e-8`)), currency: 'btc' },
      max_slice_quantity: { amount: text(largest), currency: 'btc' },
      jitter: order.jitter,
    });
    const pieces: Told[] = [];
    let traded: Quantity = NO_QUANTITY;
    for (let n = 0; life.last.finished === undefined && n < 400; n++) {
      const step = priced(life);
      const [piece] = intentsOf(step);
      const [wait] = step.waits;
      if (piece === undefined || wait?.on !== 'outcome') throw new Error('a price starts a piece');
      const part = n < order.fates.length ? (order.fates[n] ?? 1) : 1;
      const filled = quantity(amountOf(piece).times(part).toFixed(8));
      pieces.push({
        size: amountOf(piece),
        from: instant(piece.deadline - 15 * SECOND_MS),
        deadline: piece.deadline,
      });
      traded = add(traded, filled);
      life.fill(text(filled));
    }
    return { pieces, traded, life, largest };
  }

  it('are at least half of the maximum size, less the jitter', () => {
    fc.assert(
      fc.property(anyOrder, (order) => {
        const { pieces, largest } = run({ ...order, fates: [1] });
        const share = (100 - (order.jitter?.size_pct ?? 0)) / 200;
        const small = pieces.filter(
          ({ size }) => pieces.length > 1 && size.plus('2e-8').lt(largest.times(share)),
        );
        expect(small).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('sum to the total exactly, whatever part of each trades, none empty, larger than allowed or too early', () => {
    fc.assert(
      fc.property(anyOrder, (order) => {
        const { pieces, traded, life, largest } = run(order);
        expect(life.last.finished).toBe('finished');
        expect(text(traded)).toBe(text(quantity(`${order.units}e-8`)));
        for (const [n, { size, deadline }] of pieces.entries()) {
          expect(size.gt(0)).toBe(true);
          expect(size.lte(largest)).toBe(true);
          expect(deadline - (pieces[n - 1]?.deadline ?? 0)).toBeGreaterThanOrEqual(15 * SECOND_MS);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('depend on the document only: the same seed yields the same pieces, another seed other pieces', () => {
    const order = { units: 10n ** 9n, fates: [1 as const], share: 9 };
    const told = (seed: number): readonly (readonly [string, Instant])[] =>
      run({ ...order, jitter: { time_pct: 50, size_pct: 30, seed } }).pieces.map(({ size, deadline }) => [
        text(size),
        deadline,
      ]);
    expect(told(7)).toEqual(told(7));
    expect(told(7)).not.toEqual(told(8));
    expect(told(7).length).toBeGreaterThan(8);
  });
});

describe('the check of a limit document', () => {
  it('gives the controls a ceiling for its trades', () => {
    const bound = limit.bind(PLAN);
    expect(bound.ceiling(instrumentOf('btcusd'))).toEqual({ total: '1', currency: 'btc', slices: 16 });
  });
});
