import { parseClientId } from './ids.ts';
import { add, fraction, NO_MONEY, NO_QUANTITY, money, price, quantity, size } from './money.ts';
import type { Money, Price, Quantity } from './money.ts';
import type { Pair } from './pairs.ts';
import { instant } from './time.ts';
import type { Instant } from './time.ts';
import type { Side, Transaction } from './venue.ts';

/** A trade of ours as the account's transactions show it, all rows of one client id together. */
export interface TradeEvidence {
  readonly clientId: string;
  readonly orderId: string;
  readonly pair: string;
  readonly side: Side;
  readonly quantity: Quantity;
  readonly amount: Money;
  /** As the base leg tells it, when there is one such leg. Quote per base. */
  readonly price?: Price | undefined;
  /** In quote currency. */
  readonly fees: Money;
  readonly at: Instant;
  /** Both legs are there. With one, the order certainly traded and the figures are still to come. */
  readonly isWhole: boolean;
}

/**
 * Trades that carry a client id of the desk with this mark, by client id. A row that overlapping pages show twice
 * counts once.
 */
export function tradesOf(
  rows: readonly Transaction[],
  mark: string,
  pairOf: (pair: string) => Pair | undefined,
): ReadonlyMap<string, TradeEvidence> {
  const groups = new Map<string, Map<number, Transaction>>();
  for (const row of rows) {
    if (row.clientId === undefined || (row.action !== 'buy' && row.action !== 'sell')) continue;
    let group = groups.get(row.clientId);
    if (group === undefined) {
      // Once an id, not once a row: its check is a hash.
      if (parseClientId(row.clientId)?.mark !== mark) continue;
      group = new Map();
      groups.set(row.clientId, group);
    }
    group.set(row.id, row);
  }
  return new Map(
    [...groups].map(([clientId, legs]) => [clientId, evidenceOf(clientId, [...legs.values()], pairOf)]),
  );
}

function evidenceOf(
  clientId: string,
  legs: readonly Transaction[],
  pairOf: (pair: string) => Pair | undefined,
): TradeEvidence {
  const [first] = legs;
  const symbol = legs.find((leg) => leg.pair !== undefined)?.pair ?? '';
  const known = pairOf(symbol);
  const bases = legs.filter((leg) => leg.currency === known?.base);
  const quotes = legs.filter((leg) => leg.currency === known?.quote);
  const traded = bases.reduce((sum, leg) => add(sum, size(leg.amount)), NO_QUANTITY);
  const amount = quotes.reduce((sum, leg) => add(sum, money(size(leg.amount).toFixed())), NO_MONEY);
  return {
    clientId,
    orderId: first?.orderId ?? '',
    pair: symbol,
    side: first?.action === 'sell' ? 'sell' : 'buy',
    quantity: traded,
    amount,
    price: bases.length === 1 ? bases[0]?.price : undefined,
    fees: quotes.reduce((sum, leg) => add(sum, money(leg.fees.toFixed())), NO_MONEY),
    at: first?.at ?? instant(0),
    isWhole: traded.gt(0) && amount.gt(0) && sameTrades(bases, quotes),
  };
}

/** An order may fill in several trades: it is whole once each of them shows both its legs. */
function sameTrades(bases: readonly Transaction[], quotes: readonly Transaction[]): boolean {
  const [ofBase, ofQuote] = [bases, quotes].map((legs) => new Set(legs.map((leg) => leg.tradeId)));
  return ofBase?.symmetricDifference(ofQuote ?? new Set()).size === 0;
}

/**
 * Price of a trade: what the venue tells, so that a fill is written alike whichever proof it comes from; else amount over
 * quantity, 18 decimals. A figure for people: quantity and amount are what was booked.
 */
export const tradePrice = (trade: TradeEvidence): Price =>
  trade.price ?? price(fraction(quantity(trade.amount.toFixed()), trade.quantity).toFixed(18));

/** Balance of every currency that `rows` name: the newest row tells it. */
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
