import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, NO_MONEY, text, quantity } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, after, instant, SECOND_MS } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { DayClock } from '../../src/engine/time/limit-day.ts';
import { costOf, Totals } from '../../src/engine/state/totals.ts';
import { aFill, everyKind } from '../journal/records.ts';
import type { FillRecord, RecordBody, IntentRecord } from '../../src/core/record.ts';
import { EngineState } from '../../src/engine/state/engine-state.ts';
import { QuoteIds } from '../../src/engine/attempt/quote-ids.ts';
import { repeatsOf } from '../../src/engine/market/repeats.ts';
import { RecentOrders, leftOrder } from '../../src/engine/state/recent-orders.ts';
import { aPolicy, START } from './harness.ts';

const NIGHT = instant(Date.UTC(2026, 0, 5, 23, 59));
const fillAt = (at: number, usd: string) => aFill({ executed_at: instant(at), notional_usd: usd });

describe('the totals of a day', () => {
  it('have exactly the cost of their fills, even with thousands of them and infrequent reads', () => {
    const totals = new Totals();
    const costs: unknown[] = [];
    const sums: unknown[] = [];
    let sum = NO_MONEY;
    for (let each = 1; each <= 2_500; each++) {
      const fill = aFill({ executed_at: NIGHT, notional_usd: `${each}`, fees: each % 3 === 0 ? '0' : '0.7' });
      totals.book(fill);
      sum = add(sum, costOf(fill));
      if (each % 600 !== 0) continue;
      costs.push(totals.dayCost(NIGHT));
      sums.push(sum);
    }
    expect(costs).toEqual(sums);
    totals.book(fillAt(NIGHT + 5 * DAY_MS, '1'));
    expect(text(totals.dayCost(NIGHT))).toBe(text(costOf(fillAt(NIGHT, '1'))));
  });

  it('start again at midnight UTC', () => {
    const totals = new Totals();
    totals.book(fillAt(NIGHT, '100'));
    expect(text(totals.dayNotional(NIGHT))).toBe('100');
    expect(text(totals.dayNotional(after(NIGHT, MINUTE_MS)))).toBe('0');
    totals.book(fillAt(NIGHT + MINUTE_MS, '7'));
    expect(text(totals.dayNotional(after(NIGHT, MINUTE_MS)))).toBe('7');
    expect(text(totals.dayNotional(after(NIGHT, MINUTE_MS), 'btcusd'))).toBe('7');
    expect(text(totals.dayNotional(after(NIGHT, MINUTE_MS), 'ethusd'))).toBe('0');
  });

  it('include a fill dated before midnight because the clock was set back', () => {
    const totals = new Totals();
    totals.book(fillAt(NIGHT + MINUTE_MS, '7'));
    totals.book(fillAt(NIGHT - HOUR_MS, '100'));
    expect(text(totals.dayNotional(after(NIGHT, MINUTE_MS)))).toBe('107');
  });

  it('include a day to which the clock had jumped, once it is back', () => {
    const totals = new Totals();
    totals.book(fillAt(NIGHT, '100'));
    totals.book(fillAt(NIGHT + DAY_MS, '7'));
    expect(text(totals.dayNotional(NIGHT))).toBe('107');
  });

  it('never lose a fill of the day, whatever the times of the fills are', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }), { maxLength: 20 }), (jumps) => {
        const totals = new Totals();
        let newest = 0;
        let expected = 0;
        for (const jump of jumps) {
          const day = Math.floor((NIGHT + jump) / DAY_MS);
          if (day > newest) [newest, expected] = [day, 0];
          expected++;
          totals.book(fillAt(NIGHT + jump, '1'));
        }
        expect(text(totals.dayNotional(instant(newest * DAY_MS)))).toBe(String(expected));
      }),
    );
  });
});

