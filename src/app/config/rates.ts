import { price } from '../../core/money.ts';
import { pairsOfRate } from '../../core/rates.ts';
import type { StatedRate, StatedRates } from '../../core/rates.ts';
import { sidesOf } from '../../core/pairs.ts';
import { noRate } from '../../engine/market/conversion-rates.ts';
import { builtIn, pricedInUsd } from '../../simulator/exchange/listing.ts';
import type { CurrencyOptions } from '../../simulator/options/options.ts';
import type { Config } from './config.ts';

/** Returns the rates of currencies that the config states; in paper mode and backtests also those of the simulated venue. */
export function statedRates({ rates, venue }: Config): StatedRates {
  const told = Object.entries(venue.simulated?.currencies ?? {}).flatMap(
    ([currency, { usdRate }]): readonly (readonly [string, StatedRate])[] =>
      usdRate === undefined ? [] : [[currency, { usd: price(usdRate), gapBpsMax: undefined }]],
  );
  return new Map([...told, ...rates]);
}

/** Returns the currencies of the simulated venue. A currency that no pair connects to usd takes its rate from the config. */
export function simulatedCurrencies({
  rates,
  venue,
}: Config): Readonly<Record<string, CurrencyOptions>> | undefined {
  const { simulated } = venue;
  if (simulated === undefined || rates.size === 0) return simulated?.currencies;
  const valued = pricedInUsd(simulated.currencies, Object.keys(simulated.pairs));
  const stated = [...rates].flatMap(([currency, { usd }]) => {
    if (valued.has(currency)) return [];
    const settings = simulated.currencies[currency] ?? {
      ...builtIn(currency),
      canDeposit: true,
      canWithdraw: true,
    };
    return [[currency, { ...settings, usdRate: usd.toFixed() }] as const];
  });
  return { ...simulated.currencies, ...Object.fromEntries(stated) };
}

/**
 * Explains that no rate converts a quote currency into the currency of the limits, and how to add a rate; `undefined`
 * if a rate exists. Only the pairs of the simulated venue are known at this point; the desk reads those of a real venue
 * when it starts.
 */
export function rateProblem(config: Config, pair: string): string | undefined {
  const { simulated } = config.venue;
  if (simulated === undefined) return undefined;
  const { currency } = config.controls.orderNotionalMax;
  const listed = Object.keys(simulated.pairs);
  const names = [...Object.keys(simulated.currencies), ...config.rates.keys()];
  const sides = listed.map((each) => sidesOf(each, names));
  const { quote } = sidesOf(pair, names);
  if (quote === undefined) return undefined;
  const between = [...new Set(sides.flatMap((each) => [each.base, each.quote]))].filter(
    (each) => each !== undefined,
  );
  const stated = statedRates(config);
  const rate = pairsOfRate(
    quote,
    currency,
    { has: (each) => listed.includes(each), isComplete: true },
    { stated, between },
  );
  if (rate !== undefined) return undefined;
  const tape = config.venue.isTaped ? `, or add --data ${quote}${currency}=FILE` : '';
  return `the limits are in ${currency} (${config.limitsAt}) and ${noRate(quote, currency, stated)}${tape}`;
}
