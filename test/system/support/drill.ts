import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Fault, RequestSeen, ServerHooks } from '../../../src/simulator/http/server.ts';
import type { FillRow } from './desk.ts';
import { sameSpelling } from './ledger.ts';
import type { Row } from './ledger.ts';
import type { Event } from './program.ts';
import { until } from './until.ts';

/** What the drills share: strategies, a watch on the venue's door, and what must hold of slices. */

export interface TwapSetup {
  readonly id: string;
  readonly slices: number;
  readonly everyMs: number;
}

/** Buys a tenth of a bitcoin a slice. */
export const twapOf = ({ id, slices, everyMs }: TwapSetup): Readonly<Record<string, unknown>> => ({
  id,
  kind: 'twap',
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: tenths(slices), currency: 'btc' },
  duration: `PT${(slices * everyMs) / 1000}S`,
  slices,
});

const tenths = (count: number): string => `${Math.floor(count / 10)}.${count % 10}`;

/** Sells an ether every three seconds. */
export const mover = (id: string): Readonly<Record<string, unknown>> => ({
  id,
  kind: 'twap',
  pair: 'ethusd',
  side: 'sell',
  total_quantity: { amount: '20', currency: 'eth' },
  duration: 'PT60S',
  slices: 20,
});

/** A watch on what comes in at the venue. */
export interface Watched {
  readonly hooks: ServerHooks;
  orderCount(): number;
  /** Waits until so many orders have come in. */
  orders(count: number): Promise<void>;
  /** Waits until none has come in for so long: those that were under way have arrived. */
  silence(ms: number): Promise<void>;
}

const SILENCE_LOOKS = 30;

/** `script` is asked for every order, with its number from 1. */
export function watched(script?: (order: number, seen: RequestSeen) => Fault | undefined): Watched {
  let orders = 0;
  const isOrder = ({ route }: RequestSeen): boolean => /^\/v1\/orders\/(?:buy|sell)$/u.test(route);
  return {
    hooks: {
      script(seen) {
        if (!isOrder(seen)) return undefined;
        orders += 1;
        return script?.(orders, seen);
      },
    },
    orderCount: () => orders,
    orders: async (count) => {
      await until(
        () => orders >= count,
        () => `${count} orders, only ${orders} came in`,
      );
    },
    silence: async (ms) => {
      for (let looks = 0; looks < SILENCE_LOOKS; looks++) {
        const before = orders;
        await sleep(ms);
        if (orders === before) return;
      }
      throw new Error(`orders came in again and again, never ${ms} ms without one`);
    },
  };
}

export const anEvent = ({ event }: Event): boolean => typeof event === 'string';

/** A slice as it was decided: its number, when, and how much. */
export interface Decided {
  readonly slice: number;
  readonly at: number;
  readonly size: string;
}

/** The slices that a strategy has begun, from the wakes of the journal. */
export function sizes(records: readonly Event[], id: string): readonly Decided[] {
  return records
    .filter(({ kind, strategy }) => kind === 'wake' && strategy === id)
    .flatMap(({ intents, recorded_at: at }) =>
      (intents as readonly { readonly slice: number; readonly size: string }[]).map(({ slice, size }) => ({
        slice,
        size,
        at: Number(at),
      })),
    );
}

const SCALE = 18;

/** An amount in units of 10⁻¹⁸: exact, and nothing of the product. */
export function units(text: string): bigint {
  const [whole = '', rest = ''] = sameSpelling(text).split('.');
  return BigInt(whole + rest.padEnd(SCALE, '0'));
}

const sum = (texts: readonly string[]): bigint => texts.reduce((total, text) => total + units(text), 0n);

/**
 * Journal and venue tell the same sums of each order, to the last digit of both legs, in however many trades the venue booked it
 * and however often it executed it.
 */
export function expectSameSums(
  fills: readonly FillRow[],
  records: readonly Event[],
  rows: readonly Row[],
): void {
  const lineOf = (id: string, quantity: bigint, amount: bigint): string => `${id} ${quantity} for ${amount}`;
  const corrected = new Map(
    records.filter(({ kind }) => kind === 'correction').map((each) => [each['client_order_id'], each]),
  );
  const told = fills.map((fill) => {
    const { quantity, amount } = corrected.get(fill.client_order_id) ?? fill;
    return lineOf(fill.client_order_id, units(String(quantity)), units(String(amount)));
  });
  const trades = Map.groupBy(rows, (row) => row['client_order_id'] ?? '');
  const traded = [...trades].map(([id, legs]) => {
    const isBase = (row: Row): boolean => row['symbol']?.startsWith(row['currency'] ?? '?') === true;
    const total = (of: readonly Row[]): bigint => sum(of.map(({ amount = '0' }) => amount.replace('-', '')));
    return lineOf(id, total(legs.filter(isBase)), total(legs.filter((row) => !isBase(row))));
  });
  expect(told.toSorted()).toEqual(traded.toSorted());
}

/** No slice has bought more than it was to, and all together have bought no more than the total; just that when it is complete. */
export function expectSlicesOnce(
  fills: readonly FillRow[],
  records: readonly Event[],
  { id, total, isComplete }: { readonly id: string; readonly total: string; readonly isComplete: boolean },
): void {
  const own = fills.filter(({ strategy }) => strategy === id);
  const planned = new Map(sizes(records, id).map(({ slice, size }) => [String(slice), size]));
  for (const [slice, parts] of Map.groupBy(own, (fill) => fill.slice)) {
    const bought = sum(parts.map(({ quantity }) => quantity));
    const size = units(planned.get(slice) ?? '0');
    expect({ slice, isTooMuch: bought > size }).toEqual({ slice, isTooMuch: false });
  }
  const all = sum(own.map(({ quantity }) => quantity));
  if (isComplete) expect(all).toBe(units(total));
  else expect(all <= units(total)).toBe(true);
}

/**
 * No slice of any parent has executed more than was decided for it, in the unit in which it was decided. Counts by parent, as
 * each leg of a portfolio is a parent of its own and begins with slice 0.
 */
export function expectSlicesWithin(fills: readonly FillRow[], records: readonly Event[]): void {
  const decided = new Map<string, { readonly by: string; readonly size: string }>();
  for (const { intents } of records.filter(({ kind }) => kind === 'wake')) {
    for (const { parent, slice, by, size } of intents as readonly Planned[]) {
      const before = decided.get(`${parent}/${slice}`);
      if (before === undefined || units(size) > units(before.size))
        decided.set(`${parent}/${slice}`, { by, size });
    }
  }
  const executed = Map.groupBy(fills, ({ parent, slice }) => `${parent}/${slice}`);
  for (const [slice, parts] of executed) {
    const { by, size } = decided.get(slice) ?? { by: 'nothing', size: '0' };
    const done = sum(parts.map(({ quantity, amount }) => (by === 'amount' ? amount : quantity)));
    expect({ slice, by, size, isTooMuch: done > units(size) }).toEqual({ slice, by, size, isTooMuch: false });
  }
}

interface Planned {
  readonly parent: string;
  readonly slice: number;
  readonly by: 'quantity' | 'amount';
  readonly size: string;
}
