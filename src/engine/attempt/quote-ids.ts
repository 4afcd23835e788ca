import { IdMap } from '../../core/id-map.ts';

/** Number of newest ids that are kept. */
const KEPT = 100_000;

/** Ids of quotes that this process was given: the venue must not repeat one. */
export class QuoteIds {
  readonly #ids = new IdMap<true>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  get size(): number {
    return this.#ids.size;
  }

  add(id: string): void {
    this.#ids.set(id, true);
    if (this.#ids.size > KEPT) this.#ids.forgetOldest();
  }
}
