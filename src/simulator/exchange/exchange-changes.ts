import type { OrderDetail } from '../../wire/order-body.ts';
import type { OwnTrade } from '../../wire/orders.ts';

/** A change of an account, for the private feeds. */
export type Change = Readonly<
  | { kind: 'order'; account: string; order: OrderDetail }
  | { kind: 'trade'; account: string; trade: OwnTrade }
  | { kind: 'balances'; account: string }
>;

/** Notifies listeners of every change, immediately and in order. */
export class Changes {
  private readonly listeners = new Set<(change: Change) => void>();

  /** Returns the function that stops listening. */
  listen(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /** Whether anyone listens; otherwise changes need not be encoded. */
  get isHeard(): boolean {
    return this.listeners.size > 0;
  }

  tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }
}
