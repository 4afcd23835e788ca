/** The records behind a figure. */
export interface Linked {
  readonly count: number;
  /** Numbers of the first of them, ascending. */
  readonly first: readonly number[];
  /** Names all of them for `--list`; left out where `first` is all. */
  readonly list?: string | undefined;
}

/** Records of one figure that are named one by one. */
const FIRST_MAX = 12;

/** Which records prove which figure: each figure names a few of them, and all can be listed. */
export class RecordLinks {
  readonly #lists = new Map<string, readonly number[]>();
  readonly #named = new Set<number>();

  /** `name` belongs only to this figure. */
  link(name: string, records: Iterable<number>): Linked {
    const all = [...new Set(records)].toSorted((a, b) => a - b);
    const first = all.slice(0, FIRST_MAX);
    for (const seq of first) this.#named.add(seq);
    this.#lists.set(name, all);
    return { count: all.length, first, ...(all.length === first.length ? {} : { list: name }) };
  }

  /** All records of a figure; `undefined` if there is none of this name. */
  listed(name: string): readonly number[] | undefined {
    return this.#lists.get(name);
  }

  get names(): readonly string[] {
    return [...this.#lists.keys()];
  }

  /** Every record that a link names one by one, ascending. */
  get named(): readonly number[] {
    return [...this.#named].toSorted((a, b) => a - b);
  }
}
