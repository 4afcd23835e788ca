import { z } from 'zod';
import { exact } from '../core/text/json.ts';
import { isAmountText, money, price, quantity, text } from '../core/money.ts';
import { isoOf, parseIso } from '../core/time.ts';
import type { Quote, QuoteRequest, Size } from '../core/venue.ts';
import { isObject, readMessage, wireIso, wireMoney, wirePrice, wireQuantity } from './message.ts';
import type { Read } from './message.ts';
import { plainAmount, plainText } from './plain.ts';
import type { PlainBody } from './plain.ts';

const wireSide = z.string().transform((value, context) => {
  const side = value.toLowerCase();
  if (side === 'buy' || side === 'sell') return side;
  context.addIssue({ code: 'custom', message: 'expected BUY or SELL' });
  return z.NEVER;
});

const exactlyOne = { error: 'exactly one of quantity or amount' };
const oneSize = (body: { quantity?: unknown; amount?: unknown }): boolean =>
  (body.quantity === undefined) !== (body.amount === undefined);

/** Returns the size of a request, from its `quantity` or `amount`. */
export function wireSize(body: {
  readonly quantity?: z.output<typeof wireQuantity> | undefined;
  readonly amount?: z.output<typeof wireMoney> | undefined;
}): Size {
  if (body.quantity !== undefined) return { by: 'quantity', quantity: body.quantity };
  if (body.amount !== undefined) return { by: 'amount', amount: body.amount };
  throw new RangeError(exactlyOne.error);
}

/** Body of `POST /v1/quote`. */
export const quoteRequestSchema = z
  .object({
    pair: z.string().min(2).max(32).describe('lower-case concatenation of base and quote symbols'),
    side: z.enum(['buy', 'sell']),
    quantity: wireQuantity.optional().describe('base currency; at most the maximum of the pair'),
    amount: wireMoney.optional().describe('quote currency'),
    client_quote_id: z
      .string()
      .max(128)
      .optional()
      .describe('must come back as client_order_id of the order'),
  })
  .refine(oneSize, exactlyOne);

/**
 * Returns the size of a plain request, as the schemas read it; `undefined` when the request has no size, two sizes or an
 * invalid one, which the schema then reports.
 */
export function plainSize(body: PlainBody): Size | undefined {
  const [base, paid] = [body.get('quantity'), body.get('amount')];
  if ((base === undefined) === (paid === undefined)) return undefined;
  const written = plainAmount(base ?? paid);
  if (written === undefined) return undefined;
  return base === undefined
    ? { by: 'amount', amount: money(written) }
    : { by: 'quantity', quantity: quantity(written) };
}

/**
 * Reads the usual request faster than `quoteRequestSchema`, which reads all other requests. A property test checks that
 * both agree.
 */
export function plainQuoteRequest(body: PlainBody): QuoteRequest | undefined {
  const pair = plainText(body.get('pair'), 32);
  const side = plainText(body.get('side'), 4);
  const size = plainSize(body);
  if (pair === undefined || pair.length < 2 || size === undefined) return undefined;
  if (side !== 'buy' && side !== 'sell') return undefined;
  const id = body.get('client_quote_id');
  const clientId = plainText(id, 128);
  return id !== undefined && clientId === undefined ? undefined : { pair, side, size, clientId };
}

/** Response of `POST /v1/quote`, status 201, as the venue sends it. Spec: "Quote (response)". */
export const sentQuoteSchema = z.object({
  quote_id: z.string().min(1).max(128).describe('UUID-shaped'),
  quantity: wireQuantity.describe('base currency'),
  amount: wireMoney.describe('quote currency'),
  pair: z.string(),
  side: wireSide.describe('upper case on the wire'),
  date_expiry: wireIso,
  date_quote: wireIso,
  buy_price: wirePrice.optional().describe('present only when side is buy'),
  sell_price: wirePrice.optional().describe('present only when side is sell'),
});

