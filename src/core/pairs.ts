/** The currencies of a pair. All symbols are lower case. */
export interface Pair {
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
}

/** Why a pair could not be split. */
export interface PairProblem {
  readonly problem: 'unknown_pair' | 'ambiguous_pair';
  readonly pair: string;
  /** In words for the operator. */
  readonly why: string;
}

/**
 * Splits `pair` into two known currencies. `usdcusdt` becomes `usdc` + `usdt` only if both are known and no other split
 * gives two known currencies. It never guesses.
 */
export function splitPair(pair: string, currencies: Iterable<string>): Pair | PairProblem {
  const known = new Set(currencies);
  const cuts: Pair[] = [];
  for (let at = 1; at < pair.length; at++) {
    const base = pair.slice(0, at);
    const quote = pair.slice(at);
    if (base !== quote && known.has(base) && known.has(quote)) cuts.push({ pair, base, quote });
  }
  const [first, ...others] = cuts;
  if (first === undefined) {
    return {
      problem: 'unknown_pair',
      pair,
      why: `"${pair}" is not two currencies that the account can access`,
    };
  }
  if (others.length > 0) {
    const ways = cuts.map(({ base, quote }) => `${base}/${quote}`).join(' or ');
    return {
      problem: 'ambiguous_pair',
      pair,
      why: `"${pair}" could be ${ways}; enable venue.capabilities.pairs`,
    };
  }
  return first;
}

/**
 * Currencies that early checks may assume to exist. When the desk runs, the venue's list decides. Early checks skip the
 * units of a pair unless both of its currencies are among these.
 */
export const COMMON_CURRENCIES =
  'usd eur gbp chf jpy cad aud usdc usdt btc eth sol ltc bch xrp ada dot avax link doge uni aave matic'.split(
    ' ',
  );

/** Common quote currencies, longest first, because the longest match is meant. */
const QUOTES = ['usdt', 'usdc', 'usd', 'eur', 'gbp', 'chf', 'jpy', 'btc', 'eth'];

/**
 * The two currencies of a tape. A backtest trades every pair that it has prices for, so the part before the quote
 * currency may be an unknown currency. `undefined` if the name does not show the quote currency; the venue then refuses
 * the pair.
 */
export function sidesOf(
  pair: string,
  known: Iterable<string>,
): { readonly base?: string; readonly quote?: string } {
  const split = splitPair(pair, [...known, ...QUOTES]);
  if (!('problem' in split)) return { base: split.base, quote: split.quote };
  const quote = QUOTES.find((each) => pair.endsWith(each) && pair.length >= each.length + 2);
  return quote === undefined ? {} : { base: pair.slice(0, -quote.length), quote };
}
