import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { anchorAt } from '../../journal/proof/anchor.ts';
import type { Head } from '../../journal/proof/chain.ts';

/** How often the anchor of a desk that runs elsewhere is written: each write is three flushes. */
const KEEP_MS = 30_000;

/** Path that the names of a desk's files begin with on this machine. */
export const filesOf = (folder: string, desk: string): string => join(folder, desk, 'journal');

/**
 * The highest record number seen in the journal of each desk of the store, regardless of which daemon runs the desk. It becomes the journal
 * anchor of a desk that starts here, so that every machine detects a store that was restored from an older copy, also for desks that it
 * never ran.
 */
export class SeenHeads {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #seen = new Map<string, Head>();
  readonly #keptAt = new Map<string, number>();

  /** `folder`: of the daemon. `now`: milliseconds that never go back. */
  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Notes the end of a journal. A lower number than before is not taken: it is the sign of an older copy. */
  see(desk: string, head: Head): void {
    if (head.seq > (this.#seen.get(desk)?.seq ?? 0)) this.#seen.set(desk, head);
  }

  /** Keeps the head of a desk that does not run here, for a later start of this daemon. */
  keep(desk: string): void {
    const now = this.#now();
    if (now < (this.#keptAt.get(desk) ?? Number.NEGATIVE_INFINITY) + KEEP_MS) return;
    this.#keptAt.set(desk, now);
    this.#writeAnchor(desk);
  }

  /** Before a start of the desk here. From then on the desk keeps its anchor itself: a person may accept the older copy. */
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
    // One that cannot be read is for the desk to report.
    if (noted !== 'unreadable' && head.seq > (noted?.seq ?? 0)) anchor.note(head);
  }
}