describe('a parent with many slices', () => {
  it('keeps only the deadlines of its newest 100 slices', () => {
    const totals = new Totals();
    const kinds = everyKind();
    const wake = kinds.find((body) => body.kind === 'wake');
    const intent = kinds.find((body) => body.kind === 'intent');
    const [decided] = wake?.intents ?? [];
    if (wake === undefined || intent === undefined || decided === undefined)
      throw new Error('no such records');
    for (let slice = 0; slice < 1_000; slice++) {
      const deadline = after(NIGHT, slice * MINUTE_MS);
      totals.decide({ ...wake, intents: [{ ...decided, parent: 'p', slice, deadline }] });
      totals.leave({ ...intent, parent: 'p', slice, client_order_id: `c-${slice}` }, deadline);
    }
    const gaps = totals.saved().parents.get('p')?.gaps;
    expect(gaps?.size).toBeLessThanOrEqual(125);
    expect(gaps?.get(999)).toBe(after(NIGHT, 999 * MINUTE_MS));
  });
});

describe('the day clock of limits', () => {
  it('passes midnight with the wall clock', () => {
    const clock = new VirtualClock(NIGHT);
    const day = new DayClock(clock);
    clock.run(after(NIGHT, 2 * MINUTE_MS));
    expect(day.now()).toBe(clock.wall());
  });

  it('does not go back when the wall clock is set back over midnight', () => {
    const clock = new VirtualClock(after(NIGHT, 2 * MINUTE_MS));
    const day = new DayClock(clock);
    const before = day.now();
    clock.stepWall(-HOUR_MS);
    expect(day.now()).toBe(before);
  });

  it('does not follow a jump of a day unless it lasts for an hour', () => {
    const clock = new VirtualClock(NIGHT);
    const day = new DayClock(clock);
    clock.stepWall(DAY_MS);
    expect(day.now()).toBeLessThan(NIGHT + MINUTE_MS);
    clock.stepWall(-DAY_MS);
    expect(day.now()).toBeLessThan(NIGHT + MINUTE_MS);
    clock.stepWall(DAY_MS);
    day.now();
    clock.run(after(clock.wall(), HOUR_MS + MINUTE_MS));
    expect(day.now()).toBe(clock.wall());
  });

  it('starts no new day after a restart with a wrong date until the venue or an hour has confirmed it', () => {
    const clock = new VirtualClock(after(NIGHT, DAY_MS));
    let skewMs: number | undefined;
    const day = new DayClock(clock, () => skewMs);
    day.inherit(NIGHT);
    expect(day.now()).toBe(NIGHT);
    clock.run(after(clock.wall(), MINUTE_MS / 2));
    expect(day.now()).toBe(after(NIGHT, MINUTE_MS / 2));
    skewMs = -DAY_MS;
    expect(day.now()).toBe(after(NIGHT, MINUTE_MS / 2));
    skewMs = 0;
    expect(day.now()).toBe(clock.wall());
  });

  it('accepts after an hour that a day has passed since the last record', () => {
    const clock = new VirtualClock(after(NIGHT, DAY_MS));
    const day = new DayClock(clock);
    day.inherit(NIGHT);
    day.now();
    clock.run(after(clock.wall(), HOUR_MS + MINUTE_MS));
    expect(day.now()).toBe(clock.wall());
  });

  it('follows the wall clock after a restart within the same day', () => {
    const clock = new VirtualClock(after(NIGHT, -HOUR_MS));
    const day = new DayClock(clock);
    day.inherit(after(NIGHT, -2 * HOUR_MS));
    expect(day.now()).toBe(clock.wall());
  });
});

const fill = (id: string, at: number): FillRecord => aFill({ client_order_id: id, executed_at: instant(at) });

const apply = (state: EngineState, at: number, body: RecordBody): void => {
  state.apply({ seq: 1, at: instant(at), hash: '', body });
};

describe('the ids of filled orders', () => {
  it('are kept after the clock is set forward by days', () => {
    const state = new EngineState();
    const wrong = Date.UTC(2026, 0, 1);
    const right = wrong + 3 * DAY_MS;
    apply(state, wrong, fill('first', wrong));
    apply(state, right, fill('second', right));

    expect([...state.filledIds.keys()]).toStrictEqual(['first', 'second']);
    expect(state.rememberedSince).toBe(0);
  });

  it('are dropped once old and over 10,000 in number, and the state keeps the time since which it knows all ids', () => {
    const state = new EngineState();
    const then = Date.UTC(2026, 0, 1);
    for (let i = 0; i < 12_500; i++) apply(state, then, fill(`old ${i}`, then));
    const now = then + 3 * DAY_MS;
    apply(state, now, fill('new', now));

    expect(state.filledIds.has('old 0')).toBe(false);
    expect(state.filledIds.size).toBe(10_000);
    expect(state.rememberedSince).toBe(now - 2 * DAY_MS);
  });
});

