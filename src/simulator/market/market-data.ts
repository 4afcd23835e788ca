import {
  add,
  fraction,
  greatest,
  holding,
  least,
  NO_MONEY,
  NO_QUANTITY,
  priceOf,
  quantity,
  quantityDown,
  ratioOf,
  roundEven,
  scale,
  money,
  ratio,
} from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { after, DAY_MS, instant, SECOND_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import type { BookLevel, Candle, CandlePeriod, FeeRates, OrderBook } from '../../wire/market.ts';
import { CANDLES_MAX } from '../../wire/constants.ts';
import { shownPrice } from '../exchange/listing.ts';
import type { Listing } from '../exchange/listing.ts';
import type { Market } from './market.ts';
import type { VenueOptions } from '../options/options.ts';
import type { OrderRegistry } from '../exchange/orders.ts';
import { dealerPrice } from '../exchange/pricing.ts';
import { assumed, found } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';

/** Market data that is derived from the mid price; nothing is stored. */

/** Cumulative depths of the book's levels, in USD. Each level is as deep as all levels before it. */
const LEVELS_USD = ['1000', '5000', '10000', '25000', '50000', '100000', '250000', '500000'].map(money);
const PLACE = 'simulated';
/** Number of price samples in one candle. */
const LOOKS = 12;

/** The book of a pair: the dealer's quotes for increasing sizes. */
export function orderBook(market: Market, pair: string, now: Instant): Reply<OrderBook> {
  const listing = market.listings.get(pair);
  if (listing === undefined) return assumed.unknownPair(pair);
  const side = (which: Side): readonly BookLevel[] => levels(market, listing, which, now);
  return found({ pair, currency: listing.quote, bids: side('sell'), asks: side('buy'), at: now });
}

function levels(market: Market, listing: Listing, side: Side, now: Instant): readonly BookLevel[] {
  const mid = market.mid(listing.pair, now);
  const usdEach = market.usdValue(listing.quote, quantity('1'), now);
  const out: BookLevel[] = [];
  for (const usd of LEVELS_USD) {
    const each = dealerPrice(listing, side, mid, usd);
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

/** Candles in market time, up to the current market time; at most 500. `volume` and `trades` are 0, because nobody else trades. */
export function candles(
  market: Market,
  { pair, from, to, period }: { pair: string; from: number; to: number; period: CandlePeriod },
  now: Instant,
): Reply<readonly Candle[]> {
  const listing = market.listings.get(pair);
  if (listing === undefined) return assumed.unknownPair(pair);
  if (to < from) return assumed.malformed('endTime is before startTime');
  const first = Math.floor(from / period);
  const last = Math.floor(Math.min(to, market.timeAt(now) / SECOND_MS) / period);
  if (Math.floor(to / period) - first + 1 > CANDLES_MAX)
    return assumed.tooMany(`candles: at most ${CANDLES_MAX}`);
  const out: Candle[] = [];
  for (let number = first; number <= last; number++)
    out.push(candle(market, listing, number * period, period));
  return found(out);
}

function candle(market: Market, listing: Listing, startsAt: number, period: CandlePeriod): Candle {
  const look = (step: number): Price => {
    const at = instant(startsAt * SECOND_MS + (period * SECOND_MS * step) / LOOKS);
    return shownPrice(listing, market.mid(listing.pair, market.realTimeOf(at)));
  };
  const open = look(0);
  const seen = Array.from({ length: LOOKS }, (_, step) => look(step + 1));
  return {
    pair: listing.pair,
    startsAt,
    period,
    open,
    high: greatest(open, ...seen),
    low: least(open, ...seen),
    close: seen.at(-1) ?? open,
    vwap: shownPrice(
      listing,
      priceOf(
        seen.reduce((sum, each) => add(sum, money(each.toFixed())), NO_MONEY),
        quantity(String(LOOKS)),
      ),
    ),
    volume: NO_QUANTITY,
    trades: 0,
  };
}

/** Fee rates: the configured fee, and the volume that the account traded in 14 days. */
export function feeRates(
  account: string,
  { options, market, registry }: { options: VenueOptions; market: Market; registry: OrderRegistry },
  now: Instant,
): FeeRates {
  const since = after(now, -14 * DAY_MS);
  let volume = NO_MONEY;
  for (const { pair, amount } of registry.tradesSince(account, since)) {
    const quote = market.listings.get(pair)?.quote;
    if (quote === undefined) continue;
    volume = add(volume, market.usdValue(quote, holding(amount), now));
  }
  const rate = scale(ratioOf(options.feeBps), ratio('0.0001'));
  return { volume: roundEven(volume, 2), maker: rate, taker: rate, takerSmart: rate };
}
