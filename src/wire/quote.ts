import { z } from 'zod';
import { exact } from '../core/json.ts';
import { text } from '../core/money.ts';
import type { Quote, QuoteRequest, Size } from '../core/venue.ts';
import { wireIso, wireMoney, wirePrice, wireQuantity } from './message.ts';

const wireSide = z.string().transform((value, context) => {
  const side = value.toLowerCase();
  if (side === 'buy' || side === 'sell') return side;
  context.addIssue({ code: 'custom', message: 'expected BUY or SELL' });
  return z.NEVER;
});

const exactlyOne = { error: 'exactly one of quantity or amount' };
const oneSize = (body: { quantity?: unknown; amount?: unknown }): boolean =>
  (body.quantity === undefined) !== (body.amount === undefined);

/** `quantity` or `amount` of a request, as a size. */
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
    client_quote_id: z.string().max(128).optional().describe('must come back as client_order_id of the order'),
  })
  .refine(oneSize, exactlyOne);

/** Answer of `POST /v1/quote`, status 201. Spec: "Quote (response)". */
export const quoteSchema = z
  .object({
    quote_id: z.string().min(1).max(128).describe('UUID-shaped'),
    quantity: wireQuantity.describe('base currency'),
    amount: wireMoney.describe('quote currency'),
    pair: z.string(),
    side: wireSide.describe('upper case on the wire'),
    date_expiry: wireIso,
    date_quote: wireIso,
    buy_price: wirePrice.optional().describe('present only when side is buy'),
    sell_price: wirePrice.optional().describe('present only when side is sell'),
  })
  .transform((body, context): Quote => {
    const price = body.side === 'buy' ? body.buy_price : body.sell_price;
    const other = body.side === 'buy' ? body.sell_price : body.buy_price;
    if (price === undefined || other !== undefined) {
      context.addIssue({ code: 'custom', message: `expected just ${body.side}_price` });
      return z.NEVER;
    }
    return {
      quoteId: body.quote_id,
      pair: body.pair,
      side: body.side,
      quantity: body.quantity,
      amount: body.amount,
      price,
      quotedAt: body.date_quote,
      expiresAt: body.date_expiry,
      lifeMs: body.date_expiry - body.date_quote,
    };
  });

/** `{quantity}` or `{amount}` as exact number literals. */
export const sizeFields = (size: Size): Record<string, object> =>
  size.by === 'quantity' ? { quantity: exact(text(size.quantity)) } : { amount: exact(text(size.amount)) };

export const quoteRequestBody = ({ pair, side, size, clientId }: QuoteRequest): string =>
  JSON.stringify({
    pair,
    side,
    ...sizeFields(size),
    ...(clientId === undefined ? {} : { client_quote_id: clientId }),
  });

/** The answer as the venue writes it. */
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
