import type { Requirement } from '../../core/approvals/approval-settings.ts';
import type { ApprovalRecord } from '../../core/record.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Command } from '../ports.ts';

/** A command that may need approval. */
export type Guarded = Command & { readonly do: 'rearm' | 'resolve' };

/** A request for approval that can be recorded. */
export type Wish = Pick<
  ApprovalRecord,
  'for' | 'asks' | 'difference' | 'subject' | 'strategy' | 'parent' | 'amount' | 'by' | 'why' | 'token'
> & { readonly requirement: Requirement };

/** Requests made to this process, as far as the journal does not show them. */
export class Proposals {
  #made = 0;
  /** Commands that wait for approval, each until a time. Without a command: it is taken. */
  readonly held = new Map<string, { readonly until: Monotonic; readonly command?: Guarded }>();
  /** Requests of which a decision is being recorded. Two decisions must not be recorded simultaneously. */
  readonly busy = new Set<string>();
  /** Subjects of the desk's own requests that are not durable yet. */
  readonly wished = new Set<string>();

  /** The id of the next request; `known`: the number of requests in the journal. */
  nextId(known: number): string {
    this.#made = Math.max(this.#made, known) + 1;
    return `ap-${this.#made}`;
  }

  /** Takes the command of a request. Only the first caller gets it. */
  takeCommand(id: string): Guarded | undefined {
    const held = this.held.get(id);
    if (held !== undefined) this.held.set(id, { until: held.until });
    return held?.command;
  }
}
