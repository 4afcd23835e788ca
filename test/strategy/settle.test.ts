import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, money, NO_QUANTITY, quantity, ratio, roundDown, subtract, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { FundingRate } from '../../src/core/venue.ts';
import type { Step } from '../../src/strategy/kernel.ts';
import { settle } from '../../src/strategy/kinds/settle/settle.ts';
import { amountOf, intentsOf, Life, NINE } from './views.ts';
import type { Scene } from './views.ts';

const PLAN = { pairs: ['btcusd', 'ethusd'], before_grace_ends: 'PT10M' };
const rateOf = (currency: string): FundingRate => ({
  currency,
  annualRate: ratio('0.0876'),
  graceMinutes: 60,
  frequencyMinutes: 60,
});
const rates = { usd: rateOf('usd'), btc: rateOf('btc'), eth: rateOf('eth') };
const MIDS = { btcusd: '50000', ethusd: '2500' };
const owing = (held: Readonly<Record<string, string>>, over: Scene = {}): Scene => ({
  held,
  mids: MIDS,
  rates,
  owedSince: { usd: NINE, btc: NINE, eth: NINE },
  minimum: { notional: money('5') },
  ...over,
});
/** The grace period of what came up at nine ends at ten. */
const DUE = instant(NINE + 50 * MINUTE_MS);

const aLife = (over: object = {}, scene: Scene = {}): Life => new Life(settle, { ...PLAN, ...over }, scene);
const owed = (life: Life, scene: Scene, at: Instant = DUE): Step<unknown> =>
  life.wake({ on: 'debt', at }, scene);
const orders = (step: Step<unknown>): readonly string[] =>
  intentsOf(step).map((one) => `${one.leg}#${one.slice} ${text(amountOf(one))}`);

