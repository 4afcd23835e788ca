import type { KnownRows } from '../../src/core/account/rows.ts';
import { text } from '../../src/core/money.ts';
import type { RowText } from '../../src/core/record.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { seenAs } from '../../src/engine/state/account-rows.ts';

interface Fact<T> {
  readonly seq: number;
  readonly is: T;
}

/** What a desk's journal knows about rows and orders, in memory: the same facts, from the same records. */
export class Remembered implements KnownRows {
  echoesIds = false;
  readonly #orders = new Map<string, Fact<string>>();
  readonly #fillRows = new Map<string, Fact<string>>();
  readonly #words = new Map<string, Fact<{ readonly ours: string | undefined }>>();
  readonly #seenRows = new Map<
    string,
    { readonly seq: number; readonly currency: string; readonly amount: string }
  >();
  /** Numbers go on from set to set, so that a new set forgets the former ones at no cost. */
  #seq = 0;
  #since = 0;

  forget(): void {
    this.echoesIds = false;
    this.#since = this.#seq;
  }

  orderOf(orderId: string): string | undefined {
    return this.#still(this.#orders.get(orderId));
  }

  fillOf(rowId: string): string | undefined {
    return this.#still(this.#fillRows.get(rowId));
  }

  wordOn(rowId: string): { readonly ours: string | undefined } | undefined {
    return this.#still(this.#words.get(rowId));
  }

  seenAt(row: Transaction): number | undefined {
    const seq = seenAs(this.#seenRows.get(row.id), row);
    return seq !== undefined && seq > this.#since ? seq : undefined;
  }

  #still<T>(fact: Fact<T> | undefined): T | undefined {
    return fact !== undefined && fact.seq > this.#since ? fact.is : undefined;
  }

  /** Writes a record; its number. */
  record(): number {
    this.#seq += 1;
    return this.#seq;
  }

  /** A read showed these rows as none of ours. */
  see(rows: readonly Transaction[]): void {
    let seq: number | undefined;
    for (const row of rows) {
      if (this.seenAt(row) !== undefined) continue;
      seq ??= this.record();
      this.#seenRows.set(row.id, { seq, currency: row.currency, amount: text(row.amount) });
    }
  }

  tie(orderId: string, clientId: string): void {
    this.#orders.set(orderId, { seq: this.record(), is: clientId });
  }

  hear(rowId: string, ours: string | undefined): void {
    this.#words.set(rowId, { seq: this.record(), is: { ours } });
  }

  /** A fill and the rows behind it. */
  keep(clientId: string, orderId: string, rows: readonly RowText[]): void {
    if (orderId !== '') this.tie(orderId, clientId);
    for (const row of rows) {
      this.#fillRows.set(row.id, { seq: this.record(), is: clientId });
      if (row.order_id !== undefined) this.tie(row.order_id, clientId);
      if (row.is_named === true) this.echoesIds = true;
    }
  }
}
