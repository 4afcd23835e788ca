import { OperatorError } from '../../core/errors.ts';
import {
  cost,
  counted,
  money,
  NO_MONEY,
  price,
  priceOf,
  quantity,
  significant,
  through,
} from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import { instant, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { PairOptions, VenueOptions } from '../options/options.ts';
import { listCurrencies, listPairs } from '../exchange/listing.ts';
import type { ListedCurrency, Listing } from '../exchange/listing.ts';
import type { Currency } from '../../core/venue.ts';
import type { PriceTape } from './price-tape.ts';
import { randomWalk } from './random-walk.ts';
import type { PriceSource } from './random-walk.ts';

/** Source of the USD value of a currency: usd itself, a fixed rate, or a conversion along one pair. */
type Rate =
  | { readonly kind: 'same' }
  | { readonly kind: 'fixed'; readonly rate: Price }
  | { readonly kind: 'times' | 'over'; readonly pair: string; readonly other: string };

export interface MarketSetup {
  readonly options: VenueOptions;
  /** Tapes by pair, as `options.prices` names them. */
  readonly tapes: ReadonlyMap<string, PriceTape>;
  /** Real time at the start. */
  readonly startedAt: Instant;
}

const DAYS_A_YEAR = 365;
const USD_EACH = price('1');
/** Digits of a derived rate. */
const RATE_DIGITS = 30;

/**
 * The dealer's view of the market, with a mid price for every pair at any time. Market time starts with the tapes and
 * runs `speed` times as fast as real time; the rest of the venue uses real time.
 */
export class Market {
  readonly currencies: ReadonlyMap<string, ListedCurrency>;
  readonly listings: ReadonlyMap<string, Listing>;
  /** Market time at the start. */
  readonly startsAt: Instant;
  /** Called before a price is pinned or released, because everything that depends on the old price must be valued first. */
  onPin: (() => void) | undefined;
  private readonly startedAt: Instant;
  private readonly speed: number;
  private readonly sources: ReadonlyMap<string, PriceSource>;
  private readonly pinned = new Map<string, Price>();
  private readonly rates: ReadonlyMap<string, Rate>;

  /** @throws OperatorError (`config`) if a pair has no price or a currency has no value in USD. */
  constructor({ options, tapes, startedAt }: MarketSetup) {
    this.startedAt = startedAt;
    this.speed = options.speed;
    this.startsAt = marketStart(options, tapes, startedAt);
    this.sources = new Map(
      Object.entries(options.pairs).map(([pair, settings]) => {
        const tape = tapes.get(pair);
        return [pair, tape ?? walkOf(pair, settings, options.seed, this.startsAt)];
      }),
    );
    this.currencies = listCurrencies(options);
    this.listings = listPairs(options, this.currencies);
    this.rates = findRates(options, this.currencies, this.listings);
  }

  /** Converts the real time `now` to market time. */
  timeAt(now: Instant): Instant {
    return instant(this.startsAt + (now - this.startedAt) * this.speed);
  }

  /** Converts the market time `market` to real time. */
  realTimeOf(market: Instant): Instant {
    return instant(this.startedAt + (market - this.startsAt) / this.speed);
  }

  /** The mid price of a pair at the real time `now`, quote per base. */
  mid(pair: string, now: Instant): Price {
    return this.pinned.get(pair) ?? this.sourceOf(pair).midAt(this.timeAt(now));
  }

  /** Pins the price of a pair for a drill; `undefined` releases it. */
  pin(pair: string, mid: Price | undefined): void {
    this.sourceOf(pair);
    this.onPin?.();
    if (mid === undefined) this.pinned.delete(pair);
    else this.pinned.set(pair, mid);
  }

  /** The value of `amount` of a currency at the real time `now`, USD. Exact unless a pair had to be inverted. */
  usdValue(currency: string, amount: Quantity, now: Instant): Money {
    if (amount.isZero()) return NO_MONEY;
    if (this.rates.get(currency)?.kind === 'same') return counted(amount);
    return cost(this.usdRate(currency, now), amount);
  }

  private usdRate(currency: string, now: Instant): Price {
    const rate = this.rates.get(currency);
    if (rate === undefined) throw new OperatorError('config', noValue(currency));
    if (rate.kind === 'same') return USD_EACH;
    if (rate.kind === 'fixed') return rate.rate;
    const onward = this.usdRate(rate.other, now);
    const each = this.mid(rate.pair, now);
    const usd = rate.kind === 'times' ? through(each, onward) : inverse(each, onward);
    return significant(usd, RATE_DIGITS);
  }

  private sourceOf(pair: string): PriceSource {
    const source = this.sources.get(pair);
    if (source === undefined) throw new RangeError(`the venue does not know the pair ${pair}`);
    return source;
  }
}

function marketStart(
  options: VenueOptions,
  tapes: ReadonlyMap<string, PriceTape>,
  startedAt: Instant,
): Instant {
  if (options.marketStart !== undefined) return parseTime(options.marketStart);
  const starts = [...tapes.values()].map((tape) => tape.startsAt);
  return starts.length === 0 ? startedAt : instant(Math.max(...starts));
}

function walkOf(pair: string, options: PairOptions, seed: string, startsAt: Instant): PriceSource {
  if (options.startPrice === undefined) {
    throw new OperatorError('config', `pairs.${pair} needs start_price, or a file of prices`);
  }
  return randomWalk({
    seed: `${seed} ${pair}`,
    startsAt,
    startPrice: price(options.startPrice),
    volatilityPerRootDay: options.volatilityPctYear / 100 / Math.sqrt(DAYS_A_YEAR),
  });
}

/** The shortest way from every currency to USD over the pairs. */
function findRates(
  { currencies: set }: VenueOptions,
  currencies: ReadonlyMap<string, Currency>,
  listings: ReadonlyMap<string, Listing>,
): ReadonlyMap<string, Rate> {
  const rates = new Map<string, Rate>([['usd', { kind: 'same' }]]);
  for (const [symbol, { usdRate }] of Object.entries(set)) {
    if (usdRate !== undefined) rates.set(symbol, { kind: 'fixed', rate: price(usdRate) });
  }
  for (const known of rates.keys()) {
    for (const { pair, base, quote } of listings.values()) {
      if (quote === known && !rates.has(base)) rates.set(base, { kind: 'times', pair, other: quote });
      if (base === known && !rates.has(quote)) rates.set(quote, { kind: 'over', pair, other: base });
    }
  }
  for (const symbol of currencies.keys()) {
    if (!rates.has(symbol)) throw new OperatorError('config', noValue(symbol));
  }
  return rates;
}

/** The value of one unit of the quote currency if one unit of the base currency is worth `onward`. */
const inverse = (each: Price, onward: Price): Price =>
  priceOf(money(onward.toFixed()), quantity(each.toFixed()));

const noValue = (currency: string): string =>
  `currencies.${currency}: no pair leads to its value in USD; set its usd_rate`;
