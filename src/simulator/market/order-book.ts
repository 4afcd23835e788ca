import { add, fraction, money, quantity, quantityDown, ratio, worsen } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import type { BookLevel, OrderBook } from '../../wire/market.ts';
import { shownPrice } from '../exchange/listing.ts';
import type { Listing } from '../exchange/listing.ts';
import type { Market } from './market.ts';
import { dealerPrice, roundedAgainst } from '../exchange/pricing.ts';
import { assumed, found } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';

/** Cumulative depths of the book's levels, in USD. Each level is as deep as all levels before it. */
const LEVELS_USD = ['1000', '5000', '10000', '25000', '50000', '100000', '250000', '500000'].map(money);
const PLACE = 'simulated';

/** The book of a pair: the dealer's quotes for increasing sizes, after a fee of `feeBps`. */
export function orderBook(market: Market, pair: string, now: Instant, feeBps = 0): Reply<OrderBook> {
  const listing = market.listings.get(pair);
  if (listing === undefined) return assumed.unknownPair(pair);
  const side = (which: Side): readonly BookLevel[] => levels(market, { listing, side: which, feeBps }, now);
  return found({ pair, currency: listing.quote, bids: side('sell'), asks: side('buy'), at: now });
}

function levels(
  market: Market,
  { listing, side, feeBps }: { listing: Listing; side: Side; feeBps: number },
  now: Instant,
): readonly BookLevel[] {
  const fee = ratio(String(feeBps));
  // In steps of the pair's price, so that best bid and ask lie equally far from it.
  const mid = shownPrice(listing, market.mid(listing.pair, now));
  const usdEach = market.usdValue(listing.quote, quantity('1'), now);
  const out: BookLevel[] = [];
  for (const usd of LEVELS_USD) {
    const each = roundedAgainst(listing, side, worsen(side, dealerPrice(listing, side, mid, usd), fee));
    if (each.lte(0)) continue;
    const amount = money(fraction(usd, usdEach).toFixed(18));
    const volume = quantityDown(amount, each, listing.basePrecision);
    const last = out.at(-1);
    // Sizes at the same price form one level.
    if (last !== undefined && last[0].eq(each)) out[out.length - 1] = [each, add(last[1], volume), PLACE];
    else out.push([each, volume, PLACE]);
  }
  return out;
}
