import { describe, expect, it } from 'vitest';
import { money, NO_MONEY, NO_QUANTITY, quantity } from '../../src/core/money.ts';
import type { SliceRecord, UsedToken } from '../../src/core/record.ts';
import { MINUTE_MS, after } from '../../src/core/time.ts';
import type { OpenSlice } from '../../src/engine/state/engine-state.ts';
import { dayLimits } from '../../src/engine/operator/overrides.ts';
import type { CommandAnswer } from '../../src/engine/ports.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aBench, aPolicy, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { ledgerTrades } from './oracle.ts';

const { limits } = aPolicy();
/** Four slices of a quarter of a bitcoin, five minutes apart: about 15 000 dollars each. */
const twap = aTwap('t', { slices: 4, duration: 'PT20M' });
const small = { limits: { ...limits, orderNotionalMax: money('1000') } };

interface Asked {
  readonly bench: Bench;
  readonly alerts: string[];
}

function asked(options: Partial<BenchOptions> = {}): Asked {
  const alerts: string[] = [];
  const bench = aBench({
    strategies: [twap],
    policy: small,
    ...options,
    observer: { alert: (id) => alerts.push(id) },
  });
  bench.start();
  return { bench, alerts };
}

const person = (name: string): UsedToken => ({ name, kind: 'person' });

const minutes = ({ bench }: Asked, count: number): void => {
  bench.clock.run(after(START, count * MINUTE_MS));
};

const OURS = { limit: 'max_order_notional', value: '30000', pair: 'btcusd', side: 'buy' } as const;

function propose({ bench }: Asked, wish: object = {}): CommandAnswer {
  let told: CommandAnswer = { isDone: false, says: 'no answer' };
  bench.operator$.next({
    do: 'propose',
    ...OURS,
    by: 'ann',
    why: 'a large order today',
    ...wish,
    answer: (answer) => (told = answer),
  });
  return told;
}

function approve({ bench }: Asked, by = 'ben', override = 'ov-1', token?: UsedToken): CommandAnswer {
  let told: CommandAnswer = { isDone: false, says: 'no answer' };
  bench.operator$.next({
    do: 'approve',
    override,
    by,
    why: 'agreed',
    token,
    answer: (answer) => (told = answer),
  });
  return told;
}

function end({ bench }: Asked, how: 'withdraw' | 'reject', override: string, by: string): CommandAnswer {
  let told: CommandAnswer = { isDone: false, says: 'no answer' };
  bench.operator$.next({
    do: how,
    override,
    by,
    why: 'no longer needed',
    answer: (answer) => (told = answer),
  });
  return told;
}

const ends = (bench: Bench): readonly (readonly [number, SliceRecord['result']])[] =>
  bench.records().flatMap(({ body }) => (body.kind === 'slice' ? [[body.slice, body.result] as const] : []));

