import type { KnownRows } from '../../core/account/rows.ts';
import { compareRowIds } from '../../core/ids.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import type { FillRecord, ResolvedRecord, RowText } from '../../core/record.ts';
import type { Transaction } from '../../core/venue.ts';

/** Maximum number of ids of each kind that are remembered. */
const KEPT = 50_000;

/** A row of somebody else, as a read first showed it. */
interface SeenRow extends Pick<RowText, 'currency' | 'amount'> {
  readonly seq: number;
}

/**
 * Number of the record that showed the row; `undefined` if it showed another row. Ids of rows may be given anew, so the
 * figures must be the same, except for those that could not be read: an empty currency, an amount of zero.
 */
export const seenAs = (known: SeenRow | undefined, { currency, amount }: Transaction): number | undefined =>
  known !== undefined &&
  (known.currency === currency || known.currency === '' || currency === '') &&
  (known.amount === '0' || amount.isZero() || amount.eq(known.amount))
    ? known.seq
    : undefined;

/** What the journal knows about the rows of the account, as a fold of its records. */
export class AccountRows implements KnownRows {
  /** Plain data, which a snapshot stores. */
  data = {
    /** The newest row that a recorded read showed, and the one that was the newest before it; empty: none. */
    newest: '',
    beforeNewest: '',
    /** Our order by order id, from fills and from what responses and rows told of doubts. */
    orders: new Map<string, string>(),
    /** Our fill by the id of a row. */
    fills: new Map<string, string>(),
    /** Rows of trades that are not ours, by id. */
    seen: new Map<string, SeenRow>(),
    /** A person's word about rows. */
    words: new Map<string, { readonly ours: string | undefined }>(),
    echoesIds: false,
  };

  orderOf(orderId: string): string | undefined {
    return this.data.orders.get(orderId);
  }

  fillOf(rowId: string): string | undefined {
    return this.data.fills.get(rowId);
  }

  wordOn(rowId: string): { readonly ours: string | undefined } | undefined {
    return this.data.words.get(rowId);
  }

  seenAt(row: Transaction): number | undefined {
    return seenAs(this.data.seen.get(row.id), row);
  }

  get echoesIds(): boolean {
    return this.data.echoesIds;
  }

  /** A row that whole reads have shown, with a newer one if possible, so that a read of all newer rows is not empty. */
  get known(): string {
    return this.data.beforeNewest === '' ? this.data.newest : this.data.beforeNewest;
  }

  /** A whole read showed this row as the newest. */
  reach(newest: string): void {
    if (compareRowIds(newest, this.data.newest) <= 0) return;
    this.data.beforeNewest = this.data.newest;
    this.data.newest = newest;
  }

  /** Order ids belong to an order. */
  tie(clientId: string, orderIds: readonly string[]): void {
    for (const orderId of orderIds) this.#set(this.data.orders, orderId, clientId);
  }

  /** The ids by which rows belong to a fill. */
  keep({ client_order_id: clientId, order_id: orderId, rows = [] }: FillRecord): void {
    this.tie(
      clientId,
      [orderId, ...rows.map((row) => row.order_id ?? '')].filter((id) => id !== ''),
    );
    for (const { id, is_named: isNamed } of rows) {
      this.#set(this.data.fills, id, clientId);
      this.data.echoesIds ||= isNamed === true;
    }
  }

  /** A whole read showed these rows of others for the first time, or with other figures. */
  see(rows: readonly RowText[], seq: number): void {
    for (const { id, currency, amount } of rows) this.#set(this.data.seen, id, { seq, currency, amount });
  }

  /** A person said whose rows are. */
  hear({ client_order_id: clientId, verdict, rows = [] }: ResolvedRecord): void {
    for (const row of rows)
      this.#set(this.data.words, row, { ours: verdict === 'ours' ? clientId : undefined });
  }

  #set<T>(ids: Map<string, T>, id: string, value: T): void {
    ids.set(id, value);
    keepNewest(ids, KEPT);
  }
}
