import { describe, expect, it } from 'vitest';
import { aVenue } from './client.ts';
import { fuzz } from './fuzzing.ts';

describe('the simulated venue under a hundred thousand hostile requests', () => {
  it('refuses each invalid request with an error in JSON and leaves the ledger unchanged', async () => {
    await using venue = await aVenue({
      limits: { enforced: false },
      pts: { defaultMode: 'Enabled' },
      accounts: [
        { name: 'a', balances: { usd: '1000000', btc: '10' } },
        { name: 'b', balances: { usd: '5', eth: '3' } },
      ],
    });
    const { problems, statuses } = await fuzz(venue, { seed: 'slow', count: 100_000 });
    expect(problems).toEqual([]);
    expect([...statuses.values()].reduce((sum, count) => sum + count)).toBe(100_000);
    expect((await venue.get('/v1/currency')).status).toBe(200);
  });
});
