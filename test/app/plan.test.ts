import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aVenue } from '../simulator/client.ts';
import { look } from './support/look.ts';
import type { Ran } from './support/look.ts';

const repo = join(import.meta.dirname, '../..');

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-plan-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  return folder;
}

interface World {
  /** Further lines of the config. */
  readonly config?: string;
  readonly strategies: string;
  readonly token?: string;
}

/** A desk of its own in a folder; gives how to plan it. */
function aDesk({ config = '', strategies, token = 'none' }: World): {
  readonly folder: string;
  readonly plan: (...line: readonly string[]) => Promise<Ran>;
} {
  const folder = aFolder();
  writeFileSync(join(folder, 'strategies.yaml'), strategies);
  writeFileSync(join(folder, 'desk.yaml'), `strategies: strategies.yaml\n${config}`);
  return {
    folder,
    plan: async (...line) =>
      await look(folder, ['plan', '--config', 'desk.yaml', ...line], { env: { TRANCHE_TOKEN: token } }),
  };
}

interface Data {
  readonly feasible: boolean;
  readonly strategies: readonly {
    readonly id: string;
    readonly slots: readonly Readonly<Record<string, string | number>>[];
    readonly times: readonly Readonly<Record<string, string>>[];
  }[];
  readonly checks: readonly {
    readonly check: string;
    readonly verdict: string;
    readonly strategy?: string;
    readonly says: string;
    readonly fix?: string;
  }[];
  readonly costs: readonly Readonly<Record<string, string | number>>[];
}
const dataOf = ({ out }: Ran): Data => JSON.parse(out) as Data;
const ofCheck = (ran: Ran, name: string): Data['checks'] =>
  dataOf(ran).checks.filter(({ check }) => check === name);

const twap = (over = ''): string => `id: one
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
start_time: '2026-11-23T09:00:00[Europe/London]'
duration: PT1H
slices: 4
${over}`;

