import type { RequestKind, Requirement } from '../../core/approvals/approval-policy.ts';
import type { UsedToken } from '../../core/record.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Command } from '../ports.ts';

/** A command that needs approval. */
export type Guarded = Command & { readonly do: 'rearm' | 'resolve' };

export interface Proposal {
  readonly until: Monotonic;
  readonly token: UsedToken | undefined;
  /** The command to execute once approved; omitted for an override, which the next matching order uses. */
  readonly command?: Guarded | undefined;
}

/** A request that the desk itself makes. It outlives the process, and is looked up by subject. */
export interface Wish {
  readonly request: RequestKind;
  readonly asks: string;
  readonly subject: string;
  readonly requirement: Requirement;
  readonly difference?: readonly string[] | undefined;
  readonly parent?: string | undefined;
  readonly strategy?: string | undefined;
  readonly amount?: string | undefined;
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

/** Proposals made to this process, and those being recorded. */
export class Proposals {
  #asked = 0;
  readonly #all = new Map<string, Proposal>();
  readonly #busy = new Set<string>();
  /** Subjects of the desk's own requests that are not durable yet. */
  readonly #wished = new Set<string>();

  /** The id of the next proposal; `known`: how many the journal holds. */
  nextId(known: number): string {
    this.#asked = Math.max(this.#asked, known) + 1;
    return `ov-${this.#asked}`;
  }

  /** Adds a proposal and drops expired ones, as of `now`. Each person has only a few open proposals. */
  set(id: string, proposal: Proposal, now: Monotonic): void {
    if (this.#all.size >= SWEPT_FROM)
      for (const [other, { until }] of this.#all) if (until <= now) this.#all.delete(other);
    this.#all.set(id, proposal);
  }

  /** The proposal was withdrawn and has no effect. */
  forget(id: string): void {
    this.#all.delete(id);
  }

  get(id: string): Proposal | undefined {
    return this.#all.get(id);
  }

  /** Takes the command of a proposal, once: a second caller gets nothing. */
  takeCommand(id: string): Guarded | undefined {
    const proposal = this.#all.get(id);
    if (proposal?.command === undefined) return undefined;
    this.#all.set(id, { ...proposal, command: undefined });
    return proposal.command;
  }

  /** Whether a decision on the proposal is being recorded: two decisions must not be recorded at once. */
  isBusy(id: string): boolean {
    return this.#busy.has(id);
  }

  begin(id: string): void {
    this.#busy.add(id);
  }

  end(id: string): void {
    this.#busy.delete(id);
  }

  /** Whether a request for this subject may be created: not while one is being recorded. */
  mayWish(subject: string): boolean {
    if (this.#wished.has(subject)) return false;
    this.#wished.add(subject);
    return true;
  }

  /** The request is durable: the same subject may be requested again once it has ended. */
  granted(subject: string): void {
    this.#wished.delete(subject);
  }
}

/** From this number on, expired proposals are removed. */
const SWEPT_FROM = 1_000;
