import { describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { fieldsOf, listOf, numberOf, unitsOf } from './support/json.ts';
import type { Fields } from './support/json.ts';
import { once } from './support/once.ts';
import { expectGood, leversOf, useVenue } from './support/target.ts';
import { anOrder, aQuote } from './support/trade.ts';

/** A quarter of a percent. */
const venue = useVenue({ feeBps: 25 });

/** A buy for 600 usd and a sell for 600 usd, and their rows in the account, newest first. */
const traded = once(async () => {
  const more = { quantity: '0.01' };
  const buy = fieldsOf(expectGood(await anOrder(venue, await aQuote(venue, more))).body);
  const sell = fieldsOf(
    expectGood(await anOrder(venue, await aQuote(venue, { ...more, side: '"sell"' }))).body,
  );
  const rows = listOf((await venue.get('/v1/account/transactions?types=buy,sell')).body);
  return { buy, sell, rows };
});
const seen = async (context: TestContext) => {
  leversOf(venue, context, 'the fees of another server are not known');
  return await traded();
};
const leg = (rows: readonly Fields[], action: string, currency: string): Fields =>
  rows.find((row) => row['action'] === action && row['currency'] === currency) ?? {};

describe('the fee of an order', () => {
  it('is reported in fees', async (context) => {
    const { buy, sell } = await seen(context);
    expect([numberOf(buy['fees']), numberOf(sell['fees'])]).toStrictEqual(['1.5', '1.5']);
  });

  it('is not included in the filled amount', async (context) => {
    const { buy } = await seen(context);
    expect(numberOf(buy['filled_amount'])).toBe('600');
  });

  it('reduces the net proceeds of a sell', async (context) => {
    const { sell } = await seen(context);
    expect(numberOf(sell['net_proceeds'])).toBe('598.5');
  });

  it('leaves the net proceeds of a buy negative', async (context) => {
    const { buy } = await seen(context);
    expect(unitsOf(buy['net_proceeds'])).toBeLessThan(0n);
  });
});

describe('the fee of a transaction', () => {
  it('is in the currency of its row: only the row in quote currency has it', async (context) => {
    const { rows } = await seen(context);
    expect(numberOf(leg(rows, 'Buy', 'usd')['fees'])).toBe('1.5');
    expect(numberOf(leg(rows, 'Buy', 'btc')['fees'])).toBe('0');
  });

  it('is the difference between amount and net_proceeds', async (context) => {
    const { rows } = await seen(context);
    expect(rows).toHaveLength(4);
    for (const row of rows)
      expect(unitsOf(row['net_proceeds'])).toBe(unitsOf(row['amount']) - unitsOf(row['fees']));
  });

  it('is deducted from the balance', async (context) => {
    const { rows } = await seen(context);
    const after = (action: string) => unitsOf(leg(rows, action, 'usd')['account_balance']);
    // 1 000 000 usd at the start.
    expect(numberOf(leg(rows, 'Buy', 'usd')['account_balance'])).toBe('999398.5');
    expect(after('Sell') - after('Buy')).toBe(unitsOf(leg(rows, 'Sell', 'usd')['net_proceeds']));
  });
});
