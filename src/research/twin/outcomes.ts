import { corrected } from '../../core/cycle/compare-fill.ts';
import { NO_MONEY, NO_QUANTITY, add, money, price, quantity } from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import type { FillRecord, StoredRecord, WakeRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';

/** The outcome of one slice of a parent. */
export interface SliceOutcome {
  readonly strategy: string;
  readonly parent: string;
  readonly slice: number;
  readonly pair: string;
  readonly quote: string;
  readonly side: Side;
  /** When the slice's strategy decided it. */
  readonly decidedAt: Instant;
  /** Reference price at the decision, otherwise at the first attempt. */
  readonly reference: Price | undefined;
  /** `open`: the journal ends before the slice. */
  readonly result: 'filled' | 'skipped' | 'expired' | 'open';
  /** Why the slice traded less than planned. */
  readonly reason: Reason | undefined;
  readonly attempts: number;
  /** Number of attempts whose order the venue refused. */
  readonly refusals: number;
  readonly doubts: number;
  /** Sums of its fills, in base currency and in quote currency. */
  readonly quantity: Quantity;
  readonly amount: Money;
  readonly fees: Money;
  /** Time of its first fill. */
  readonly executedAt: Instant | undefined;
  /** Numbers of its records, ascending. */
  readonly records: readonly number[];
}

type Draft = { -readonly [Key in keyof SliceOutcome]: SliceOutcome[Key] } & { readonly records: number[] };

export const sliceKey = ({ parent, slice }: Pick<SliceOutcome, 'parent' | 'slice'>): string =>
  `${parent}-${slice}`;

/** Follows every slice from its decision to its end. */
export class Outcomes {
  /** Fills by client id, with the account's corrections. */
  readonly fills = new Map<string, FillRecord>();
  readonly #slices = new Map<string, Draft>();
  /** The slice of each client id. */
  readonly #sliceOf = new Map<string, string>();
  readonly #doubted = new Set<string>();

  add({ at, seq, body }: StoredRecord): void {
    if (body.kind === 'wake') this.#decided(body, at, seq);
    if (body.kind === 'slice') {
      const draft = this.#slices.get(sliceKey(body));
      if (draft === undefined) return;
      draft.result = body.result;
      draft.reason = body.reason;
      draft.records.push(seq);
    }
    if (body.kind === 'intent') {
      const key = sliceKey(body);
      const draft = this.#slices.get(key);
      if (draft === undefined) return;
      this.#sliceOf.set(body.client_order_id, key);
      draft.quote = body.quote;
      draft.reference ??= price(body.reference_price);
      draft.attempts++;
      draft.records.push(seq);
    }
    if (body.kind === 'attempt') {
      const draft = this.#slices.get(this.#sliceOf.get(body.client_order_id) ?? '');
      if (draft === undefined) return;
      if (body.result === 'rejected') draft.refusals++;
      if (
        body.result === 'doubt' &&
        body.reason !== 'order_canceled' &&
        !this.#doubted.has(body.client_order_id)
      ) {
        this.#doubted.add(body.client_order_id);
        draft.doubts++;
      }
      draft.records.push(seq);
    }
    if (body.kind === 'fill') {
      this.fills.set(body.client_order_id, body);
      this.#slices.get(sliceKey(body))?.records.push(seq);
    }
    const fill = body.kind === 'correction' ? this.fills.get(body.client_order_id) : undefined;
    if (body.kind === 'correction' && fill !== undefined) {
      this.fills.set(body.client_order_id, corrected(fill, body));
      this.#slices.get(sliceKey(fill))?.records.push(seq);
    }
  }

  #decided({ strategy, intents }: WakeRecord, at: Instant, seq: number): void {
    for (const { parent, slice, pair, side, decision_price: seen } of intents)
      this.#slices.set(sliceKey({ parent, slice }), {
        strategy,
        parent,
        slice,
        pair,
        side,
        quote: '',
        decidedAt: at,
        reference: seen === undefined || seen === '' ? undefined : price(seen),
        result: 'open',
        reason: undefined,
        attempts: 0,
        refusals: 0,
        doubts: 0,
        quantity: NO_QUANTITY,
        amount: NO_MONEY,
        fees: NO_MONEY,
        executedAt: undefined,
        records: [seq],
      });
  }

  slices(): ReadonlyMap<string, SliceOutcome> {
    for (const fill of this.fills.values()) {
      const draft = this.#slices.get(sliceKey(fill));
      if (draft === undefined) continue;
      draft.quote = fill.quote;
      draft.quantity = add(draft.quantity, quantity(fill.quantity));
      draft.amount = add(draft.amount, money(fill.amount));
      draft.fees = add(draft.fees, money(fill.fees));
      if (draft.executedAt === undefined || fill.executed_at < draft.executedAt)
        draft.executedAt = fill.executed_at;
    }
    return this.#slices;
  }
}
