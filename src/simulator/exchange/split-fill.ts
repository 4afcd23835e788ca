import {
  add,
  cost,
  decimalsOf,
  greatest,
  least,
  money,
  NO_MONEY,
  priceOf,
  quantity,
  ratio,
  roundDown,
  roundEven,
  scale,
  subtract,
} from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { Random } from '../../engine/ports.ts';
import type { Fill } from './fills.ts';
import type { Listing } from './listing.ts';
import type { BookingOptions } from '../options/options-booking.ts';

const PRICE_DECIMALS = 8;
/** Each trade gets its own price because at most this share of the smaller amount is shifted to another trade. */
const UNEVEN = ratio('0.0005');

/**
 * Splits a fill into the trades that are booked. Their quantities, amounts and fees sum exactly to those of the fill.
 * Returns fewer trades than wanted if the size has fewer smallest units.
 */
export function splitFill(
  listing: Listing,
  fill: Fill,
  booking: BookingOptions,
  random: Random,
): readonly Fill[] {
  const quantities = splitQuantity(listing, fill.quantity, booking, random);
  if (quantities.length === 1) return [fill];
  const amounts = splitAmount(listing, fill, quantities, booking.prices === 'uneven' ? random : undefined);
  if (amounts.some((amount) => !amount.gt(0))) return [fill];
  let feesLeft = fill.fees;
  return quantities.map((part, index): Fill => {
    const amount = amounts[index] ?? NO_MONEY;
    const isLast = index === quantities.length - 1;
    const fees = feeOfPart({ listing, fill, amount, feesLeft, isLast, isFirst: index === 0 }, booking);
    feesLeft = subtract(feesLeft, fees);
    const price = booking.prices === 'uneven' ? roundEven(priceOf(amount, part), PRICE_DECIMALS) : fill.price;
    return { quantity: part, amount, price, fees };
  });
}

/** Number of trades as which an order is booked. */
function tradesOf({ tradesPerOrder }: BookingOptions, random: Random): number {
  if (typeof tradesPerOrder === 'number') return tradesPerOrder;
  const { least: fewest, most } = tradesPerOrder;
  return fewest + Math.floor(random.next() * (most - fewest + 1));
}

/** Share of trades that consist only of the smallest unit: one in five. */
const TINY = 0.2;

function splitQuantity(
  { basePrecision }: Listing,
  whole: Quantity,
  booking: BookingOptions,
  random: Random,
): readonly Quantity[] {
  const precision = Math.max(basePrecision, decimalsOf(whole));
  const unit = quantity(`1e-${precision}`);
  const parts: Quantity[] = [];
  let left = whole;
  const wanted = tradesOf(booking, random);
  for (let index = 0; index < wanted - 1; index++) {
    // Every later trade also needs a unit.
    const most = subtract(left, scale(unit, ratio(String(wanted - 1 - index))));
    if (most.lt(unit)) break;
    const share = booking.shares?.[index];
    const part =
      share !== undefined
        ? scale(whole, ratio(share))
        : random.next() < TINY
          ? unit
          : scale(left, ratio(random.next().toFixed(6)));
    const cut = greatest(unit, least(roundDown(part, precision), most));
    parts.push(cut);
    left = subtract(left, cut);
  }
  return [...parts, left];
}

/** An amount for each quantity, at the price of the fill, or slightly different if `random` is given. */
function splitAmount(
  { quotePrecision }: Listing,
  { amount: whole, price }: Fill,
  quantities: readonly Quantity[],
  random: Random | undefined,
): readonly Money[] {
  const precision = Math.max(quotePrecision, decimalsOf(whole));
  const unit = money(`1e-${precision}`);
  const amounts = quantities.slice(1).map((part) => greatest(unit, roundDown(cost(price, part), precision)));
  const first = subtract(whole, amounts.reduce(add, NO_MONEY));
  const last = amounts.at(-1);
  if (random === undefined || last === undefined) return [first, ...amounts];
  const away = roundDown(
    scale(scale(least(first, last), UNEVEN), ratio(random.next().toFixed(6))),
    precision,
  );
  return [add(first, away), ...amounts.slice(0, -1), subtract(last, away)];
}

interface PartOfFee {
  readonly listing: Listing;
  readonly fill: Fill;
  readonly amount: Money;
  readonly feesLeft: Money;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

function feeOfPart(
  { listing, fill, amount, feesLeft, isFirst, isLast }: PartOfFee,
  booking: BookingOptions,
): Money {
  if (booking.fees === 'first') return isFirst ? fill.fees : NO_MONEY;
  if (isLast) return feesLeft;
  const precision = Math.max(listing.quotePrecision, decimalsOf(fill.fees));
  const share = ratio(priceShare(amount, fill.amount));
  return least(feesLeft, roundDown(scale(fill.fees, share), precision));
}

const SHARE_DECIMALS = 12;
const priceShare = (part: Money, whole: Money): string => part.div(whole).toFixed(SHARE_DECIMALS);
