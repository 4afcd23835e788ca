import { z } from 'zod';
import { camelKeys, milliseconds } from './options-parts.ts';

/** Settings of the WebSocket. The defaults follow the public documentation. */
export const feedsSchema = z.lazy(() => z
  .strictObject({
    connections_per_address: z.int().min(1).default(10).describe('Maximum number of open connections of one network address'),
    requests_per_minute: z
      .int()
      .min(1)
      .max(100_000)
      .default(40)
      .describe('Maximum number of requests a minute of one network address, over all its connections'),
    block_ms: milliseconds.default(120_000).describe('How long a network address is refused after it exceeds the limit'),
    ping_ms: milliseconds.min(10).default(27_000).describe('Interval between pings'),
    pong_timeout_ms: milliseconds
      .min(10)
      .default(300_000)
      .describe('Time without a response to a ping after which a connection is dropped'),
    idle_ms: milliseconds.min(10).default(300_000).describe('Time without a feed after which a connection is dropped'),
  })
  .transform(camelKeys)); // prettier-ignore
