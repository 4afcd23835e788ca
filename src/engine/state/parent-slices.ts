import { keepNewest } from '../../core/keep-newest.ts';
import type { Instant } from '../../core/time.ts';

/** Number of slices of a parent whose ends are remembered. */
const SLICES_MAX = 100;

/** The slices of a parent as plain data. */
export interface SavedSlices {
  /** Slices with an order, since a person last re-armed the desk. */
  readonly executed: Set<number>;
  /** Slices with an order and the ends of their gaps. */
  readonly gaps: Map<number, Instant>;
  readonly deadlines: Map<number, Instant>;
}

/**
 * The slices of a parent: which of them had an order, and when their gaps end. Only the current slice and those before it are
 * looked up, so a parent that runs for years does not grow.
 */
export class ParentSlices {
  readonly #slices: SavedSlices;

  constructor(saved: SavedSlices = { executed: new Set(), gaps: new Map(), deadlines: new Map() }) {
    this.#slices = saved;
  }

  saved(): SavedSlices {
    return this.#slices;
  }

  decide(slice: number, deadline: Instant): void {
    this.#slices.deadlines.set(slice, deadline);
    keepNewest(this.#slices.deadlines, SLICES_MAX);
  }

  /** An order was sent, or may have been sent. */
  leave(slice: number): void {
    const { executed, gaps, deadlines } = this.#slices;
    executed.add(slice);
    const until = deadlines.get(slice);
    if (until !== undefined) gaps.set(slice, until);
    keepNewest(gaps, SLICES_MAX);
  }

  /** The slice traded. */
  book(slice: number): void {
    this.#slices.executed.add(slice);
  }

  /** A person has re-armed the desk. */
  rearm(): void {
    this.#slices.executed.clear();
  }

  /** Number of slices with an order. */
  get executed(): number {
    return this.#slices.executed.size;
  }

  hasExecuted(slice: number): boolean {
    return this.#slices.executed.has(slice);
  }

  /** The latest end of any gap of the slices before `slice`. */
  lastGap(slice: number): Instant | undefined {
    let last: Instant | undefined;
    for (const [other, until] of this.#slices.gaps)
      if (other < slice && (last === undefined || until > last)) last = until;
    return last;
  }
}
