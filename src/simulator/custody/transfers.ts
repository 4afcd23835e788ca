import { add, negate } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { instant, MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Ledger, Remarks } from '../ledger/ledger.ts';
import type { Market } from '../market/market.ts';
import type { Positions } from '../exchange/positions.ts';
import { uuidOf } from '../exchange/quotes.ts';
import { assumed, found } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';

/**
 * States of deposits and withdrawals. Spec: "Transaction status". The final state is spelled as in its samples: `done`.
 */
export const transferStatuses = {
  initiated: 'Initiated',
  inProgress: 'In Progress',
  approvalRequired: 'Approval Required',
  broadcast: 'Processing Automatic withdrawal',
  confirmed: 'Confirmed',
  canceled: 'Canceled',
  held: 'Admin Hold, Pending Further Review',
} as const;
export type TransferStatus = (typeof transferStatuses)[keyof typeof transferStatuses];

const { initiated, inProgress, approvalRequired, broadcast, confirmed, canceled, held } = transferStatuses;

/** Sequences of states; after the last one, the transfer is done. No document defines the transitions; they are chosen here. */
const ways = {
  deposit: [initiated, inProgress, confirmed],
  crypto: [initiated, inProgress, broadcast],
  bank: [initiated, inProgress],
  approved: [confirmed, broadcast],
} as const satisfies Record<string, readonly TransferStatus[]>;
export type Way = keyof typeof ways;

export interface NewTransfer {
  readonly account: string;
  readonly currency: string;
  /** Signed; a withdrawal is below zero. */
  readonly amount: Quantity;
  /** Fee in addition to the amount. */
  readonly fee: Quantity;
  readonly way: Exclude<Way, 'approved'>;
  /** Set if the transfer waits for approval. */
  readonly stopped?: 'Approval Required' | undefined;
  readonly remarks: Remarks;
}

interface Transfer extends NewTransfer {
  /** Account transaction id: that of its first transaction. */
  readonly id: number;
  ahead: readonly TransferStatus[];
  /** Market time of the next state; `undefined` while it is stopped. */
  nextAt: Instant | undefined;
}

export interface TransfersSetup {
  readonly ledger: Ledger;
  readonly market: Market;
  readonly positions: Positions;
  readonly seed: string;
  /** Minutes of market time between two states. */
  readonly stepMinutes: number;
}

/**
 * Incoming and outgoing transfers, whose states advance in market time. An outgoing amount is reserved until it has
 * left.
 */
export class Transfers {
  private readonly setup: TransfersSetup;
  private readonly transfers = new Map<number, Transfer>();

  constructor(setup: TransfersSetup) {
    this.setup = setup;
  }

  /** Returns the account transaction id. */
  start(transfer: NewTransfer, now: Instant): number {
    const { ledger, market, stepMinutes } = this.setup;
    const { account, currency, amount, fee, remarks, stopped } = transfer;
    const [first, ...ahead] = ways[transfer.way];
    if (amount.isNegative()) ledger.hold(account, currency, add(negate(amount), fee));
    const id = ledger.announce(account, { currency, amount, fee, remarks, status: stopped ?? first }, now);
    this.transfers.set(id, {
      ...transfer,
      id,
      ahead: stopped === undefined ? ahead : ways[transfer.way],
      nextAt: stopped === undefined ? instant(market.timeAt(now) + stepMinutes * MINUTE_MS) : undefined,
    });
    return id;
  }

  /** Real time of the next state change. */
  nextDue(): Instant | undefined {
    const next = this.earliest();
    return next?.nextAt === undefined ? undefined : this.setup.market.realTimeOf(next.nextAt);
  }

  /** Applies the next due change. */
  runNext(): void {
    const transfer = this.earliest();
    if (transfer?.nextAt === undefined) return;
    const at = instant(Math.floor(this.setup.market.realTimeOf(transfer.nextAt)));
    const [status, ...ahead] = transfer.ahead;
    if (status === undefined) {
      this.finish(transfer, at);
      return;
    }
    transfer.ahead = ahead;
    transfer.nextAt = instant(transfer.nextAt + this.setup.stepMinutes * MINUTE_MS);
    this.restate(transfer, status);
  }

  /** Ends an unfinished transfer, and frees its reserved amount. */
  cancel(account: string, id: number): Reply<object> {
    const transfer = this.of(account, id);
    if (transfer === undefined) return assumed.unknownTransfer();
    this.release(transfer);
    this.restate(transfer, canceled);
    this.transfers.delete(id);
    return found({});
  }

  /** Stops a transfer for review, or lets it go on: from its first state, or from that after an approval. */
  review(
    {
      account,
      id,
      what,
    }: { readonly account: string; readonly id: number; readonly what: 'hold' | 'release' },
    now: Instant,
  ): Reply<object> {
    const transfer = this.of(account, id);
    if (transfer === undefined) return assumed.unknownTransfer();
    if (what === 'hold') {
      transfer.nextAt = undefined;
      this.restate(transfer, held);
      return found({});
    }
    const [first, ...ahead] = ways[transfer.stopped === undefined ? transfer.way : 'approved'];
    this.goOn(transfer, { first, ahead }, now);
    return found({});
  }

  private goOn(
    transfer: Transfer,
    { first, ahead }: { first: TransferStatus; ahead: readonly TransferStatus[] },
    now: Instant,
  ): void {
    this.restate(transfer, first);
    transfer.ahead = ahead;
    transfer.nextAt = instant(this.setup.market.timeAt(now) + this.setup.stepMinutes * MINUTE_MS);
  }

  private restate({ account, id, way }: Transfer, status: TransferStatus): void {
    const hash = way === 'crypto' && status === broadcast ? { txHash: this.hashOf(id) } : {};
    this.setup.ledger.restate(account, id, { status, ...hash });
  }

  private finish(transfer: Transfer, at: Instant): void {
    const { ledger, positions } = this.setup;
    const { account, currency, id } = transfer;
    this.release(transfer);
    const before = ledger.balance(account, currency);
    ledger.settle(account, id, at);
    positions.received(account, currency, before, at);
    this.transfers.delete(id);
  }

  private release({ account, currency, amount, fee }: Transfer): void {
    if (amount.isNegative()) this.setup.ledger.hold(account, currency, negate(add(negate(amount), fee)));
  }

  private of(account: string, id: number): Transfer | undefined {
    const transfer = this.transfers.get(id);
    return transfer?.account === account ? transfer : undefined;
  }

  private earliest(): Transfer | undefined {
    if (this.transfers.size === 0) return undefined;
    let first: Transfer | undefined;
    for (const each of this.transfers.values())
      if (each.nextAt !== undefined && (first?.nextAt === undefined || each.nextAt < first.nextAt))
        first = each;
    return first;
  }

  private hashOf(id: number): string {
    const half = (part: string): string => uuidOf(`${part} ${this.setup.seed} ${id}`).replaceAll('-', '');
    return `${half('hash')}${half('more')}`;
  }
}

export const APPROVAL_REQUIRED = approvalRequired;
