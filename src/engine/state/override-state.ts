import { isInitiator, kindOf } from '../../core/approvals/approval-request.ts';
import type { IntentRecord, OverrideRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';

/** A person who approved. */
export type Agreement = Pick<OverrideRecord, 'by' | 'token'>;

/** A request for approval and its state. */
export interface Override {
  readonly proposal: OverrideRecord;
  /** When it was proposed. */
  readonly at: Instant;
  /** The people who approved, including the last one. */
  readonly agreed: readonly Agreement[];
  /** The person whose approval completed the request. */
  approvedBy?: string | undefined;
  /** Set if the request was withdrawn or rejected, or has expired, so that nothing can use it any longer. */
  ended?:
    | { readonly how: 'withdrawn' | 'rejected' | 'expired'; readonly by: string; readonly why: string }
    | undefined;
  /** The attempt whose intent names the override, or the action that the approval allowed. */
  usedBy?: string | undefined;
  usedAt?: Instant | undefined;
  usedPair?: string | undefined;
}

const KEPT = 1_000;

export interface OverridesData {
  readonly known: Map<string, Override>;
  /** Number of proposals in the whole journal, so that no id is given twice. */
  proposed: number;
}

/**
 * Whether the request outlives the process. Requests that a person makes by hand end with the process; requests that
 * follow from files and parents do not.
 */
export const isDurable = (proposal: OverrideRecord): boolean =>
  !['override', 'rearm', 'doubt', 'policy'].includes(kindOf(proposal));

/** Whether the request is undecided. It may have expired. */
export const isUndecided = ({ approvedBy, ended, usedBy }: Override): boolean =>
  approvedBy === undefined && ended === undefined && usedBy === undefined;

/**
 * Whether the request can still be decided or used. A person has few such requests; files have as many as they need.
 */
const isLive = ({ proposal, ended, usedBy }: Override, at: Instant): boolean =>
  ended === undefined && usedBy === undefined && at < proposal.expires_at;

/**
 * Requests as a fold of the journal: those of this process, used requests of earlier processes, and requests that
 * outlive a process.
 */
export class Overrides {
  /** All data of this class. A snapshot stores this object. */
  data: OverridesData = { known: new Map(), proposed: 0 };

  get proposed(): number {
    return this.data.proposed;
  }

  get(id: string): Override | undefined {
    return this.data.known.get(id);
  }

  get isEmpty(): boolean {
    return this.data.known.size === 0;
  }

  all(): Iterable<readonly [string, Override]> {
    return this.data.known;
  }

  /** The newest request of this subject that outlives a process. */
  of(subject: string): readonly [string, Override] | undefined {
    let found: readonly [string, Override] | undefined;
    for (const entry of this.data.known)
      if (entry[1].proposal.subject === subject && isDurable(entry[1].proposal)) found = entry;
    return found;
  }

  apply(body: OverrideRecord, at: Instant): void {
    const known = this.data.known.get(body.override);
    if (body.step === 'proposed') {
      this.data.proposed++;
      this.data.known.set(body.override, { proposal: body, at, agreed: [] });
    } else if (known !== undefined) this.#decide(body, known);
    if (this.data.known.size <= KEPT) return;
    for (const [id, one] of this.data.known) {
      if (this.data.known.size <= KEPT) break;
      if (!isLive(one, at)) this.data.known.delete(id);
    }
  }

  /** A person was removed. Undecided requests that they approved need another approval, even if the person returns. */
  forgetAgreements(name: string): void {
    for (const [id, known] of this.data.known) {
      if (!isUndecided(known)) continue;
      const agreed = known.agreed.filter((one) => !isInitiator(one, { by: name }));
      if (agreed.length < known.agreed.length) this.data.known.set(id, { ...known, agreed });
    }
  }

  #decide({ override, step, by, why, token }: OverrideRecord, known: Override): void {
    if (step === 'approved' || step === 'agreed') {
      const agreed = [...known.agreed, { by, ...(token === undefined ? {} : { token }) }];
      const approvedBy = known.approvedBy ?? (step === 'approved' ? by : undefined);
      this.data.known.set(override, { ...known, agreed, approvedBy });
    } else if (step !== 'proposed') known.ended ??= { how: step, by, why };
  }

  /** The age of a request to a dead process is unknown, so a person must propose it again unless it outlives a process. */
  restart(): void {
    for (const [id, { usedBy, proposal }] of this.data.known)
      if (usedBy === undefined && !isDurable(proposal)) this.data.known.delete(id);
  }

  /** The approved action has been carried out. */
  carryOut(ids: readonly string[], by: string, at: Instant): void {
    for (const id of ids) {
      const known = this.#named(id);
      if (known === undefined) continue;
      known.usedBy ??= by;
      known.usedAt ??= at;
    }
  }

  /** A document starts, which uses up its approval. Returns the request, if there was one. */
  begin(subject: string, at: Instant): OverrideRecord | undefined {
    const [id, known] = this.of(subject) ?? [];
    if (id === undefined || known?.approvedBy === undefined) return undefined;
    this.carryOut([id], 'strategy', at);
    return known.proposal;
  }

  /** An attempt takes the override that its intent names, unless another attempt has it. */
  use({ override, client_order_id: id, pair }: IntentRecord, at: Instant): void {
    const known = this.#named(override);
    if (known === undefined || known.usedBy !== undefined) return;
    known.usedBy = id;
    known.usedAt = at;
    known.usedPair = pair;
  }

  /** No order was sent, so the override is free again. */
  free({ override, client_order_id: id }: IntentRecord): void {
    const known = this.#named(override);
    if (known?.usedBy !== id) return;
    known.usedBy = undefined;
    known.usedAt = undefined;
    known.usedPair = undefined;
  }

  #named(override: string | undefined): Override | undefined {
    return override === undefined ? undefined : this.data.known.get(override);
  }
}
