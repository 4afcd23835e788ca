import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aVenue } from '../simulator/client.ts';
import { expectRan } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { look } from './support/look.ts';
import { aDesk, dataOf, expectCheck, ofCheck, twap } from './support/plan.ts';

const repo = join(import.meta.dirname, '../..');

/** Many documents, each with another size, because the desk delays an order that is identical to another parent's. */
const many = (n: number, start = '2026-11-23T09:00:00Z'): string =>
  Array.from({ length: n }, (_, i) => `id: s-${i}
kind: twap
pair: btcusd
side: buy
total_notional: { amount: '${100 + 2 * i}', currency: usd }
start_time: ${start}
duration: PT1H
slices: 2
`).join('---\n'); // prettier-ignore

describe('tranche plan', () => {
  it('prints the example output of docs/plan.md', async () => {
    const guide = readFileSync(join(repo, 'docs/plan.md'), 'utf8');
    const [, line = '', shown = ''] = /<!-- plan: (.*?) -->\n\n```\n([^]*?)```/u.exec(guide) ?? [];
    const { code, out, err } = await look(repo, ['plan', ...line.split(' ')]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(shown);
  });

  it('notes which strategy needs an approval, for its text or for its size', async () => {
    const approvals = (above: string): string => `operate:
  approvals: { for: [strategy], parents_above: { amount: '${above}', currency: usd } }
`;
    const waits = /^its first slice waits: for a parent of \d.*, 2 other people must approve$/u;
    const above = await aDesk({ strategies: twap(), config: approvals('50000') }).plan('--json');
    expect(ofCheck(above, 'approval')).toMatchObject([
      { verdict: 'note', strategy: 'one', says: 'to start with this text, 2 other people must approve' },
      { verdict: 'note', says: expect.stringMatching(waits) as string },
    ]);
    const below = await aDesk({ strategies: twap(), config: approvals('500000') }).plan('--json');
    expect(ofCheck(below, 'approval')).toHaveLength(1);
    expect(ofCheck(await aDesk({ strategies: twap() }).plan('--json'), 'approval')).toEqual([]);
  });

  it('shows every slice in local time and UTC with its size, and values its cost at the reference price', async () => {
    const { plan } = aDesk({ strategies: twap() });
    expectRan(
      await plan(),
      0,
      '  local (Europe/London)     UTC\n',
      '  2026-11-23 09:15:00       2026-11-23 09:15:00  slice 1   0.25 btc\n',
      '  4 slices, 1 btc; expected cost 6.23 bps, about 37.36 of 60000 usd',
      /\nfeasible\n$/u,
    );
    expect((await plan('--zone', 'Asia/Tokyo', '--brief')).out).not.toContain('slice 1 ');
    const tokyo = '  2026-11-23 18:15:00       2026-11-23 09:15:00  slice 1';
    expectRan(await plan('--zone', 'Asia/Tokyo'), 0, tokyo);
  });

  it('prints the cost and risk of a shortfall by its own model and for equal slices', async () => {
    const ran = await look(repo, ['plan', '--from', '2026-12-03', '--days', '1', 'strategies/examples/btc-shortfall.yaml']); // prettier-ignore
    const found =
      /its own model: (?<cost>[\d.]+) ± (?<risk>[\d.]+) bps; equal slices: (?<even>[\d.]+) ± (?<evenRisk>[\d.]+) bps\)/u.exec(
        ran.out,
      )?.groups;
    // A shortfall costs more than equal slices, and has less risk in return.
    expect(Number(found?.['cost'])).toBeGreaterThan(Number(found?.['even']));
    expect(Number(found?.['risk'])).toBeLessThan(Number(found?.['evenRisk']));
  });

  it.each(
    globSync('strategies/{*,demo/*,examples/*}.yaml', { cwd: repo }).filter(
      (file) => !file.includes('five-assets'),
    ),
  )('finds the example %s feasible without changes', async (file) => {
    const { code, out } = await look(repo, ['plan', '--from', '2026-12-01', '--days', '31', '--brief', file]);
    expect({ code, end: out.trimEnd().split('\n').at(-1) }).toEqual({ code: 0, end: 'feasible' });
  });

  it('prints the same as JSON', async () => {
    const ran = await aDesk({ strategies: twap("limit_price: '65000'") }).plan('--json');
    expect(ran.code).toBe(0);
    const data = dataOf(ran);
    expect(data.strategies[0]?.slots).toHaveLength(4);
    expect(data.strategies[0]?.slots[3]).toEqual({
      at: '2026-11-23T09:45:00.000Z',
      local: '2026-11-23 09:45:00',
      until: '2026-11-23T10:00:00.000Z',
      slice: 3,
      pair: 'btcusd',
      side: 'buy',
      quantity: '0.25',
      currency: 'btc',
      limit_price: '65000',
      orders: 1,
      traded: '0.25',
    });
    expect(data.costs).toMatchObject([{ strategy: 'one', notional: '60000', currency: 'usd' }]);
  });

  it('refuses slices that the rate limits pause, and notes those that only wait', async () => {
    const slow = 'pacing: { quotes_per_second: 1, orders_per_second: 1 }\n';
    const paused = await aDesk({ strategies: many(80), config: slow }).plan('--json');
    expectRan(paused, 78);
    expectCheck(paused, 'pace', ['refused', /^the desk would pause at 2026-11-23T09:01:00.*message_throttle/u], ['note']);
    const waiting = await aDesk({ strategies: many(5) }).plan('--json');
    expect(waiting.code).toBe(0);
    expectCheck(waiting, 'pace', ['note', /^5 slices are due .*: the longest wait for an order is 2 s/u]);
  }); // prettier-ignore

  it('states what a trade of larger size than one order does, and what remains of it', async () => {
    const config = 'venue: { simulated: { pairs: { btcusd: { start_price: "60000", max_usd: "10000" }, ethusd: { start_price: "2500" } } } }\n';
    const pieces = await aDesk({ strategies: twap(), config }).plan('--json');
    expect(dataOf(pieces).strategies[0]?.slots[0]).toMatchObject({ orders: 3, traded: '0.25', cuts: ['venue_maximum'] });
    const short = await aDesk({ strategies: twap() }).plan('--holdings', 'usd=40000');
    expectRan(
      short,
      78,
      /slice 2 {3}0\.25 btc: trades 0\.16\d+, no_funds \(limit=99\d\d\.\d\d usd value=15150 usd\)/u,
      /4 slices, 0\.66\d+ btc; 0\.33\d+ of 1 btc is left; expected cost/u,
    );
  }); // prettier-ignore

  const notional = (order: string, day: string): string =>
    `max_order_notional: { amount: "${order}", currency: usd }, max_day_notional: { amount: "${day}", currency: usd }`;
  it.each<readonly [what: string, controls: string, check: string, says: RegExp]>([
    ['a slice above the largest order', notional('5000', '500000'), 'limits', /^4 of 4 slices trade nothing, first at 2026-11-23T09:00.*max_order_notional 5000 value=15150/u],
    ['a slice above the largest quantity', 'max_order_quantity: { btcusd: "0.2" }', 'limits', /max_order_quantity 0\.2 value=0\.25/u],
    ['a day above its limit', notional('25000', '50000'), 'day', /^1 of 4 slices trades nothing, first at 2026-11-23T09:45.*max_day_notional 50000/u],
    ['a day of a pair above its limit', 'max_pair_day_notional: { btcusd: "50000" }', 'day', /max_pair_day_notional 50000 of btcusd/u],
    ['more slices than a parent may have', 'max_executions_per_parent: 3', 'limits', /^the desk would halt at 2026-11-23T09:45.*limit=3 of the parent value=4/u],
    ['slots in restricted hours', 'restricted_hours: [{ from: "08:00", to: "09:40", time_zone: Europe/London }]', 'hours', /^2 of 4 slices trade nothing.*08:00-09:40 Europe\/London/u],
    ['a balance above its ceiling', 'max_position: { btc: "25.5" }', 'funds', /first at 2026-11-23T09:30.*max_position 25\.5 btc/u],
    ['a balance below its floor', 'min_position: { usd: "980000" }', 'funds', /first at 2026-11-23T09:15.*min_position 980000/u],
    ['a cost that pauses a parent', 'max_shortfall_bps: 5', 'cost', /^the desk would pause the parent at 2026-11-23T09:00.*limit=5 bps value=6\.2/u],
    ['a daily cost that halts the desk', 'max_day_cost: { amount: "10", currency: usd }', 'day', /^the desk would halt at 2026-11-23T09:15.*max_day_cost 10/u],
  ])('refuses %s, as the desk does', async (_what, controls, name, says) => {
    const ran = await aDesk({ strategies: twap(), config: `controls: { ${controls} }\n` }).plan('--json');
    expectRan(ran, 78);
    const refused = dataOf(ran).checks.filter(({ verdict }) => verdict === 'refused');
    expect(refused).toMatchObject([{ check: name, says: expect.stringMatching(says) as string }]);
    expect(refused[0]?.fix).toMatch(/.{10}/u);
  }); // prettier-ignore

  it('refuses slices below the minimum', async () => {
    const small = twap().replace("'1'", "'0.001'").replace('slices: 4', 'slices: 20');
    const says = /^20 of 20 slices trade nothing.*below the venue's minimum \(3\.00 usd of at least 5\)/u;
    expectCheck(await aDesk({ strategies: small }).plan('--json'), 'minimum', ['refused', says]);
  });

  it('trades on credit up to its limit, and notes the debt with the price at which the venue settles', async () => {
    const planned = async (most: number): Promise<Ran> => await aDesk({
      strategies: twap(),
      config: `mode: dry_run\nvenue: { base_url: "http://127.0.0.1:9" }\npts: { use: when_enabled, max_credit: { amount: "${most}", currency: usd } }\n`,
    }).plan('--json', '--offline', '--holdings', 'usd=40000', '--price', 'btcusd=60000');
    const within = await planned(30_000);
    expectRan(within, 0);
    expectCheck(within, 'settlement', ['note', /^a debt of 20037\.36 usd is left .* with btc below 22041 usd/u]);
    const beyond = await planned(15_000);
    expectCheck(beyond, 'funds', ['refused']);
    expect(dataOf(beyond).strategies[0]?.slots[3]?.['cuts']).toContain('pts_credit');
  }); // prettier-ignore

  it('counts the proceeds of an earlier sale', async () => {
    const sell = twap().replace('id: one', 'id: two').replace('side: buy', 'side: sell').replace('09:00:00[', '08:00:00[');
    const funds = async (strategies: string): Promise<Ran> => await aDesk({ strategies }).plan('--json', '--holdings', 'usd=1500,btc=1');
    expectCheck(await funds(`${twap()}---\n${sell}`), 'funds', ['ok', 'balances go from 1500 to 1425.28 usd']);
    expectCheck(await funds(twap()), 'funds', ['refused']);
  }); // prettier-ignore
});

