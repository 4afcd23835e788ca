import type { z } from 'zod';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { CreditMetrics } from '../../core/venue.ts';
import {
  bookSchema,
  feedBalancesSchema,
  feedFillsSchema,
  feedOrdersSchema,
  marketTradeSchema,
  settlementSchema,
  tickerSchema,
} from './feed-payloads.ts';
import type { FeedBook, FeedTicker } from './feed-payloads.ts';
import { isObject, readBody, readMessage } from '../message.ts';
import { metricsOf } from '../pts.ts';

/** A WebSocket message in the terms of this program. */
export type FeedMessage =
  | ({ readonly kind: 'success' | 'error'; readonly action: string; readonly why: string } & FeedStamp)
  | ({ readonly kind: 'data'; readonly feed: string; readonly data: FeedData } & FeedStamp)
  | ({ readonly kind: 'unreadable'; readonly why: string } & FeedStamp);

export interface FeedStamp {
  /** Number of the message among all messages of one connection (responses and data), from 1; `undefined` when it has none. */
  readonly sequence: number | undefined;
  /** When the venue claims to have sent the message. Not to be used for decisions. */
  readonly sentAt: Instant | undefined;
}

/** The data that a feed delivers. */
export type FeedData =
  | { readonly of: 'ticker'; readonly ticker: FeedTicker }
  | { readonly of: 'book'; readonly book: FeedBook }
  /** The desk reads the account instead; these only say that something has changed. */
  | { readonly of: 'trade' | 'balances' | 'orders' | 'fills' }
  | { readonly of: 'settlement'; readonly metrics: CreditMetrics }
  /** A feed that this program has no reader for. */
  | { readonly of: 'unknown' };

/** Combines a schema with the kind that its values get. */
const known = <T>(schema: z.ZodType<T>, data: (value: T) => FeedData) => ({
  schema,
  read(payload: unknown): FeedData | { readonly of: 'unreadable'; readonly why: string } {
    const read = readMessage(schema, payload);
    return read.ok ? data(read.value) : { of: 'unreadable', why: read.why };
  },
});

/** Every feed by the prefix of its name, with the schema of its payload. */
export const feedKinds = {
  'ticker.': known(tickerSchema, (ticker) => ({ of: 'ticker', ticker })),
  'trades.': known(marketTradeSchema, () => ({ of: 'trade' })),
  'orderbook.': known(bookSchema, (book) => ({ of: 'book', book })),
  'private.user.balances': known(feedBalancesSchema, () => ({ of: 'balances' })),
  'private.user.open-orders': known(feedOrdersSchema, () => ({ of: 'orders' })),
  'private.user.trades': known(feedFillsSchema, () => ({ of: 'fills' })),
  'private.user.post-trade-settlement': known(settlementSchema, (body) => ({
    of: 'settlement',
    metrics: metricsOf(body),
  })),
} as const;
const kinds = Object.entries(feedKinds);

/**
 * Messages nested more deeply than this are rejected without being read. No message of the venue is nested more than 6
 * levels deep.
 */
const DEPTH_MAX = 32;

/**
 * Reads one message. A message is data if it has a `recipient` or, failing that, an `action` (or `payload.feed`) that names
 * a feed: the specification gives every message a `type` and an `action`, whereas the public documentation gives data
 * only a `recipient`. The pair comes from the name of the feed, because `payload.pair` can differ from it.
 */
export function readFeed(source: string): FeedMessage {
  const none = { sequence: undefined, sentAt: undefined };
  if (isTooDeep(source)) return { kind: 'unreadable', why: `nested deeper than ${DEPTH_MAX}`, ...none };
  let message: unknown;
  try {
    message = readBody(source);
  } catch {
    return { kind: 'unreadable', why: 'not JSON', ...none };
  }
  if (!isObject(message)) return { kind: 'unreadable', why: 'not an object', ...none };
  const stamp = stampOf(message);
  const feed = feedOf(message);
  if (feed !== undefined) return readData(feed, message['payload'], stamp);
  const { type, payload } = message;
  if (type !== 'success' && type !== 'error')
    return { kind: 'unreadable', why: 'neither data of a feed nor an answer', ...stamp };
  const why = isObject(payload) ? payload['error'] : undefined;
  return { kind: type, action: actionOf(message), why: typeof why === 'string' ? why : '', ...stamp };
}

function feedOf({ recipient, action, payload }: Readonly<Record<string, unknown>>): string | undefined {
  const inner = isObject(payload) ? payload['feed'] : undefined;
  return [recipient, action, inner].find(
    (name, place): name is string =>
      typeof name === 'string' && (place === 0 || /^(?:ticker|trades|orderbook|private)\./u.test(name)),
  );
}

function readData(feed: string, payload: unknown, stamp: FeedStamp): FeedMessage {
  const kind = kinds.find(([start]) => feed.startsWith(start))?.[1];
  if (kind === undefined) return { kind: 'data', feed, data: { of: 'unknown' }, ...stamp };
  let body = payload;
  try {
    // One page of the documentation describes the payload as a JSON string; every sample shows an object.
    if (typeof payload === 'string' && !isTooDeep(payload)) body = readBody(payload);
  } catch {
    return { kind: 'unreadable', why: `${feed}: payload is not JSON`, ...stamp };
  }
  const data = kind.read(body);
  if (data.of === 'unreadable') return { kind: 'unreadable', why: `${feed}: ${data.why}`, ...stamp };
  if (data.of === 'ticker' && !data.ticker.last.gt(0))
    return { kind: 'unreadable', why: `${feed}: last is not above zero`, ...stamp };
  return { kind: 'data', feed, data, ...stamp };
}

function stampOf({ sequence, timestamp }: Readonly<Record<string, unknown>>): FeedStamp {
  const number = typeof sequence === 'string' ? Number(sequence) : sequence;
  return {
    sequence: typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined,
    sentAt: stampTime(typeof timestamp === 'string' ? Number(timestamp) : timestamp),
  };
}

/** Reads a timestamp. Sources disagree about the unit, so the magnitude decides: nano-, micro-, milliseconds or seconds since 1970. */
export function stampTime(timestamp: unknown): Instant | undefined {
  if (typeof timestamp !== 'number' || !(timestamp > 0) || !Number.isFinite(timestamp)) return undefined;
  if (timestamp >= 1e17) return instant(Math.floor(timestamp / 1e6));
  if (timestamp >= 1e14) return instant(Math.floor(timestamp / 1e3));
  return instant(Math.floor(timestamp >= 1e11 ? timestamp : timestamp * 1e3));
}

/** Returns the action, which is in the envelope, in the payload, or in both. */
function actionOf({ action, payload }: Readonly<Record<string, unknown>>): string {
  const inner = isObject(payload) ? payload['action'] : undefined;
  if (typeof action === 'string') return action;
  return typeof inner === 'string' ? inner : 'do what was asked';
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Whether brackets outside strings are nested too deep. A single pass without recursion, so that no input can overflow the stack. */
function isTooDeep(source: string): boolean {
  let depth = 0;
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code === QUOTE) {
      at += 1;
      while (at < source.length && source.charCodeAt(at) !== QUOTE)
        at += source.charCodeAt(at) === BACKSLASH ? 2 : 1;
    } else if (code === 123 || code === 91) {
      depth += 1;
      if (depth > DEPTH_MAX) return true;
    } else if (code === 125 || code === 93) depth -= 1;
  }
  return false;
}
