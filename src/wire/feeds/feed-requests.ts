import { z } from 'zod';
import { exact } from '../../core/text/json.ts';
import type { Instant } from '../../core/time.ts';

/** Requests that a WebSocket client sends, and the envelope of every message that the venue sends. */

const feedNames = z.array(z.string().min(1).max(64)).min(1).max(200);

/**
 * `authenticate` comes from the specification; `subscribe` and `unsubscribe` from the public documentation, which shows
 * `enterprise` both as a boolean and as a string.
 */
export const feedRequestSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('authenticate'),
    apiKey: z.string().max(256),
    enterprise: z.union([z.boolean(), z.enum(['true', 'false'])]).optional().describe('with a partner token'),
  }),
  z.object({ type: z.literal('subscribe'), feeds: feedNames }),
  z.object({ type: z.literal('unsubscribe'), feeds: feedNames }),
]); // prettier-ignore
export type FeedRequest = z.output<typeof feedRequestSchema>;

/**
 * Reads a request. For an invalid request, returns the action for the error message, which is the action of the request
 * if it is readable.
 */
export function readFeedRequest(source: string): FeedRequest | { readonly type: 'unreadable'; readonly action: string } {
  let message: unknown;
  try {
    message = JSON.parse(source);
  } catch {
    return { type: 'unreadable', action: 'unknown' };
  }
  const request = feedRequestSchema.safeParse(message);
  if (request.success) return request.data;
  const action = actionSchema.safeParse(message);
  return { type: 'unreadable', action: action.success ? action.data.type : 'unknown' };
} // prettier-ignore
const actionSchema = z.object({ type: z.enum(['authenticate', 'subscribe', 'unsubscribe']) });

const sequence = z.int().positive().describe('counts the messages of one connection from 1');
/** A whole number of 19 digits, more than `z.int` accepts. */
const timestamp = z.number().positive().multipleOf(1).describe('nanoseconds since 1970 by default');

/** Response to a request. Source: specification, "WebSocket"; `feeds` and the error: public documentation. */
export const feedAnswerSchema = z.object({
  type: z.enum(['success', 'error']),
  sequence,
  timestamp,
  payload: z.object({
    action: z.string(),
    feeds: z.array(z.string()).optional().describe('all feeds of the connection'),
    error: z.string().optional().describe('not documented; specific to this simulator'),
  }),
  action: z.string(),
});

/**
 * Envelope of a data message. The specification gives every message `type` and `action`; the public documentation gives
 * data messages `recipient` instead. The setting `feeds.message_shape` chooses which of these the simulated venue writes
 * (default: both).
 */
export const feedDataSchema = z.object({
  recipient: z.string().optional().describe('name of the feed'),
  type: z.literal('data').optional().describe('not documented; specific to this simulator'),
  sequence,
  timestamp,
  payload: z.unknown(),
  action: z.string().optional().describe('name of the feed; not documented; specific to this simulator'),
});

export type MessageShape = 'both' | 'recipient' | 'typed';
export type TimestampUnit = 'ns' | 'us' | 'ms';
const ZEROS: Readonly<Record<TimestampUnit, string>> = { ns: '000000', us: '000', ms: '' };

export interface MessageStyle {
  readonly shape: MessageShape;
  readonly unit: TimestampUnit;
}

/** Returns a timestamp as text, because nanoseconds since 1970 have 19 digits, more than a float holds. */
const stamp = (now: Instant, unit: TimestampUnit): string => `${Math.floor(now)}${ZEROS[unit]}`;

export interface Answer {
  readonly type: 'success' | 'error';
  readonly action: string;
  readonly feeds?: readonly string[] | undefined;
  readonly error?: string | undefined;
}

export const answerText = (
  { type, action, feeds, error }: Answer,
  number: number,
  { now, unit }: { readonly now: Instant; readonly unit: TimestampUnit },
): string =>
  JSON.stringify({
    type,
    sequence: number,
    timestamp: exact(stamp(now, unit)),
    payload: { action, feeds, error },
    action,
  });

/** Returns a data message. `payload` is already JSON, so that all connections share one text. */
export function dataText(
  { feed, payload }: { readonly feed: string; readonly payload: string },
  number: number,
  { shape, unit, now }: MessageStyle & { readonly now: Instant },
): string {
  const name = JSON.stringify(feed);
  const recipient = shape === 'typed' ? '' : `"recipient":${name},`;
  const [type, action] = shape === 'recipient' ? ['', ''] : ['"type":"data",', `,"action":${name}`];
  return `{${type}${recipient}"sequence":${number},"timestamp":${stamp(now, unit)},"payload":${payload}${action}}`;
}
