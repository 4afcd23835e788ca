import { add, counted, isAboveZero, money, quantity, size } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { OperatorError } from '../core/errors.ts';
import type { StoredRecord } from '../core/record.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Side } from '../core/venue.ts';

/** An event in the books: a fill, its correction, or a movement of the account. */
export type AccountingEvent = TradeEvent | CorrectionEvent | MovementEvent;

/** Where an event is recorded: a journal record, or rows of the account's history. */
export type Source =
  { readonly seq: number; readonly hash: string } | { readonly transactions: readonly number[] };

interface Booking {
  /** Time of the journal record; absent for rows of the account's history, which do not show when they appeared. */
  readonly knownAt?: Instant | undefined;
  /**
   * Date of its entries if it differs from `at`, because an event that became known after its period was closed is
   * booked in a later period.
   */
  readonly bookedAt?: Instant | undefined;
}

export interface TradeEvent extends Booking {
  readonly type: 'trade';
  /** Client order id; `transaction N` for trades that the desk did not make. */
  readonly id: string;
  readonly at: Instant;
  readonly base: string;
  readonly quote: string;
  readonly side: Side;
  readonly quantity: Quantity;
  readonly amount: Money;
  /** In quote currency, not part of `amount`. */
  readonly fees: Money;
  readonly description: string;
  readonly source: Source;
}

/** A correction: the account shows other figures for a trade than the books. It is dated when the difference became known. */
export interface CorrectionEvent extends Pick<
  TradeEvent,
  'id' | 'at' | 'quantity' | 'amount' | 'fees' | 'source' | 'knownAt' | 'bookedAt'
> {
  readonly type: 'correction';
}

export interface MovementEvent extends Booking {
  readonly type: 'deposit' | 'withdrawal' | 'credit' | 'charge' | 'interest';
  readonly id: string;
  readonly at: Instant;
  readonly currency: string;
  /** Above zero, without the fee. */
  readonly quantity: Quantity;
  /** Fee in the same currency; it also leaves the account. */
  readonly fee: Quantity;
  readonly description: string;
  readonly source: Source;
}

/** Returns the date of the entries of an event. */
export const dateOf = ({ at, bookedAt }: Pick<AccountingEvent, 'at' | 'bookedAt'>): Instant => bookedAt ?? at;

/** Returns the fill or correction in a journal record; `undefined` for other records. */
export function journalEvent({
  seq,
  at,
  hash,
  body,
}: StoredRecord): TradeEvent | CorrectionEvent | undefined {
  if (body.kind === 'fill')
    return {
      type: 'trade',
      id: body.client_order_id,
      at: body.executed_at,
      knownAt: at,
      base: body.base,
      quote: body.quote,
      side: body.side,
      quantity: quantity(body.quantity),
      amount: money(body.amount),
      fees: money(body.fees),
      description: `${body.strategy}, ${body.parent}, slice ${body.slice}`,
      source: { seq, hash },
    };
  if (body.kind === 'correction')
    return {
      type: 'correction',
      id: body.client_order_id,
      at,
      knownAt: at,
      quantity: quantity(body.quantity),
      amount: money(body.amount),
      fees: money(body.fees),
      source: { seq, hash },
    };
  return undefined;
}

/** A row of the account's history. Amounts are text; fields that the venue omits are empty. */
export interface AccountRow {
  readonly id: number;
  /** Unix ms. */
  readonly at: number;
  readonly action: string;
  readonly currency: string;
  readonly amount: string;
  readonly fees: string;
  readonly transfer_fee: string;
  readonly balance: string;
  readonly status: string;
  readonly pair: string;
  readonly order_id: string;
  readonly client_order_id: string;
  readonly trade_id: string;
  readonly description: string;
}

/**
 * Returns the events that the account's history adds to the journal: movements, and trades that the journal does not
 * contain, such as manual ones. `isKnown` returns whether the journal contains a row's trade.
 *
 * @throws OperatorError `data` for a row that cannot be booked.
 */
export function historyEvents(
  rows: Iterable<AccountRow>,
  isKnown: (row: AccountRow) => boolean,
): readonly (TradeEvent | MovementEvent)[] {
  const events: (TradeEvent | MovementEvent)[] = [];
  const trades = new Map<string, AccountRow[]>();
  for (const row of rows) {
    if (row.status.toLowerCase() !== 'done') continue;
    const action = row.action.toLowerCase();
    if (action === 'buy' || action === 'sell') {
      if (isKnown(row)) continue;
      const key = `${row.order_id} ${row.trade_id}`;
      const legs = trades.get(key);
      if (legs === undefined) trades.set(key, [row]);
      else legs.push(row);
    } else events.push(movementOf(row, action));
  }
  for (const legs of trades.values()) events.push(tradeOf(legs));
  return events;
}

const MOVEMENTS: Readonly<Record<string, MovementEvent['type']>> = {
  deposit: 'deposit',
  withdraw: 'withdrawal',
  credit: 'credit',
  charge: 'charge',
};

function movementOf(row: AccountRow, action: string): MovementEvent {
  const type = MOVEMENTS[action];
  if (type === undefined)
    throw new OperatorError('data', `transaction ${row.id}: no rule to book the action ${row.action}`);
  return {
    // The specification has no action for interest on post-trade settlement, so a charge whose description mentions it
    // counts as interest.
    type: type === 'charge' && /\binterest\b/iu.test(row.description) ? 'interest' : type,
    id: `transaction ${row.id}`,
    at: instant(row.at),
    currency: row.currency,
    quantity: size(quantity(row.amount)),
    fee: add(size(quantity(row.fees)), size(quantity(row.transfer_fee))),
    description: row.description,
    source: { transactions: [row.id] },
  };
}

function tradeOf(legs: readonly AccountRow[]): TradeEvent {
  const [first] = legs;
  const ids = legs.map(({ id }) => id);
  const fail = (why: string): never => {
    throw new OperatorError('data', `transactions ${ids.join(', ')}: ${why}`);
  };
  if (first === undefined) return fail('no row');
  const base = legs.find((leg) => first.pair.startsWith(leg.currency))?.currency;
  const quote = legs.find((leg) => leg.currency !== base && first.pair.endsWith(leg.currency))?.currency;
  if (base === undefined || quote === undefined)
    return fail('a trade needs a row of each currency of its pair: run tranche account sync again');
  const sumOf = (currency: string, field: 'amount' | 'fees'): Quantity =>
    legs
      .filter((leg) => leg.currency === currency)
      .reduce((sum, leg) => add(sum, size(quantity(leg[field]))), quantity('0'));
  if (isAboveZero(sumOf(base, 'fees'))) return fail(`a fee in ${base}, the base currency, has no rule`);
  return {
    type: 'trade',
    id: `transaction ${first.id}`,
    at: instant(first.at),
    base,
    quote,
    side: first.action.toLowerCase() === 'buy' ? 'buy' : 'sell',
    quantity: sumOf(base, 'amount'),
    amount: counted(sumOf(quote, 'amount')),
    fees: counted(sumOf(quote, 'fees')),
    description: `by hand, order ${first.order_id}`,
    source: { transactions: ids },
  };
}
