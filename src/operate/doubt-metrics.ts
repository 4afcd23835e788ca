import type { AttemptRecord, StoredRecord } from '../core/record.ts';
import type { Instant } from '../core/time.ts';
import type { Side } from '../core/venue.ts';

/** An attempt that no record has closed yet. */
export interface OpenAttempt {
  readonly pair: string;
  readonly side: Side;
  /** When its intent was written. */
  readonly at: Instant;
  /** Start of the doubt; absent while the order is simply open. */
  readonly doubtSince?: Instant | undefined;
}

/** Open attempts, folded from journal records. Their number is bounded by the attempts in flight plus the doubts. */
export class OpenAttempts {
  #open = new Map<string, OpenAttempt>();

  saved(): ReadonlyMap<string, OpenAttempt> {
    return this.#open;
  }

  restore(open: ReadonlyMap<string, OpenAttempt>): void {
    this.#open = new Map(open);
  }

  /** Applies a record. Returns the record's attempt in its previous state. */
  take({ at, body }: StoredRecord): OpenAttempt | undefined {
    if (body.kind === 'started') this.#doubtAll();
    if (body.kind === 'intent')
      this.#open.set(body.client_order_id, { pair: body.pair, side: body.side, at });
    if (body.kind === 'quote') return this.#open.get(body.client_order_id);
    return body.kind === 'attempt' ? this.#end(body, at) : undefined;
  }

  #end(body: AttemptRecord, at: Instant): OpenAttempt | undefined {
    const before = this.#open.get(body.client_order_id);
    if (body.result !== 'doubt') this.#open.delete(body.client_order_id);
    else if (before !== undefined) {
      this.#open.set(body.client_order_id, { ...before, doubtSince: before.doubtSince ?? at });
    }
    return before;
  }

  /** Attempts that a dead process left open may have traded. Each has been a doubt since it was recorded. */
  #doubtAll(): void {
    for (const [id, attempt] of this.#open) {
      this.#open.set(id, { ...attempt, doubtSince: attempt.doubtSince ?? attempt.at });
    }
  }

  /** Number of doubts, and the start of the oldest. */
  doubts(): { readonly count: number; readonly oldest: Instant | undefined } {
    let count = 0;
    let oldest: Instant | undefined;
    for (const { doubtSince } of this.#open.values()) {
      if (doubtSince === undefined) continue;
      count += 1;
      if (oldest === undefined || doubtSince < oldest) oldest = doubtSince;
    }
    return { count, oldest };
  }
}
