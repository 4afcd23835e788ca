import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { money, quantity } from '../../src/core/money.ts';
import type { IntentRecord } from '../../src/core/record.ts';
import type { Repeats } from '../../src/core/risk/limits.ts';
import { pack, unpack } from '../../src/core/text/pack.ts';
import { after, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { repeatsOf } from '../../src/engine/market/repeats.ts';
import type { RepeatTrial } from '../../src/engine/market/repeats.ts';
import { EngineState } from '../../src/engine/state/engine-state.ts';
import { RecentOrders } from '../../src/engine/state/recent-orders.ts';
import type { SavedTotals } from '../../src/engine/state/totals.ts';
import { everyKind } from '../journal/records.ts';
import { aPolicy, START } from './harness.ts';

const ORDERS_MAX = 10_000;
const DUPLICATE_MS = 10 * SECOND_MS;

interface Order {
  readonly intent: IntentRecord;
  readonly at: Instant;
}

/** Scans every order each time; the index must give the same answers. */
class PlainScan {
  orders: readonly Order[] = [];

  leave(intent: IntentRecord, at: Instant): void {
    if (this.orders.some((order) => order.intent.client_order_id === intent.client_order_id)) return;
    const recent = this.orders.filter((order) => order.at > after(at, -MINUTE_MS));
    this.orders = [...recent.slice(-ORDERS_MAX), { intent, at }];
  }

  repeats(
    own: IntentRecord,
    at: Instant,
    leaving: readonly IntentRecord[],
  ): Pick<Repeats, 'duplicate' | 'inMinute'> {
    const known = this.orders.filter((order) => order.at > after(at, -MINUTE_MS));
    const ids = new Set(known.map(({ intent }) => intent.client_order_id));
    const unwritten = leaving
      .filter((intent) => !ids.has(intent.client_order_id))
      .map((intent) => ({ intent, at }));
    let duplicate: string | undefined;
    const others = new Set<string>();
    for (const { intent, at: left } of [...known, ...unwritten]) {
      if (intent.client_order_id === own.client_order_id || intent.pair !== own.pair) continue;
      const isTwin =
        intent.parent !== own.parent &&
        intent.side === own.side &&
        intent.by === own.by &&
        intent.size === own.size;
      if (isTwin && left > after(at, -DUPLICATE_MS)) duplicate ??= intent.client_order_id;
      if (intent.parent !== own.parent || intent.slice !== own.slice)
        others.add(`${intent.parent} ${intent.slice}`);
    }
    return { duplicate, inMinute: others.size };
  }
}

const intentOf = everyKind().find((body) => body.kind === 'intent');
if (intentOf === undefined) throw new Error('no such record');

/** Few values of each, so that orders resemble one another. */
const anIntent: fc.Arbitrary<IntentRecord> = fc
  .record({
    parent: fc.constantFrom('p', 'q', 'r'),
    slice: fc.nat(3),
    attempt: fc.nat(2),
    pair: fc.constantFrom('btcusd', 'ethusd'),
    size: fc.constantFrom('0.1', '0.2'),
    by: fc.constantFrom('quantity' as const, 'amount' as const),
  })
  .map(({ parent, slice, attempt, pair, size, by }) => ({
    ...intentOf,
    parent: `${parent}-${pair}`,
    slice,
    attempt,
    pair,
    size,
    by,
    client_order_id: `${parent}-${pair}-${slice}-${attempt}`,
  }));

/** A step after some time, or before it: the clock is sometimes set back. */
const aStep = fc.record({
  ms: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 15 * SECOND_MS }) },
    { weight: 1, arbitrary: fc.integer({ min: -2 * MINUTE_MS, max: 2 * MINUTE_MS }) },
  ),
  does: fc.oneof(
    { weight: 8, arbitrary: fc.constant('leave' as const) },
    { weight: 1, arbitrary: fc.constantFrom('restart' as const, 'rearm' as const) },
  ),
  intent: anIntent,
  leaving: fc.array(anIntent, { maxLength: 3 }),
});

const trialOf = (intent: IntentRecord): RepeatTrial => ({
  slice: { intent: { ...intent, leg: 'all', deadline: START } },
  size:
    intent.by === 'quantity'
      ? { by: 'quantity', quantity: quantity(intent.size) }
      : { by: 'amount', amount: money(intent.size) },
  clientId: intent.client_order_id,
});

const limits = { ...aPolicy().limits, duplicateMs: DUPLICATE_MS, minuteExecutionsMax: 5 };
const policy = aPolicy({ limits });

describe('orders of the last minute', () => {
  it('match a scan of all orders, whatever the clock does and whenever the desk restarts', () => {
    let [twins, crowds] = [0, 0];
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 80 }), (steps) => {
        const state = new EngineState();
        const scan = new PlainScan();
        let at = START;
        for (const { ms, does, intent, leaving } of steps) {
          at = instant(at + ms);
          const desk = {
            leaving: new Map(leaving.map((each) => [each.client_order_id, each])),
            policy,
            state,
          };
          const { duplicate, inMinute } = repeatsOf(desk, trialOf(intent), {
            at,
            known: undefined,
            planned: undefined,
          });
          expect({ duplicate, inMinute }).toEqual(scan.repeats(intent, at, [...desk.leaving.values()]));
          if (duplicate !== undefined) twins++;
          if (inMinute > 2) crowds++;
          if (does === 'leave') {
            state.totals.leave(intent, at);
            scan.leave(intent, at);
          } else if (does === 'restart') {
            state.totals.restore(unpack(pack(state.totals.saved())) as SavedTotals);
          } else {
            state.totals.control({ kind: 'control', state: 'active', by: 'somebody', why: 'test' });
            scan.orders = [];
          }
          expect(state.totals.saved().orders.map(({ clientId }) => clientId)).toEqual(
            scan.orders.map((order) => order.intent.client_order_id),
          );
        }
      }),
      { numRuns: 300 },
    );
    // Both answers are given often enough to be compared.
    expect(Math.min(twins, crowds)).toBeGreaterThan(100);
  });

  it('are limited to the newest and 10,000 before it', () => {
    const orders = new RecentOrders();
    for (let n = 0; n < ORDERS_MAX + 2; n++)
      orders.add({ ...intentOf, parent: `p-${n}`, client_order_id: `c-${n}` }, START);
    expect(orders.saved()).toHaveLength(ORDERS_MAX + 1);
    expect(orders.hasLeft('c-0', after(START, -1))).toBe(false);
    expect(orders.slicesSince(intentOf.pair, after(START, -1))).toBe(ORDERS_MAX + 1);
  });
});
