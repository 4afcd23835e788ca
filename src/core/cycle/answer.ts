import { unitOf } from '../instrument.ts';
import type { Instrument } from '../instrument.ts';
import {
  cost,
  decimalsOf,
  isAboveZero,
  isAmountText,
  money,
  priceOf,
  ratio,
  roundDown,
  size,
  subtract,
} from '../money.ts';
import type { Price } from '../money.ts';
import type { Reason } from '../reasons.ts';
import { DATE_CUT_MS, STAMPS_APART_MAX_MS } from '../venue.ts';
import type { Order, OrderAnswer, OrderRequest, Quote, QuoteAnswer, QuoteRequest } from '../venue.ts';

/** The meaning of a response to a quote request. Nothing has traded in any case. */
export type QuoteMeaning =
  | { readonly means: 'quote'; readonly quote: Quote }
  /** Not now; a later request may succeed. */
  | {
      readonly means: 'later';
      readonly reason: Reason;
      readonly detail: string;
      readonly waitMs?: number | undefined;
    }
  /** A smaller request may succeed. The venue stated its maximum and its value of the request, in USD. */
  | { readonly means: 'smaller'; readonly usdMax: string; readonly usdAsked: string; readonly detail: string }
  /** Another request cannot succeed. */
  | { readonly means: 'never'; readonly reason: Reason; readonly detail: string }
  /** The venue refused the token, so the desk halts. */
  | { readonly means: 'halt'; readonly reason: Reason; readonly detail: string };

const TOO_LARGE =
  /^request USD value (?<asked>\d+(?:\.\d+)?) greater than max USD value (?<max>\d+(?:\.\d+)?) for pair (?<pair>[a-z0-9]+)$/iu;
const UNSUPPORTED = /not currently supported for RFQ/iu;

/** Bounds of the life that a quote may claim, milliseconds. A quote that claims a life outside them is not executed. */
const LIFE_MIN_MS = 1_000;
const LIFE_MAX_MS = 300_000;

/** Parses the response to a quote request and checks the quote against the request. */
export function classifyQuote(
  request: QuoteRequest,
  answer: QuoteAnswer,
  instrument: Instrument,
): QuoteMeaning {
  switch (answer.kind) {
    case 'quote': {
      const detail = quoteFault(request, answer.quote, instrument);
      if (detail === undefined) return { means: 'quote', quote: answer.quote };
      return { means: 'later', reason: 'quote_invalid', detail };
    }
    case 'lost':
      if (!answer.sent && answer.why.startsWith('selling is off'))
        return { means: 'never', reason: 'selling_off', detail: answer.why };
      return { means: 'later', reason: 'venue_failed', detail: answer.why };
    case 'garbled':
      return { means: 'later', reason: 'quote_invalid', detail: `${answer.status}: ${answer.why}` };
    case 'error':
      return classifyRefusal(answer, request.pair);
  }
}

function classifyRefusal(answer: QuoteAnswer & { kind: 'error' }, pair: string): QuoteMeaning {
  const { status, error, retryAfterMs } = answer;
  const detail = `${status}: ${error}`;
  if (status === 401 || status === 403) return { means: 'halt', reason: 'unauthorised', detail };
  if (status === 429) return { means: 'later', reason: 'rate_limited', detail, waitMs: retryAfterMs };
  if (status === 503) return { means: 'later', reason: 'quotes_unavailable', detail };
  if (status === 422) {
    const told = maximumIn(error, pair);
    if (told !== undefined) return { means: 'smaller', ...told, detail };
    return { means: 'never', reason: UNSUPPORTED.test(error) ? 'unsupported_pair' : 'venue_refused', detail };
  }
  if (status >= 500 || status === 408 || status === 409 || status === 425)
    return { means: 'later', reason: 'venue_failed', detail };
  return { means: 'later', reason: 'venue_refused', detail };
}

/**
 * The maximum in a 422 response, if its figures are plausible: both are valid and above zero, and the request is above
 * the maximum.
 */
function maximumIn(
  error: string,
  pair: string,
): { readonly usdMax: string; readonly usdAsked: string } | undefined {
  const { asked = '', max = '', pair: named = '' } = TOO_LARGE.exec(error)?.groups ?? {};
  if (named.toLowerCase() !== pair || !isAmountText(asked) || !isAmountText(max)) return undefined;
  return money(max).gt(0) && money(asked).gt(money(max)) ? { usdMax: max, usdAsked: asked } : undefined;
}

/** How a quote differs from its request; `undefined` if it matches. */
function quoteFault(request: QuoteRequest, quote: Quote, instrument: Instrument): string | undefined {
  if (quote.pair !== request.pair) return `pair ${quote.pair} instead of ${request.pair}`;
  if (quote.side !== request.side) return `side ${quote.side} instead of ${request.side}`;
  if (![quote.price, quote.quantity, quote.amount].every(isAboveZero)) return 'a figure is not above zero';
  if (request.size.by === 'quantity' && !quote.quantity.eq(request.size.quantity)) {
    return `quantity ${quote.quantity.toFixed()} instead of ${request.size.quantity.toFixed()}`;
  }
  if (request.size.by === 'amount' && !quote.amount.eq(request.size.amount)) {
    return `amount ${quote.amount.toFixed()} instead of ${request.size.amount.toFixed()}`;
  }
  if (!productHolds(request, quote, instrument)) {
    return `price ${quote.price.toFixed()} x quantity ${quote.quantity.toFixed()} is not amount ${quote.amount.toFixed()}`;
  }
  if (!(quote.lifeMs >= LIFE_MIN_MS && quote.lifeMs <= LIFE_MAX_MS)) return `a life of ${quote.lifeMs} ms`;
  return clockFault(quote);
}

