import { describe, expect, it } from 'vitest';
import { aVenue } from '../simulator/client.ts';
import { expectRan } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aDesk, dataOf, expectCheck, twap } from './support/plan.ts';

/** The plan of a desk with these holdings. */
const planned = async (holdings: string, config = '', strategies = twap()): Promise<Ran> =>
  await aDesk({ strategies, config }).plan('--json', '--holdings', holdings);

describe('the funds of a plan', () => {
  it('are projected slice by slice, and a shortage is refused with its amount and time', async () => {
    const ran = await planned('usd=40000,btc=0');
    expectRan(ran, 78);
    const says = 'usd falls short of what is there by 20600 at worst, first at 2026-11-23T09:30:00.000Z';
    const fix = 'fix: bring 20600 usd before then, or trade that much usd less';
    expectCheck(ran, 'funds', ['refused', `${says}; ${fix}`]);
    expectCheck(await planned('usd=60600'), 'funds', ['ok']);
  });

  it('include the proceeds of an earlier sale', async () => {
    const sell = twap()
      .replace('id: one', 'id: two')
      .replace('side: buy', 'side: sell')
      .replace('09:00:00[', '08:00:00[');
    expectCheck(await planned('usd=1000,btc=1', '', `${twap()}---\n${sell}`), 'funds', ['ok']);
    expectCheck(await planned('usd=1000,btc=1'), 'funds', ['refused']);
  });

  it.each([
    [
      'controls: { min_position: { usd: "10000" } }\n',
      'usd falls short of controls.min_position of 10000 by 10000 at worst, first at 2026-11-23T09:45:00.000Z',
    ],
    ['sizing: { keep: { usd: "5000" } }\n', 'usd falls short of sizing.keep of 5000 by 5000'],
  ])('exclude the balance that a setting protects: %s', async (config, says) => {
    expectCheck(await planned('usd=60600', config), 'funds', ['refused', says]);
  });

  it('reserve the full amount of a limit order', async () => {
    const dip = `id: dip
kind: limit
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
limit_price: '50000'
max_slice_notional: { amount: '10000', currency: usd }
`;
    expectCheck(await planned('usd=49999', '', dip), 'funds', [
      'refused',
      'usd falls short of what is there by 1 ',
    ]);
    expectRan(await planned('usd=50000', '', dip), 0);
  });

  it('include credit up to its limit, with a note about the possible debt', async () => {
    const config = (most: string): string =>
      `pts: { use: when_enabled, max_credit: { amount: "${most}", currency: usd } }\n`;
    const within = await planned('usd=40000', config('30000'));
    expectRan(within, 0);
    expectCheck(within, 'settlement', [
      'note',
      /^the debt could reach 20600 usd if .*no settle strategy closes it/u,
    ]);
    const beyond = await planned('usd=40000', config('20000'));
    expectRan(beyond, 78);
    expectCheck(beyond, 'settlement', ['refused', 'fix: bring 600 usd, or trade that much less']);
  });

  it('are read from the venue, with its prices, if it provides balances', async () => {
    await using venue = await aVenue({ accounts: [{ name: 'desk', balances: { usd: '50000', btc: '2' } }] });
    const config = `mode: dry_run\nvenue: { base_url: "${venue.baseUrl}", capabilities: { balances: true } }\n`;
    const { plan } = aDesk({ strategies: twap(), config, token: venue.tokens[0] ?? '' });
    const ran = await plan('--json');
    expect([ran.code, ran.err]).toEqual([78, '']);
    expectCheck(ran, 'funds', ['refused', /^usd falls short of what is there by 10[56]\d\d/u]);
    expect(dataOf(ran).costs[0]?.['by']).toContain('half spread as quoted now');
    const transactions = await venue.get('/v1/account/transactions');
    expect(transactions.text).not.toMatch(/"action":"(?:buy|sell)"/u);
  });

  it.each<readonly [when: string, capabilities: string, more: readonly string[], says: string]>([
    [
      'the venue cannot be reached',
      '{ balances: true }',
      [],
      'the venue returned no balances: give --holdings',
    ],
    ['it does not provide balances', '{}', [], 'venue.capabilities.balances is off'],
    ['--offline is given', '{ balances: true }', ['--offline'], '--offline was given: also give --holdings'],
  ])('are reported as not checked if %s', async (_when, capabilities, more, says) => {
    const config = `mode: dry_run\nvenue: { base_url: "http://127.0.0.1:9", capabilities: ${capabilities} }\n`;
    const { plan } = aDesk({ strategies: twap(), config, token: 'sim-none' });
    const ran = await plan('--json', ...more);
    expectRan(ran, 0);
    expectCheck(ran, 'funds', ['not_done', says]);
    expectCheck(ran, 'settlement', ['not_done']);
    expectCheck(ran, 'day', ['not_done', '--price btcusd=']);
    expectRan(await plan(...more), 0, /^feasible; \d checks could not be done$/mu);
  });

  it('can be given on the command line, with prices, if the venue is not queried', async () => {
    const config = 'mode: dry_run\nvenue: { base_url: "http://127.0.0.1:9" }\n';
    const given = ['--holdings', 'usd=70000', '--price', 'btcusd=60000'];
    const ran = await aDesk({ strategies: twap(), config }).plan('--json', '--offline', ...given);
    expect(dataOf(ran).checks.map(({ verdict }) => verdict)).not.toContain('not_done');
    expectCheck(ran, 'day', ['ok', 'at most 60600 usd']);
  });
});
