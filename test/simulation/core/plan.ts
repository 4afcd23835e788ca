import { parentId } from '../../../src/core/ids.ts';
import type { Limits } from '../../../src/core/risk/limits.ts';
import { money, ratio } from '../../../src/core/money.ts';
import type { Side } from '../../../src/core/venue.ts';
import type { World } from './world.ts';

/** What one history is about: what is traded, when, within which limits. */

export interface Parent {
  readonly strategy: string;
  readonly pair: string;
  readonly side: Side;
  readonly id: string;
}

const parent = (strategy: string, pair: string, side: Side): Parent => ({
  strategy,
  pair,
  side,
  id: parentId('sim', strategy, 'h', '0', pair),
});
const BUYS = parent('a', 'btcusd', 'buy');
const SECONDS: readonly Parent[] = [parent('b', 'btcusd', 'buy'), parent('b', 'ethusd', 'sell')];

export interface Work {
  readonly parents: readonly Parent[];
  readonly slots: number;
  readonly gapMs: number;
  /** A slice that has not traded by then ends. */
  readonly windowMs: number;
  readonly limits: Limits;
  readonly collarBps: number;
  /** Cents of the day, all pairs together. */
  readonly dayMax: number;
  readonly orderMax: number;
  readonly openDoubtsMax: number;
  readonly pageRows: number;
  /** How long things go wrong. */
  readonly faultyMs: number;
  hundredths(parent: Parent, slot: number): number;
}

export const ORDER_TIMEOUT_MS = 8_000;
export const ORDER_MARGIN_MS = 500;
export const QUOTE_TIMEOUT_MS = 9_000;
export const BOOKING_MARGIN_MS = 10_000;
/** The longest life that the venue of this simulation gives a quote. */
export const LIFE_MAX_MS = 30_000;
export const READ_GAP_MS = 10_000;

export function workOf(world: World): Work {
  const { chance } = world;
  const parents = chance.setting('parents', 1, 3);
  const slots = chance.setting('slots', 1, 3);
  const gapMs = chance.setting('gapMs', 4_000, 60_000);
  const dayMax = [40_000_000, 4_000_000, 1_500_000][chance.setting('dayMax', 0, 2)] ?? 0;
  const openDoubtsMax = chance.setting('openDoubtsMax', 1, 2);
  const collarBps = 100;
  const orderMax = 1_300_000;
  return {
    parents: parents === 1 ? [BUYS] : [BUYS, SECONDS[parents - 2] ?? BUYS],
    slots,
    gapMs,
    windowMs: chance.setting('windowMs', 30_000, 300_000),
    dayMax,
    orderMax,
    collarBps,
    openDoubtsMax,
    pageRows: chance.setting('pageRows', 4, 12),
    faultyMs: chance.setting('faultyMs', 60_000, 300_000),
    limits: {
      currency: 'usd',
      orderNotionalMax: money(String(orderMax / 100)),
      dayNotionalMax: money(String(dayMax / 100)),
      orderQuantityMax: new Map(),
      collarBps: ratio(String(collarBps)),
      driftBpsMax: undefined,
      openDoubtsMax,
      pairs: undefined,
      sides: new Set<Side>(['buy', 'sell']),
    },
    hundredths: (of, slot) => 1 + Math.floor(24 * chance.draw(`size ${of.strategy}`, slot)),
  };
}
