import { fraction, money, quantity, quantityDown, ratio, significant, worsen } from '../../core/money.ts';
import { instant, SECOND_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { PublicTrade } from '../../wire/feeds/feed-bodies.ts';
import type { Listing } from '../exchange/listing.ts';
import type { Market } from '../market/market.ts';
import { roundedAgainst } from '../exchange/pricing.ts';
import { hash32 } from '../market/random.ts';

/** Range of the simulated market trades, USD; values are uniformly distributed. */
const USD_MIN = 50;
const USD_MAX = 20_000;
/** Exchanges on which they take place. */
const PLACES = 3;

/**
 * One simulated trade of other market participants. It is derived from the pair, the seed and the second, so that every
 * reader of that second sees the same trade. Its price is half the spread away from the mid price; its size is random.
 */
export function marketTrade(
  market: Market,
  { listing, seed }: { readonly listing: Listing; readonly seed: string },
  now: Instant,
): PublicTrade | undefined {
  const at = instant(Math.floor(now / SECOND_MS) * SECOND_MS);
  const drawn = hash32(`${seed} ${listing.pair} ${at}`);
  const side = drawn % 2 === 0 ? 'buy' : 'sell';
  const away = worsen(side, market.mid(listing.pair, at), ratio(String(listing.options.halfSpreadBps)));
  const each = roundedAgainst(listing, side, away);
  if (each.lte(0)) return undefined;
  const usd = money(String(USD_MIN + (drawn % (USD_MAX - USD_MIN))));
  const usdEach = market.usdValue(listing.quote, quantity('1'), at);
  const amount = money(significant(fraction(usd, usdEach), 20).toFixed());
  const size = quantityDown(amount, each, listing.basePrecision);
  if (size.lte(0)) return undefined;
  const pairId = [...market.listings.keys()].indexOf(listing.pair) + 1;
  return { id: `${at}${pairId}`, pair: listing.pair, pairId, side, quantity: size, price: each, at, place: 1 + (drawn % PLACES) };
} // prettier-ignore
