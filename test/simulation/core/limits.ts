import { deskRefusal, refusal } from '../../../src/core/risk/controls.ts';
import type { RiskContext as Limited } from '../../../src/core/risk/limits.ts';
import { NO_QUANTITY, add, money, price } from '../../../src/core/money.ts';
import type { Money, Price, Quantity } from '../../../src/core/money.ts';
import type { Refusal } from '../../../src/core/risk/refusal.ts';
import type { EngineState } from '../../../src/engine/state/engine-state.ts';
import type { OpenSlice } from '../../../src/engine/state/strategy-run.ts';
import type { Life } from './life.ts';

/** What the product's own controls are told, and what they say. */

export interface Figures {
  readonly price: Price;
  readonly size: { readonly by: 'quantity'; readonly quantity: Quantity };
  readonly notional: Money;
}

export function refuses(life: Life, world: Limited, slice: OpenSlice, figures: Figures): Refusal | undefined {
  const latched = deskRefusal(world);
  if (latched !== undefined) return latched;
  const { pair, side } = slice.intent;
  return refusal(
    {
      pair,
      side,
      quantity: figures.size.quantity,
      price: figures.price,
      notional: figures.notional,
      limit: undefined,
      reference: price(String(life.venue.mid(pair))),
      decisionPrice: undefined,
    },
    world,
    life.work.limits,
  );
}

/** `except` is the attempt that asks. */
export function worldOf(
  { disk, clock, days }: Life,
  state: EngineState,
  latch: 'paused' | 'halted' | undefined,
  { pair, except }: { readonly pair: string; readonly except: string | undefined },
): Limited {
  const { doubts } = state;
  return {
    control: disk.isHalting ? 'halted' : (latch ?? state.control),
    isStopping: false,
    openDoubts: doubts.length,
    pairDoubts: doubts.filter(({ intent }) => intent.pair === pair).length,
    doubtNotional: doubts.reduce((sum, { intent }) => add(sum, money(intent.notional_usd)), money('0')),
    dayNotional: add(state.totals.dayNotional(days.now()), state.openNotional(undefined, except)),
    pairDayNotional: add(state.totals.dayNotional(days.now(), pair), state.openNotional(pair, except)),
    at: clock.wall(),
    ...UNHINDERED,
  };
}

/** What the cycle by itself does not look at: simulation B runs the engine, which does. */
const UNHINDERED = {
  pausedWhy: undefined,
  blind: undefined,
  referenceGapBps: undefined,
  referenceGapBpsMax: undefined,
  isReducing: false,
  gives: { currency: '', after: undefined },
  gets: { currency: '', after: undefined },
  repeats: {
    isReused: false,
    duplicate: undefined,
    inMinute: 0,
    ofParent: 0,
    planned: undefined,
    gapUntil: undefined,
  },
  caps: {
    asked: NO_QUANTITY,
    parentDone: NO_QUANTITY,
    parentMax: undefined,
    slice: NO_QUANTITY,
    slicePlanned: undefined,
  },
} as const satisfies Partial<Limited>;
