/** Smallest number of newest ids that are kept; at most twice as many are kept. */
const KEPT = 100_000;

/** Ids of the quotes that this process received. The venue must not reuse an id. */
export class QuoteIds {
  #newer = new Set<string>();
  #older: ReadonlySet<string> = new Set();

  has(id: string): boolean {
    return this.#newer.has(id) || this.#older.has(id);
  }

  get size(): number {
    return this.#newer.size + this.#older.size;
  }

  add(id: string): void {
    this.#newer.add(id);
    if (this.#newer.size < KEPT) return;
    this.#older = this.#newer;
    this.#newer = new Set();
  }
}
