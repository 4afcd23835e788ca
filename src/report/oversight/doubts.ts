import type { FillRecord, StoredRecord } from '../../core/record.ts';
import { isoOf } from '../../core/time.ts';
import type { Report } from '../json/schema.ts';

/** An order whose outcome was unknown. */
type Doubt = Omit<NonNullable<Report['oversight']>['doubts'][number], 'strategy' | 'pair'>;

/** Orders in doubt and how each was proven, from records in their order. */
export class Doubts {
  readonly #doubts = new Map<string, Doubt>();
  /** Fills of orders in doubt, which are written beside their end. */
  readonly #fills = new Map<string, { readonly seq: number; readonly source: FillRecord['source'] }>();

  take({ seq, at, body }: StoredRecord): void {
    if (body.kind !== 'resolved' && body.kind !== 'fill' && body.kind !== 'attempt') return;
    const { client_order_id: order } = body;
    const open = this.#doubts.get(order);
    if (body.kind === 'attempt' && body.result === 'doubt' && open === undefined)
      this.#doubts.set(order, { order, since: isoOf(at), proof: 'open', records: [seq] });
    if (open === undefined) return;
    if (body.kind === 'resolved')
      this.#doubts.set(order, { ...open, by: body.by, records: [...open.records, seq] });
    if (body.kind === 'fill') this.#fills.set(order, { seq, source: body.source });
    if (body.kind !== 'attempt' || body.result === 'doubt' || open.proof !== 'open') return;
    const fill = this.#fills.get(order);
    this.#fills.delete(order);
    this.#doubts.set(order, {
      order,
      since: open.since,
      until: isoOf(at),
      source: fill?.source,
      detail: body.detail,
      by: open.by,
      proof: body.result === 'filled' ? 'traded' : body.result === 'rejected' ? 'rejected' : 'absent',
      records: [...open.records, ...(fill === undefined ? [] : [fill.seq]), seq],
    });
  }

  all(): readonly Doubt[] {
    return [...this.#doubts.values()];
  }
}
