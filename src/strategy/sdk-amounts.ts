import * as shared from '../core/money.ts';
import type { AnyAmount } from '../core/money.ts';

/**
 * The helpers of `money.ts` for modules. They return separate copies, because the program shares some of its amounts,
 * and a module that changes an amount must not change the desk's.
 */
const own =
  <Given extends readonly unknown[], A extends AnyAmount>(make: (...given: Given) => A) =>
  (...given: Given): A =>
    shared.apart(make(...given));

/** These four accept only text, because a number may already have lost digits. */
export const price = own(shared.price);
export const quantity = own(shared.quantity);
export const money = own(shared.money);
export const ratio = own(shared.ratio);

export const add = own(shared.add);
export const subtract = own(shared.subtract);
export const scale = own(shared.scale);
export const least = own(shared.least);
export const greatest = own(shared.greatest);
/** Returns `part / whole` with 80 digits, rounded towards zero. `whole` must not be zero. */
export const fraction = own(shared.fraction);
/** Returns the exact cost of `of` units at `each`. */
export const cost = own(shared.cost);
/** Returns the base quantity that `amount` buys at `each`, rounded down to `precision` decimals. */
export const quantityDown = own(shared.quantityDown);
/** Rounds towards zero. */
export const roundDown = own(shared.roundDown);
/** Rounds away from zero. */
export const roundUp = own(shared.roundUp);
/** Returns one of `parts` equal parts of `total`, rounded down to `precision` decimals; the last part takes the remainder. */
export const share = own(shared.share);
/** Returns a price that is a number of basis points worse for a side. */
export const worsen = own(shared.worsen);
/** Returns the canonical text of an amount: no exponent, no leading plus, no trailing zeros. */
export const text = (amount: AnyAmount): string => shared.text(shared.apart(amount));
