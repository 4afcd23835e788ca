import { sidesOf } from '../../core/pairs.ts';
import type { CurrencyOptions } from '../options/options.ts';

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
