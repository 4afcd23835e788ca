import { parseClientId } from '../ids.ts';
import { add, fraction, NO_MONEY, NO_QUANTITY, money, price, quantity, size } from '../money.ts';
import type { Money, Price, Quantity } from '../money.ts';
import type { Pair } from '../pairs.ts';
import { instant } from '../time.ts';
import type { Instant } from '../time.ts';
import type { Side, Transaction } from '../venue.ts';

/**
 * The venue's execution for one client id, as the account's transactions show it: all rows of that id, in one or
 * several trades.
 */
export interface TradeEvidence {
  readonly clientId: string;
  readonly orderId: string;
  readonly pair: string;
  readonly side: Side;
  readonly quantity: Quantity;
  readonly amount: Money;
  /** Price of the base leg, if there is exactly one. Quote per base. */
  readonly price?: Price | undefined;
  /** In quote currency. */
  readonly fees: Money;
  readonly at: Instant;
  /** Both legs are present. With one leg, the order certainly traded and the figures are still incomplete. */
  readonly isWhole: boolean;
  /** The rows that show it. */
  readonly rows: readonly Transaction[];
}

/**
 * Groups the trades of the desk with this mark by client id. A row repeated by overlapping pages counts once. A row
 * without a client id belongs to the order with its order id: an order whose other rows carry our id, or one that
 * `orderOf` knows.
 */
export function tradesOf(
  rows: readonly Transaction[],
  { mark, pairOf, orderOf }: Readers,
): ReadonlyMap<string, TradeEvidence> {
  const groups = new Map<string, Map<number, Transaction>>();
  for (const row of rows) {
    if (row.clientId === undefined || (row.action !== 'buy' && row.action !== 'sell')) continue;
    let group = groups.get(row.clientId);
    if (group === undefined) {
      // Checked once per id, not per row, because the check is a hash.
      if (parseClientId(row.clientId)?.mark !== mark) continue;
      group = new Map();
      groups.set(row.clientId, group);
    }
    group.set(row.id, row);
  }
  addUnnamed(groups, rows, orderOf);
  return new Map(
    [...groups].map(([clientId, legs]) => {
      const all = [...legs.values()];
      const symbol = all.find((leg) => leg.pair !== undefined)?.pair ?? '';
      return [clientId, evidenceOf(clientId, all, pairOf(symbol))];
    }),
  );
}

/** How to interpret rows. */
export interface Readers {
  readonly mark: string;
  readonly pairOf: (pair: string) => Pair | undefined;
  /** Looks up the order of a fill in the journal by its order id. */
  readonly orderOf?: ((orderId: string) => KnownOrder | undefined) | undefined;
}

export interface KnownOrder {
  readonly clientId: string;
  readonly pair: string;
  readonly side: Side;
}

/** Our rows without a client id. An order id that appears with two client ids identifies neither. */
function addUnnamed(
  groups: Map<string, Map<number, Transaction>>,
  rows: readonly Transaction[],
  orderOf: Readers['orderOf'],
): void {
  const unnamed = rows.filter(
    ({ clientId, orderId, action }) =>
      clientId === undefined && orderId !== undefined && (action === 'buy' || action === 'sell'),
  );
  if (unnamed.length === 0) return;
  const orders = new Map<string, KnownOrder | undefined>();
  for (const { orderId, clientId, pair, action } of rows) {
    if (orderId === undefined || clientId === undefined || (action !== 'buy' && action !== 'sell')) continue;
    const before = orders.get(orderId);
    if (before === undefined && orders.has(orderId)) continue;
    const isOther = before !== undefined && before.clientId !== clientId;
    orders.set(orderId, isOther ? undefined : { clientId, pair: pair ?? before?.pair ?? '', side: action });
  }
  for (const row of unnamed) {
    const { orderId = '', pair, action } = row;
    const order = orders.has(orderId) ? orders.get(orderId) : orderOf?.(orderId);
    if (order?.side !== action || (pair !== undefined && pair !== order.pair)) continue;
    const group = groups.get(order.clientId);
    // Not ours: one of our orders has a group, or the journal knows it.
    if (group === undefined && orders.has(orderId)) continue;
    groups.set(order.clientId, new Map([...(group ?? []), [row.id, row]]));
  }
}

/** Evidence of `rows`, all of one client id. */
export function evidenceOf(
  clientId: string,
  legs: readonly Transaction[],
  known: Pick<Pair, 'base' | 'quote'> | undefined,
): TradeEvidence {
  const [first] = legs;
  const symbol = legs.find((leg) => leg.pair !== undefined)?.pair ?? '';
  const bases = legs.filter((leg) => leg.currency === known?.base);
  const quotes = legs.filter((leg) => leg.currency === known?.quote);
  const traded = bases.reduce((sum, leg) => add(sum, size(leg.amount)), NO_QUANTITY);
  const amount = quotes.reduce((sum, leg) => add(sum, money(size(leg.amount).toFixed())), NO_MONEY);
  return {
    clientId,
    orderId: legs.find((leg) => leg.orderId !== undefined)?.orderId ?? '',
    pair: symbol,
    side: first?.action === 'sell' ? 'sell' : 'buy',
    quantity: traded,
    amount,
    price: bases.length === 1 ? bases[0]?.price : undefined,
    fees: quotes.reduce((sum, leg) => add(sum, money(leg.fees.toFixed())), NO_MONEY),
    at: first?.at ?? instant(0),
    isWhole: traded.gt(0) && amount.gt(0) && sameTrades(bases, quotes),
    rows: legs,
  };
}

/** An order may fill in several trades. It is complete once each of them shows both legs. */
function sameTrades(bases: readonly Transaction[], quotes: readonly Transaction[]): boolean {
  const [ofBase, ofQuote] = [bases, quotes].map((legs) => new Set(legs.map((leg) => leg.tradeId)));
  return ofBase?.symmetricDifference(ofQuote ?? new Set()).size === 0;
}

/**
 * Price of a trade: that of the venue, so that a fill is recorded the same way for every proof; otherwise amount over
 * quantity, 18 decimals. For display: only quantity and amount are booked.
 */
export const tradePrice = (trade: TradeEvidence): Price =>
  trade.price ?? price(fraction(quantity(trade.amount.toFixed()), trade.quantity).toFixed(18));

/** Balance of every currency in `rows`, from its newest row. */
export function balancesOf(rows: readonly Transaction[]): {
  readonly balances: ReadonlyMap<string, Quantity>;
  readonly newestId: number;
} {
  const newest = new Map<string, Transaction>();
  let newestId = 0;
  for (const row of rows) {
    newestId = Math.max(newestId, row.id);
    const before = newest.get(row.currency);
    if (before === undefined || row.id > before.id) newest.set(row.currency, row);
  }
  return { balances: new Map([...newest].map(([currency, row]) => [currency, row.balance])), newestId };
}
