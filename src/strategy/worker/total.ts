import type { Minimum, Precisions } from '../../core/instrument.ts';
import {
  counted,
  decimalsOf,
  greatest,
  holding,
  NO_QUANTITY,
  price,
  quantity,
  quantityUp,
  text,
} from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import type { Instant } from '../../core/time.ts';
import type { Side, Size } from '../../core/venue.ts';
import type { Intent, SliceOutcome } from '../../core/wake.ts';
import type { AmountField } from '../fields.ts';
import type { ParentProgress, Step } from '../kernel.ts';
import { tacticsOf } from './tactic-fields.ts';
import type { TacticPlan } from './tactic-fields.ts';

/** A size to trade, and its unit: base currency for `quantity`, quote currency for `amount`. Every amount of it is a holding in that unit. */
export interface Total {
  readonly by: Size['by'];
  readonly amount: Quantity;
  readonly currency: string;
}

/** Returns the total of a document that states it in one of two fields. */
export const totalOf = (base: AmountField | undefined, quote: AmountField | undefined): Total => {
  const { amount, currency } = base ?? quote ?? { amount: '0', currency: '' };
  return { by: base === undefined ? 'amount' : 'quantity', amount: quantity(amount), currency };
};

/** Returns the decimals in the unit of a total; while they are unknown, as many as the total needs. */
export const precisionIn = ({ by, amount }: Total, known: Precisions | undefined): number =>
  (by === 'quantity' ? known?.basePrecision : known?.quotePrecision) ?? Math.max(8, decimalsOf(amount));

/**
 * Returns the venue's minimum in the unit of a total. With a limit price, the minimum of a notional counts for a
 * quantity as well.
 */
export function minimumIn({ by }: Pick<Total, 'by'>, minimum: Minimum, limit?: string): Quantity | undefined {
  const { quantity: ofBase, notional } = minimum;
  if (by === 'amount') return notional && holding(notional);
  if (notional === undefined || limit === undefined) return ofBase;
  return greatest(ofBase ?? NO_QUANTITY, quantityUp(notional, price(limit), 18));
}

export const sizeOf = (by: Size['by'], amount: Quantity): Size =>
  by === 'quantity' ? { by, quantity: amount } : { by, amount: counted(amount) };

/** Returns how much a slice has traded, in the unit of its size. */
export const tradedOf = (by: Size['by'], { filled, filledAmount }: SliceOutcome): Quantity =>
  by === 'quantity' ? filled : holding(filledAmount);

/** Returns the progress of a total, of which `left` is not traded. */
export const progressOf = ({ amount, currency }: Total, left: string): ParentProgress => ({
  total: text(amount),
  left,
  currency,
});

/** Returns what was not traded, for people. */
export const undone = ({ amount, currency }: Total, left: string): string =>
  `${left} of ${text(amount)} ${currency} not traded`;

interface Slice {
  readonly leg: string;
  readonly slice: number;
  readonly by: Size['by'];
  readonly amount: Quantity;
  readonly deadline: Instant;
}

/** Returns the intent of one slice, with the tactics and the limit of its document. */
export const intentOf = (
  plan: TacticPlan & { readonly pair: string; readonly side: Side },
  { leg, slice, by, amount, deadline }: Slice,
): Intent => ({
  leg,
  slice,
  pair: plan.pair,
  side: plan.side,
  size: sizeOf(by, amount),
  limit: plan.limit_price === undefined ? undefined : price(plan.limit_price),
  tactics: tacticsOf(plan),
  deadline,
});

/** Returns the step that starts one slice and waits for its outcome. */
export const started = <State>(
  state: State,
  intent: Intent,
  report: Pick<Step<State>, 'reason' | 'note' | 'missed'> = {},
): Step<State> => ({
  state,
  waits: [{ on: 'outcome', leg: intent.leg, slice: intent.slice }],
  intents: [intent],
  ...report,
});

/** Returns the step that ends a strategy. */
export const ended = <State>(state: State, finished: Reason, note?: string): Step<State> => ({
  state,
  waits: [],
  finished,
  reason: finished === 'finished' ? undefined : finished,
  note,
});