describe('settle', () => {
  it('waits for the first due debt in the currencies of its pairs, by its rules', () => {
    const life = aLife({ max_carry_bps: 2.5, close_in_modes: ['Reduce-Only'] });
    expect(life.last.waits).toEqual([
      {
        on: 'debt',
        pairs: ['btcusd', 'ethusd'],
        beforeGraceMs: 10 * MINUTE_MS,
        carryBpsMax: '2.5',
        leadMs: 15 * MINUTE_MS,
        modes: ['Reduce-Only'],
        notBefore: NINE,
      },
    ]);
  });

  it.each<readonly [string, Readonly<Record<string, string>>, string]>([
    ['sells the base for a debt in the quote', { usd: '-30000', btc: '1' }, 'btcusd.sell.amount#0 30000'],
    ['buys back a debt in the base currency', { usd: '90000', btc: '-0.5' }, 'btcusd.buy.quantity#0 0.5'],
    ['uses the next pair if need be', { usd: '-5000', btc: '0', eth: '4' }, 'ethusd.sell.amount#0 5000'],
    ['sells the whole of a smaller holding', { usd: '-30000', btc: '0.2' }, 'btcusd.sell.quantity#0 0.2'],
    ['buys what the holding pays for', { usd: '10100', btc: '-0.5' }, 'btcusd.buy.quantity#0 0.2'],
    ['sells at least the minimum of the venue', { usd: '-0.02', btc: '1' }, 'btcusd.sell.amount#0 5'],
    ['buys at least the minimum', { usd: '100', btc: '-0.00000001' }, 'btcusd.buy.quantity#0 0.000101'],
  ])('%s', (_, held, order) => {
    const step = owed(aLife(), owing(held));
    expect(orders(step)).toEqual([`1.${order}`]);
    expect(step.note).toContain('since 2026-12-01T09:00:00.000Z');
  });

  it('trades an additional buffer, so that fees and interest leave no remainder', () => {
    expect(orders(owed(aLife({ buffer_bps: 10 }), owing({ usd: '-30000', btc: '1' })))).toEqual([
      '1.btcusd.sell.amount#0 30030',
    ]);
  });

  it('never repays one debt with another', () => {
    const step = owed(aLife({ pairs: ['btcusd'] }), owing({ usd: '-30000', btc: '-1' }));
    expect([orders(step), step.reason, step.note]).toEqual([
      [],
      'no_funds',
      'owes 1 btc, but holds nothing that can close it',
    ]);
  });

  it('closes the debt that has been due longest first, then the others', () => {
    const held = { usd: '60000', btc: '-0.1', eth: '-2' };
    const scene = owing(held, { owedSince: { btc: instant(NINE + MINUTE_MS), eth: NINE } });
    const at = instant(DUE + MINUTE_MS);
    expect(orders(owed(aLife(), scene, at))).toEqual(['1.ethusd.buy.quantity#0 2']);
    // One that is not due yet is left alone.
    expect(
      orders(owed(aLife(), owing(held, { owedSince: { btc: instant(NINE + MINUTE_MS), eth: at } }), at)),
    ).toEqual(['1.btcusd.buy.quantity#0 0.1']);
  });

  it('closes another due debt if no pair can close the first', () => {
    const scene = owing(
      { usd: '60000', btc: '-0.1', eur: '-100' },
      { rates: { ...rates, eur: rateOf('eur') }, owedSince: { eur: instant(NINE - HOUR_MS), btc: NINE } },
    );
    expect(orders(owed(aLife({ pairs: ['btceur', 'btcusd'] }), scene))).toEqual([
      '1.btcusd.buy.quantity#0 0.1',
    ]);
  });

  it('trades in pieces, each sized by the debt when it begins, until none is left', () => {
    const life = aLife({ max_slice_notional: { amount: '20000', currency: 'usd' }, interval: 'PT30S' });
    const first = owed(life, owing({ usd: '-50000', btc: '2' }));
    expect(orders(first)).toEqual(['1.btcusd.sell.amount#0 16666.67']);
    expect(intentsOf(first)[0]?.deadline).toBe(DUE + 30 * SECOND_MS);
    expect(life.fill('16666.67').waits).toEqual([{ on: 'at', at: DUE + 30 * SECOND_MS }]);
    // Interest was charged meanwhile.
    expect(orders(life.arrive(0, owing({ usd: '-33340', btc: '1.6' })))).toEqual([
      '1.btcusd.sell.amount#1 16670',
    ]);
    life.fill('16670');
    expect(orders(life.arrive(0, owing({ usd: '-16670', btc: '1.3' })))).toEqual([
      '1.btcusd.sell.amount#2 16670',
    ]);
    life.fill('16670');
    const idle = life.arrive(0, owing({ usd: '0', btc: '1' }));
    expect([orders(idle), idle.waits]).toMatchObject([[], [{ on: 'debt', notBefore: DUE + 90 * SECOND_MS }]]);
    expect(idle.reason).toBeUndefined();
  });

  it('closes any debt in reproducible pieces, one after the other, whatever part of each trades', () => {
    const cents = (n: number): string => text(quantity((n / 100).toFixed(2)));
    const closing = (owes: number, largest: number, parts: readonly number[]): readonly string[] => {
      const rule = { max_slice_notional: { amount: cents(largest), currency: 'usd' }, interval: 'PT10S' };
      const life = aLife(rule);
      const told: string[] = [];
      const scene = (left: Quantity): Scene =>
        owing({ usd: text(quantity(left.negated().toFixed())), btc: '9' }, { minimum: {} });
      let [left, sum, free] = [quantity(cents(owes)), NO_QUANTITY, DUE];
      owed(life, scene(left));
      for (let n = 0; left.gt(0) && n < 5_000; n++) {
        const intents = intentsOf(life.last);
        const [intent] = intents;
        if (intent === undefined || intents.length > 1) throw new Error('not one piece at a time');
        const size = amountOf(intent);
        expect(size.gt(0) && size.lte(cents(largest)) && size.lte(left)).toBe(true);
        expect(intent.deadline).toBeGreaterThan(free);
        told.push(`${intent.leg}#${intent.slice} ${text(size)} ${intent.deadline}`);
        // After the listed ones all of a piece trades, so that it ends.
        const done = quantity(roundDown(quantity(size.times(parts[n] ?? 1).toFixed()), 2).toFixed());
        [left, sum, free] = [subtract(left, done), add(sum, done), intent.deadline];
        life.fill(text(done));
        expect(life.due).toBeGreaterThanOrEqual(free);
        life.arrive(0, scene(left));
      }
      expect([text(sum), intentsOf(life.last)]).toEqual([cents(owes), []]);
      return told;
    };
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000_000 }),
        fc.integer({ min: 100_000, max: 9_000_000 }),
        fc.array(fc.constantFrom(0, 0.2, 0.5, 0.999, 1), { maxLength: 12 }),
        (owes, largest, parts) => {
          expect(closing(owes, largest, parts)).toEqual(closing(owes, largest, parts));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('retries at doubling intervals if a piece does not trade, or if nothing can close a debt', () => {
    const life = aLife({ interval: 'PT10S' });
    owed(life, owing({ usd: '-50000', btc: '2' }));
    const deadline = intentsOf(life.last)[0]?.deadline ?? 0;
    life.fill('0', { reason: 'no_funds' });
    expect(life.due - deadline).toBe(10 * SECOND_MS);
    const poor = owing({ usd: '-1' });
    for (const pauses of [2, 4, 8, 16, 16]) {
      const at = life.due;
      expect(life.arrive(0, poor).reason).toBe('no_funds');
      expect(life.due - at).toBe(pauses * 10 * SECOND_MS);
    }
  });

  it('starts another parent before the controls halt the first because of too many pieces', () => {
    const life = aLife({ max_slice_notional: { amount: '10', currency: 'usd' } });
    const scene = owing({ usd: '-50000', btc: '2' });
    const legs = [orders(owed(life, scene))[0]];
    for (let n = 0; n < 40; n++) {
      life.fill('10');
      legs.push(orders(life.arrive(0, scene))[0]);
    }
    expect([legs[39]?.split(' ')[0], legs[40]?.split(' ')[0]]).toEqual([
      '1.btcusd.sell.amount#39',
      '2.btcusd.sell.amount#0',
    ]);
  });

  it.each<readonly [string, Scene, string]>([
    ['the balances are unknown', { mids: MIDS, rates }, 'no_balances'],
    ['no price is known', owing({ usd: '-50', btc: '1' }, { mids: {} }), 'no_reference'],
  ])('checks again soon if %s', (_, scene, reason) => {
    const life = aLife();
    const step = owed(life, scene);
    expect([step.reason, orders(step)]).toEqual([reason, []]);
    expect(step.waits).toEqual([{ on: 'at', at: DUE + 15 * SECOND_MS }]);
  });

  it('closes a debt from before the first check at once, because its remaining grace period is unknown', () => {
    const scene = owing({ usd: '-30000', btc: '1' }, { owedSince: { usd: instant(0) } });
    const step = owed(aLife(), scene, NINE);
    expect(orders(step)).toEqual(['1.btcusd.sell.amount#0 30000']);
    expect(step.note).toBe('owes 30000 usd since before the first check');
  });

  it('waits for an unknown funding rate, and closes the debt if the rate stays unknown for too long', () => {
    const life = aLife();
    const blind = owing({ usd: '-30000', btc: '1' }, { rates: {} });
    const step = owed(life, blind, NINE);
    expect(step).toMatchObject({ reason: 'pts_unknown', note: 'no funding rate of usd' });
    expect(step.waits).toMatchObject([{ on: 'debt', notBefore: NINE + MINUTE_MS }]);
    expect(orders(owed(life, blind, instant(NINE + 9 * MINUTE_MS)))).toEqual([]);
    expect(orders(owed(life, blind, instant(NINE + 10 * MINUTE_MS)))).toHaveLength(1);
  });

  it('resets the timeout of an unknown rate once the rate is known', () => {
    const life = aLife();
    const blind = owing({ usd: '-30000', btc: '1' }, { rates: {} });
    owed(life, blind, NINE);
    expect(owed(life, owing({ usd: '-30000', btc: '1' }), instant(NINE + MINUTE_MS)).reason).toBe('waiting');
    expect(orders(owed(life, blind, instant(NINE + 11 * MINUTE_MS)))).toEqual([]);
  });

  it('closes at once if the venue sets a risk mode that the document names', () => {
    const over = { before_grace_ends: undefined, close_in_modes: ['Reduce-Only'] };
    const held = { usd: '-30000', btc: '1' };
    const calm = owing(held, { modes: { btcusd: 'Enabled' } });
    expect(orders(owed(aLife(over), calm))).toEqual([]);
    const closing = owing(held, { modes: { btcusd: 'Reduce-Only' } });
    expect(orders(owed(aLife(over), closing))).toEqual(['1.btcusd.sell.amount#0 30000']);
  });

  it('ignores a late trade of an earlier closing, because the balance already contains it', () => {
    const life = aLife();
    const late = { leg: '7.btcusd.sell', slice: 0, filled: quantity('1'), filledAmount: money('1') };
    expect(life.end(late, DUE)).toMatchObject({ reason: 'waiting', waits: [{ on: 'debt' }] });
  });
});
