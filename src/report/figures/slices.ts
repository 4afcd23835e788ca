import type { IntentText, SliceRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';

/** Slices of a parent by number, in order of decision. Most parents have only one. */
export class Slices {
  readonly #all: SliceFacts[] = [];
  /** Places of the slices, once there are several. */
  #places: Map<number, number> | undefined;

  get size(): number {
    return this.#all.length;
  }

  get(slice: number): SliceFacts | undefined {
    const place = this.#placeOf(slice);
    return place === undefined ? undefined : this.#all[place];
  }

  /** Replaces a slice with the same number, if there is one. */
  set(facts: SliceFacts): void {
    const place = this.#placeOf(facts.slice) ?? this.#all.length;
    this.#all[place] = facts;
    if (this.#all.length < 2) return;
    this.#places ??= new Map(this.#all.map((one, i) => [one.slice, i]));
    this.#places.set(facts.slice, place);
  }

  values(): readonly SliceFacts[] {
    return this.#all;
  }

  #placeOf(slice: number): number | undefined {
    if (this.#places !== undefined) return this.#places.get(slice);
    return this.#all[0]?.slice === slice ? 0 : undefined;
  }
}

export interface SliceFacts {
  readonly slice: number;
  /** When it was due: its slot, or the trigger that started it. */
  readonly slot: Instant;
  /** When it was decided. */
  readonly at: Instant;
  readonly intent: IntentText;
  attempts: number;
  /** `undefined` while it is open. */
  end: { readonly at: Instant; readonly body: SliceRecord } | undefined;
}
