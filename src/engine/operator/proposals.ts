import type { UsedToken } from '../../core/record.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Command } from '../ports.ts';

/** A command that two people must agree to. */
export type Guarded = Command & { readonly do: 'rearm' | 'resolve' };

export interface Proposal {
  readonly until: Monotonic;
  readonly token: UsedToken | undefined;
  /** Carried out once another person agrees; left out: an override, which the next order that needs it uses. */
  readonly command?: Guarded | undefined;
}

/** What was proposed to this process: overrides, and commands that need two people. */
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
