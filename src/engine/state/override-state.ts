import type { IntentRecord, OverrideRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';

/** An override of a limit for one order, as far as it has come. */
export interface Override {
  readonly proposal: OverrideRecord;
  approvedBy?: string | undefined;
  /** It was taken back: no order uses it any more. */
  ended?: { readonly how: 'withdrawn' | 'rejected'; readonly by: string } | undefined;
  /** The attempt whose intent names it. */
  usedBy?: string | undefined;
  usedAt?: Instant | undefined;
  usedPair?: string | undefined;
}

const KEPT = 1_000;

export interface OverridesData {
  readonly known: Map<string, Override>;
  /** In all of the journal: no id is given twice. */
  proposed: number;
}

/** Overrides as a fold of the journal: those of this process, and those of earlier ones that were used. */
export class Overrides {
  /** All that there is to know: what a saved state holds of it is this object. */
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

  apply(body: OverrideRecord): void {
    const known = this.data.known.get(body.override);
    if (body.step === 'proposed') {
      this.data.proposed++;
      this.data.known.set(body.override, { proposal: body });
    } else if (known !== undefined) {
      if (body.step === 'approved') known.approvedBy ??= body.by;
      else known.ended ??= { how: body.step, by: body.by };
    }
    for (const id of this.data.known.keys()) {
      if (this.data.known.size <= KEPT) break;
      this.data.known.delete(id);
    }
  }

  /** The age of a dead process's overrides is unknown: unused ones must be proposed again. */
  restart(): void {
    for (const [id, { usedBy }] of this.data.known) if (usedBy === undefined) this.data.known.delete(id);
  }

  /** An attempt takes the override that its intent names, unless another has it. */
  use({ override, client_order_id: id, pair }: IntentRecord, at: Instant): void {
    const known = this.#named(override);
    if (known === undefined || known.usedBy !== undefined) return;
    known.usedBy = id;
    known.usedAt = at;
    known.usedPair = pair;
  }

  /** No order left: it is free again. */
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
