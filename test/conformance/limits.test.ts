import { describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { expectError, leversOf, useVenue } from './support/target.ts';
import type { OwnVenue } from './support/target.ts';
import { quoteBody } from './support/trade.ts';

const venue = useVenue({ limits: { enforced: true } });
const transactions = '/v1/account/transactions';

/** The venue, long after whatever the test before has used up. */
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

describe('the limit of quote requests', () => {
  it('lets 10 through in a second', async (context) => {
    rested(context);
    expect(new Set(await quotes(10))).toStrictEqual(new Set([201]));
  });

  it('refuses the eleventh with 429 and an error', async (context) => {
    rested(context);
    await quotes(10);
    expectError(await venue.post('/v1/quote', quoteBody()), 429);
  });

  it('leaves other routes open', async (context) => {
    rested(context);
    await quotes(11);
    expect((await venue.get('/v1/currency')).status).toBe(200);
  });

  it('leaves other accounts open', async (context) => {
    const own = rested(context);
    await quotes(11);
    expect((await venue.post('/v1/quote', quoteBody(), own.as(1))).status).toBe(201);
  });

  it('ends', async (context) => {
    const own = rested(context);
    await quotes(11);
    own.pass(11_000);
    expect(await quotes(1)).toStrictEqual([201]);
  });
});

describe('the limit of the transactions', () => {
  it('lets 1 request through', async (context) => {
    rested(context);
    expect((await venue.get(transactions)).status).toBe(200);
  });

  it('refuses a second one within 10 seconds with 429 and an error', async (context) => {
    const own = rested(context);
    await venue.get(transactions);
    own.pass(9_000);
    expectError(await venue.get(transactions), 429);
  });

  it('lets the next through after 10 seconds', async (context) => {
    const own = rested(context);
    await venue.get(transactions);
    own.pass(10_001);
    expect((await venue.get(transactions)).status).toBe(200);
  });

  it('leaves other accounts open', async (context) => {
    const own = rested(context);
    await venue.get(transactions);
    expect((await venue.get(transactions, own.as(1))).status).toBe(200);
  });
});
