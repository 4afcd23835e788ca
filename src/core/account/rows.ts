import { idOf, isAnothers, parseClientId } from '../ids.ts';
import { NO_QUANTITY, add, fraction, money, negate, price, quantity, size, text } from '../money.ts';
import type { Money, Price, Quantity } from '../money.ts';
import type { FillRecord, IntentRecord, RowText } from '../record.ts';
import { instant } from '../time.ts';
import type { Instant } from '../time.ts';
import type { Transaction } from '../venue.ts';

/**
 * The rows of the account, by id, and the orders that they belong to. A row belongs to an order because an exact id ties
 * it to that order, never because of how it looks: its stamp, direction, size or the spelling of a field decide nothing.
 */

/** What the journal knows about rows and orders. `EngineState` implements it. */
export interface KnownRows {
  /** Client id of our order with this order id: from a response, a lookup, a fill or an earlier row. */
  orderOf(orderId: string): string | undefined;
  /** Client id of our fill that contains this row. */
  fillOf(rowId: string): string | undefined;
  /** A person's word about a row: the client id of our order that it belongs to, or that it is none of ours. */
  wordOn(rowId: string): { readonly ours: string | undefined } | undefined;
  /** Number of the record by which the journal knew that a whole read had shown this row; `undefined` if none had. */
  seenAt(row: Transaction): number | undefined;
  /** Whether this account has shown one of our client ids exactly as sent. */
  readonly echoesIds: boolean;
}

/** The rows of one whole read, each attributed or not. */
export interface Attributed {
  /** Rows by the client id of our order, those of unknown orders included. */
  readonly ours: ReadonlyMap<string, readonly Transaction[]>;
  /** Rows of trades that no exact id ties to any order, ours or another's. */
  readonly unattributed: readonly Transaction[];
  /** Rows of trades that are certainly not ours: another's client id, a settlement by the venue, or a person said so. */
  readonly others: readonly Transaction[];
}

/** A row of a trade. An action that cannot be read, or that nobody knows, may be a trade. */
export const isTrade = ({ action }: Transaction): boolean =>
  action === 'buy' || action === 'sell' || action === 'other';

/** A fee or a rebate that is booked as a row of its own. */
const isFee = ({ action }: Transaction): boolean => action === 'charge' || action === 'credit';

/**
 * Attributes every row of a read. In this order: a person's word, our client id, the fill that contains the row, its
 * order id, another's client id, its trade id. A row with a field that cannot be read belongs to nobody until a person decides. `open`: the
 * client ids of open attempts, whose ids may be shown distorted.
 */
export function attribute(
  read: readonly Transaction[],
  {
    mark,
    known,
    open,
  }: { readonly mark: string; readonly known: KnownRows; readonly open: Iterable<string> },
): Attributed {
  const rows = new Map(read.map((row) => [row.id, row]));
  const isOurs = (clientId: string): boolean => parseClientId(clientId)?.mark === mark;
  const ids = [...open];
  const owners = new Map<string, string | undefined>();
  const anothers: string[] = [];
  const alone = new Set<string>();
  for (const row of rows.values()) {
    if (!isTrade(row) && !isFee(row)) continue;
    const word = known.wordOn(row.id);
    const fill = known.fillOf(row.id);
    const order = idOf(row.orderId);
    if (word !== undefined || row.isSettlement === true) owners.set(row.id, word?.ours);
    else if (isSpoiled(row)) continue;
    else if (row.clientId !== undefined && isOurs(row.clientId)) owners.set(row.id, row.clientId);
    else if (known.echoesIds && isAnothers(row.clientId, mark, ids)) anothers.push(row.id);
    // Ids of rows may be given anew, so a row of another order is another row.
    else if (fill !== undefined && (order === undefined || known.orderOf(order) === fill))
      owners.set(row.id, fill);
  }
  const tieOrders = (): void => {
    tie(rows, owners, 'orderId', alone, (id) => known.orderOf(id));
  };
  // An order id that is exactly ours outweighs a client id that the venue replaced.
  tieOrders();
  for (const id of anothers) {
    if (owners.has(id)) continue;
    owners.set(id, undefined);
    alone.add(id);
  }
  // An owner found by one id may name the owner of another id.
  for (let before = -1; before !== owners.size;) {
    before = owners.size;
    tieOrders();
    tie(rows, owners, 'tradeId', alone);
  }
  const [owned, loose] = [
    [...rows.values()].filter(({ id }) => owners.get(id) !== undefined),
    [...rows.values()].filter((row) => owners.get(row.id) === undefined && isTrade(row)),
  ];
  return {
    ours: Map.groupBy(owned, ({ id }) => owners.get(id) ?? ''),
    unattributed: loose.filter(({ id }) => !owners.has(id)),
    others: loose.filter(({ id }) => owners.has(id)),
  };
}

/** A row that shows a field which decides about orders and cannot be read; an unknown action is such a field. */
const isSpoiled = ({ spoiled, action }: Transaction): boolean => spoiled !== undefined || action === 'other';

