import * as shared from '../core/money.ts';
import type { AnyAmount } from '../core/money.ts';

/**
 * The helpers of `money.ts` as a module gets them. What they give is its own: the program keeps some of its numbers and hands
 * them out again and again, and what a module writes on one must not change what the desk counts with.
 */
const own =
  <Given extends readonly unknown[], A extends AnyAmount>(make: (...given: Given) => A) =>
  (...given: Given): A =>
    shared.apart(make(...given));

/** These four take text only: a number has already lost digits. */
export const price = own(shared.price);
export const quantity = own(shared.quantity);
export const money = own(shared.money);
export const ratio = own(shared.ratio);

export const add = own(shared.add);
export const subtract = own(shared.subtract);
export const scale = own(shared.scale);
export const least = own(shared.least);
export const greatest = own(shared.greatest);
/** `part / whole`, 80 digits, towards zero. `whole` must not be zero. */
export const fraction = own(shared.fraction);
/** What `of` units cost at `each`. Exact. */
export const cost = own(shared.cost);
/** The base quantity that `amount` buys at `each`, cut down to `precision` decimals: never more than was meant. */
export const quantityDown = own(shared.quantityDown);
/** Towards zero. */
export const roundDown = own(shared.roundDown);
/** Away from zero. */
export const roundUp = own(shared.roundUp);
/** One of `parts` equal parts of `total`, cut down to `precision` decimals; the last part takes what is left. */
export const share = own(shared.share);
/** `each`, this many basis points worse for `side`. */
export const worsen = own(shared.worsen);
/** The one spelling of an amount: no exponent, no leading plus, no trailing zeros. */
export const text = (amount: AnyAmount): string => shared.text(shared.apart(amount));
