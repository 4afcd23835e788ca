import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import { follow, sending, ticker } from '../venue/feed-server.ts';
import { systemClock } from '../venue/servers.ts';
import { mutated, runs } from './mutate.ts';

const GOOD = ticker('btcusd', '60000.5');
const LAST = '12345';
const NOW = String(systemClock.wall() * 1_000_000);
/** Below ten, because the client closes a connection with ten unreadable messages. */
const AT_ONCE = 8;

describe('mutated frames from the venue', () => {
  it('yield only prices above zero, cause no internal error, and do not stop the feed', async () => {
    const seeds = runs(480);
    for (let from = 0; from < seeds.length; from += AT_ONCE) {
      const frames = seeds.slice(from, from + AT_ONCE).map((seed) => mutated(GOOD, seed, 'frame'));
      const server = await sending(...frames, ticker('btcusd', LAST).replace('1700000000000000000', NOW));
      const { signals } = follow(server.url, { feeds: ['ticker.sfox.btcusd'] });
      const prices = (): readonly string[] =>
        signals.flatMap((one) =>
          one.signal === 'data' && one.data.of === 'ticker' ? [text(one.data.ticker.last)] : [],
        );
      await expect.poll(prices, { timeout: 20_000, message: `seeds from ${from}` }).toContain(LAST);
      expect(prices().filter((last) => !(Number(last) > 0))).toEqual([]);
      for (const socket of server.sockets) socket.terminate();
    }
  }, 600_000);
});