/**
 * Gives rows without an owner the owner of the rows with the same id. An id identifies no order if rows of two owners or, for
 * a trade id, of two order ids have it.
 */
function tie(
  rows: ReadonlyMap<string, Transaction>,
  owners: Map<string, string | undefined>,
  field: 'orderId' | 'tradeId',
  alone: ReadonlySet<string>,
  ownerOf: (id: string) => string | undefined = () => undefined,
): void {
  const named = new Map<string, Record<'owner' | 'orderId', string | undefined>>();
  const torn = new Set<string>();
  const loose: (readonly [Transaction, string])[] = [];
  for (const row of rows.values()) {
    const id = idOf(row[field]);
    if (id === undefined || isSpoiled(row) || (!isTrade(row) && !isFee(row))) continue;
    if (!owners.has(row.id)) {
      loose.push([row, id]);
      continue;
    }
    // That a text is another's says nothing about the rows beside it: they hold a doubt open.
    if (alone.has(row.id)) continue;
    const [owner, before] = [owners.get(row.id), named.get(id)];
    if (before !== undefined && before.owner !== owner) torn.add(id);
    const known = ownerOf(id);
    if (known !== undefined && known !== owner) torn.add(id);
    named.set(id, { owner, orderId: before?.orderId ?? idOf(row.orderId) });
  }
  for (const [row, id] of loose) {
    if (torn.has(id)) continue;
    const one = named.get(id);
    const owner = one === undefined ? ownerOf(id) : one.owner;
    if (one === undefined && owner === undefined) continue;
    const [own, orderId] = [idOf(row.orderId), one?.orderId];
    if (own === undefined || orderId === undefined || own === orderId) owners.set(row.id, owner);
  }
}

/** An order whose trade rows may show. */
export type Order = Pick<IntentRecord, 'client_order_id' | 'base' | 'quote'>;

/** What the rows of an order come to. */
export interface Figures {
  /** Base currency. */
  readonly quantity: Quantity;
  /** Quote currency, before fees. */
  readonly amount: Money;
  /** In quote currency; negative for a rebate. */
  readonly fees: Money;
  /** Fees in other currencies. */
  readonly otherFees: ReadonlyMap<string, Quantity>;
  /** Amount divided by quantity, to 18 decimals; 0 with one leg. For display: only quantity and amount are booked. */
  readonly price: Price;
}

/** An order's trade, as the rows of the account show it. */
export interface Trade extends Figures {
  readonly clientId: string;
  readonly orderId: string;
  readonly at: Instant;
  /** How many parts the order was booked in, at least. */
  readonly parts: number;
  readonly rows: readonly Transaction[];
  /** The same rows as the journal keeps them. */
  readonly kept: readonly RowText[];
}

/** The trade that these rows of one order show. */
export function tradeOf(order: Order, rows: readonly Transaction[]): Trade {
  const legs = rows.filter(isTrade);
  const bases = legs.filter(({ currency }) => currency === order.base);
  const quotes = legs.filter(({ currency }) => currency === order.quote);
  const kept = rows.map((row) => rowText(row, order));
  const figures = figuresOf(order, kept);
  return {
    ...figures,
    // The venue's price, so that a fill is recorded in the same way for every proof.
    price: (bases.length === 1 ? bases[0]?.price : undefined) ?? figures.price,
    clientId: order.client_order_id,
    orderId: rows.find(({ orderId }) => idOf(orderId) !== undefined)?.orderId ?? '',
    at: legs.find(({ at }) => at > 0)?.at ?? instant(0),
    parts: Math.max(1, bases.length, quotes.length),
    rows,
    kept,
  };
}

/** Both currencies have moved. With one leg, the order certainly traded, and its figures are incomplete. */
export const hasBothLegs = ({ quantity: base, amount }: Pick<Figures, 'quantity' | 'amount'>): boolean =>
  base.gt(0) && amount.gt(0);

/**
 * Sums rows as the journal keeps them. Every row counts in its own currency: a leg by its amount, a fee wherever it is
 * booked. The amounts are signed, so that a reversed part takes away what it reverses.
 */
export function figuresOf({ base, quote }: Pick<Order, 'base' | 'quote'>, rows: readonly RowText[]): Figures {
  let [traded, amount] = [NO_QUANTITY, NO_QUANTITY];
  const fees = new Map<string, Quantity>();
  const pay = (currency: string, fee: Quantity): void => {
    if (!fee.isZero()) fees.set(currency, add(fees.get(currency) ?? NO_QUANTITY, fee));
  };
  for (const row of rows) {
    const moved = quantity(row.amount);
    if (row.is_fee !== true || moved.isZero()) pay(row.currency, quantity(row.fees ?? '0'));
    if (row.is_fee === true) pay(row.currency, negate(moved));
    else if (row.currency === base) traded = add(traded, moved);
    else if (row.currency === quote) amount = add(amount, moved);
  }
  const quoteFees = fees.get(quote) ?? NO_QUANTITY;
  fees.delete(quote);
  return {
    quantity: size(traded),
    amount: money(text(size(amount))),
    price: price(amount.isZero() || traded.isZero() ? '0' : fraction(size(amount), size(traded)).toFixed(18)),
    fees: money(text(quoteFees)),
    otherFees: new Map([...fees].filter(([, fee]) => !fee.isZero())),
  };
}

