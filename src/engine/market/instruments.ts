import { precisionsOf } from '../../core/instrument.ts';
import type { Instrument, Minimum } from '../../core/instrument.ts';
import { quantity } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { splitPair } from '../../core/pairs.ts';
import type { Pair, PairProblem } from '../../core/pairs.ts';
import type { Currency } from '../../core/venue.ts';

const FINEST = { basePrecision: 8, quotePrecision: 8 };

/** Currencies and pairs that the account can access, and the decimals and minimum of each pair. */
export class Instruments {
  readonly #minimumOf: (pair: string) => Minimum;
  #currencies = new Map<string, Currency>();
  #pairs: ReadonlyMap<string, Pair> | undefined;
  /** Cache of pairs already split into currencies, because every row of every account read needs them. */
  readonly #split = new Map<string, Pair>();
  readonly #instruments = new Map<string, Instrument>();

  constructor(minimumOf: (pair: string) => Minimum) {
    this.#minimumOf = minimumOf;
  }

  /** Loads the venue's lists; `pairs` is `undefined` when it publishes none. */
  learn(currencies: readonly Currency[], pairs: readonly Pair[] | undefined): void {
    this.#currencies = new Map(currencies.map((one) => [one.symbol, one]));
    this.#pairs = pairs === undefined ? undefined : new Map(pairs.map((one) => [one.pair, one]));
    this.#split.clear();
    this.#instruments.clear();
  }

  /** Whether the venue has listed its pairs. */
  get isListed(): boolean {
    return this.#pairs !== undefined;
  }

  pair(pair: string): Pair | PairProblem {
    const listed = this.#pairs?.get(pair);
    if (listed !== undefined) return listed;
    if (this.#pairs !== undefined)
      return { problem: 'unknown_pair', pair, why: `the venue does not list "${pair}"` };
    const known = this.#split.get(pair) ?? splitPair(pair, this.#currencies.keys());
    // Stores only what the account can access, so that names invented by the venue cannot fill the memory.
    if (!('problem' in known)) this.#split.set(pair, known);
    return known;
  }

  /** The pair of two currencies: a listed one, otherwise the one that prices in a fiat currency; `undefined` without any. */
  pairIn([a, b]: readonly string[]): Pair | undefined {
    if (a === undefined || b === undefined) return undefined;
    const both = [...(this.#pairs?.values() ?? [])].find(
      ({ base, quote }) => (base === a && quote === b) || (base === b && quote === a),
    );
    if (both !== undefined || this.#pairs !== undefined) return both;
    const isFiat = (currency: string): boolean => this.#currencies.get(currency)?.isFiat === true;
    const [base, quote] = isFiat(a) && !isFiat(b) ? [b, a] : [a, b];
    return { pair: base + quote, base, quote };
  }

  /**
   * @throws RangeError for a pair that cannot be split into currencies, because strategies are checked against the
   * venue at the start.
   */
  of(pair: string): Instrument {
    return this.#instruments.get(pair) ?? this.#newInstrument(pair);
  }

  #newInstrument(pair: string): Instrument {
    const known = this.pair(pair);
    if ('problem' in known) throw new RangeError(known.why);
    const precision = (currency: string): number => this.#currencies.get(currency)?.precision ?? 8;
    const minimum = this.#minimumOf(pair);
    const instrument: Instrument = { ...known, ...precisionsOf(known, precision, minimum), minimum };
    this.#instruments.set(pair, instrument);
    return instrument;
  }

  /**
   * Decimals in which trades of a pair are booked. A pair that the account cannot access, or cannot access yet, uses
   * the finest precision, because its trades must still be booked and counted.
   */
  precisions(pair: string): Pick<Instrument, 'basePrecision' | 'quotePrecision'> {
    return 'problem' in this.pair(pair) ? FINEST : this.of(pair);
  }

  /** The smallest unit of a currency, at most a hundredth. */
  unit(currency: string): Quantity {
    return quantity(`1e-${Math.max(2, this.#currencies.get(currency)?.precision ?? 8)}`);
  }
}
