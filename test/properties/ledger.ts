import { instant } from '../../src/core/time.ts';
import type { Transaction, TransactionAction } from '../../src/core/venue.ts';
import { amount } from './amounts.ts';

/** What the account shows of one booking, and how that changes. Times are milliseconds since the beginning of the set. */

/** A row as a read shows it, with its figures as whole numbers, signed as shown. */
export interface Row extends Transaction {
  readonly units: number;
  readonly feeUnits: number;
  readonly of: Entry;
}

export const NEVER = Infinity;

/** One booking in the ledger. */
export interface Entry {
  readonly isOwn: boolean;
  readonly isFee: boolean;
  readonly currency: string;
  /** What was booked, without sign. A fee row books all of it as a fee, a credit as a rebate. */
  readonly units: number;
  readonly feeUnits: number;
  /** How the leg is signed where it is shown. */
  readonly sign: 1 | -1;
  readonly action: TransactionAction;
  readonly id: string;
  orderId: string | undefined;
  clientId: string | undefined;
  tradeId: string | undefined;
  stamp: number;
  /** From then on it shows. */
  from: number;
  /** Until then it shows no ids. */
  idsFrom: number;
  /** Until then it shows the other figures. */
  amendedAt: number;
  firstUnits: number;
  firstFeeUnits: number;
  /** From then on it has the other id. */
  renumberedAt: number;
  laterId: string;
  /** Unreadable meanwhile. */
  spoiledFrom: number;
  spoiledUntil: number;
  spoiledField: string;
  /** From then on the client id is this one. */
  clientIdUntil: number;
  laterClientId: string | undefined;
  /** The row as last shown, and from when until when it shows so. */
  shown: Row | undefined;
  shownFrom: number;
  shownUntil: number;
}

/** A booking as it shows at first sight; whatever is odd about it is set afterwards. */
export const entry = (
  of: Pick<Entry, 'isOwn' | 'isFee' | 'currency' | 'units' | 'feeUnits' | 'sign' | 'action' | 'id'> & {
    readonly from: number;
  },
): Entry => ({
  isOwn: of.isOwn,
  isFee: of.isFee,
  currency: of.currency,
  units: of.units,
  feeUnits: of.feeUnits,
  sign: of.sign,
  action: of.action,
  id: of.id,
  from: of.from,
  orderId: undefined,
  clientId: undefined,
  tradeId: undefined,
  stamp: of.from,
  idsFrom: 0,
  amendedAt: 0,
  firstUnits: 0,
  firstFeeUnits: 0,
  renumberedAt: NEVER,
  laterId: '',
  spoiledFrom: NEVER,
  spoiledUntil: NEVER,
  spoiledField: '',
  clientIdUntil: NEVER,
  laterClientId: undefined,
  shown: undefined,
  shownFrom: 0,
  shownUntil: 0,
});

/** Whether a field of it cannot be read at that time. */
export const isSpoiledAt = (each: Entry, at: number): boolean =>
  at >= each.spoiledFrom && at < each.spoiledUntil;

/** The row that a read served at that time shows of it. */
export function rowAt(each: Entry, at: number): Row {
  if (each.shown !== undefined && at >= each.shownFrom && at < each.shownUntil) return each.shown;
  const row = made(each, at);
  keep(each, row, at);
  return row;
}

function keep(of: Entry, row: Row, at: number): void {
  const each = of;
  each.shown = row;
  each.shownFrom = at;
  each.shownUntil = Math.min(
    later(each.idsFrom, at),
    later(each.amendedAt, at),
    later(each.renumberedAt, at),
    later(each.spoiledFrom, at),
    later(each.spoiledUntil, at),
    later(each.clientIdUntil, at),
  );
}

const later = (change: number, at: number): number => (change > at ? change : NEVER);

function made(each: Entry, at: number): Row {
  const isAmended = at >= each.amendedAt;
  const field = isSpoiledAt(each, at) ? each.spoiledField : '';
  const hasIds = at >= each.idsFrom;
  const units = field === 'amount' ? 0 : each.sign * (isAmended ? each.units : each.firstUnits);
  const feeUnits = field === 'fees' ? 0 : isAmended ? each.feeUnits : each.firstFeeUnits;
  const clientId = at < each.clientIdUntil ? each.clientId : each.laterClientId;
  return {
    id: at < each.renumberedAt ? each.id : each.laterId,
    orderId: hasIds && field !== 'order_id' ? each.orderId : undefined,
    clientId: hasIds && field !== 'client_order_id' ? clientId : undefined,
    tradeId: hasIds && field !== 'trade_id' ? each.tradeId : undefined,
    at: instant(each.stamp),
    action: field === 'action' ? 'other' : each.action,
    currency: field === 'currency' ? '' : each.currency,
    amount: amount(units),
    price: undefined,
    fees: amount(feeUnits),
    status: 'Done',
    balance: undefined,
    spoiled: field === '' || field === 'action' ? undefined : [field],
    units,
    feeUnits,
    of: each,
  };
}

/** What rows of an order come to. Fees are by currency, without zeros. */
export interface Figures {
  readonly base: number;
  readonly quote: number;
  readonly fees: ReadonlyMap<string, number>;
}

/** What the rows of our order come to at a time, as the generator booked them. */
export function truthAt(entries: readonly Entry[], base: string, at: number): Figures {
  const truth = { base: 0, quote: 0, fees: new Map<string, number>() };
  for (const each of entries) {
    if (!each.isOwn || at < each.from) continue;
    const isAmended = at >= each.amendedAt;
    const [units, feeUnits] = isAmended ? [each.units, each.feeUnits] : [each.firstUnits, each.firstFeeUnits];
    const gives = each.action === 'credit' ? -1 : each.action === 'charge' ? 1 : -each.sign;
    const fee = each.isFee ? gives * units : feeUnits;
    if (fee !== 0) truth.fees.set(each.currency, (truth.fees.get(each.currency) ?? 0) + fee);
    if (each.isFee) continue;
    if (each.currency === base) truth.base += units;
    else truth.quote += units;
  }
  for (const [currency, fee] of truth.fees) if (fee === 0) truth.fees.delete(currency);
  return truth;
}
