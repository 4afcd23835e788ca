import { describe, expect, it } from 'vitest';
import { look, NOON } from './support/look.ts';
import { expectRan, validated } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aFolder } from '../support/folder.ts';
import { dataOf } from './support/plan.ts';

const CONFIG = `
mode: paper
venue: { sell_path: /v1/orders/sell, simulated: { seed: 1, accounts: [{ balances: { usd: '10000000', btc: '10' } }] } }
controls:
  max_order_notional: { amount: '20000', currency: usd }
  max_day_notional: { amount: '500000', currency: usd }
  max_executions_per_minute: 5
  restricted_hours: [{ from: '22:00', to: '23:00', time_zone: UTC }]
journal: 'memory:'
strategies: [one.yaml]
`;
const twap = (fields: string): string => `
id: one
kind: twap
pair: btcusd
side: buy
${fields}
`;

const faulty: Readonly<Record<string, readonly [fields: string, says: RegExp]>> = {
  'more executions a minute than allowed': [
    "total_quantity: { amount: '2', currency: btc }\nduration: PT2M\nslices: 20",
    /the desk would halt .*limit=5 a minute of btcusd/u,
  ],
  'slices above the limit of one order': [
    "total_quantity: { amount: '4', currency: btc }\nduration: PT2H\nslices: 4",
    /4 of 4 slices trade nothing.*max_order_notional 20000/u,
  ],
  'a window in restricted hours': [
    "total_quantity: { amount: '1', currency: btc }\nstart_time: '2026-11-21T22:05:00Z'\nduration: PT30M\nslices: 6",
    /6 of 6 slices trade nothing.*restricted_hours/u,
  ],
  'a day above its limit': [
    "total_quantity: { amount: '20', currency: btc }\nduration: PT5H\nslices: 100",
    /59 of 100 slices trade nothing.*max_day_notional 500000/u,
  ],
};

const aDesk = (fields: string): string => aFolder({ 'desk.yaml': CONFIG, 'one.yaml': twap(fields) });
const judged = (cwd: string): Ran => validated(cwd, { config: 'desk.yaml' }, { now: NOON });

/** Expects that `validate` and `plan` refuse a desk in the same words. */
async function expectFault(cwd: string, says: RegExp, ...more: readonly string[]): Promise<void> {
  const ran = judged(cwd);
  expectRan(ran, 78, says, /^one\.yaml:\d+:1|^desk\.yaml:1:1/u);
  const plan = await look(cwd, ['plan', '--config', 'desk.yaml', '--json', ...more]);
  expectRan(plan, 78);
  const refused = dataOf(plan).checks.filter(({ verdict }) => verdict === 'refused');
  expect(refused.some((check) => says.test(check.says) && ran.err.includes(check.says))).toBe(true);
}

describe('strategies infeasible with any balances', () => {
  it.each(Object.entries(faulty))(
    'are refused by validate and by plan with the same message: %s',
    async (_, [fields, says]) => {
      await expectFault(aDesk(fields), says);
    },
  );

  it('are refused even if they start weeks later, also by a plan over that period', async () => {
    const [fields, says] = faulty['more executions a minute than allowed'] ?? ['', /./u];
    await expectFault(aDesk(`start_time: '2027-02-01T09:00:00Z'\n${fields}`), says, '--days', '100');
  });

  it('do not include a strategy within its limits', () => {
    const fields = "total_quantity: { amount: '2', currency: btc }\nduration: PT2H\nslices: 20";
    expect(judged(aDesk(fields))).toMatchObject({ code: 0, err: '' });
  });
});

/** A live desk whose venue was not contacted. */
const live = (pacing: string, strategy: string): string =>
  aFolder({
    'desk.yaml': `
desk: main
mode: live
venue: { base_url: 'https://venue.example', token_file: ./token }
controls:
  max_order_notional: { amount: '1000000', currency: usd }
  max_day_notional: { amount: '100000000', currency: usd }
  max_executions_per_minute: 10000
  max_executions_per_parent: 10000
  collar_bps: 100
  max_drift_bps: 100
  max_shortfall_bps: 100
  max_order_quantity: { btcusd: '100', ethusd: '100', ethbtc: '100' }
  pairs: [btcusd, ethusd, ethbtc]
  sides: [buy]
pacing: ${pacing}
journal: 'sqlite:./journal.db'
strategies: ./one.yaml
`,
    'one.yaml': strategy,
    token: 'secret-token',
  });

describe('strategies that the market or the venue may allow', () => {
  const fields = (pair: string, amount: string, currency: string, slices: number): string => `
id: one
kind: twap
pair: ${pair}
side: buy
total_quantity: { amount: '${amount}', currency: ${currency} }
duration: PT10M
slices: ${slices}
`;
  it.each([
    [
      'more slices a second than ten',
      '{ quotes_per_second: 500, orders_per_second: 60 }',
      ['btcusd', '7.2', 'btc', 12_000],
    ],
    ['more slices a second than the pacing', '{ quotes_per_second: 1 }', ['btcusd', '7.2', 'btc', 1_800]],
    ['small slices of an unpriced pair', '{}', ['ethusd', '0.002', 'eth', 2]],
    ['small slices of a pair of coins', '{}', ['ethbtc', '0.00002', 'eth', 20]],
  ] as const)('are not refused: %s', (_, pacing, [pair, amount, currency, slices]) => {
    const cwd = live(pacing, fields(pair, amount, currency, slices));
    expect(judged(cwd)).toMatchObject({ code: 0, err: '' });
  });

  it('are refused by a limit that holds at any price', () => {
    const cwd = live('{}', fields('ethusd', '2000', 'eth', 2));
    expectRan(judged(cwd), 78, /max_order_quantity/u);
  });
});
