import {
  cost,
  holding,
  isAboveZero,
  NO_MONEY,
  NO_QUANTITY,
  price,
  roundUp,
  text,
  add,
} from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import { after, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { OrderRequest, Quote, QuoteRequest, Size } from '../../core/venue.ts';
import type { Random } from '../../engine/ports.ts';
import type { OrderDetail } from '../../wire/order-body.ts';
import type { Booking } from './booking.ts';
import type { Credit } from './credit.ts';
import type { Fill, Showing } from './fills.ts';
import type { Impact } from './impact.ts';
import type { Listing } from './listing.ts';
import type { Market } from '../market/market.ts';
import type { BookingOptions } from '../options/options-booking.ts';
import type { VenueOptions } from '../options/options.ts';
import type { OrderRegistry } from './orders.ts';
import { dealerPrice, feeFor, movedAgainstDealer, priced } from './pricing.ts';
import type { Priced } from './pricing.ts';
import { QuoteBook, uuidRow } from './quotes.ts';
import type { QuoteEntry } from './quotes.ts';
import { seededRandom } from '../market/random.ts';
import { assumed, created, documented } from '../http/reply.ts';
import type { Refusal, Reply } from '../http/reply.ts';
import { filledSize, isSame, sizeProblem } from './sizes.ts';
import { splitFill } from './split-fill.ts';

const NO_PRICE = price('0');

/** Prices and refusals of another venue, which replace the market's own: by client id, `undefined` if unknown. */
export interface DealerScript {
  /** The price that the other venue quoted; `mid` is the current price. A quote with such a price is not refused. */
  price(clientId: string, mid: Price): Price | undefined;
  /** Whether the other venue rejected the order. */
  isTurnedDown(clientId: string): boolean | undefined;
}

/** An incoming order; the client id is optional if the quote had none. */
export type PlacedOrder = Omit<OrderRequest, 'clientId'> & { readonly clientId?: string | undefined };

export interface DealerSetup {
  readonly options: VenueOptions;
  readonly market: Market;
  readonly registry: OrderRegistry;
  readonly booking: Booking;
  readonly credit: Credit;
  readonly random: Random;
  readonly startedAt: Instant;
  /** Default: the impact of a size follows the settings of its pair, regardless of earlier trades. */
  readonly impact?: Impact | undefined;
  /** Default: prices and refusals come only from the market and the options. */
  readonly script?: DealerScript | undefined;
}

/**
 * Quotes prices and fills orders against them: one order per quote, all or nothing, at the quoted price.
 *
 * An order that breaks a rule is refused and leaves no trace. An accepted one is final, `Done` or `Canceled`, and uses
 * up its quote and its client id.
 */
export class Dealer {
  private readonly setup: DealerSetup;
  private readonly quotes = new QuoteBook();
  private readonly unavailable = new Set<string>();
  private readonly quoteId: (number: number) => string;
  /** Second executions of orders, in the order in which they are due. */
  private again: readonly Again[] = [];

  constructor(setup: DealerSetup) {
    this.setup = setup;
    this.quoteId = uuidRow(`quote ${setup.options.seed} ${setup.startedAt}`);
  }

  /** Stops or resumes quoting, for one pair or for `all`. */
  setAvailability(scope: string, state: 'available' | 'unavailable'): void {
    if (state === 'available') this.unavailable.delete(scope);
    else this.unavailable.add(scope);
  }

  quote(account: string, request: QuoteRequest, now: Instant): Reply<Quote> {
    const listing = this.setup.market.listings.get(request.pair);
    if (listing?.options.tradable !== true) return documented.unsupported(request.pair);
    const known = this.knownQuote(account, request, now);
    if (known !== undefined) return known;
    const scripted = this.scriptedPrice(request, now);
    const absent = scripted === undefined ? this.unavailability(listing.pair) : undefined;
    const refused = absent ?? sizeProblem(listing, request.size);
    if (refused !== undefined) return refused;
    const usd = this.usdOf(listing, request.size, now);
    if (usd.gt(listing.maxUsd))
      return documented.tooLarge(text(roundUp(usd, 2)), text(listing.maxUsd), listing.pair);

    const mid = this.setup.market.mid(listing.pair, now);
    const { pair, side } = request;
    const millionBps = listing.options.impactBps;
    const impact = this.setup.impact?.bps({ pair, side, millionBps }, usd, now);
    const each = scripted ?? dealerPrice(listing, side, mid, usd, impact);
    const promised = priced(listing, request.side, request.size, each);
    if (![each, promised.quantity, promised.amount].every(isAboveZero))
      return assumed.invalidSize('too small to be priced');
    const quote = this.newQuote(request, promised, now);
    this.quotes.add({ account, quote, request, mid, used: false });
    return created(quote);
  }

  order(account: string, order: PlacedOrder, now: Instant): Reply<OrderDetail> {
    const listing = this.setup.market.listings.get(order.pair);
    if (listing === undefined) return documented.invalidPair(order.pair);
    const entry = this.quotes.find(account, order.quoteId);
    if (entry === undefined) return assumed.unknownQuote();
    const refused = this.orderProblem(listing, entry, order, now);
    if (refused !== undefined) return refused;

    const { quantity, amount, price: each } = filledSize(listing, entry, order.size);
    if (!isAboveZero(quantity) || !isAboveZero(amount)) return assumed.invalidSize('too small to be filled');
    const fees = feeFor(listing, amount, this.setup.options.feeBps);
    const accepted = { entry, order, listing, fill: { quantity, amount, price: each, fees } };
    const isFilled = !this.isTurnedDown(entry, now);
    if (isFilled && !this.isCovered(account, accepted, now))
      return assumed.noFunds(order.side === 'buy' ? listing.quote : listing.base);
    return created(this.accept(account, accepted, isFilled, now));
  }

  private scriptedPrice({ clientId, pair }: QuoteRequest, now: Instant): Price | undefined {
    const { script, market } = this.setup;
    return clientId === undefined || script === undefined
      ? undefined
      : script.price(clientId, market.mid(pair, now));
  }

  /**
   * The same client id with the same request gets the same quote while that is live; with another request it is
   * refused.
   */
  private knownQuote(account: string, request: QuoteRequest, now: Instant): Reply<Quote> | undefined {
    if (request.clientId === undefined) return undefined;
    const entry = this.quotes.findByClientId(account, request.clientId);
    if (entry === undefined || entry.used || entry.quote.expiresAt <= now) return undefined;
    return isSame(entry.request, request) ? created(entry.quote) : assumed.quoteIdTaken();
  }

  private unavailability(pair: string): Refusal | undefined {
    const { options, random } = this.setup;
    if (this.unavailable.has('all')) return documented.unavailable();
    if (this.unavailable.has(pair)) return documented.pairUnavailable(pair);
    if (options.unavailableProbability === 0) return undefined;
    const drawn = random.next();
    if (drawn >= options.unavailableProbability) return undefined;
    return drawn < options.unavailableProbability / 2
      ? documented.unavailable()
      : documented.pairUnavailable(pair);
  }

  private usdOf(listing: Listing, size: Size, now: Instant): Money {
    const { market } = this.setup;
    const amount = size.by === 'amount' ? size.amount : cost(market.mid(listing.pair, now), size.quantity);
    return market.usdValue(listing.quote, holding(amount), now);
  }

  private newQuote(request: QuoteRequest, { quantity, amount, price: each }: Priced, now: Instant): Quote {
    const { options, registry } = this.setup;
    const quotedAt = instant(Math.floor(now));
    return {
      quoteId: this.quoteId(registry.nextCount()),
      pair: request.pair,
      side: request.side,
      quantity,
      amount,
      price: each,
      quotedAt,
      expiresAt: after(quotedAt, options.quoteLifeMs),
      lifeMs: options.quoteLifeMs,
    };
  }

  private orderProblem(
    listing: Listing,
    entry: QuoteEntry,
    order: PlacedOrder,
    now: Instant,
  ): Refusal | undefined {
    const { quote, request } = entry;
    if (order.pair !== quote.pair) return assumed.notAsQuoted('currency_pair');
    if (order.side !== quote.side) return assumed.notAsQuoted('side');
    if (request.clientId !== undefined && order.clientId !== request.clientId)
      return assumed.notAsQuoted('client_order_id');
    if (entry.used) return assumed.quoteUsed();
    if (order.clientId !== undefined && this.setup.registry.isTaken(entry.account, order.clientId, now))
      return assumed.orderIdTaken();
    if (now >= quote.expiresAt) return assumed.quoteExpired();
    if (order.size.by !== request.size.by) return assumed.notAsQuoted(order.size.by);
    const isAbove =
      order.size.by === 'quantity'
        ? order.size.quantity.gt(quote.quantity)
        : order.size.amount.gt(quote.amount);
    return isAbove ? assumed.aboveQuote(order.size.by) : sizeProblem(listing, order.size);
  }

  /** Last look, or random rejection: even a live quote may not be filled. */
  private isTurnedDown({ quote, mid, request }: QuoteEntry, now: Instant): boolean {
    const { options, market, random, script } = this.setup;
    const known = request.clientId === undefined ? undefined : script?.isTurnedDown(request.clientId);
    if (known !== undefined) return known;
    if (options.cancelProbability > 0 && random.next() < options.cancelProbability) return true;
    if (options.lastLookBps === undefined) return false;
    return movedAgainstDealer(quote.side, mid, market.mid(quote.pair, now)).gt(options.lastLookBps);
  }

  private isCovered(
    account: string,
    {
      order: { side },
      listing,
      fill,
    }: Pick<Accepted, 'listing' | 'fill'> & { order: Pick<PlacedOrder, 'side'> },
    now: Instant,
  ): boolean {
    const isBuy = side === 'buy';
    const amount: Quantity = isBuy ? holding(add(fill.amount, fill.fees)) : fill.quantity;
    return this.setup.credit.covers({
      account,
      pair: listing.pair,
      side,
      currency: isBuy ? listing.quote : listing.base,
      amount,
      now,
    });
  }

  private accept(
    account: string,
    { entry, order, listing, fill }: Accepted,
    isFilled: boolean,
    now: Instant,
  ): OrderDetail {
    const { registry, booking, impact, market } = this.setup;
    entry.used = true;
    const { quantity, amount, price: each, fees } = fill;
    if (isFilled)
      impact?.add(order.pair, order.side, market.usdValue(listing.quote, holding(amount), now), now);
    const wholeOrder = registry.nextCount();
    const detail: OrderDetail = {
      orderId: String(wholeOrder),
      clientId: order.clientId ?? '',
      quoteId: entry.quote.quoteId,
      pair: order.pair,
      side: order.side,
      status: isFilled ? 'Done' : 'Canceled',
      quantity,
      price: each,
      filled: isFilled ? quantity : NO_QUANTITY,
      filledAmount: isFilled ? amount : NO_MONEY,
      vwap: isFilled ? each : NO_PRICE,
      fees: isFilled ? fees : NO_MONEY,
      updatedAt: instant(Math.floor(now)),
    };
    const { booking: how } = this.setup.options;
    if (isFilled && how !== undefined) {
      const executed = { account, detail, listing, fill, how };
      this.bookAs(executed, now);
      this.drawSecond(executed, now);
      return detail;
    }
    const place = isFilled
      ? booking.fill(account, { order: detail, listing, fill, number: registry.nextCount(), wholeOrder }, now)
      : undefined;
    if (place === undefined) registry.add(account, detail, now);
    else registry.addFilled(account, detail, place, now);
    return detail;
  }

  /** Books a filled order as configured: as one or several trades, visible immediately or later. */
  private bookAs({ account, detail, listing, fill, how }: Executed, now: Instant): void {
    const { registry, booking } = this.setup;
    const random = this.randomOf(detail, 'trades');
    splitFill(listing, fill, how, random).forEach((part, index) => {
      const showing = showingOf(how, index, { random, now });
      const filled = { order: detail, listing, fill: part, number: registry.nextCount(), showing };
      booking.fill(account, filled, now);
    });
    registry.add(account, detail, now);
  }

  /** Decides whether an order is executed a second time. */
  private drawSecond(executed: Executed, now: Instant): void {
    const { secondExecution, secondExecutionMs } = executed.how;
    if (secondExecution === 0 || this.randomOf(executed.detail, 'second').next() >= secondExecution) return;
    const second = { ...executed, dueAt: after(now, secondExecutionMs) };
    this.again = [...this.again, second].toSorted((a, b) => a.dueAt - b.dueAt);
    if (secondExecutionMs === 0) this.runNext();
  }

  /** Real time of the next second execution. */
  nextDue(): Instant | undefined {
    return this.again[0]?.dueAt;
  }

  /** Executes an order a second time, as a separate order under the same client id. */
  runNext(): void {
    const [second, ...rest] = this.again;
    if (second === undefined) return;
    this.again = rest;
    const { account, detail, dueAt } = second;
    const orderId = this.setup.registry.nextNumber();
    const twin = { ...detail, orderId, updatedAt: instant(Math.floor(dueAt)) };
    if (this.isCovered(account, { ...second, order: detail }, dueAt))
      this.bookAs({ ...second, detail: twin }, dueAt);
  }

  private randomOf({ orderId }: OrderDetail, what: string): Random {
    return seededRandom(`${what} ${orderId} ${this.setup.options.seed}`);
  }
}

/** When the rows of a trade appear. `index`: number of the trade within its order. */
function showingOf(
  { delaysMs, delaySpreadMs, legGapMs, stamps }: BookingOptions,
  index: number,
  { random, now }: { readonly random: Random; readonly now: Instant },
): Showing | undefined {
  const delayMs = (delaysMs[index] ?? delaysMs.at(-1) ?? 0) + Math.floor(random.next() * delaySpreadMs);
  if (delayMs === 0 && legGapMs === 0) return undefined;
  const base = after(now, delayMs + Math.max(0, -legGapMs));
  const quote = after(now, delayMs + Math.max(0, legGapMs));
  return { base, quote, stamp: instant(Math.floor(stamps === 'booked' ? Math.min(base, quote) : now)) };
}

/** A filled order, and how to book it. */
interface Executed {
  readonly account: string;
  readonly detail: OrderDetail;
  readonly listing: Listing;
  readonly fill: Fill;
  readonly how: BookingOptions;
}

interface Again extends Executed {
  /** Real time. */
  readonly dueAt: Instant;
}

interface Accepted {
  readonly entry: QuoteEntry;
  readonly order: PlacedOrder;
  readonly listing: Listing;
  readonly fill: Fill;
}
