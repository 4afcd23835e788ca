/** So many of the newest are known at least. */
const KEPT = 100_000;

/**
 * Ids of quotes that this process was given: the venue must not repeat one. Two sets take turns, because one from which the
 * oldest is deleted each time steps over all that was deleted before it: ten microseconds and more a quote, from the first 100 000 on.
 */
export class QuoteIds {
  #newest = new Set<string>();
  #before: ReadonlySet<string> = new Set();

  has(id: string): boolean {
    return this.#newest.has(id) || this.#before.has(id);
  }

  add(id: string): void {
    this.#newest.add(id);
    if (this.#newest.size < KEPT) return;
    this.#before = this.#newest;
    this.#newest = new Set();
  }
}
