import { SECOND_MS } from '../core/time.ts';
import type { Monotonic } from '../core/time.ts';

/** Number of wrong tokens that an address may send in succession, and how long each counts. */
const BURST = 10;
const REFILL_MS = 5 * SECOND_MS;
const ADDRESSES_MAX = 1_000;
/** When the table is full, new addresses share one entry. */
const OTHERS = '*';

/** Slows down an address that guesses tokens. After a few wrong tokens, all its requests are refused for a while. */
export class WrongTokens {
  readonly #now: () => Monotonic;
  /** When the last of its wrong tokens expires. */
  readonly #until = new Map<string, number>();

  constructor(now: () => Monotonic) {
    this.#now = now;
  }

  get size(): number {
    return this.#until.size;
  }

  isBlocked(address: string): boolean {
    return (this.#until.get(this.#rowOf(address)) ?? 0) - this.#now() > (BURST - 1) * REFILL_MS;
  }

  count(address: string): void {
    const now = this.#now();
    if (this.#until.size >= ADDRESSES_MAX)
      for (const [each, until] of this.#until) if (until <= now) this.#until.delete(each);
    const row = this.#rowOf(address);
    this.#until.set(row, Math.max(this.#until.get(row) ?? 0, now) + REFILL_MS);
  }

  #rowOf(address: string): string {
    return this.#until.has(address) || this.#until.size < ADDRESSES_MAX ? address : OTHERS;
  }
}