describe('tranche plan', () => {
  it('prints what the README shows for the example strategies', async () => {
    const readme = readFileSync(join(repo, 'README.md'), 'utf8');
    const [, line = '', shown = ''] = /<!-- plan: (.*?) -->\n\n```\n([^]*?)```/u.exec(readme) ?? [];
    const { code, out, err } = await look(repo, ['plan', ...line.split(' ')]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(shown);
  });

  it('shows every slot in local time and UTC with its size', async () => {
    const { plan } = aDesk({ strategies: twap() });
    const { code, out } = await plan();
    expect(code).toBe(0);
    expect(out).toContain('  local (Europe/London)     UTC\n');
    expect(out).toContain('  2026-11-23 09:15:00       2026-11-23 09:15:00  slice 1   0.25 btc\n');
    expect(out).toContain('  4 slices, 1 btc; expected cost 6.23 bps, about 37.76 of 60600 usd');
    expect(out).toMatch(/\nfeasible\n$/u);
    const named = await plan('--zone', 'Asia/Tokyo', '--brief');
    expect(named.out).not.toContain('slice 1 ');
    expect((await plan('--zone', 'Asia/Tokyo')).out).toContain(
      '  2026-11-23 18:15:00       2026-11-23 09:15:00  slice 1',
    );
  });

  it('gives the same as data', async () => {
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
    });
    expect(data.costs).toMatchObject([{ strategy: 'one', notional: '60600', currency: 'usd' }]);
  });

  it('refuses 600 strategies in the same second, says why, and what it says to do makes it feasible', async () => {
    const many = (over: (n: number) => string): string =>
      Array.from(
        { length: 600 },
        (_, n) => `id: s-${n}
kind: twap
pair: btcusd
side: buy
total_notional: { amount: '100', currency: usd }
${over(n)}
duration: PT1H
slices: 2
`,
      ).join('---\n');
    const at = 'start_time: 2026-11-23T09:00:00Z';
    const refused = await aDesk({ strategies: many(() => at) }).plan('--json');
    expect(refused.code).toBe(78);
    expect(ofCheck(refused, 'pace')).toMatchObject([{ verdict: 'refused' }]);
    const [{ says, fix } = { says: '', fix: '' }] = ofCheck(refused, 'pace');
    expect(says).toMatch(
      /^600 slices are due in one second at the peak \(2026-11-23T09:00:00\.000Z\); 8 quotes and 2 orders may leave in a second: the last would wait 300\.\d s/u,
    );
    const page = readFileSync(join(repo, 'docs/plan.md'), 'utf8');
    expect(page).toContain(says);
    expect(page).toContain(fix);
    const [, spread = '', pct = ''] =
      /^spread these 600 slices of 600 strategies over at least (\d+) s, by their start times or with jitter: \{ time_pct: (\d+) \}/u.exec(
        fix ?? '',
      ) ?? [];

    const spreadOver =
      (s: number) =>
      (n: number): string =>
        `start_time: ${new Date(Date.UTC(2026, 10, 23, 9) + (n * s * 1000) / 600).toISOString()}`;
    const planOf = async (over: (n: number) => string): Promise<number> =>
      (await aDesk({ strategies: many(over) }).plan('--brief')).code;
    expect(await planOf(spreadOver(Number(spread)))).toBe(0);
    expect(await planOf(spreadOver(Number(spread) - 5))).toBe(78);
    expect(await planOf((n) => `${at}\njitter: { time_pct: ${pct}, seed: ${n} }`)).toBe(0);
  });

  it('tells a crowd that only has to wait a little, and does not refuse it', async () => {
    const strategies = Array.from({ length: 5 }, (_, n) => twap().replace('id: one', `id: s-${n}`)).join(
      '---\n',
    );
    const ran = await aDesk({ strategies }).plan('--json');
    expect(ran.code).toBe(0);
    expect(ofCheck(ran, 'pace')).toMatchObject([
      {
        verdict: 'note',
        says: expect.stringMatching(/^5 slices are due .*: the longest wait is 2 s$/u) as unknown,
      },
    ]);
  });

  it.each<readonly [string, World, string, Partial<Data['checks'][number]>]>([
    [
      'a slice below the minimum in quote currency, with the largest number of slices',
      { strategies: twap().replace("'1'", "'0.001'").replace('slices: 4', 'slices: 20') },
      'minimum',
      {
        strategy: 'one',
        says: "its smallest slice is 3 usd, below the venue's minimum of 5 usd",
        fix: 'slices: 11, or fewer',
      },
    ],
    [
      'a slice above the largest order, with the smallest number of slices',
      {
        strategies: twap(),
        config:
          'controls: { max_order_notional: { amount: "5000", currency: usd }, max_day_notional: { amount: "500000", currency: usd } }\n',
      },
      'limits',
      { strategy: 'one', fix: 'slices: 13, or more; or a total of at most 20000 usd' },
    ],
    [
      'a slice above the largest quantity',
      { strategies: twap(), config: 'controls: { max_order_quantity: { btcusd: "0.2" } }\n' },
      'limits',
      {
        says: 'its largest slice is 0.25 btc at worst, above controls.max_order_quantity of 0.2 btc',
        fix: 'slices: 5, or more; or a total of at most 0.8 btc',
      },
    ],
    [
      'a day above its limit',
      {
        strategies: twap(),
        config:
          'controls: { max_order_notional: { amount: "25000", currency: usd }, max_day_notional: { amount: "50000", currency: usd } }\n',
      },
      'day',
      {
        says: '2026-11-23 (UTC) adds up to 60600 usd at worst, above controls.max_day_notional of 50000 usd',
        fix: expect.stringMatching(/^take 10600 usd off that day .*, or spread it over 2 days$/u) as string,
      },
    ],
    [
      'a day of a pair above its limit',
      { strategies: twap(), config: 'controls: { max_pair_day_notional: { btcusd: "50000" } }\n' },
      'day',
      {
        says: '2026-11-23 (UTC) adds up to 60600 usd at worst, above controls.max_pair_day_notional.btcusd of 50000 usd',
      },
    ],
    [
      'more executions in a minute than the desk may have',
      { strategies: twap().replace('PT1H', 'PT20S'), config: 'controls: { max_executions_per_minute: 3 }\n' },
      'limits',
      {
        says: expect.stringMatching(
          /^4 slices of btcusd have their order in the minute from 2026-11-23T09:00:00/u,
        ) as string,
        fix: 'leave at least 20 s between two slices of btcusd',
      },
    ],
    [
      'more slices than a parent may have',
      { strategies: twap(), config: 'controls: { max_executions_per_parent: 3 }\n' },
      'limits',
      { fix: 'slices: 3, or fewer' },
    ],
    [
      'slots in restricted hours, with the next start that has none',
      {
        strategies: twap(),
        config:
          'controls: { restricted_hours: [{ from: "08:00", to: "09:40", time_zone: Europe/London }] }\n',
      },
      'hours',
      {
        strategy: 'one',
        says: '2 of 4 slices lie wholly in controls.restricted_hours, the first at 2026-11-23T09:00:00.000Z',
        fix: 'start it 40 minutes later, at 2026-11-23 09:40 Europe/London',
      },
    ],
    [
      'a balance above its ceiling',
      { strategies: twap(), config: 'controls: { max_position: { btc: "25.5" } }\n' },
      'funds',
      {
        says: 'btc rises above controls.max_position by as much as 0.5, first at 2026-11-23T09:30:00.000Z',
        fix: 'buy 0.5 btc less',
      },
    ],
    [
      'a cost above what pauses a parent',
      {
        strategies: twap(),
        config: 'cost_model: { half_spread_bps: 30 }\ncontrols: { max_shortfall_bps: 20 }\n',
      },
      'cost',
      {
        strategy: 'one',
        says: 'it is expected to cost 31.23 bps, above controls.max_shortfall_bps of 20, which pauses it',
      },
    ],
    [
      'a cost of a day above what halts the desk',
      { strategies: twap(), config: 'controls: { max_day_cost: { amount: "10", currency: usd } }\n' },
      'cost',
      { says: expect.stringContaining('above controls.max_day_cost of 10, which halts the desk') as string },
    ],
  ])('refuses %s', async (_what, world, name, expected) => {
    const ran = await aDesk(world).plan('--json');
    expect(ran.code).toBe(78);
    expect(dataOf(ran).feasible).toBe(false);
    expect(ofCheck(ran, name).filter(({ verdict }) => verdict === 'refused')).toMatchObject([expected]);
    expect(dataOf(ran).checks.filter(({ verdict }) => verdict === 'refused')).toHaveLength(1);
  });

  it('does what the suggested number of slices says', async () => {
    const strategies = (n: number): string =>
      twap().replace("'1'", "'0.001'").replace('slices: 4', `slices: ${n}`);
    expect((await aDesk({ strategies: strategies(11) }).plan()).code).toBe(0);
    expect((await aDesk({ strategies: strategies(12) }).plan()).code).toBe(78);
  });
});

