import { decimalsOf, holding, isAboveZero, least, text } from '../../core/money.ts';
import type { QuoteRequest, Size } from '../../core/venue.ts';
import type { Listing } from './listing.ts';
import { priced } from './pricing.ts';
import type { Priced } from './pricing.ts';
import type { QuoteEntry } from './quotes.ts';
import { assumed } from '../http/reply.ts';
import type { Refusal } from '../http/reply.ts';

/** Why this size cannot be quoted. */
export function sizeProblem(listing: Listing, size: Size): Refusal | undefined {
  const [value, currency, precision] =
    size.by === 'quantity'
      ? [size.quantity, listing.base, listing.basePrecision]
      : [holding(size.amount), listing.quote, listing.quotePrecision];
  if (!isAboveZero(value)) return assumed.invalidSize(`${size.by} must be above zero`);
  if (decimalsOf(value) <= precision) return undefined;
  return assumed.invalidSize(`${size.by} has more than the ${precision} decimals of ${currency}`);
}

/** The size that an order fills: the quoted size, or less at the same price. */
export function filledSize(listing: Listing, { quote }: QuoteEntry, size: Size): Priced {
  const isWhole = size.by === 'quantity' ? size.quantity.eq(quote.quantity) : size.amount.eq(quote.amount);
  if (isWhole) return quote;
  const part = priced(listing, quote.side, size, quote.price);
  return {
    quantity: least(part.quantity, quote.quantity),
    amount: quote.side === 'buy' ? least(part.amount, quote.amount) : part.amount,
    price: quote.price,
  };
}

/** Whether two requests are equal. */
export const isSame = (a: QuoteRequest, b: QuoteRequest): boolean =>
  a.pair === b.pair && a.side === b.side && a.size.by === b.size.by && sizeText(a.size) === sizeText(b.size);

const sizeText = (size: Size): string => text(size.by === 'quantity' ? size.quantity : size.amount);
