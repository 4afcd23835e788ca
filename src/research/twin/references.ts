import { approximate, price, text } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import type { StoredRecord } from '../../core/record.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { tapeOf } from '../tape/tape.ts';
import type { Tape } from '../tape/tape.ts';

/** A reference price of a desk, quote per base. */
export interface Reference {
  readonly at: Instant;
  readonly price: Price;
}

/** Collects the reference prices of decisions and attempts. */
export class References {
  readonly #byPair = new Map<string, Reference[]>();

  add({ at, body }: StoredRecord): void {
    if (body.kind === 'wake') {
      // A desk wakes some milliseconds late, or waits for a price; a twin decides at the due time.
      const { due } = body.detail;
      const decidedAt = typeof due === 'number' && due < at ? instant(due) : at;
      for (const { pair, decision_price: seen } of body.intents) this.#note(pair, decidedAt, seen);
    }
    if (body.kind === 'intent') this.#note(body.pair, at, body.reference_price);
  }

  #note(pair: string, at: Instant, seen: string | undefined): void {
    if (seen === undefined || seen === '') return;
    const known = this.#byPair.get(pair) ?? [];
    known.push({ at, price: price(seen) });
    this.#byPair.set(pair, known);
  }

  byPair(): ReadonlyMap<string, readonly Reference[]> {
    for (const each of this.#byPair.values()) each.sort((a, b) => a.at - b.at);
    return this.#byPair;
  }
}

/** Returns reference prices as a tape, in which each is valid until the next. */
export function referenceTape(pair: string, references: readonly Reference[]): Tape {
  const times = Float64Array.from(references, ({ at }) => at);
  // The shortest text of a double equals the original decimal, up to 15 digits.
  const prices = Float64Array.from(references, (each) => approximate(price(text(each.price))));
  const columns = {
    times,
    open: prices,
    high: prices,
    low: prices,
    close: prices,
    volume: new Float64Array(references.length).fill(Number.NaN),
  };
  return tapeOf({ pair, barMs: 0, columns });
}