/** A row as the journal keeps it. A leg in a third currency is a fee paid in that currency. */
export function rowText(row: Transaction, { base, quote, client_order_id: clientId }: Order): RowText {
  const made: { -readonly [K in keyof RowText]: RowText[K] } = {
    id: row.id,
    currency: row.currency,
    amount: text(isFee(row) ? feeMovement(row) : row.amount),
  };
  // Omitted rather than `undefined`, because the journal holds plain JSON.
  if (!row.fees.isZero()) made.fees = text(row.fees);
  if (idOf(row.orderId) !== undefined) made.order_id = row.orderId;
  if (idOf(row.tradeId) !== undefined) made.trade_id = row.tradeId;
  if (isFee(row) || (row.currency !== base && row.currency !== quote)) made.is_fee = true;
  if (row.clientId === clientId) made.is_named = true;
  return made;
}

/** A charge takes money and a credit gives it, whatever sign the row shows. */
const feeMovement = ({ action, amount }: Transaction): Quantity =>
  action === 'charge' ? negate(size(amount)) : size(amount);

/** A row that the account showed, and what it shows in its place: other figures, another id, or both. */
export interface Replaced {
  readonly was: RowText;
  readonly now: RowText;
}

/**
 * Brings the rows of a fill up to date. A row that the read should show and does not show came under another id if a new
 * row has its order, its trade id if they have any, and its currency; otherwise the read lags, and the row stays. `replaced`:
 * rows whose figures changed, or that came under another id. `isUnclear`: rows of the journal lie outside the read, so
 * that new rows may be the same ones under new ids.
 */
export function currentRows(
  recorded: readonly RowText[],
  shown: readonly RowText[],
  covers: (row: RowText) => boolean,
): {
  readonly rows: readonly RowText[];
  readonly replaced: readonly Replaced[];
  readonly isUnclear: boolean;
} {
  const now = new Map(shown.map((row) => [row.id, row]));
  const fresh = new Map([...now].filter(([id]) => !recorded.some((row) => row.id === id)));
  const gone = recorded.filter(({ id }) => !now.has(id));
  const moved = movesOf(gone.filter(covers), fresh);
  const pairs = recorded.map((was): Replaced => ({ was, now: now.get(was.id) ?? moved.get(was) ?? was }));
  const isUnclear = fresh.size > 0 && gone.some((row) => !covers(row));
  const rows = [...pairs.map((pair) => pair.now), ...fresh.values()];
  return { rows, replaced: pairs.filter(isOther), isUnclear };
}

/** What changed, for people. */
export const changeText = ({ was, now }: Replaced): string => `${rowWords(was)} is now ${rowWords(now)}`;
const rowWords = ({ id, amount, fees = '0', currency }: RowText): string =>
  `row ${id} of ${amount} with fees of ${fees} ${currency}`;

const isOther = ({ was: a, now: b }: Replaced): boolean =>
  a.id !== b.id || a.amount !== b.amount || (a.fees ?? '0') !== (b.fees ?? '0');

/**
 * The new rows that earlier rows became; takes them out of `fresh`. The nearest amounts first, because parts of an order
 * may share a trade id, or have none, and a row may be amended as it moves.
 */
function movesOf(gone: readonly RowText[], fresh: Map<string, RowText>): ReadonlyMap<RowText, RowText> {
  const moved = new Map<RowText, RowText>();
  const moves = gone.flatMap((was) => {
    const same = [...fresh.values()].filter((now) => isSameTrade(was, now));
    return same.map((now) => ({
      was,
      now,
      by: size(add(quantity(now.amount), negate(quantity(was.amount)))),
    }));
  });
  for (const { was, now } of moves.toSorted((a, b) => a.by.comparedTo(b.by)))
    if (!moved.has(was) && fresh.delete(now.id)) moved.set(was, now);
  return moved;
}

const isSameTrade = (a: RowText, b: RowText): boolean =>
  a.currency === b.currency &&
  a.is_fee === b.is_fee &&
  (a.trade_id ?? b.trade_id ?? '') === (b.trade_id ?? a.trade_id ?? '') &&
  (a.order_id ?? b.order_id ?? '') === (b.order_id ?? a.order_id ?? '');

/** Fees in other currencies, for a record; nothing if there are none. */
export const otherFeesIn = ({ otherFees }: Figures): Pick<FillRecord, 'other_fees'> => {
  const fees = [...otherFees].map(([currency, fee]) => [currency, text(fee)] as const);
  return fees.length === 0 ? {} : { other_fees: Object.fromEntries(fees) };
};
