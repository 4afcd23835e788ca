import { describe, expect, it } from 'vitest';
import { aVenue } from './client.ts';
import { listen } from './feed-client.ts';
import type { FeedClient } from './feed-client.ts';

const CROWD = 1_000;
const FEED = 'ticker.sfox.btcusd';

describe('the feed server of the simulated venue, with 1 000 subscribers to one ticker', () => {
  it('sends the same messages in order to every subscriber and still answers REST requests', async () => {
    await using venue = await aVenue({ tickerIntervalMs: 250, limits: { enforced: false } });
    const crowd: FeedClient[] = [];
    for (let count = 0; count < CROWD; count++) {
      const line = await listen(venue.wsUrl);
      line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
      line.say({ type: 'subscribe', feeds: [FEED] });
      crowd.push(line);
    }
    const heard = await Promise.all(
      crowd.map(async (line) => [await line.next(), await line.next(), await line.next(), await line.next()]),
    );
    for (const messages of heard) {
      expect(messages.map(({ sequence }) => sequence)).toStrictEqual([1, 2, 3, 4]);
      expect(messages[3]).toMatchObject({ recipient: FEED, payload: { last: 60_000 } });
    }
    expect((await venue.get('/v1/currency')).status).toBe(200);
    for (const line of crowd) line[Symbol.dispose]();
  });
});
