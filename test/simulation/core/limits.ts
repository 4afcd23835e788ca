import { deskRefusal, refusal } from '../../../src/core/controls.ts';
import type { Refusal, World as Limited } from '../../../src/core/controls.ts';
import { add, price } from '../../../src/core/money.ts';
import type { Money, Price, Quantity } from '../../../src/core/money.ts';
import type { DeskState } from '../../../src/engine/desk-state.ts';
import type { OpenSlice } from '../../../src/engine/open.ts';
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
  { disk, clock }: Life,
  state: DeskState,
  latch: 'paused' | 'halted' | undefined,
  { pair, except }: { readonly pair: string; readonly except: string | undefined },
): Limited {
  const { doubts } = state;
  return {
    control: disk.isHalting ? 'halted' : (latch ?? state.control),
    isStopping: false,
    openDoubts: doubts.length,
    pairDoubts: doubts.filter(({ intent }) => intent.pair === pair).length,
    dayNotional: add(state.dayNotional(clock.wall()), state.openNotional(undefined, except)),
  };
}
