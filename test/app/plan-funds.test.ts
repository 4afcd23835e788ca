import { describe, expect, it } from 'vitest';
import { aVenue } from '../simulator/client.ts';
import type { Ran } from './support/look.ts';
import { aDesk, dataOf, ofCheck, twap } from './support/plan.ts';

describe('the funds of a plan', () => {
  it('are projected slice by slice, and a shortage is refused with its amount and time', async () => {
    const ran = await aDesk({ strategies: twap() }).plan('--json', '--holdings', 'usd=40000,btc=0');
    expect(ran.code).toBe(78);
    expect(ofCheck(ran, 'funds')).toMatchObject([
      {
        verdict: 'refused',
        strategy: 'one',
        says: 'usd falls short of what is there by 20600 at worst, first at 2026-11-23T09:30:00.000Z',
        fix: 'bring 20600 usd before then, or trade that much usd less',
      },
    ]);
    const enough = await aDesk({ strategies: twap() }).plan('--json', '--holdings', 'usd=60600');
    expect(ofCheck(enough, 'funds')).toMatchObject([{ verdict: 'ok' }]);
  });

  it('include the proceeds of an earlier sale', async () => {
    const sell = twap()
      .replace('id: one', 'id: two')
      .replace('side: buy', 'side: sell')
      .replace('09:00:00[', '08:00:00[');
    const ran = await aDesk({ strategies: `${twap()}---\n${sell}` }).plan(
      '--json',
      '--holdings',
      'usd=1000,btc=1',
    );
    expect(ofCheck(ran, 'funds')).toMatchObject([{ verdict: 'ok' }]);
    const without = await aDesk({ strategies: twap() }).plan('--json', '--holdings', 'usd=1000,btc=1');
    expect(ofCheck(without, 'funds')).toMatchObject([{ verdict: 'refused' }]);
  });

  it('exclude the balance that controls.min_position protects', async () => {
    const ran = await aDesk({
      strategies: twap(),
      config: 'controls: { min_position: { usd: "10000" } }\n',
    }).plan('--json', '--holdings', 'usd=60600');
    expect(ofCheck(ran, 'funds')).toMatchObject([
      {
        verdict: 'refused',
        says: 'usd falls short of controls.min_position of 10000 by 10000 at worst, first at 2026-11-23T09:45:00.000Z',
      },
    ]);
  });

  it('exclude the balance that sizing.keep reserves', async () => {
    const config = 'sizing: { keep: { usd: "5000" } }\n';
    const ran = await aDesk({ strategies: twap(), config }).plan('--json', '--holdings', 'usd=60600');
    expect(ofCheck(ran, 'funds')).toMatchObject([
      {
        verdict: 'refused',
        says: expect.stringMatching(/^usd falls short of sizing\.keep of 5000 by 5000/u) as unknown,
      },
    ]);
  });

  it('reserve the full amount of a limit order', async () => {
    const strategies = `id: dip
kind: limit
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
limit_price: '50000'
max_slice_notional: { amount: '10000', currency: usd }
`;
    const ran = await aDesk({ strategies }).plan('--json', '--holdings', 'usd=49999');
    expect(ofCheck(ran, 'funds')).toMatchObject([
      {
        verdict: 'refused',
        says: expect.stringContaining('usd falls short of what is there by 1 ') as unknown,
      },
    ]);
    expect((await aDesk({ strategies }).plan('--holdings', 'usd=50000')).code).toBe(0);
  });

  it('include credit up to its limit, with a note about the possible debt', async () => {
    const config = (most: string): string =>
      `pts: { use: when_enabled, max_credit: { amount: "${most}", currency: usd } }\n`;
    const plan = async (most: string): Promise<Ran> =>
      await aDesk({ strategies: twap(), config: config(most) }).plan('--json', '--holdings', 'usd=40000');
    const within = await plan('30000');
    expect(within.code).toBe(0);
    expect(ofCheck(within, 'settlement')).toMatchObject([
      {
        verdict: 'note',
        says: expect.stringMatching(
          /^the debt could reach 20600 usd if .*no settle strategy closes it/u,
        ) as unknown,
      },
    ]);
    const beyond = await plan('20000');
    expect(beyond.code).toBe(78);
    expect(ofCheck(beyond, 'settlement')).toMatchObject([
      { verdict: 'refused', fix: 'bring 600 usd, or trade that much less' },
    ]);
  });

  it('are read from the venue, with its prices, if it provides balances', async () => {
    await using venue = await aVenue({ accounts: [{ name: 'desk', balances: { usd: '50000', btc: '2' } }] });
    const config = `mode: dry_run
venue: { base_url: "${venue.baseUrl}", capabilities: { balances: true } }
`;
    const { plan } = aDesk({ strategies: twap(), config, token: venue.tokens[0] ?? '' });
    const ran = await plan('--json');
    expect(ran.err).toBe('');
    expect(ran.code).toBe(78);
    expect(ofCheck(ran, 'funds')).toMatchObject([
      {
        verdict: 'refused',
        says: expect.stringMatching(/^usd falls short of what is there by 10[56]\d\d/u) as unknown,
      },
    ]);
    expect(dataOf(ran).costs).toMatchObject([
      { by: expect.stringContaining('half spread as quoted now') as unknown },
    ]);
    const transactions = await venue.get('/v1/account/transactions');
    expect(transactions.text).not.toMatch(/"action":"(?:buy|sell)"/u);
  });

  it.each<readonly [string, string, readonly string[], RegExp]>([
    [
      'the venue cannot be reached',
      'capabilities: { balances: true }',
      [],
      /the venue returned no balances: give --holdings/u,
    ],
    ['it does not provide balances', 'capabilities: {}', [], /venue\.capabilities\.balances is off/u],
    [
      '--offline is given',
      'capabilities: { balances: true }',
      ['--offline'],
      /--offline was given: also give --holdings/u,
    ],
  ])('are reported as not checked if %s', async (_when, capabilities, more, message) => {
    const config = `mode: dry_run
venue: { base_url: "http://127.0.0.1:9", ${capabilities} }
`;
    const ran = await aDesk({ strategies: twap(), config, token: 'sim-none' }).plan('--json', ...more);
    expect(ran.code).toBe(0);
    expect(ofCheck(ran, 'funds')).toMatchObject([
      { verdict: 'not_done', says: expect.stringMatching(message) as unknown },
    ]);
    expect(ofCheck(ran, 'settlement')).toMatchObject([{ verdict: 'not_done' }]);
    expect(ofCheck(ran, 'day')).toMatchObject([
      { verdict: 'not_done', says: expect.stringContaining('--price btcusd=') as unknown },
    ]);
    const words = await aDesk({ strategies: twap(), config, token: 'sim-none' }).plan(...more);
    expect(words.out).toMatch(/feasible; \d checks could not be done\n$/u);
  });

  it('can be given on the command line, with prices, if the venue is not queried', async () => {
    const config = 'mode: dry_run\nvenue: { base_url: "http://127.0.0.1:9" }\n';
    const ran = await aDesk({ strategies: twap(), config }).plan(
      '--json',
      '--offline',
      '--holdings',
      'usd=70000',
      '--price',
      'btcusd=60000',
    );
    expect(dataOf(ran).checks.map(({ verdict }) => verdict)).not.toContain('not_done');
    expect(ofCheck(ran, 'day')[0]?.says).toContain('at most 60600 usd');
  });
});
