import { describe, expect, it } from 'vitest';
import { quantity } from '../../src/core/money.ts';
import type { IntentRecord } from '../../src/core/record.ts';
import { after, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { repeatsOf } from '../../src/engine/market/repeats.ts';
import { EngineState } from '../../src/engine/state/engine-state.ts';
import { RecentOrders, leftOrder } from '../../src/engine/state/recent-orders.ts';
import { everyKind } from '../journal/records.ts';
import { aPolicy, START } from './harness.ts';

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
