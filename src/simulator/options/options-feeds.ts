import { z } from 'zod';
import { camelKeys, milliseconds } from './options-parts.ts';

/** Settings of the WebSocket. The defaults follow the public documentation; sources disagree about the last two. */
export const feedsSchema = z.lazy(() => z
  .strictObject({
    connections_per_address: z.int().min(1).default(10).describe('Maximum open connections of one network address'),
    requests_per_minute: z
      .int()
      .min(1)
      .max(100_000)
      .default(40)
      .describe('Maximum requests of one network address over all its connections'),
    block_ms: milliseconds.default(120_000).describe('How long an address is refused after it exceeded the limit'),
    ping_ms: milliseconds.min(10).default(27_000).describe('Interval between pings'),
    pong_timeout_ms: milliseconds
      .min(10)
      .default(300_000)
      .describe('A connection that answers no ping for this long is dropped'),
    idle_ms: milliseconds.min(10).default(300_000).describe('A connection without a feed is dropped after this time'),
    message_shape: z
      .enum(['both', 'recipient', 'typed'])
      .default('both')
      .describe(
        'Data messages with type and action (typed: the specification), with recipient (the public documentation), or both',
      ),
    timestamp_unit: z
      .enum(['ns', 'us', 'ms'])
      .default('ns')
      .describe('Unit of the timestamp of messages'),
  })
  .transform(camelKeys)); // prettier-ignore
