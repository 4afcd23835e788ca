import { invariant } from '../core/errors.ts';
import { counted, priceFrom, quantityFrom } from '../core/money.ts';
import type { AnyAmount, Money, Price, Quantity } from '../core/money.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Side } from '../core/venue.ts';
import type { OrderDetail } from '../wire/order-body.ts';
import { limitAlgorithms } from '../wire/words.ts';
import type { Listing } from './listing.ts';
import type { Priced } from './pricing.ts';

/** A trade as it is booked, both legs. Amounts are unsigned. */
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
  readonly price: Price;
  /** Left out: `Instant`, as of every order against a quote. */
  readonly algorithm?: { readonly id: number; readonly name: string } | undefined;
  readonly showing?: Showing | undefined;
}

/** What changes hands in a trade. */
export type Swap = Pick<Trade, 'pair' | 'base' | 'quote' | 'side' | 'quantity' | 'amount'>;

/** What of an order filled, and what it cost besides. */
export interface Fill extends Priced {
  /** Quote currency. */
  readonly fees: Money;
}

/** An order as a fill leaves it. */
export interface Filled {
  readonly order: OrderDetail;
  readonly listing: Listing;
  readonly fill: Fill;
  /** That of the trade. */
  readonly number: number;
  /** That of an order against a quote, which is filled whole: of others there is more to keep. */
  readonly wholeOrder?: number | undefined;
  /** When its rows show and what they tell; left out: at once, and the time of the order. */
  readonly showing?: Showing | undefined;
}

/** When the rows of a trade show in the transactions, and the time that they tell. */
export interface Showing {
  readonly base: Instant;
  readonly quote: Instant;
  readonly stamp: Instant;
}

/** What the ledger made of a trade: the id of its base leg, that of the quote leg is the next, and the balances after each. */
export interface Booked {
  readonly id: number;
  readonly base: Quantity;
  readonly quote: Quantity;
}

export function tradeOf({ order, listing, fill, number, showing }: Filled): Trade {
  const { working } = order;
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
    price: fill.price,
    showing,
    algorithm: working && { id: working.algorithm, name: limitAlgorithms[working.algorithm] },
  };
}

/** Where the numbers of a fill stand in its row, and where those of its amounts do. */
const AT = { order: 0, trade: 1, leg: 2, time: 3 };
const AMOUNTS = { quantity: 0, amount: 1, fees: 2, price: 3, base: 4, quote: 5 };
const [FIRST_AMOUNT, AMOUNT_COUNT] = [4, 6];
const WIDTH = FIRST_AMOUNT + AMOUNT_COUNT;
/** Places that there is room for at first. */
const ROOM = 64;
const SCALE_MAX = 255;

/**
 * Orders that a quote filled whole, with their trades. A backtest makes very many of them and hardly looks at one again: they are
 * kept as rows of numbers, which nobody has to look through when memory is freed, and put into words for who reads them.
 */
export class Fills {
  private numbers = new Float64Array(ROOM * WIDTH);
  private scales = new Uint8Array(ROOM * AMOUNT_COUNT);
  private readonly listings: Listing[] = [];
  private readonly sides: Side[] = [];
  private readonly clientIds: string[] = [];
  private readonly quoteIds: string[] = [];

  /** Keeps a fill and returns its place; `undefined` where it has to be kept as it is: of a limit order, or with very long amounts. */
  add({ order, listing, fill, number, wholeOrder }: Filled, { id, base, quote }: Booked): number | undefined {
    const place = this.sides.length;
    if (wholeOrder === undefined || !isShort(base) || !isShort(quote) || !isShort(fill.price))
      return undefined;
    if (!isShort(fill.quantity) || !isShort(fill.amount) || !isShort(fill.fees)) return undefined;
    if ((place + 1) * WIDTH > this.numbers.length) this.grow();
    const { numbers } = this;
    const row = place * WIDTH;
    numbers[row + AT.order] = wholeOrder;
    numbers[row + AT.trade] = number;
    numbers[row + AT.leg] = id;
    numbers[row + AT.time] = order.updatedAt;
    this.keep(place, AMOUNTS.quantity, fill.quantity);
    this.keep(place, AMOUNTS.amount, fill.amount);
    this.keep(place, AMOUNTS.fees, fill.fees);
    this.keep(place, AMOUNTS.price, fill.price);
    this.keep(place, AMOUNTS.base, base);
    this.keep(place, AMOUNTS.quote, quote);
    this.listings.push(listing);
    this.sides.push(order.side);
    this.clientIds.push(order.clientId);
    this.quoteIds.push(order.quoteId);
    return place;
  }

  /** How many there are. */
  get count(): number {
    return this.sides.length;
  }

  swap(place: number): Swap {
    const { pair, base, quote } = this.listing(place);
    return {
      pair,
      base,
      quote,
      side: this.side(place),
      quantity: this.quantity(place, AMOUNTS.quantity),
      amount: counted(this.quantity(place, AMOUNTS.amount)),
    };
  }

  order(place: number): OrderDetail {
    const quantity = this.quantity(place, AMOUNTS.quantity);
    const amount = counted(this.quantity(place, AMOUNTS.amount));
    const price = priceFrom(...this.parts(place, AMOUNTS.price));
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
      fees: counted(this.quantity(place, AMOUNTS.fees)),
      updatedAt: this.time(place),
    };
  }

  trade(place: number): Trade {
    const order = this.order(place);
    const { quantity, filledAmount: amount, price, fees } = order;
    const fill = { quantity, amount, price, fees };
    return tradeOf({ order, listing: this.listing(place), fill, number: this.tradeNumber(place) });
  }

  booked(place: number): Booked {
    return {
      id: this.number(place, AT.leg),
      base: this.quantity(place, AMOUNTS.base),
      quote: this.quantity(place, AMOUNTS.quote),
    };
  }

  /** What a leg says of the balance. */
  balance(place: number, isBase: boolean): { readonly currency: string; readonly balance: Quantity } {
    const { base, quote } = this.listing(place);
    return isBase
      ? { currency: base, balance: this.quantity(place, AMOUNTS.base) }
      : { currency: quote, balance: this.quantity(place, AMOUNTS.quote) };
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

  private keep(place: number, which: number, { n, scale }: AnyAmount): void {
    this.numbers[place * WIDTH + FIRST_AMOUNT + which] = n;
    this.scales[place * AMOUNT_COUNT + which] = scale;
  }

  private quantity(place: number, which: number): Quantity {
    return quantityFrom(...this.parts(place, which));
  }

  private parts(place: number, which: number): [coefficient: number, scale: number] {
    const scale = this.scales[place * AMOUNT_COUNT + which] ?? 0;
    return [this.number(place, FIRST_AMOUNT + which), scale];
  }

  private grow(): void {
    const { numbers, scales } = this;
    this.numbers = new Float64Array(2 * numbers.length);
    this.numbers.set(numbers);
    this.scales = new Uint8Array(2 * scales.length);
    this.scales.set(scales);
  }
}

const isShort = ({ n, wide, scale }: AnyAmount): boolean =>
  wide === undefined && Number.isSafeInteger(n) && scale <= SCALE_MAX;
