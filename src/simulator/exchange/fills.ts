import { invariant } from '../../core/errors.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import type { OrderDetail } from '../../wire/order-body.ts';
import type { Listing } from './listing.ts';
import type { Priced } from './pricing.ts';

/** A trade as it is booked, with both legs. Amounts are unsigned. */
export interface Trade {
  readonly orderId: string;
  readonly clientId: string | undefined;
  readonly tradeId: string;
  /** Whole milliseconds. */
  readonly at: Instant;
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly side: Side;
  readonly quantity: Quantity;
  /** Quote currency, without the fee. */
  readonly amount: Money;
  /** Quote currency. */
  readonly fees: Money;
  /** Fee in base currency; default: none. */
  readonly baseFees?: Quantity | undefined;
  readonly price: Price;
  readonly showing?: Showing | undefined;
  /** What the venue did, if it was no order: its rows state this, and no ids. */
  readonly description?: string | undefined;
}

/** The amounts exchanged in a trade. */
export type Swap = Pick<Trade, 'pair' | 'base' | 'quote' | 'side' | 'quantity' | 'amount'>;

/** The filled part of an order, and its fees. */
export interface Fill extends Priced {
  /** Quote currency. */
  readonly fees: Money;
  /** Fee in base currency; default: none. */
  readonly baseFees?: Quantity | undefined;
}

/** An order after a fill. */
export interface Filled {
  readonly order: OrderDetail;
  readonly listing: Listing;
  readonly fill: Fill;
  /** Number of the trade. */
  readonly number: number;
  /** Number of an order against a quote, which is filled whole. Other orders need more data. */
  readonly wholeOrder?: number | undefined;
  /** When its rows appear, and their timestamp; default: immediately, with the time of the order. */
  readonly showing?: Showing | undefined;
}

/** When the rows of a trade appear in the transactions, and their timestamp. */
export interface Showing {
  readonly base: Instant;
  readonly quote: Instant;
  readonly stamp: Instant;
}

/** Ledger entries of a trade: the id of the base leg (the quote leg has the next id), and the balances after each leg. */
export interface Booked {
  readonly id: number;
  readonly base: Quantity;
  readonly quote: Quantity;
}

/** A change of a booked leg, in its currency. */
export interface Amendment {
  /** Increase of the amount without its sign. */
  readonly amount: Quantity;
  readonly fee: Quantity;
}

export function tradeOf({ order, listing, fill, number, showing }: Filled): Trade {
  return {
    orderId: order.orderId,
    clientId: order.clientId === '' ? undefined : order.clientId,
    tradeId: String(number),
    at: showing?.stamp ?? order.updatedAt,
    pair: listing.pair,
    base: listing.base,
    quote: listing.quote,
    side: order.side,
    quantity: fill.quantity,
    amount: fill.amount,
    fees: fill.fees,
    baseFees: fill.baseFees,
    price: fill.price,
    showing,
  };
}

/** Offsets of the numbers of a fill in its row. */
const AT = { order: 0, trade: 1, leg: 2, time: 3 };
const WIDTH = 4;
/** Initial capacity, in fills. */
const ROOM = 64;

/**
 * Orders that a quote filled whole, with their trades. A backtest creates very many and rarely reads one again. They
 * are stored as rows of numbers, which the garbage collector need not scan, and converted to objects on read.
 */
export class Fills {
  private numbers = new Float64Array(ROOM * WIDTH);
  private readonly fills: Fill[] = [];
  private readonly balances: Booked[] = [];
  private readonly listings: Listing[] = [];
  private readonly sides: Side[] = [];
  private readonly clientIds: string[] = [];
  private readonly quoteIds: string[] = [];

  /**
   * Stores a fill and returns its place; `undefined` for a fill that cannot be stored as a row, which is the fill of a
   * limit order.
   */
  add({ order, listing, fill, number, wholeOrder }: Filled, booked: Booked): number | undefined {
    const place = this.sides.length;
    if (wholeOrder === undefined) return undefined;
    if ((place + 1) * WIDTH > this.numbers.length) this.grow();
    const { numbers } = this;
    const row = place * WIDTH;
    numbers[row + AT.order] = wholeOrder;
    numbers[row + AT.trade] = number;
    numbers[row + AT.leg] = booked.id;
    numbers[row + AT.time] = order.updatedAt;
    this.fills.push(fill);
    this.balances.push(booked);
    this.listings.push(listing);
    this.sides.push(order.side);
    this.clientIds.push(order.clientId);
    this.quoteIds.push(order.quoteId);
    return place;
  }

  /** Number of stored fills. */
  get count(): number {
    return this.sides.length;
  }

  swap(place: number): Swap {
    const { pair, base, quote } = this.listing(place);
    const { quantity, amount } = this.fill(place);
    return { pair, base, quote, side: this.side(place), quantity, amount };
  }

  order(place: number): OrderDetail {
    const { quantity, amount, price, fees } = this.fill(place);
    return {
      orderId: String(this.orderNumber(place)),
      clientId: this.clientId(place),
      quoteId: this.quoteIds[place] ?? '',
      pair: this.listing(place).pair,
      side: this.side(place),
      status: 'Done',
      quantity,
      price,
      filled: quantity,
      filledAmount: amount,
      vwap: price,
      fees,
      updatedAt: this.time(place),
    };
  }

  trade(place: number): Trade {
    const order = this.order(place);
    return tradeOf({
      order,
      listing: this.listing(place),
      fill: this.fill(place),
      number: this.tradeNumber(place),
    });
  }

  booked(place: number): Booked {
    const booked = this.balances[place];
    invariant(booked !== undefined, `there is a fill at ${place}`);
    return booked;
  }

  /** The balance after a leg. */
  balance(place: number, isBase: boolean): { readonly currency: string; readonly balance: Quantity } {
    const { base, quote } = this.listing(place);
    const after = this.booked(place);
    return isBase ? { currency: base, balance: after.base } : { currency: quote, balance: after.quote };
  }

  orderNumber(place: number): number {
    return this.number(place, AT.order);
  }

  tradeNumber(place: number): number {
    return this.number(place, AT.trade);
  }

  legId(place: number): number {
    return this.number(place, AT.leg);
  }

  time(place: number): Instant {
    return instant(this.number(place, AT.time));
  }

  side(place: number): Side {
    return this.sides[place] ?? 'buy';
  }

  clientId(place: number): string {
    return this.clientIds[place] ?? '';
  }

  private listing(place: number): Listing {
    const listing = this.listings[place];
    invariant(listing !== undefined, `there is a fill at ${place}`);
    return listing;
  }

  private number(place: number, at: number): number {
    return this.numbers[place * WIDTH + at] ?? Number.NaN;
  }

  private fill(place: number): Fill {
    const fill = this.fills[place];
    invariant(fill !== undefined, `there is a fill at ${place}`);
    return fill;
  }

  private grow(): void {
    const { numbers } = this;
    this.numbers = new Float64Array(2 * numbers.length);
    this.numbers.set(numbers);
  }
}