/** Reads that response. The price of the other side is not used, so it may be anything. */
export const quoteSchema = sentQuoteSchema
  .extend({ buy_price: z.unknown().optional(), sell_price: z.unknown().optional() })
  .transform((body, context): Quote => {
    const name = body.side === 'buy' ? 'buy_price' : 'sell_price';
    const each = wirePrice.safeParse(body[name]);
    if (!each.success) {
      context.addIssue({ code: 'custom', message: 'expected the price of the side', path: [name] });
      return z.NEVER;
    }
    return {
      quoteId: body.quote_id,
      pair: body.pair,
      side: body.side,
      quantity: body.quantity,
      amount: body.amount,
      price: each.data,
      quotedAt: body.date_quote,
      expiresAt: body.date_expiry,
      lifeMs: body.date_expiry - body.date_quote,
    };
  });

/**
 * Reads the response of `POST /v1/quote`, with a fast path for the usual response, which has exactly the
 * specification's fields, all of them valid. `quoteSchema` reads every other response, reports errors and names extra
 * fields. A property test checks that both paths give the same quote.
 */
export function readQuote(body: unknown): Read<Quote> {
  const quote = usualQuote(body);
  return quote === undefined ? readMessage(quoteSchema, body) : { ok: true, value: quote, extras: [] };
}

const USUAL_FIELDS = 8;
const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 128;
const isAmount = (value: unknown): value is string => typeof value === 'string' && isAmountText(value);

function usualQuote(body: unknown): Quote | undefined {
  if (!isObject(body) || Object.keys(body).length !== USUAL_FIELDS) return undefined;
  const side = body['side'] === 'BUY' ? 'buy' : 'sell';
  if (side === 'sell' && body['side'] !== 'SELL') return undefined;
  const {
    quote_id: quoteId,
    pair,
    quantity: base,
    amount: paid,
    date_quote: from,
    date_expiry: until,
  } = body;
  const each = side === 'buy' ? body['buy_price'] : body['sell_price'];
  if (!isId(quoteId) || typeof pair !== 'string' || !isAmount(base) || !isAmount(paid) || !isAmount(each))
    return undefined;
  const quotedAt = typeof from === 'string' ? parseIso(from) : undefined;
  const expiresAt = typeof until === 'string' ? parseIso(until) : undefined;
  if (quotedAt === undefined || expiresAt === undefined) return undefined;
  return {
    quoteId,
    pair,
    side,
    quantity: quantity(base),
    amount: money(paid),
    price: price(each),
    quotedAt,
    expiresAt,
    lifeMs: expiresAt - quotedAt,
  };
}

/** Returns the size as a member of a JSON object. The text of an amount is already a valid JSON number. */
export const sizeText = (size: Size): string =>
  size.by === 'quantity' ? `"quantity":${text(size.quantity)}` : `"amount":${text(size.amount)}`;

export function quoteRequestBody({ pair, side, size, clientId }: QuoteRequest): string {
  const id = clientId === undefined ? '' : `,"client_quote_id":${JSON.stringify(clientId)}`;
  return `{"pair":${JSON.stringify(pair)},"side":"${side}",${sizeText(size)}${id}}`;
}

/** Returns the response of the quote route in the venue's format. */
export const quoteBody = (quote: Quote): object => ({
  quote_id: quote.quoteId,
  quantity: exact(text(quote.quantity)),
  amount: exact(text(quote.amount)),
  pair: quote.pair,
  side: quote.side.toUpperCase(),
  date_expiry: new Date(quote.expiresAt).toISOString(),
  date_quote: new Date(quote.quotedAt).toISOString(),
  [quote.side === 'buy' ? 'buy_price' : 'sell_price']: exact(text(quote.price)),
});

/** Returns the JSON text of `quoteBody`, built by hand because it is the most frequent response. */
export function quoteText(quote: Quote): string {
  const [side, priceName] = quote.side === 'buy' ? ['BUY', 'buy_price'] : ['SELL', 'sell_price'];
  return (
    `{"quote_id":${JSON.stringify(quote.quoteId)},"quantity":${text(quote.quantity)},"amount":${text(quote.amount)},` +
    `"pair":${JSON.stringify(quote.pair)},"side":"${side}","date_expiry":"${isoOf(quote.expiresAt)}",` +
    `"date_quote":"${isoOf(quote.quotedAt)}","${priceName}":${text(quote.price)}}`
  );
}