describe('the facts of a plan', () => {
  it('are read from the venue if it provides balances, with its spread', async () => {
    await using venue = await aVenue({ accounts: [{ name: 'desk', balances: { usd: '50000', btc: '2' } }] });
    const config = `mode: dry_run\nvenue: { base_url: "${venue.baseUrl}", capabilities: { balances: true } }\n`;
    const { plan } = aDesk({ strategies: twap(), config, token: venue.tokens[0] ?? '' });
    const ran = await plan('--json');
    expect([ran.code, ran.err]).toEqual([78, '']);
    expectCheck(ran, 'funds', ['refused', 'the funds of the account do not pay']);
    expect(dataOf(ran).costs[0]?.['by']).toContain('half spread as quoted now');
    const transactions = await venue.get('/v1/account/transactions');
    expect(transactions.text).not.toMatch(/"action":"(?:buy|sell)"/u);
  });

  it.each<readonly [when: string, capabilities: string, more: readonly string[], says: string]>([
    ['the venue cannot be reached', '{ balances: true }', [], 'the venue returned no balances: give --holdings'],
    ['it does not provide balances', '{}', [], 'venue.capabilities.balances is off'],
    ['--offline is given', '{ balances: true }', ['--offline'], '--offline was given: also give --holdings'],
  ])('are reported as not checked if %s', async (_when, capabilities, more, says) => {
    const config = `mode: dry_run\nvenue: { base_url: "http://127.0.0.1:9", capabilities: ${capabilities} }\n`;
    const { plan } = aDesk({ strategies: twap(), config, token: 'sim-none' });
    const ran = await plan('--json', ...more);
    expectRan(ran, 0);
    expect(dataOf(ran).strategies[0]?.slots).toHaveLength(4);
    expectCheck(ran, 'funds', ['not_done', says]);
    expectCheck(ran, 'price', ['not_done', '--price btcusd=']);
    expectRan(await plan(...more), 0, /^feasible; 2 checks could not be done$/mu);
  }); // prettier-ignore

  it('can be given on the command line, with prices, if the venue is not queried', async () => {
    const config = 'mode: dry_run\nvenue: { base_url: "http://127.0.0.1:9" }\n';
    const given = ['--holdings', 'usd=70000', '--price', 'btcusd=60000'];
    const ran = await aDesk({ strategies: twap(), config }).plan('--json', '--offline', ...given);
    expect(dataOf(ran).checks.map(({ verdict }) => verdict)).not.toContain('not_done');
    expectCheck(ran, 'day', ['ok', 'at most 60037.36 usd']);
  });
});

