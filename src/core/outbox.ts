import type { Instant } from './time.ts';

/** A notice queued for one channel. */
export interface OutboxRow {
  /** Rises with every row of this outbox; never assigned twice. */
  readonly id: number;
  readonly channel: string;
  readonly at: Instant;
  /** The notice itself, JSON. */
  readonly notice: string;
}

export interface OutboxChange {
  readonly put: readonly OutboxRow[];
  readonly remove: readonly number[];
  /** Further notes for the next process, by name. */
  readonly notes: Readonly<Record<string, string>>;
}

/** Stores undelivered notices beyond the end of the process. */
export interface OutboxPort {
  /** In the order of their ids. */
  load(): { readonly rows: readonly OutboxRow[]; readonly notes: ReadonlyMap<string, string> };
  /**
   * Durable, all or nothing. `false`: the disk is full, or only its reserve is left, and nothing changed. Throws if the
   * disk failed; the journal beside it then also accepts nothing more.
   */
  save(change: OutboxChange): boolean;
}

/** An outbox that ends with its process. */
export function memoryOutbox(): OutboxPort {
  const rows = new Map<number, OutboxRow>();
  const notes = new Map<string, string>();
  return {
    load: () => ({ rows: [...rows.values()].toSorted((a, b) => a.id - b.id), notes: new Map(notes) }),
    save(change) {
      for (const row of change.put) rows.set(row.id, row);
      for (const id of change.remove) rows.delete(id);
      for (const [name, value] of Object.entries(change.notes)) notes.set(name, value);
      return true;
    },
  };
}