describe('an override', () => {
  it('lets exactly one order exceed its limit after two people have agreed', () => {
    const one = asked();
    minutes(one, 2);
    expect(propose(one)).toEqual({
      isDone: true,
      says: 'ov-1 is proposed; another person must approve it within 15 min',
    });
    expect(approve(one)).toEqual({ isDone: true, says: 'ov-1 is approved for one order' });
    expect(one.alerts).not.toContain('override_used');
    minutes(one, 25);
    expect(ends(one.bench)).toEqual([
      [0, 'skipped'],
      [1, 'filled'],
      [2, 'skipped'],
      [3, 'skipped'],
    ]);
    expect(one.alerts.filter((id) => id === 'override_used')).toHaveLength(1);
    const steps = one.bench.records().flatMap(({ body }) => (body.kind === 'override' ? [body] : []));
    expect(steps).toMatchObject([
      { step: 'proposed', by: 'ann', limit: 'max_order_notional', value: '30000' },
      { step: 'approved', by: 'ben', limit: 'max_order_notional', value: '30000' },
    ]);
  });

  it('has no effect before a second person approves it, and its proposer cannot approve it', () => {
    const one = asked();
    minutes(one, 2);
    propose(one);
    expect(approve(one, ' Ann ')).toMatchObject({ isDone: false });
    expect(approve(one, '')).toMatchObject({ isDone: false });
    expect(approve(one, 'ben', 'ov-2')).toMatchObject({ isDone: false, says: 'there is no override ov-2' });
    minutes(one, 25);
    expect(ledgerTrades(one.bench.exchange)).toEqual([]);
  });

  it('cannot be approved with the token that proposed it, whatever the name', () => {
    const one = asked();
    minutes(one, 2);
    propose(one, { token: person('laptop') });
    expect(approve(one, 'ben', 'ov-1', person('laptop')).says).toMatch(
      /^it was proposed with the same token/u,
    );
    expect(approve(one, 'ben', 'ov-1', person('desk')).isDone).toBe(true);
  });

  it('can be withdrawn by its proposer or rejected by anyone, even after approval, until an order uses it', () => {
    const one = asked();
    minutes(one, 2);
    propose(one);
    propose(one);
    expect(end(one, 'withdraw', 'ov-1', 'ben').says).toBe('ann has proposed it: reject it instead');
    expect(end(one, 'withdraw', 'ov-1', 'ann')).toEqual({ isDone: true, says: 'ov-1 is withdrawn' });
    expect(approve(one).says).toBe('ov-1 was withdrawn by ann');
    expect(approve(one, 'ben', 'ov-2').isDone).toBe(true);
    expect(end(one, 'reject', 'ov-2', 'cleo')).toEqual({ isDone: true, says: 'ov-2 is rejected' });
    expect(end(one, 'reject', 'ov-2', 'cleo').says).toBe('ov-2 is rejected already');
    minutes(one, 25);
    expect(ledgerTrades(one.bench.exchange)).toEqual([]);
    const steps = one.bench.records().flatMap(({ body }) => (body.kind === 'override' ? [body] : []));
    expect(steps.map(({ override, step, by }) => [override, step, by])).toEqual([
      ['ov-1', 'proposed', 'ann'],
      ['ov-2', 'proposed', 'ann'],
      ['ov-1', 'withdrawn', 'ann'],
      ['ov-2', 'approved', 'ben'],
      ['ov-2', 'rejected', 'cleo'],
    ]);
  });

  it('cannot be withdrawn or rejected after an order has used it', () => {
    const one = asked();
    minutes(one, 2);
    propose(one);
    approve(one);
    minutes(one, 6);
    expect(end(one, 'reject', 'ov-1', 'cleo').says).toMatch(/^ov-1 is used by .*: it cannot be withdrawn$/u);
  });

  it('cannot exceed its ceiling in the config, or loosen a limit without a ceiling', () => {
    const ceilings = new Map([
      ['max_order_notional', quantity('25000')],
      ['min_position', quantity('-1')],
    ]);
    const one = asked({ policy: { limits: { ...small.limits, overrideCeilings: ceilings } } });
    minutes(one, 2);
    expect(propose(one).says).toBe('30000 is beyond controls.override_ceilings.max_order_notional of 25000');
    expect(propose(one, { value: '25000' }).isDone).toBe(true);
    expect(propose(one, { limit: 'min_position', value: '-1.5' }).says).toMatch(/^-1\.5 is beyond/u);
    expect(propose(one, { limit: 'min_position', value: '-1' }).isDone).toBe(true);
    expect(propose(one, { limit: 'max_day_notional' }).says).toMatch(/does not list max_day_notional/u);
    expect(propose(one, { limit: 'restricted_hours', value: undefined }).says).toMatch(/does not list/u);
  });

  it('expires after its minutes, approved or not, even if the clock is set back', () => {
    const one = asked();
    minutes(one, 1);
    propose(one, { minutes: 3 });
    approve(one);
    propose(one, { minutes: 2 });
    one.bench.clock.stepWall(-30 * MINUTE_MS);
    minutes(one, 4.5);
    expect(approve(one, 'ben', 'ov-2')).toMatchObject({ isDone: false, says: 'ov-2 has expired' });
    minutes(one, 25);
    expect(ledgerTrades(one.bench.exchange)).toEqual([]);
  });

  it('expires by the wall clock if the monotonic clock stood still while the machine slept', () => {
    const one = asked();
    minutes(one, 0.5);
    propose(one, { minutes: 3 });
    approve(one);
    propose(one, { minutes: 3 });
    one.bench.clock.stepWall(8 * 60 * MINUTE_MS);
    expect(approve(one, 'ben', 'ov-2')).toMatchObject({ isDone: false, says: 'ov-2 has expired' });
    minutes(one, 25);
    expect(ledgerTrades(one.bench.exchange)).toEqual([]);
  });

  it('ends with its process', () => {
    const one = asked();
    minutes(one, 2);
    propose(one);
    approve(one);
    one.bench.kill();
    const { clock, exchange, journal } = one.bench;
    const next = asked({ clock, exchange, journal });
    minutes(next, 25);
    expect(ledgerTrades(exchange)).toEqual([]);
    expect(propose(next).says).toMatch(/^ov-2 is proposed/u);
  });

  it('does not lift a halt', () => {
    const one = asked();
    minutes(one, 2);
    propose(one);
    approve(one);
    one.bench.operator$.next({ do: 'halt', by: 'ann', why: 'stop' });
    minutes(one, 25);
    expect(ledgerTrades(one.bench.exchange)).toEqual([]);
  });

  it('lets only one of two simultaneous orders pass', () => {
    const twins = ['a', 'b'].map((id) =>
      aTwap(id, {
        slices: 2,
        duration: 'PT10M',
        ...(id === 'a' ? {} : { total_quantity: { amount: '1.1', currency: 'btc' } }),
      }),
    );
    const one = asked({ strategies: twins });
    minutes(one, 2);
    propose(one, { value: '50000' });
    approve(one);
    minutes(one, 25);
    expect(ledgerTrades(one.bench.exchange)).toHaveLength(1);
  });

  it('becomes available again if no order was sent with it', () => {
    let quotes = 0;
    const one = asked({
      wrap: faultyVenue({
        quote: () => (++quotes === 1 ? { kind: 'garbled', status: 200, why: '?' } : undefined),
      }),
    });
    minutes(one, 2);
    propose(one);
    approve(one);
    quotes = 0;
    minutes(one, 25);
    expect(ledgerTrades(one.bench.exchange)).toHaveLength(1);
  });

  it('lets one order exceed the daily limit without a halt, and does not apply to later orders', () => {
    const one = asked({ policy: { limits: { ...limits, dayNotionalMax: money('10000') } } });
    minutes(one, 2);
    propose(one, { limit: 'max_day_notional', value: '30000' });
    approve(one);
    minutes(one, 25);
    expect(ledgerTrades(one.bench.exchange)).toHaveLength(1);
    expect(one.bench.desk.control).toBe('active');
  });

  it('does not block another override if it does not help the order', () => {
    const one = asked();
    minutes(one, 2);
    propose(one, { limit: 'max_day_notional', value: '90000' });
    approve(one);
    propose(one);
    approve(one, 'ben', 'ov-2');
    minutes(one, 25);
    expect(ends(one.bench).filter(([, result]) => result === 'filled')).toEqual([[1, 'filled']]);
    const used = one.bench.records().flatMap(({ body }) => (body.kind === 'intent' ? [body.override] : []));
    expect(used).toEqual(['ov-2']);
  });

  it('loosens the daily limit only of its pair', () => {
    const perPair = new Map([
      ['btcusd', money('10000')],
      ['ethusd', money('10000')],
    ]);
    const one = asked({ policy: { limits: { ...limits, pairDayNotionalMax: perPair } } });
    minutes(one, 2);
    propose(one, { limit: 'max_pair_day_notional', value: '30000' });
    approve(one);
    minutes(one, 6);
    const [slice] = one.bench.records().flatMap(({ body }) => (body.kind === 'wake' ? body.intents : []));
    if (slice === undefined) throw new Error('nothing was decided');
    const open = (pair: string): OpenSlice => ({
      strategy: 't',
      hash: '',
      intent: { ...slice, pair },
      decidedAt: START,
      attempts: 0,
      settled: 0,
      filled: NO_QUANTITY,
      filledAmount: NO_MONEY,
      missing: NO_QUANTITY,
      missingAmount: NO_MONEY,
      openAttempt: undefined,
    });
    const max = (pair: string): string | undefined =>
      dayLimits(one.bench.desk, open(pair)).pairDayNotionalMax?.get(pair)?.toFixed();
    expect([max('btcusd'), max('ethusd')]).toEqual(['30000', '10000']);
  });

  it('loosens a position floor only for the slice that it names', () => {
    const one = asked({
      venue: { accounts: [{ balances: { usd: '100000', btc: '0' } }] },
      policy: { limits: { ...limits, positionMin: new Map([['usd', quantity('99998')]]) } },
    });
    minutes(one, 2);
    const parent = one.bench.records().flatMap(({ body }) => (body.kind === 'slice' ? [body.parent] : []))[0];
    const floor = {
      limit: 'min_position',
      value: '50000',
      pair: undefined,
      side: undefined,
      parent,
      slice: 2,
    };
    expect(propose(one, floor)).toMatchObject({ isDone: true });
    approve(one);
    minutes(one, 25);
    expect(ends(one.bench).filter(([, result]) => result === 'filled')).toEqual([[2, 'filled']]);
  });

  it.each<readonly [string, object]>([
    ['a cap of a parent', { limit: 'parent_cap' }],
    ['the execution limit', { limit: 'max_executions_per_minute' }],
    ['the collar', { limit: 'collar_bps' }],
    ['no value', { value: undefined }],
    ['an invalid amount', { value: '1e9' }],
    ['more than a quarter of an hour', { minutes: 16 }],
    ['no reason', { why: ' ' }],
    ['no proposer', { by: '' }],
    ['an order with no pair, side or parent', { pair: undefined, side: undefined }],
    ['both a parent and a pair', { parent: 'x' }],
    ['an unknown parent', { pair: undefined, side: undefined, parent: 'x' }],
    ['an unknown pair', { pair: 'nonesuch' }],
  ])('is refused for %s, with the reason, and is not recorded', (_, wish) => {
    const one = asked();
    minutes(one, 2);
    expect(propose(one, wish).isDone).toBe(false);
    expect(propose(one, wish).says).not.toBe('no answer');
    expect(one.bench.records().filter(({ body }) => body.kind === 'override')).toEqual([]);
  });
});
