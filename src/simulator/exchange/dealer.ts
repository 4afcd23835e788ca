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
import type { Money, Quantity } from '../../core/money.ts';
import { after, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { OrderRequest, Quote, QuoteRequest, Size } from '../../core/venue.ts';
import type { Random } from '../../engine/ports.ts';
import type { OrderDetail } from '../../wire/order-body.ts';
import type { Booking } from './booking.ts';
import type { Credit } from './credit.ts';
import type { Fill } from './fills.ts';
import type { Impact } from './impact.ts';
import type { Listing } from './listing.ts';
import type { Market } from '../market/market.ts';
import type { VenueOptions } from '../options/options.ts';
import { OrderBooking } from '../ledger/order-booking.ts';
import type { OrderRegistry } from './orders.ts';
import { dealerPrice, feeFor, movedAgainstDealer, priced } from './pricing.ts';
import type { Priced } from './pricing.ts';
import { QuoteBook, uuidRow } from './quotes.ts';
import type { QuoteEntry } from './quotes.ts';
import { assumed, created, documented } from '../http/reply.ts';
import type { Refusal, Reply } from '../http/reply.ts';
import { filledSize, isSame, sizeProblem } from './sizes.ts';

const NO_PRICE = price('0');

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
  /** Default: the impact of a size follows its pair's settings, regardless of earlier trades. */
  readonly impact?: Impact | undefined;
}

/**
 * Quotes prices and fills orders against them: one order per quote, all or nothing, at the quoted price.
 *
 * An order that breaks a rule is refused and leaves no trace. An accepted order is final, `Done` or `Canceled`, and
 * uses up its quote and its client id.
 */
export class Dealer {
  private readonly setup: DealerSetup;
  private readonly quotes = new QuoteBook();
  private readonly unavailable = new Set<string>();
  private readonly quoteId: (number: number) => string;
  private readonly booked: OrderBooking;

  constructor(setup: DealerSetup) {
    this.setup = setup;
    this.quoteId = uuidRow(`quote ${setup.options.seed} ${setup.startedAt}`);
    const { registry, booking, options } = setup;
    this.booked = new OrderBooking({
      registry,
      booking,
      seed: options.seed,
      feeBps: options.feeBps,
      isCovered: (second, at) => this.isCovered(second.account, { ...second, order: second.detail }, at),
    });
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
    const refused = this.unavailability(listing.pair) ?? sizeProblem(listing, request.size);
    if (refused !== undefined) return refused;
    const usd = this.usdOf(listing, request.size, now);
    if (usd.gt(listing.maxUsd))
      return documented.tooLarge(text(roundUp(usd, 2)), text(listing.maxUsd), listing.pair);

    const mid = this.setup.market.mid(listing.pair, now);
    const { pair, side } = request;
    const millionBps = listing.options.impactBps;
    const impact = this.setup.impact?.bps({ pair, side, millionBps }, usd, now);
    const each = dealerPrice(listing, side, mid, usd, impact);
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
    const { feeBps, booking: how } = this.setup.options;
    // A fee in base currency is no fee in quote currency.
    const fees = how?.feeAs === 'base' ? NO_MONEY : feeFor(listing, amount, how?.feeBps ?? feeBps);
    const accepted = { entry, order, listing, fill: { quantity, amount, price: each, fees } };
    const isFilled = !this.isTurnedDown(entry, now);
    if (isFilled && !this.isCovered(account, accepted, now))
      return assumed.noFunds(order.side === 'buy' ? listing.quote : listing.base);
    return created(this.accept(account, accepted, isFilled, now));
  }

  /** The same client id with the same request gets the same quote while that quote is live; with another request, it is refused. */
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

  /** Last look, or random rejection, because of which even a live quote may not be filled. */
  private isTurnedDown({ quote, mid }: QuoteEntry, now: Instant): boolean {
    const { options, market, random } = this.setup;
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
    if (isFilled && how !== undefined) return this.booked.book({ account, detail, listing, fill, how }, now);
    const place = isFilled
      ? booking.fill(account, { order: detail, listing, fill, number: registry.nextCount(), wholeOrder }, now)
      : undefined;
    if (place === undefined) registry.add(account, detail, now);
    else registry.addFilled(account, detail, place, now);
    return detail;
  }

  /** Real time of the next event of an executed order. */
  nextDue(): Instant | undefined {
    return this.booked.nextDue();
  }

  runNext(): void {
    this.booked.runNext();
  }
}

interface Accepted {
  readonly entry: QuoteEntry;
  readonly order: PlacedOrder;
  readonly listing: Listing;
  readonly fill: Fill;
}
