import { describe, expect, it } from 'vitest';
import { aVenue } from '../simulator/client.ts';
import { aFolder } from './support/desk.ts';
import { leastSpanMs } from './support/pacing.ts';
import { start } from './support/program.ts';

/** Each trade has two rows: more than two pages of 1000 in total. */
const TRADES = 1_020;

describe('tranche account sync as a separate process', () => {
  it('resumes after SIGKILL between two pages and never reads twice within 10 seconds', async () => {
    const reads: number[] = [];
    await using venue = await aVenue(
      {
        accounts: [{ name: 'desk', balances: { usd: '100000', btc: '2' } }],
        limits: { quotesPerSecond: 100_000, ordersPerSecond: 100_000, addressPerTenSeconds: 1_000_000 },
        feeBps: 3,
      },
      {
        onRequest: ({ route, at }) => {
          if (route === '/v1/account/transactions') reads.push(at);
        },
      },
    );
    for (let n = 0; n < TRADES; n++) {
      const side = n % 2 === 0 ? 'buy' : 'sell';
      const { body } = await venue.post('/v1/quote', `{"pair":"btcusd","side":"${side}","quantity":0.001}`);
      const { quote_id: id } = body as { readonly quote_id: string };
      const order = `{"currency_pair":"btcusd","quantity":0.001,"quote_id":"${id}"}`;
      expect((await venue.post(`/v1/orders/${side}`, order)).status).toBe(201);
    }
    const cwd = aFolder();
    const env = { TRANCHE_OPERATOR_TOKEN: venue.tokens[0] ?? '' };
    const args = ['account', 'sync', '--base-url', venue.baseUrl, '--store', 'h.db', '--json'];

    const first = start(args, { cwd, env });
    await first.said('1000 rows');
    await first.kill();

    const second = start(args, { cwd, env });
    expect((await second.ended(180_000)).code).toBe(0);
    expect(second.stderr).toContain('Resuming an earlier run after 1000 rows.');
    expect(JSON.parse(second.stdout)).toMatchObject({ transactions: 2 * TRADES + 2, gaps: [] });
    // The first page, the two remaining pages, and all three again for new rows.
    expect(reads.length).toBeGreaterThanOrEqual(4);
    expect(leastSpanMs(reads, 2)).toBeGreaterThanOrEqual(10_000);

    const exported = start(['account', 'export', '--store', 'h.db'], { cwd });
    expect((await exported.ended()).code).toBe(0);
    expect(exported.stdout.split('\r\n')).toHaveLength(2 * TRADES + 2 + 2);
  });
});
