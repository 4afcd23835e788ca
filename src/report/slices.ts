import type { SliceFacts } from './facts.ts';

/** Slices of a parent by their number, in the order in which they were decided. Most parents have but one. */
export class Slices {
  #only: SliceFacts | undefined;
  #all: Map<number, SliceFacts> | undefined;

  get size(): number {
    return this.#all?.size ?? (this.#only === undefined ? 0 : 1);
  }

  get(slice: number): SliceFacts | undefined {
    if (this.#all !== undefined) return this.#all.get(slice);
    return this.#only?.slice === slice ? this.#only : undefined;
  }

  /** In the place of one with the same number, if there is one. */
  set(facts: SliceFacts): void {
    if (this.#all === undefined && (this.#only === undefined || this.#only.slice === facts.slice)) {
      this.#only = facts;
      return;
    }
    this.#all ??= new Map(this.values().map((one) => [one.slice, one]));
    this.#all.set(facts.slice, facts);
  }

  values(): readonly SliceFacts[] {
    if (this.#all !== undefined) return [...this.#all.values()];
    return this.#only === undefined ? [] : [this.#only];
  }
}