/** Why the stamps of a quote contradict the venue's clock; `undefined` if they agree. */
function clockFault({ quotedAt, answeredAt }: Quote): string | undefined {
  if (answeredAt === undefined) return undefined;
  const apartMs = Math.max(answeredAt - quotedAt, quotedAt - (answeredAt + DATE_CUT_MS), 0);
  if (apartMs <= STAMPS_APART_MAX_MS) return undefined;
  return `date_quote is ${apartMs} ms away from the Date of its response`;
}

/**
 * `price × quantity = amount` within one unit of the quote currency. If an amount was requested, the venue had to round
 * the quantity, so a difference of the value of one unit of quantity is also allowed.
 */
function productHolds(
  { size: asked }: QuoteRequest,
  quote: Quote,
  { basePrecision, quotePrecision }: Instrument,
): boolean {
  const unit = unitOf(quotePrecision);
  const away = size(subtract(cost(quote.price, quote.quantity), quote.amount));
  if (away.lte(unit)) return true;
  return asked.by === 'amount' && away.lte(unit.plus(quote.price.times(unitOf(basePrecision))));
}

/** The meaning of a response to an order. Only `filled` proves a trade, and only `not_sent` proves that there was none. */
export type OrderMeaning =
  | { readonly means: 'filled'; readonly order: Order; readonly differs: string | undefined }
  /** Certainly no byte left. */
  | { readonly means: 'not_sent'; readonly detail: string }
  /** The venue refused the copy that it answered. Final once the account proves that no other copy traded. */
  | { readonly means: 'refused'; readonly reason: Reason; readonly detail: string }
  /** May have traded. */
  | { readonly means: 'doubt'; readonly detail: string; readonly halt: boolean };

const doubt = (detail: string, { halt = false } = {}): OrderMeaning => ({ means: 'doubt', detail, halt });

/** The meaning of each response to an order, which is sent once. Every response not listed leaves a doubt. */
export function classifyOrder(request: OrderRequest, quote: Quote, answer: OrderAnswer): OrderMeaning {
  switch (answer.kind) {
    case 'lost':
      return answer.sent ? doubt(answer.why) : { means: 'not_sent', detail: answer.why };
    case 'garbled':
      return doubt(`${answer.status}: ${answer.why}`);
    case 'error': {
      const { status, error } = answer;
      const detail = `${status}: ${error}`;
      if (status === 401 || status === 403) return doubt(detail, { halt: true });
      // A gateway may have responded after forwarding the order, so the response proves nothing.
      if (status >= 500 || status < 400 || [408, 409, 425, 429].includes(status)) return doubt(detail);
      return { means: 'refused', reason: 'order_refused', detail };
    }
    case 'order':
      if (answer.status < 200 || answer.status > 299) return doubt(`${answer.status} around an order`);
      return classifyPlaced(request, quote, answer.order);
  }
}

function classifyPlaced(request: OrderRequest, quote: Quote, order: Order): OrderMeaning {
  if (order.clientId !== request.clientId) return doubt(`the answer names client id "${order.clientId}"`);
  if (order.quoteId !== '' && order.quoteId !== request.quoteId)
    return doubt(`the answer names quote "${order.quoteId}"`);
  if (order.pair !== request.pair || order.side !== request.side)
    return doubt(`the answer is a ${order.side} of ${order.pair}`);
  const status = order.status.toLowerCase();
  if (status === 'canceled') {
    if (!order.filled.isZero() || !order.filledAmount.isZero())
      return doubt('canceled, and yet partly filled');
    return { means: 'refused', reason: 'order_canceled', detail: 'Canceled' };
  }
  if (status !== 'done') return doubt(`status ${order.status}`);
  if (!isAboveZero(order.filled) || !isAboveZero(order.filledAmount))
    return doubt('Done, and yet nothing filled');
  const fees = feesFault(order);
  if (fees !== undefined) return doubt(fees);
  return { means: 'filled', order, differs: fillDifference(quote, order) };
}

/** A fee or rebate cannot exceed the traded amount, except by one unit of rounding. */
const FEE_SHARE_MAX = ratio('0.1');

/** Why these fees cannot belong to this trade, so that the account must decide; `undefined` if they can. */
export function feesFault({ filledAmount, fees }: Pick<Order, 'filledAmount' | 'fees'>): string | undefined {
  if (fees.isZero() && isAboveZero(filledAmount)) return undefined;
  const most = filledAmount.times(FEE_SHARE_MAX);
  const taken = size(fees);
  if (taken.lte(most)) return undefined;
  const isRounding = taken.lte(`1e-${decimalsOf(fees)}`) && taken.lte(filledAmount);
  return isRounding ? undefined : `fees of ${fees.toFixed()} for a trade of ${filledAmount.toFixed()}`;
}

/** How the fill differs from its quote; `undefined` if it does not. */
function fillDifference(quote: Quote, order: Order): string | undefined {
  if (!order.filled.eq(quote.quantity))
    return `filled ${order.filled.toFixed()} of ${quote.quantity.toFixed()}`;
  if (!order.filledAmount.eq(quote.amount))
    return `for ${order.filledAmount.toFixed()} instead of ${quote.amount.toFixed()}`;
  return undefined;
}

/** Price of a fill: amount per base unit, truncated to 18 decimals. This is a figure, not an amount that is paid. */
export const fillPrice = (order: Order): Price =>
  isAboveZero(order.vwap) ? order.vwap : roundDown(priceOf(order.filledAmount, order.filled), 18);
