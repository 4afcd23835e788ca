import type { FillRecord, StoredRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';

/** An order whose outcome was unknown. */
export interface Doubt {
  readonly order: string;
  readonly since: Instant;
  /** When the outcome was proven; omitted, like all fields below, while the doubt is open. */
  readonly until?: Instant | undefined;
  readonly proof?: 'traded' | 'rejected' | 'absent' | undefined;
  /** Source of the trade. */
  readonly source?: FillRecord['source'] | undefined;
  /** Text of the record that ended it. */
  readonly detail?: string | undefined;
  /** The person who resolved it, if the account could not. */
  readonly by?: string | undefined;
  readonly records: readonly number[];
}

/** Orders in doubt and how each was proven, from records in their order. */
export class Doubts {
  readonly #doubts = new Map<string, Doubt>();
  /** Fills of orders in doubt, which are written beside their end. */
  readonly #fills = new Map<string, { readonly seq: number; readonly source: FillRecord['source'] }>();

  take({ seq, at, body }: StoredRecord): void {
    if (body.kind === 'resolved') {
      const open = this.#doubts.get(body.client_order_id);
      if (open !== undefined)
        this.#doubts.set(open.order, { ...open, by: body.by, records: [...open.records, seq] });
    }
    if (body.kind === 'fill' && this.#doubts.has(body.client_order_id))
      this.#fills.set(body.client_order_id, { seq, source: body.source });
    if (body.kind !== 'attempt') return;
    const { client_order_id: order, result, detail } = body;
    const open = this.#doubts.get(order);
    if (result === 'doubt') {
      if (open === undefined) this.#doubts.set(order, { order, since: at, records: [seq] });
      return;
    }
    if (open === undefined || open.proof !== undefined) return;
    const proof = result === 'filled' ? 'traded' : result === 'rejected' ? 'rejected' : 'absent';
    const fill = this.#fills.get(order);
    this.#fills.delete(order);
    this.#doubts.set(order, {
      ...open,
      until: at,
      proof,
      ...(fill === undefined ? {} : { source: fill.source }),
      ...(detail === undefined ? {} : { detail }),
      records: [...open.records, ...(fill === undefined ? [] : [fill.seq]), seq],
    });
  }

  all(): readonly Doubt[] {
    return [...this.#doubts.values()];
  }
}
