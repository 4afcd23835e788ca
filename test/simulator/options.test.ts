import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { venueOptions, venueOptionsSchema } from '../../src/simulator/options/options.ts';

describe('the settings of the simulated venue', () => {
  it('are the same from YAML, from code, and when they are parsed twice', () => {
    const yaml = {
      spec_only: true,
      pairs: { btcusd: { start_price: '5' } },
      pts: { rates: { usd: { annual_rate: '0.1', grace_minutes: 1, frequency_minutes: 2 } } },
    };
    const code = venueOptions({
      specOnly: true,
      pairs: { btcusd: { startPrice: '5' } },
      pts: { rates: { usd: { annualRate: '0.1', graceMinutes: 1, frequencyMinutes: 2 } } },
    });
    expect(venueOptionsSchema.parse(yaml)).toEqual(code);
    expect(venueOptions(code)).toEqual(code);
  });

  it('include a pair that only a tape names', () => {
    expect(venueOptions({ prices: { xrpusd: 'x.csv' } }).pairs['xrpusd']).toMatchObject({
      maxUsd: '250000',
      tradable: true,
    });
  });

  it.each([
    ['an unknown key', { sped: 2 }],
    ['an option that only code sets', { lists: { ids: 'order_ids_only' } }],
    ['an option of an account that only code sets', { accounts: [{ balances: {}, custody: false }] }],
    ['a number for an amount', { accounts: [{ balances: { usd: 5 } }] }],
    ['a negative amount', { accounts: [{ balances: { usd: '-5' } }] }],
    ['an unknown risk mode', { pts: { modes: { btcusd: 'Off' } } }],
    ['a time without a zone', { market_start: '2018-10-01T00:00:00' }],
    ['a speed of zero', { speed: 0 }],
    ['two accounts with the same name', { accounts: [{ balances: {} }, { balances: {} }] }],
    [
      'two accounts with the same token',
      { accounts: ['a', 'b'].map((name) => ({ name, token: 'the-same-one', balances: {} })) },
    ],
  ])('refuse %s', (_, input) => {
    expect(venueOptionsSchema.safeParse(input).success).toBe(false);
  });

  it('are available to editors as a JSON Schema with a description of every setting', () => {
    const schema = z.toJSONSchema(venueOptionsSchema, { io: 'input' });
    const properties = Object.entries(schema.properties ?? {});
    expect(properties.map(([name]) => name)).toContain('quote_life_ms');
    expect(
      properties.filter(([, property]) => typeof property === 'object' && property.description === undefined),
    ).toEqual([]);
  });
});
