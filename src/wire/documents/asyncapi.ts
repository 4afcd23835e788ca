import type { z } from 'zod';
import {
  bookSchema,
  feedBalancesSchema,
  feedFillsSchema,
  feedOrdersSchema,
  marketTradeSchema,
  settlementSchema,
  tickerSchema,
} from '../feeds/feed-payloads.ts';
import { feedAnswerSchema, feedDataSchema, feedRequestSchema } from '../feeds/feed-requests.ts';
import { INTERFACE_VERSION, partOf, wireJsonSchema } from './json-schema.ts';
import type { JsonSchema } from './json-schema.ts';

/** Feeds by subscription name, with the schema of their payload. */
export const feedPayloads: Readonly<Record<string, { readonly summary: string; readonly schema: z.ZodType }>> = {
  'ticker.sfox.{pair}': { summary: 'Statistics of a pair for the current day', schema: tickerSchema },
  'trades.sfox.{pair}': { summary: 'All trades of the market', schema: marketTradeSchema },
  'orderbook.sfox.{pair}': { summary: 'Full order book with every message', schema: bookSchema },
  'orderbook.net.{pair}': { summary: 'The same, with prices after fees', schema: bookSchema },
  'private.user.balances': { summary: 'Own balances', schema: feedBalancesSchema },
  'private.user.open-orders': { summary: 'Own orders: all open orders, then every change', schema: feedOrdersSchema },
  'private.user.trades': { summary: 'Own fills', schema: feedFillsSchema },
  'private.user.post-trade-settlement': { summary: 'Credit and exposure', schema: settlementSchema },
}; // prettier-ignore

/** Returns the WebSocket interface as an AsyncAPI 3 document, generated from the schemas that parse and validate its messages. */
export function asyncApi(): JsonSchema {
  const feeds = Object.entries(feedPayloads).map(
    ([name, { summary, schema }]) => [idOf(name), message(summary, dataSchema(schema), name)] as const,
  );
  const messages = {
    request: message('authenticate, subscribe or unsubscribe', wireJsonSchema(feedRequestSchema)),
    answer: message('Answer to a request', wireJsonSchema(feedAnswerSchema)),
    ...Object.fromEntries(feeds),
  };
  const refs = (names: readonly string[]): readonly JsonSchema[] =>
    names.map((name) => ({ $ref: `#/channels/socket/messages/${name}` }));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Feeds of the trading and account service (simulated)',
      version: INTERFACE_VERSION,
      description:
        'One connection: authenticate, subscribe, listen. Messages are numbered from 1 for each connection; a gap means that a message was lost.',
    },
    defaultContentType: 'application/json',
    channels: {
      socket: {
        address: '/ws',
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
        bindings: { ws: { method: 'GET' } },
      },
    },
    operations: {
      ask: {
        action: 'receive',
        channel: { $ref: '#/channels/socket' },
        summary: 'Requests of the client',
        messages: refs(['request']),
        reply: { channel: { $ref: '#/channels/socket' }, messages: refs(['answer']) },
      },
      tell: {
        action: 'send',
        channel: { $ref: '#/channels/socket' },
        summary: 'Messages that the venue sends after a subscription',
        messages: refs(feeds.map(([name]) => name)),
      },
    },
    components: { messages },
  };
}

const idOf = (feed: string): string => feed.replaceAll(/[^\w]+/gu, '_').replaceAll(/^_|_$/gu, '');

const message = (summary: string, payload: JsonSchema, name?: string): JsonSchema => ({
  ...(name === undefined ? {} : { name }),
  summary,
  payload,
});

function dataSchema(payload: z.ZodType): JsonSchema {
  const around = wireJsonSchema(feedDataSchema);
  const properties = { ...partOf(around, 'properties'), payload: wireJsonSchema(payload, 'either') };
  return { ...around, properties };
}
