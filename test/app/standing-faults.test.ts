import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { validate } from '../../src/app/commands/validate.ts';
import { instant } from '../../src/core/time.ts';
import { look, NOON } from './support/look.ts';
import { aFolder } from '../support/folder.ts';

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
    /more than controls\.max_executions_per_minute of 5: the desk would halt/u,
  ],
  'slices above the limit of one order': [
    "total_quantity: { amount: '4', currency: btc }\nduration: PT2H\nslices: 4",
    /controls\.max_order_notional/u,
  ],
  'a window in restricted hours': [
    "total_quantity: { amount: '1', currency: btc }\nstart_time: '2026-11-21T22:05:00Z'\nduration: PT30M\nslices: 6",
    /are entirely within controls\.restricted_hours/u,
  ],
  'a day above its limit': [
    "total_quantity: { amount: '20', currency: btc }\nduration: PT5H\nslices: 100",
    /above controls\.max_day_notional/u,
  ],
};

function aDesk(fields: string): string {
  const cwd = aFolder();
  writeFileSync(join(cwd, 'desk.yaml'), CONFIG);
  writeFileSync(join(cwd, 'one.yaml'), twap(fields));
  return cwd;
}

function validated(cwd: string): { readonly code: number; readonly err: string } {
  const said = { err: '' };
  const stdout = { write: () => undefined };
  const stderr = { write: (text: string) => (said.err += text) };
  const code = validate({ config: 'desk.yaml' }, { cwd, env: {}, now: instant(NOON), colour: false, stdout, stderr }); // prettier-ignore
  return { code, err: said.err };
}

describe('strategies infeasible with any balances', () => {
  it.each(Object.entries(faulty))('are refused by validate and by plan with the same message: %s', async (_, [fields, says]) => {
    const cwd = aDesk(fields);
    const { code, err } = validated(cwd);
    expect(code).toBe(78);
    expect(err).toMatch(/^one\.yaml:\d+:1|^desk\.yaml:1:1/u);
    expect(err).toMatch(says);
    const plan = await look(cwd, ['plan', '--config', 'desk.yaml', '--json']);
    expect(plan.code).toBe(78);
    const { checks } = JSON.parse(plan.out) as { checks: readonly { verdict: string; says: string }[] };
    const refused = checks.filter(({ verdict }) => verdict === 'refused');
    expect(refused.some((check) => says.test(check.says) && err.includes(check.says))).toBe(true);
  }); // prettier-ignore

  it('are refused even if they start weeks later, also by a plan over that period', async () => {
    const [fields, says] = faulty['more executions a minute than allowed'] ?? ['', /./u];
    const cwd = aDesk(`start_time: '2027-02-01T09:00:00Z'\n${fields}`);
    const { code, err } = validated(cwd);
    expect([code, err]).toEqual([78, expect.stringMatching(says)]);
    const plan = await look(cwd, ['plan', '--config', 'desk.yaml', '--days', '100', '--json']);
    const { checks } = JSON.parse(plan.out) as { checks: readonly { verdict: string; says: string }[] };
    expect(checks.some(({ verdict, says: words }) => verdict === 'refused' && err.includes(words))).toBe(
      true,
    );
  });

  it('do not include a strategy within its limits', () => {
    const fields = "total_quantity: { amount: '2', currency: btc }\nduration: PT2H\nslices: 20";
    expect(validated(aDesk(fields))).toEqual({ code: 0, err: '' });
  });
});
