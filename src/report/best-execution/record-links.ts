/** The records behind a figure. */
export interface Linked {
  readonly count: number;
  /** Numbers of the first records, ascending. */
  readonly first: readonly number[];
  /** Name of the whole list for `--list`; omitted if `first` is complete. */
  readonly list?: string | undefined;
}

/** Maximum number of records that a figure names individually. */
const FIRST_MAX = 12;

/** The records that prove each figure. Each figure names a few records, and all of them can be listed. */
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

  /** All records of a figure; `undefined` if no figure has this name. */
  listed(name: string): readonly number[] | undefined {
    return this.#lists.get(name);
  }

  get names(): readonly string[] {
    return [...this.#lists.keys()];
  }

  /** Every record that a link names individually, ascending. */
  get named(): readonly number[] {
    return [...this.#named].toSorted((a, b) => a - b);
  }
}
