import { OperatorError } from '../../core/errors.ts';
import { money, quantity, ratioOf, roundEven, worse } from '../../core/money.ts';
import type { Money, Price, Ratio } from '../../core/money.ts';
import { sidesOf, splitPair } from '../../core/pairs.ts';
import type { Currency, Side } from '../../core/venue.ts';
import type { CurrencyDetail } from '../../wire/account.ts';
import { PRECISION_MAX } from '../options/options-parts.ts';
import type { CurrencyOptions, PairOptions, VenueOptions } from '../options/options.ts';
import { own } from './own.ts';

/** A currency as the venue lists it. */
export type ListedCurrency = Currency & Pick<CurrencyDetail, 'canDeposit' | 'canWithdraw'>;

/** A pair as the venue lists it. */
export interface Listing {
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly basePrecision: number;
  readonly quotePrecision: number;
  /** Decimals of every price, if configured. */
  readonly pricePrecision: number | undefined;
  /** Minimum decimals of a price if none are configured. */
  readonly priceDecimalsMin: number;
  /** Largest quote. */
  readonly maxUsd: Money;
  /** Distance of the dealer's price from the mid price for the smallest size. */
  readonly halfSpreadBps: Ratio;
  /** Factors of the mid price for that distance. */
  readonly spread: Readonly<Record<Side, Ratio>>;
  readonly options: PairOptions;
}

interface Known extends Pick<Currency, 'name' | 'isFiat' | 'precision'> {
  /** Smallest withdrawal, in the currency. */
  readonly min: string;
}
const fiat = (name: string): Known => ({ name, isFiat: true, precision: 2, min: '10' });
const coin = (name: string, min: string, precision = 8): Known => ({ name, isFiat: false, precision, min });

/** Currencies that need no setting. */
const BUILT_IN: Readonly<Record<string, Known>> = {
  usd: fiat('US Dollar'),
  eur: fiat('Euro'),
  gbp: fiat('Pound Sterling'),
  btc: coin('Bitcoin', '0.001'),
  eth: coin('Ether', '0.01'),
  ltc: coin('Litecoin', '0.01'),
  sol: coin('Solana', '0.1'),
  xrp: coin('XRP', '20', 6),
  usdc: coin('USD Coin', '10', 6),
  usdt: coin('Tether', '10', 6),
};

/** Whether a currency is fiat money, and its decimals, as defaults for the settings. */
export const builtIn = (symbol: string): { readonly fiat: boolean; readonly precision: number } => ({
  fiat: own(BUILT_IN, symbol)?.isFiat ?? false,
  precision: own(BUILT_IN, symbol)?.precision ?? 8,
});

/**
 * Every currency that the settings name: in an account, in a pair, or configured. `usd` is always included.
 *
 * @throws OperatorError (`config`) when the name of a pair cannot be split.
 */
export function listCurrencies(options: VenueOptions): ReadonlyMap<string, ListedCurrency> {
  const symbols = new Set(['usd', ...Object.keys(options.currencies)]);
  for (const account of options.accounts) for (const held of Object.keys(account.balances)) symbols.add(held);
  for (const pair of Object.keys(options.pairs)) {
    const sides = listedSides(pair, options, symbols);
    symbols.add(sides.base).add(sides.quote);
  }
  return new Map([...symbols].map((symbol) => [symbol, currencyOf(symbol, options)]));
}

function currencyOf(symbol: string, { currencies }: VenueOptions): ListedCurrency {
  const set = own(currencies, symbol);
  const known = own(BUILT_IN, symbol);
  return {
    symbol,
    name: set?.name ?? known?.name ?? symbol.toUpperCase(),
    isFiat: set?.fiat ?? known?.isFiat ?? false,
    precision: set?.precision ?? known?.precision ?? 8,
    minWithdrawal: quantity(set?.minWithdrawal ?? known?.min ?? '0'),
    tradingEnabled: true,
    canDeposit: set?.canDeposit ?? true,
    canWithdraw: set?.canWithdraw ?? true,
  };
}

function listedSides(
  pair: string,
  { pairs }: VenueOptions,
  known: Iterable<string>,
): { base: string; quote: string } {
  const { base, quote } = own(pairs, pair) ?? {};
  if (base !== undefined && quote !== undefined) {
    if (`${base}${quote}` === pair) return { base, quote };
    throw new OperatorError(
      'config',
      `pairs.${pair}: base and quote together must spell the pair, got ${base} and ${quote}`,
    );
  }
  const sides = splitPair(pair, new Set([...known, ...Object.keys(BUILT_IN)]));
  if (!('problem' in sides)) return sides;
  throw new OperatorError('config', `pairs.${pair}: ${sides.why}; set its base and quote`);
}

/** Returns the currencies that pairs connect to usd or to a currency with a stated rate. */
export function pricedInUsd(
  currencies: Readonly<Record<string, CurrencyOptions>>,
  pairs: readonly string[],
): ReadonlySet<string> {
  const names = Object.keys(currencies);
  const rated = names.filter((name) => currencies[name]?.usdRate !== undefined);
  const valued = new Set(['usd', ...rated]);
  const sides = pairs.map((pair) => sidesOf(pair, names));
  for (const known of valued)
    for (const { base, quote } of sides) {
      if (quote === known && base !== undefined) valued.add(base);
      if (base === known && quote !== undefined) valued.add(quote);
    }
  return valued;
}

/** The pairs by name. */
export function listPairs(
  options: VenueOptions,
  currencies: ReadonlyMap<string, Currency>,
): ReadonlyMap<string, Listing> {
  const listings = Object.entries(options.pairs).map(([pair, set]): Listing => {
    const { base, quote } = listedSides(pair, options, currencies.keys());
    const quoteCurrency = currencies.get(quote);
    const halfSpreadBps = ratioOf(set.halfSpreadBps);
    return {
      pair,
      base,
      quote,
      basePrecision: currencies.get(base)?.precision ?? 8,
      quotePrecision: quoteCurrency?.precision ?? 2,
      pricePrecision: set.pricePrecision,
      priceDecimalsMin: quoteCurrency?.isFiat === true ? 2 : 8,
      maxUsd: money(set.maxUsd),
      halfSpreadBps,
      spread: { buy: worse('buy', halfSpreadBps), sell: worse('sell', halfSpreadBps) },
      options: set,
    };
  });
  return new Map(listings.map((listing) => [listing.pair, listing]));
}

/**
 * Decimals of this price: those configured for its pair; otherwise 8 for prices in crypto, 2 for prices in fiat money,
 * and more for small prices of either kind, to keep six significant digits. With fewer decimals, rounding would cost
 * more than any dealer charges. The decimals depend only on the price, so that the price at the start of a market does
 * not matter.
 */
export const priceDecimals = ({ pricePrecision, priceDecimalsMin }: Listing, each: Price): number =>
  pricePrecision ?? Math.min(PRECISION_MAX, Math.max(priceDecimalsMin, DIGITS - 1 - each.e));

/** A price for people, rounded to the nearest. */
export const shownPrice = (listing: Listing, each: Price): Price =>
  roundEven(each, priceDecimals(listing, each));

const DIGITS = 6;
