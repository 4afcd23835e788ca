import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { anchorAt } from '../../journal/proof/anchor.ts';
import type { Head } from '../../journal/proof/chain.ts';

/** Shortest time between two writes of the anchor for a desk that runs elsewhere, because each write flushes three times. */
const KEEP_MS = 30_000;

/** Returns the path prefix of a desk's files on this machine. */
export const filesOf = (folder: string, desk: string): string => join(folder, desk, 'journal');

/**
 * The highest record number seen in the journal of each desk of the store, whichever daemon runs the desk. It becomes the journal anchor of
 * a desk that starts here, so that every machine detects a store restored from an older copy, even for desks that it never ran.
 */
export class SeenHeads {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #seen = new Map<string, Head>();
  readonly #keptAt = new Map<string, number>();

  /** `folder`: folder of the daemon. `now`: monotonic clock, ms. */
  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Records the head of a journal. Ignores a number lower than before, which is a sign of an older copy. */
  see(desk: string, head: Head): void {
    if (head.seq > (this.#seen.get(desk)?.seq ?? 0)) this.#seen.set(desk, head);
  }

  /** Saves the head of a desk that does not run here, for a later start of this daemon. */
  keep(desk: string): void {
    const now = this.#now();
    if (now < (this.#keptAt.get(desk) ?? Number.NEGATIVE_INFINITY) + KEEP_MS) return;
    this.#keptAt.set(desk, now);
    this.#writeAnchor(desk);
  }

  /**
   * Writes the anchor before the desk starts here. From then on, the desk itself maintains it, because a person may
   * accept an older copy.
   */
  handOver(desk: string): void {
    this.#writeAnchor(desk);
    this.#seen.delete(desk);
  }

  #writeAnchor(desk: string): void {
    const head = this.#seen.get(desk);
    if (head === undefined) return;
    mkdirSync(join(this.#folder, desk), { recursive: true, mode: 0o700 });
    const anchor = anchorAt(`${filesOf(this.#folder, desk)}.anchor`);
    const noted = anchor.read();
    // The desk reports an unreadable anchor.
    if (noted !== 'unreadable' && head.seq > (noted?.seq ?? 0)) anchor.note(head);
  }
}