describe('the plan of a rebalancing', () => {
  const rebalance = (over = ''): string => `id: weights
kind: rebalance
target_weights: { btc: '0.25', eth: '0.5', usd: '0.25' }
drift_threshold: '0.02'
${over}`;
  /** A portfolio of 150000 usd, which sells 62500 usd of btc and buys 35000 usd of eth. */
  const now = ['--offline', '--holdings', 'usd=10000,btc=2,eth=16', '--price', 'btcusd=50000', '--price', 'ethusd=2500', '--from', '2026-11-24T09:00:00Z']; // prettier-ignore
  const planned = async (order: string, over?: string, day = '1000000', at = now): Promise<Ran> =>
    await aDesk({
      strategies: rebalance(over),
      config: `controls: { max_order_notional: { amount: '${order}', currency: usd }, max_day_notional: { amount: '${day}', currency: usd } }\n`,
    }).plan('--json', ...at);

  it.each<readonly [what: string, orderMax: string, over: string, slots: readonly string[]]>([
    ['lists its trades, sells first', '100000', '', ['09:00 sell 1.25 btcusd 1', '09:00 buy 14 ethusd 1']],
    ['trades in orders within the limit', '20000', '', ['09:00 sell 1.25 btcusd 4', '09:00 buy 14 ethusd 2']],
    ['spreads trades over time', '100000', 'legs: { slices: 2, duration: PT1H }\n', ['09:00 sell 0.625 btcusd 1', '09:30 sell 0.625 btcusd 1', '09:30 buy 7 ethusd 1', '10:00 buy 7 ethusd 1']],
    ['decides at the times of a schedule', '100000', "schedule: { cron: '30 12 24 * *' }\n", ['12:30 sell 1.25 btcusd 1', '12:30 buy 14 ethusd 1']],
  ])('%s', async (_, orderMax, over, expected) => {
    const ran = await planned(orderMax, over);
    const slots = dataOf(ran).strategies[0]?.slots ?? [];
    expect([ran.code, slots.map((one) => [String(one['at']).slice(11, 16), one['side'], one['quantity'], one['pair'], one['orders']].join(' '))]).toEqual([0, expected]);
  }); // prettier-ignore

  it('says what constant prices cannot show, with the frequency that the band means', async () => {
    const notes = dataOf(await planned('100000')).strategies[0]?.notes ?? [];
    // E τ = A·B/σ², from the log-odds of the weight that leaves its band most often: 0.5 ± 0.02.
    const [below, above] = [Math.log(0.52 / 0.48), Math.log(0.52 / 0.48)];
    expect(notes.at(-1)).toContain(`at a volatility of 60 % a year, this band means about ${Math.round(0.36 / (below * above))} rebalancings a year`); // prettier-ignore
  });

  it('is refused by the limits, and trades nothing inside its band', async () => {
    expectCheck(await planned('1000'), 'limits', ['refused', 'limit=40 pieces of at most 0.0196 btc']);
    expectCheck(await planned('100000', '', '90000'), 'day', ['refused']);
    const within = ['--offline', '--holdings', 'usd=25,btc=0.0005,eth=0.02', '--price', 'btcusd=50000', '--price', 'ethusd=2500']; // prettier-ignore
    const ran = await planned('100000', "schedule: { cron: '30 12 * * *' }\n", '1000000', within);
    expect(dataOf(ran).strategies[0]).toMatchObject({ slots: [], times: [1, 2, 3, 4, 5, 6, 7].map(() => ({ why: expect.stringMatching(/^inside_band/u) as string })) }); // prettier-ignore
  });
});