describe('the funds of a plan', () => {
  it('are projected slice by slice: too little is refused with what is missing and when', async () => {
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

  it('count what an earlier sale brings', async () => {
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

  it('keep what min_position says', async () => {
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

  it('keep the reserve of sizing.keep', async () => {
    const config = 'sizing: { keep: { usd: "5000" } }\n';
    const ran = await aDesk({ strategies: twap(), config }).plan('--json', '--holdings', 'usd=60600');
    expect(ofCheck(ran, 'funds')).toMatchObject([
      {
        verdict: 'refused',
        says: expect.stringMatching(/^usd falls short of sizing\.keep of 5000 by 5000/u) as unknown,
      },
    ]);
  });

  it('set the whole of a limit order aside', async () => {
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

  it('on credit are no refusal but what would be owed, up to its limit', async () => {
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
          /^it would owe as much as 20600 usd on credit, .*no strategy of kind settle closes it/u,
        ) as unknown,
      },
    ]);
    const beyond = await plan('20000');
    expect(beyond.code).toBe(78);
    expect(ofCheck(beyond, 'settlement')).toMatchObject([
      { verdict: 'refused', fix: 'bring 600 usd, or trade that much less' },
    ]);
  });

  it('come from the venue where it tells them, with its prices', async () => {
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
      /the venue gave no balances: give --holdings/u,
    ],
    ['it does not tell balances', 'capabilities: {}', [], /venue\.capabilities\.balances is off/u],
    [
      'nobody may be asked',
      'capabilities: { balances: true }',
      ['--offline'],
      /--offline was given: give --holdings too/u,
    ],
  ])('are told as not checked when %s', async (_when, capabilities, more, message) => {
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

  it('and a price can be given by hand, where no venue is asked', async () => {
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

describe('the times of a plan', () => {
  const daily = (cron: string, schedule = ''): string => `id: daily
kind: recurring
pair: btcusd
side: buy
each_notional: { amount: '100', currency: usd }
schedule: { cron: '${cron}', time_zone: Europe/London${schedule} }
`;

  it('show each occurrence that is closed with the reason', async () => {
    const { plan } = aDesk({ strategies: daily('0 9 * * *', ', calendar: {}') });
    const ran = await plan('--json', '--from', '2026-11-20');
    const [strategy] = dataOf(ran).strategies;
    expect(strategy?.slots.map(({ local }) => local)).toEqual(
      ['20', '23', '24', '25', '26'].map((day) => `2026-11-${day} 09:00:00`),
    );
    expect(strategy?.times).toMatchObject([
      { local: '2026-11-21 09:00:00', closed: 'weekend (saturday)' },
      { local: '2026-11-22 09:00:00', closed: 'weekend (sunday)' },
    ]);
    expect(ofCheck(ran, 'hours')).toMatchObject([
      { verdict: 'note', says: '2 of its 7 times are closed: weekend 2' },
    ]);
  });

  it('show the skipped and the repeated hour of a change of clocks', async () => {
    const { plan } = aDesk({ strategies: daily('30 1 * * *') });
    const spring = await plan('--json', '--from', '2027-03-27', '--days', '3');
    expect(dataOf(spring).strategies[0]?.slots.map(({ local }) => local)).toEqual([
      '2027-03-27 01:30:00',
      '2027-03-28 02:00:00',
      '2027-03-29 01:30:00',
    ]);
    expect(ofCheck(spring, 'clock_changes')).toMatchObject([
      {
        verdict: 'note',
        says: 'the clocks of Europe/London go forward 60 minutes at 2027-03-28T01:00:00.000Z (2027-03-28): local times in the gap run right after it, 1 at that moment',
      },
    ]);
    const autumn = await plan('--json', '--from', '2027-10-30', '--days', '3');
    expect(dataOf(autumn).strategies[0]?.slots).toHaveLength(3);
    expect(ofCheck(autumn, 'clock_changes')).toMatchObject([
      {
        verdict: 'note',
        says: expect.stringMatching(
          /go back 60 minutes at 2027-10-31T01:00:00.000Z .*: 1 slot lies in the part of the day that comes twice/u,
        ) as unknown,
      },
    ]);
  });

  it('leave out what is over and what comes later, and say how much', async () => {
    const { plan } = aDesk({ strategies: twap() });
    const during = await plan('--from', '2026-11-23T09:20:00Z');
    expect(during.out).toContain('  2 slots before 2026-11-23 09:20:00 UTC are over\n');
    expect(during.out).not.toContain('slice 1 ');
    const before = await plan('--from', '2026-11-20', '--days', '2');
    expect(before.out).toContain('  4 slots come after these 2 days\n');
    expect(before.code).toBe(0);
  });

  it('are none for a strategy that only acts when its condition holds', async () => {
    const strategies = `id: drift
kind: rebalance
target_weights: { btc: '0.5', usd: '0.5' }
drift_threshold: '0.02'
continuous: true
`;
    const { code, out } = await aDesk({ strategies }).plan();
    expect(code).toBe(0);
    expect(out).toContain('no time is known beforehand: it acts when its condition holds');
    expect(out).toContain('no size is known beforehand, so funds cannot be projected');
  });

  it('are written as a calendar that keeps the names of its events', async () => {
    const { folder, plan } = aDesk({ strategies: `${twap()}---\n${daily('0 9 * * *', ', calendar: {}')}` });
    expect((await plan('--ics', 'plan.ics', '--from', '2026-11-20')).code).toBe(0);
    const first = readFileSync(join(folder, 'plan.ics'), 'utf8');
    const uids = (text: string): readonly string[] =>
      [...text.matchAll(/^UID:(.*)\r$/gmu)].map(([, uid = '']) => uid);
    expect(uids(first)).toHaveLength(1 + 7);
    expect(uids(first)[0]).toBe('one.main@tranche');
    expect(uids(first)).toContain('2026-11-21T090000Z.daily.main@tranche');
    expect(first).toContain('SUMMARY:one: buy 1 btc of btcusd\r\n');
    await plan('--ics', 'plan.ics', '--from', '2026-11-21');
    const later = uids(readFileSync(join(folder, 'plan.ics'), 'utf8'));
    expect(later.filter((uid) => uids(first).includes(uid))).toHaveLength(1 + 6);
  });
});

describe('the arguments of a plan', () => {
  it.each<readonly [readonly string[], number, RegExp]>([
    [['--days', '0'], 64, /--days: expected a whole number from 1 to 400/u],
    [['--days', 'week'], 64, /--days: expected a whole number/u],
    [['--from', 'monday'], 64, /--from: expected a day such as 2026-12-01/u],
    [['--zone', 'Londn'], 64, /--zone: "Londn" is not a time zone/u],
    [['--holdings', 'usd:5'], 64, /--holdings: expected each currency once .*, got "usd:5"/u],
    [['--holdings', 'usd=5,usd=6'], 64, /--holdings: expected each currency once/u],
    [['--holdings', 'usd=1e5'], 64, /--holdings/u],
    [['--price', 'btcusd=0'], 64, /--price: expected a pair and its price/u],
    [['--price', 'btcuds=60000'], 64, /--price: no strategy trades btcuds: did you mean btcusd\?/u],
    [['--dayz', '3'], 64, /unknown option '--dayz'/u],
    [['--ics', 'no/such/folder/plan.ics'], 74, /--ics: .* cannot be written: there is no such file/u],
    [['no-such.yaml'], 78, /no-such\.yaml[^]*there is no such file/u],
  ])('%j are told', async (line, expected, message) => {
    const { code, err } = await aDesk({ strategies: twap() }).plan(...line);
    expect(code).toBe(expected);
    expect(err).toMatch(message);
  });

  it('that are no usable strategy show their mistakes as validate does, and as data', async () => {
    const { plan } = aDesk({ strategies: twap('slicess: 3') });
    const words = await plan();
    expect(words.code).toBe(78);
    expect(words.err).toContain('did you mean "slices"?');
    const data = await plan('--json');
    expect(JSON.parse(data.out)).toMatchObject({ feasible: false, problems: [{ line: 9 }] });
  });

  it('leave out strategies that are switched off', async () => {
    const { out } = await aDesk({ strategies: twap('enabled: false') }).plan();
    expect(out).not.toContain('one  twap');
  });
});
