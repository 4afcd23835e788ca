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
const timestamp = z.number().positive().multipleOf(1).describe('nanoseconds since 1970');

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
 * data messages `recipient` instead. The simulated venue writes both.
 */
export const feedDataSchema = z.object({
  recipient: z.string().describe('name of the feed'),
  type: z.literal('data').describe('not documented; specific to this simulator'),
  sequence,
  timestamp,
  payload: z.unknown(),
  action: z.string().describe('name of the feed; not documented; specific to this simulator'),
});

/** Nanoseconds since 1970 as text, because they have 19 digits, more than a float holds. */
const stamp = (now: Instant): string => `${Math.floor(now)}000000`;

export interface Answer {
  readonly type: 'success' | 'error';
  readonly action: string;
  readonly feeds?: readonly string[] | undefined;
  readonly error?: string | undefined;
}

export const answerText = ({ type, action, feeds, error }: Answer, number: number, now: Instant): string =>
  JSON.stringify({
    type,
    sequence: number,
    timestamp: exact(stamp(now)),
    payload: { action, feeds, error },
    action,
  });

/** Returns a data message. `payload` is already JSON, so that all connections share one text. */
export function dataText(
  { feed, payload }: { readonly feed: string; readonly payload: string },
  number: number,
  now: Instant,
): string {
  const name = JSON.stringify(feed);
  return `{"type":"data","recipient":${name},"sequence":${number},"timestamp":${stamp(now)},"payload":${payload},"action":${name}}`;
}
