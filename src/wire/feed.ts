import { z } from 'zod';
import type { Price } from '../core/money.ts';
import { isObject, readBody, readMessage, wirePrice } from './message.ts';

/** A message of the WebSocket, in our own words. */
export type FeedMessage =
  | { readonly kind: 'success'; readonly action: string }
  | { readonly kind: 'error'; readonly action: string }
  | { readonly kind: 'ticker'; readonly feed: string; readonly last: Price }
  /** Data of a feed that nobody asked this reader for. */
  | { readonly kind: 'other'; readonly feed: string }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Payload of `ticker.sfox.<pair>`. Numbers, or text that is one. Source: public documentation, not the specification. */
export const tickerSchema = z.object({
  last: wirePrice,
  open: wirePrice.optional(),
  high: wirePrice.optional(),
  low: wirePrice.optional(),
  volume: z.unknown().optional(),
  vwap: z.unknown().optional(),
  amount: z.unknown().optional(),
  pair: z.string().optional(),
  timestamp: z.string().optional(),
  exchange: z.string().optional(),
  route: z.string().optional(),
  source: z.string().optional(),
});

/**
 * Reads one message. Told apart by `recipient`, which only data has: the specification gives every message a `type`, the
 * public documentation gives none to data. The pair is that of the feed, since `payload.pair` is known to differ.
 */
export function readFeed(source: string): FeedMessage {
  let message: unknown;
  try {
    message = readBody(source);
  } catch {
    return { kind: 'unreadable', why: 'not JSON' };
  }
  if (!isObject(message)) return { kind: 'unreadable', why: 'not an object' };
  const { recipient, type } = message;
  if (typeof recipient === 'string') return readData(recipient, message['payload']);
  if (type === 'success' || type === 'error') return { kind: type, action: actionOf(message) };
  return { kind: 'unreadable', why: 'neither recipient nor a known type' };
}

function readData(feed: string, payload: unknown): FeedMessage {
  if (!feed.startsWith('ticker.')) return { kind: 'other', feed };
  let body = payload;
  try {
    // One page of the documentation calls the payload a JSON string; every sample shows it parsed.
    if (typeof payload === 'string') body = readBody(payload);
  } catch {
    return { kind: 'unreadable', why: `${feed}: payload is not JSON` };
  }
  const ticker = readMessage(tickerSchema, body);
  if (!ticker.ok) return { kind: 'unreadable', why: `${feed}: ${ticker.why}` };
  if (!ticker.value.last.gt(0)) return { kind: 'unreadable', why: `${feed}: last is not above zero` };
  return { kind: 'ticker', feed, last: ticker.value.last };
}

/** The action stands at the top, in the payload, or in both. */
function actionOf({ action, payload }: Readonly<Record<string, unknown>>): string {
  const inner = isObject(payload) ? payload['action'] : undefined;
  if (typeof action === 'string') return action;
  return typeof inner === 'string' ? inner : 'do what was asked';
}
