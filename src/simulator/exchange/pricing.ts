import {
  approximate,
  add,
  cost,
  NO_MONEY,
  quantity,
  quantityDown,
  ratio,
  ratioOf,
  roundDown,
  roundUp,
  scale,
  worsen,
} from '../../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../../core/money.ts';
import type { Side, Size } from '../../core/venue.ts';
import { priceDecimals } from './listing.ts';
import type { Listing } from './listing.ts';

/** A priced size: the content of a quote. */
export interface Priced {
  readonly quantity: Quantity;
  readonly amount: Money;
  readonly price: Price;
}

/**
 * The dealer's price for a size: the mid price, moved against the client by the half spread plus the impact of the
 * size, then rounded against the client (up for a buy, down for a sell) to the price precision of the pair.
 *
 * `usd` is the value of the size. Impact grows with the square root of that value, and the impact in the pair's
 * settings applies at one million USD. `impactBps` replaces that impact, if known.
 */
export function dealerPrice(listing: Listing, side: Side, mid: Price, usd: Money, impactBps?: number): Price {
  const { halfSpreadBps, spread, options } = listing;
  const impact = impactBps === undefined ? impactOf(options.impactBps, usd) : ratio(impactBps.toFixed(6));
  const away =
    options.impactBps === 0 && impactBps === undefined
      ? scale(mid, spread[side])
      : worsen(side, mid, add(halfSpreadBps, impact));
  return roundedAgainst(listing, side, away);
}

/** Up for a buy, down for a sell. */
export function roundedAgainst(listing: Listing, side: Side, each: Price): Price {
  const decimals = priceDecimals(listing, each);
  return side === 'buy' ? roundUp(each, decimals) : roundDown(each, decimals);
}

function impactOf(impactBps: number, usd: Money): Ratio {
  const millions = Math.max(0, approximate(usd)) / 1_000_000;
  return ratio((impactBps * Math.sqrt(millions)).toFixed(6));
}

/**
 * A size at a price. The requested side stays unchanged; the other side is rounded against the client. A buy pays the
 * amount rounded up or gets the quantity rounded down; a sell gets the amount rounded down or gives the quantity
 * rounded up. So `price * quantity` differs from the amount by less than one unit of the quote currency's precision.
 */
export function priced(listing: Listing, side: Side, size: Size, each: Price): Priced {
  if (size.by === 'quantity') {
    return {
      quantity: size.quantity,
      amount: amountAgainst(listing, side, cost(each, size.quantity)),
      price: each,
    };
  }
  const down = quantityDown(size.amount, each, listing.basePrecision);
  const isWhole = side === 'buy' || cost(each, down).gte(size.amount);
  const got = isWhole ? down : add(down, quantity(`1e-${listing.basePrecision}`));
  return { quantity: got, amount: size.amount, price: each };
}

/**
 * `amount` rounded to the precision of the quote currency: up when the client pays it, down when the client receives
 * it.
 */
export const amountAgainst = (listing: Listing, side: Side, amount: Money): Money =>
  side === 'buy' ? roundUp(amount, listing.quotePrecision) : roundDown(amount, listing.quotePrecision);

/** The fee for `amount`, in quote currency, rounded up. */
export const feeFor = (listing: Listing, amount: Money, feeBps: number): Money =>
  feeBps === 0 ? NO_MONEY : roundUp(scale(amount, bpsOf(feeBps)), listing.quotePrecision);

/** The fee for `amount` of the base currency, rounded up. */
export const baseFeeFor = (listing: Listing, amount: Quantity, feeBps: number): Quantity =>
  roundUp(scale(amount, bpsOf(feeBps)), listing.basePrecision);

const bpsOf = (count: number): Ratio => scale(ratioOf(count), ratio('0.0001'));

/**
 * How far the mid price has moved against the dealer since the quote, in basis points; negative if it moved in the
 * dealer's favour.
 */
export function movedAgainstDealer(side: Side, quoted: Price, now: Price): Ratio {
  const rise = now.minus(quoted).div(quoted).times(10_000);
  return ratio((side === 'buy' ? rise : rise.negated()).toFixed(9));
}
