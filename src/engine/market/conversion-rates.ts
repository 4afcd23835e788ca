import { contradictionOf, converted, pairsOfRate, rateOf } from '../../core/rates.ts';
import type { Contradiction, RateSource, StatedRates } from '../../core/rates.ts';
import { counted } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { HOUR_MS } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Observer } from '../observer.ts';
import type { DeskSettings } from '../desk-settings.ts';
import type { Ports } from '../ports.ts';
import type { RunningStrategies } from '../state/running-strategies.ts';
import type { Instruments } from './instruments.ts';
import type { References } from './reference-prices.ts';
import type { StrategySource } from '../state/strategy-source.ts';

/** The sources of the rates. */
interface RatesContext {
  readonly ports: Ports;
  readonly policy: DeskSettings;
  readonly observer: Observer;
  readonly references: References;
  readonly instruments: Instruments;
  readonly strategies: RunningStrategies;
}

const NOTHING_STATED: StatedRates = new Map();

/** Interval between alerts for an unknown or contradicted rate. */
const WARN_EVERY_MS = HOUR_MS;

/** The only place that converts between currencies: for limits, account values and the venue's maximums. */
export class Rates {
  readonly #desk: RatesContext;
  readonly #pairs = new Map<string, readonly string[] | undefined>();
  readonly #warnedAt = new Map<string, Monotonic>();
  /** Stated rates that the market contradicted at its last known price. */
  readonly #contradicted = new Map<string, Contradiction>();
  readonly #source: RateSource;

  constructor(desk: RatesContext) {
    this.#desk = desk;
    const { references, policy } = desk;
    this.#source = {
      midOf: (pair) => references.get(pair)?.mid,
      stated: policy.rates ?? NOTHING_STATED,
      get between() {
        return traded(desk);
      },
    };
  }

  /** Converts `amount` of `currency`; `undefined` while no rate is known. */
  convert(currency: string, amount: Quantity, into: string): Money | undefined {
    if (amount.isZero() || currency === into) return counted(amount);
    if (this.#contradiction(currency, into) !== undefined) return undefined;
    const rate = rateOf(currency, into, this.#source);
    return rate && converted(rate, amount);
  }

  /**
   * Whether the market contradicts a stated rate. One of the two is wrong, so neither counts until they agree again.
   * This matters because a venue that stops quoting a currency after it has lost its peg reports nothing.
   */
  #contradiction(...currencies: readonly string[]): Contradiction | undefined {
    let found: Contradiction | undefined;
    for (const currency of currencies) {
      if (!this.#source.stated.has(currency)) continue;
      const now = contradictionOf(currency, this.#source);
      if (now === 'none') this.#contradicted.delete(currency);
      else if (now !== undefined) {
        this.#contradicted.set(currency, now);
        this.#tell(currency, { ...now, why: contradicted(now) });
      }
      found ??= this.#contradicted.get(currency);
    }
    return found;
  }

  /** The pairs whose prices give a rate; none if the stated rate is enough. `undefined` if there is no source. */
  pairs(from: string, into: string): readonly string[] | undefined {
    const key = `${from} ${into}`;
    if (!this.#pairs.has(key)) this.#pairs.set(key, this.#pairsOf(from, into));
    return this.#pairs.get(key);
  }

  /** Explains why a rate is unknown, and raises the alert. */
  refused(from: string, into: string): string {
    const why = this.#why(from, into);
    this.#tell(from, { currency: from, into, why });
    return why;
  }

  #why(from: string, into: string): string {
    const contradiction = this.#contradiction(from, into);
    if (contradiction !== undefined) return contradicted(contradiction);
    const pairs = this.pairs(from, into);
    if (pairs === undefined) return noRate(from, into, this.#source.stated);
    if (pairs.length === 0) return `the rate of ${from} in ${into} is known again`;
    return `no price of ${pairs.join(' and ')} that is not older than ${this.#desk.policy.reference.maxAgeMs / 1000} s`;
  }

  /** The account's currencies may have changed. */
  forget(): void {
    this.#pairs.clear();
  }

  #pairsOf(from: string, into: string): readonly string[] | undefined {
    const { ports, instruments } = this.#desk;
    const priced = ports.market?.pairs;
    const has = (pair: string): boolean => priced?.has(pair) ?? !('problem' in instruments.pair(pair));
    return pairsOfRate(
      from,
      into,
      { has, isComplete: instruments.isListed || priced !== undefined },
      { stated: this.#source.stated, between: this.#source.between },
    );
  }

  /** At most one alert per interval, because every order calls this function. */
  #tell(currency: string, facts: Readonly<Record<string, string>>): void {
    const now = this.#desk.ports.clock.monotonic();
    const warnedAt = this.#warnedAt.get(currency);
    if (warnedAt !== undefined && now - warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt.set(currency, now);
    this.#desk.observer.alert('rate_unknown', facts);
  }
}

/** How to correct a missing rate for a currency. */
export const noRate = (from: string, into: string, stated: StatedRates): string => {
  const named = from === 'usd' || stated.has(from) ? into : from;
  return `no rate converts ${from} to ${into}: write rates: { ${named}: { usd: "1" } } with its value in usd in the config, or set the limits in ${from}`;
};

const contradicted = ({ currency, stated, market, by, limitBps }: Contradiction): string =>
  `the config states ${stated} usd for ${currency}, the market says ${market} (${by}), further apart than ${limitBps} bps`;

/** Currencies that strategies trade, whose prices are known anyway. */
function traded(desk: RatesContext): readonly string[] {
  const known = between.get(desk.strategies.sources);
  if (known !== undefined) return known;
  const all = new Set<string>();
  for (const { bound } of desk.strategies.sources.values())
    for (const each of bound.pairs) {
      const pair = desk.instruments.pair(each);
      if ('problem' in pair) continue;
      all.add(pair.base);
      all.add(pair.quote);
    }
  const list = [...all].slice(0, BETWEEN_MAX);
  between.set(desk.strategies.sources, list);
  return list;
}
const BETWEEN_MAX = 50;
const between = new WeakMap<ReadonlyMap<string, StrategySource>, readonly string[]>();