it('QuoteIds keeps at least the last 100,000 ids of quotes, and drops older ones', () => {
  const ids = new QuoteIds();
  const isKnown = (i: number): boolean => ids.has(`quote ${i}`);
  let known = 0;
  for (let i = 0; i < 250_000; i++) {
    if (isKnown(i)) known++;
    ids.add(`quote ${i}`);
  }
  expect(known).toBe(0);
  expect([249_999, 200_000, 199_999, 150_000].map(isKnown)).toEqual([true, true, true, true]);
  expect(isKnown(0)).toBe(false);
});

const known = everyKind().find((body) => body.kind === 'intent');
if (known === undefined) throw new Error('no such record');
const intent: IntentRecord = { ...known, parent: 'p', slice: 0, pair: 'btcusd', by: 'quantity', size: '0.1' };
const NOW = after(START, 2 * MINUTE_MS);

interface Sent extends Partial<IntentRecord> {
  readonly agoMs?: number;
  readonly isLeaving?: boolean;
}

/** What an order of 0.1 btc repeats, by the first slice of parent `p`, after other orders. */
function repeats(sent: readonly Sent[]): readonly unknown[] {
  const state = new EngineState();
  const leaving = new Map<string, IntentRecord>();
  for (const [n, { agoMs = 0, isLeaving = false, ...over }] of sent.entries()) {
    const order = { ...intent, parent: 'q', client_order_id: `c-${n}`, ...over };
    if (isLeaving) leaving.set(order.client_order_id, order);
    else state.totals.leave(order, after(NOW, -agoMs));
  }
  const limits = { ...aPolicy().limits, duplicateMs: 10 * SECOND_MS, minuteExecutionsMax: 5 };
  const trial = {
    slice: { intent: { ...intent, leg: 'all', deadline: NOW } },
    size: { by: 'quantity', quantity: quantity('0.1') },
    clientId: 'own',
  } as const;
  const { duplicate, inMinute } = repeatsOf({ leaving, policy: aPolicy({ limits }), state }, trial, {
    at: NOW,
    known: undefined,
    planned: undefined,
  });
  return [duplicate, inMinute];
}

describe('orders of the last minute', () => {
  it.each<readonly [string, readonly Sent[], readonly unknown[]]>([
    ['an identical order of another parent', [{ agoMs: 9_999 }], ['c-0', 1]],
    ['one that is older than the window of duplicates', [{ agoMs: 10_000 }], [undefined, 1]],
    ['one that is older than a minute', [{ agoMs: MINUTE_MS }, { agoMs: 1, pair: 'ethusd' }], [undefined, 0]],
    ['one with a later time, after the clock was set back', [{ agoMs: -30 * MINUTE_MS }], ['c-0', 1]],
    ['one that is leaving', [{ isLeaving: true }], ['c-0', 1]],
    [
      'one that is leaving and written',
      [{ agoMs: 1 }, { isLeaving: true, client_order_id: 'c-0' }],
      ['c-0', 1],
    ],
    [
      'an order of another size, side or unit',
      [{ size: '0.2' }, { side: 'sell' }, { by: 'amount' }],
      [undefined, 1],
    ],
    ['orders of several slices', [{ slice: 0 }, { slice: 1 }, { slice: 1, attempt: 1 }], ['c-0', 2]],
    [
      'earlier attempts of its own slice',
      [{ parent: 'p' }, { parent: 'p', isLeaving: true }],
      [undefined, 0],
    ],
    ['another slice of its own parent', [{ parent: 'p', slice: 1 }], [undefined, 1]],
  ])('are compared with an order: %s', (_, sent, expected) => {
    expect(repeats(sent)).toEqual(expected);
  });

  it('are limited to the newest and 10,000 before it', () => {
    const recent = new RecentOrders(
      Array.from({ length: 10_005 }, (_, n) => leftOrder({ ...intent, client_order_id: `c-${n}` }, START)),
    );
    recent.add({ ...intent, client_order_id: 'last' }, START);
    expect(recent.saved()).toHaveLength(10_001);
    expect(recent.saved().at(-1)?.clientId).toBe('last');
  });
});
