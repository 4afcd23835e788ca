import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRan } from '../support/command.ts';
import { look } from './support/look.ts';
import { aDesk, dataOf, ofCheck, twap } from './support/plan.ts';
import type { World } from './support/plan.ts';

const repo = join(import.meta.dirname, '../..');

/** Slices of a strategy that is hardly larger than the minimum of an order. */
const small = (slices: number): string =>
  twap().replace("'1'", "'0.001'").replace('slices: 4', `slices: ${slices}`);

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

  it('shows every slot in local time and UTC with its size', async () => {
    const { plan } = aDesk({ strategies: twap() });
    expectRan(
      await plan(),
      0,
      '  local (Europe/London)     UTC\n',
      '  2026-11-23 09:15:00       2026-11-23 09:15:00  slice 1   0.25 btc\n',
      '  4 slices, 1 btc; expected cost 6.23 bps, about 37.76 of 60600 usd',
      /\nfeasible\n$/u,
    );
    const named = await plan('--zone', 'Asia/Tokyo', '--brief');
    expect(named.out).not.toContain('slice 1 ');
    const tokyo = '  2026-11-23 18:15:00       2026-11-23 09:15:00  slice 1';
    expectRan(await plan('--zone', 'Asia/Tokyo'), 0, tokyo);
  });

  it('prints the expected cost and risk of a shortfall by its own model and for equal slices', async () => {
    const line = ['plan', '--from', '2026-12-03', '--days', '1', 'strategies/examples/btc-shortfall.yaml'];
    const ran = await look(repo, line);
    expectRan(ran, 0);
    const found =
      /expected cost (?<cost>[\d.]+) ± (?<risk>[\d.]+) bps, about .* of .* usd \(its own model; equal slices: (?<even>[\d.]+) ± (?<evenRisk>[\d.]+) bps\)/u.exec(
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
    });
    expect(data.costs).toMatchObject([{ strategy: 'one', notional: '60600', currency: 'usd' }]);
  });

  it('refuses 600 strategies in the same second, with the reason and a suggestion that makes them feasible', async () => {
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
    expectRan(refused, 78);
    const [{ verdict, says, fix = '' } = { verdict: '', says: '' }] = ofCheck(refused, 'pace');
    expect([verdict, says]).toEqual([
      'refused',
      expect.stringMatching(
        /^600 slices are due in one second at the peak \(2026-11-23T09:00:00\.000Z\); 8 quotes and 2 orders are allowed in a second: the last would wait 300\.\d s/u,
      ),
    ]);
    const page = readFileSync(join(repo, 'docs/plan.md'), 'utf8');
    expect(page).toContain(says);
    expect(page).toContain(fix);
    const [, spread = '', pct = ''] =
      /^spread these 600 slices of 600 strategies over at least (\d+) s, using their start times or with jitter: \{ time_pct: (\d+) \}/u.exec(
        fix,
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

  it('notes slices that wait only briefly and does not refuse them', async () => {
    const strategies = Array.from({ length: 5 }, (_, n) => twap().replace('id: one', `id: s-${n}`)).join(
      '---\n',
    );
    const ran = await aDesk({ strategies }).plan('--json');
    expect(ran.code).toBe(0);
    const says = /^5 slices are due .*: the longest wait is 2 s$/u;
    expect(ofCheck(ran, 'pace')).toMatchObject([
      { verdict: 'note', says: expect.stringMatching(says) as unknown },
    ]);
  });

  const limited = (controls: string): World => ({
    strategies: twap(),
    config: `controls: { ${controls} }\n`,
  });
  const notional = (order: string, day: string): string =>
    `max_order_notional: { amount: "${order}", currency: usd }, max_day_notional: { amount: "${day}", currency: usd }`;
  it.each<readonly [string, World, check: string, says: RegExp | string, fix: RegExp | string]>([
    [
      'a slice below the minimum in quote currency, with the largest number of slices',
      { strategies: small(20) },
      'minimum',
      "its smallest slice is 3 usd, below the venue's minimum of 5 usd",
      'slices: 11, or fewer',
    ],
    [
      'a slice above the largest order, with the smallest number of slices',
      limited(notional('5000', '500000')),
      'limits',
      'max_order_notional',
      'slices: 13, or more; or a total of at most 20000 usd',
    ],
    [
      'a slice above the largest quantity',
      limited('max_order_quantity: { btcusd: "0.2" }'),
      'limits',
      'its largest slice is 0.25 btc at worst, above controls.max_order_quantity of 0.2 btc',
      'slices: 5, or more; or a total of at most 0.8 btc',
    ],
    [
      'a day above its limit',
      limited(notional('25000', '50000')),
      'day',
      '2026-11-23 (UTC) adds up to 60600 usd at worst, above controls.max_day_notional of 50000 usd',
      /^trade 10600 usd less on that day .*, or spread it over 2 days$/u,
    ],
    [
      'a day of a pair above its limit',
      limited('max_pair_day_notional: { btcusd: "50000" }'),
      'day',
      '2026-11-23 (UTC) adds up to 60600 usd at worst, above controls.max_pair_day_notional.btcusd of 50000 usd',
      '',
    ],
    [
      'more executions in a minute than the desk may have',
      { ...limited('max_executions_per_minute: 3'), strategies: twap().replace('PT1H', 'PT20S') },
      'limits',
      '4 slices of btcusd have their order in the minute from 2026-11-23T09:00:00',
      'leave at least 20 s between two slices of btcusd',
    ],
    [
      'more slices than a parent may have',
      limited('max_executions_per_parent: 3'),
      'limits',
      'max_executions_per_parent',
      'slices: 3, or fewer',
    ],
    [
      'slots in restricted hours, with the next start that has none',
      limited('restricted_hours: [{ from: "08:00", to: "09:40", time_zone: Europe/London }]'),
      'hours',
      '2 of 4 slices are entirely within controls.restricted_hours, the first at 2026-11-23T09:00:00.000Z',
      'start it 40 minutes later, at 2026-11-23 09:40 Europe/London',
    ],
    [
      'a balance above its ceiling',
      limited('max_position: { btc: "25.5" }'),
      'funds',
      'btc exceeds controls.max_position by up to 0.5, first at 2026-11-23T09:30:00.000Z',
      'buy 0.5 btc less',
    ],
    [
      'a cost above the limit that pauses a parent',
      limited('max_shortfall_bps: 5'),
      'cost',
      'its expected cost of 6.23 bps is above controls.max_shortfall_bps of 5: the desk would pause it',
      '',
    ],
    [
      'a daily cost above the limit that halts the desk',
      limited('max_day_cost: { amount: "10", currency: usd }'),
      'cost',
      'above controls.max_day_cost of 10: the desk would halt',
      '',
    ],
  ])('refuses %s', async (_what, world, name, says, fix) => {
    const ran = await aDesk(world).plan('--json');
    expectRan(ran, 78);
    const { feasible, checks } = dataOf(ran);
    const refused = checks.filter(({ verdict }) => verdict === 'refused');
    expect([feasible, refused.map(({ check }) => check)]).toEqual([false, [name]]);
    expect(refused[0]?.says).toMatch(says);
    expect(refused[0]?.fix ?? '').toMatch(fix);
  });

  it('is feasible with the suggested number of slices but not with one more', async () => {
    expectRan(await aDesk({ strategies: small(11) }).plan(), 0);
    expectRan(await aDesk({ strategies: small(12) }).plan(), 78);
  });
});
