import type { Monotonic } from '../../core/time.ts';

interface Proposal {
  readonly until: Monotonic;
  /** Hash of the token with which it was proposed. */
  readonly token: string | undefined;
}

/** Overrides that were proposed to this process. */
export class Proposals {
  #asked = 0;
  readonly #all = new Map<string, Proposal>();

  /** Returns the id of the new proposal; `known`: how many the journal holds. */
  add(proposal: Proposal, known: number): string {
    this.#asked = Math.max(this.#asked, known) + 1;
    const id = `ov-${this.#asked}`;
    this.#all.set(id, proposal);
    if (this.#all.size > PROPOSALS_MAX) this.#all.delete(this.#all.keys().next().value ?? '');
    return id;
  }

  get(id: string): Proposal | undefined {
    return this.#all.get(id);
  }
}

/** Those of longer ago have expired. */
const PROPOSALS_MAX = 1_000;
