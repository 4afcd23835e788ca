import type { Instant } from '../../core/time.ts';

/** Number of slices of a parent whose ends are remembered. */
const SLICES_MAX = 100;

/** Stands for "no slice", because slice numbers start at 0. */
const NONE = -1;

/** The slices of a parent as plain data. */
export interface SavedSlices {
  /** Slices with an order, since a person last re-armed the desk. */
  readonly executed: Set<number>;
  /** Slices with an order and the ends of their gaps. */
  readonly gaps: Map<number, Instant>;
  readonly deadlines: Map<number, Instant>;
}

/**
 * The slices of a parent: which of them had an order, and when their gaps end. Most parents have one slice, and thousands of
 * parents are known, so sets and maps are created only for parents with a second slice.
 */
export class ParentSlices {
  /** The only slice, while there is one. */
  #slice = NONE;
  #deadline: Instant | undefined;
  #gap: Instant | undefined;
  #isExecuted = false;
  /** All slices, once there are several. */
  #many: SavedSlices | undefined;

  constructor(saved?: SavedSlices) {
    this.#many = saved;
  }

  saved(): SavedSlices {
    return this.#many ?? this.#asMany();
  }

  decide(slice: number, deadline: Instant): void {
    if (this.#isAlone(slice)) {
      this.#deadline = deadline;
      return;
    }
    const { deadlines } = this.#several();
    deadlines.set(slice, deadline);
    keepNewest(deadlines);
  }

  /** An order was sent, or may have been sent. */
  leave(slice: number): void {
    if (this.#isAlone(slice)) {
      this.#isExecuted = true;
      this.#gap = this.#deadline ?? this.#gap;
      return;
    }
    const { executed, gaps, deadlines } = this.#several();
    executed.add(slice);
    const until = deadlines.get(slice);
    if (until !== undefined) gaps.set(slice, until);
    keepNewest(gaps);
  }

  /** The slice traded. */
  book(slice: number): void {
    if (this.#isAlone(slice)) this.#isExecuted = true;
    else this.#several().executed.add(slice);
  }

  /** A person has re-armed the desk. */
  rearm(): void {
    this.#isExecuted = false;
    this.#many?.executed.clear();
  }

  /** Number of slices with an order. */
  get executed(): number {
    return this.#many?.executed.size ?? (this.#isExecuted ? 1 : 0);
  }

  hasExecuted(slice: number): boolean {
    return this.#many?.executed.has(slice) ?? (this.#isExecuted && slice === this.#slice);
  }

  /** The latest end of any gap of the slices before `slice`. */
  lastGap(slice: number): Instant | undefined {
    if (this.#many === undefined) return this.#slice < slice ? this.#gap : undefined;
    let last: Instant | undefined;
    for (const [other, until] of this.#many.gaps)
      if (other < slice && (last === undefined || until > last)) last = until;
    return last;
  }

  /** Whether this is the only slice so far. */
  #isAlone(slice: number): boolean {
    if (this.#many !== undefined) return false;
    if (this.#slice === NONE) this.#slice = slice;
    return this.#slice === slice;
  }

  #several(): SavedSlices {
    return (this.#many ??= this.#asMany());
  }

  #asMany(): SavedSlices {
    const slice = this.#slice;
    return {
      executed: new Set(this.#isExecuted ? [slice] : []),
      gaps: new Map(this.#gap === undefined ? [] : [[slice, this.#gap]]),
      deadlines: new Map(this.#deadline === undefined ? [] : [[slice, this.#deadline]]),
    };
  }
}

/** Only the current slice and those before it are looked up, so a parent that runs for years does not grow. */
function keepNewest(slices: Map<number, unknown>): void {
  if (slices.size <= SLICES_MAX) return;
  for (const slice of slices.keys()) {
    if (slices.size <= SLICES_MAX) return;
    slices.delete(slice);
  }
}
