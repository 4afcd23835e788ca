import { describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { expectError, leversOf, useVenue } from './support/target.ts';
import type { OwnVenue } from './support/target.ts';
import { quoteBody } from './support/trade.ts';

const venue = useVenue({ limits: { enforced: true } });
const transactions = '/v1/account/transactions';

/** The venue, after enough time for its limits to recover from the previous test. */
function rested(context: TestContext): OwnVenue {
  const own = leversOf(venue, context, 'a foreign server is not pushed over its limits');
  own.pass(120_000);
  return own;
}
const quotes = async (count: number): Promise<readonly number[]> => {
  const statuses = [];
  for (let index = 0; index < count; index++)
    statuses.push((await venue.post('/v1/quote', quoteBody())).status);
  return statuses;
};

describe('the rate limit of quote requests', () => {
  it('allows 10 requests in one second', async (context) => {
    rested(context);
    expect(new Set(await quotes(10))).toStrictEqual(new Set([201]));
  });

  it('refuses the eleventh request with 429 and an error', async (context) => {
    rested(context);
    await quotes(10);
    expectError(await venue.post('/v1/quote', quoteBody()), 429);
  });

  it('does not affect other routes', async (context) => {
    rested(context);
    await quotes(11);
    expect((await venue.get('/v1/currency')).status).toBe(200);
  });

  it('does not affect other accounts', async (context) => {
    const own = rested(context);
    await quotes(11);
    expect((await venue.post('/v1/quote', quoteBody(), own.as(1))).status).toBe(201);
  });

  it('allows requests again after a pause', async (context) => {
    const own = rested(context);
    await quotes(11);
    own.pass(11_000);
    expect(await quotes(1)).toStrictEqual([201]);
  });
});

describe('the rate limit of the transactions', () => {
  it('allows one request', async (context) => {
    rested(context);
    expect((await venue.get(transactions)).status).toBe(200);
  });

  it('refuses a second request within 10 seconds with 429 and an error', async (context) => {
    const own = rested(context);
    await venue.get(transactions);
    own.pass(9_000);
    expectError(await venue.get(transactions), 429);
  });

  it('allows the next request after 10 seconds', async (context) => {
    const own = rested(context);
    await venue.get(transactions);
    own.pass(10_001);
    expect((await venue.get(transactions)).status).toBe(200);
  });

  it('does not affect other accounts', async (context) => {
    const own = rested(context);
    await venue.get(transactions);
    expect((await venue.get(transactions, own.as(1))).status).toBe(200);
  });
});
