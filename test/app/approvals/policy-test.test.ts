import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addApprovals } from '../../../src/app/approvals/approvals-cli.ts';
import { runLine } from '../support/cli.ts';
import { NOON } from '../support/look.ts';

const twap = `id: btc-twap
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
duration: PT1H
slices: 4
`;
const POLICY = `
  groups: { risk: [ann, bob], treasury: [bob, cat] }
  policy:
    - for: parent
      above: { amount: '100000', currency: usd }
      require: [{ count: 1, group: risk }, { group: treasury }]
    - { for: parent, outcome: allow }
    - { for: strategy, require: { group: [risk, treasury] }, within: PT4H, passkey: optional }
    - { for: rearm, by: treasury, require: { group: risk } }
    - { for: policy, require: { group: approvers } }
    - { for: override, limits: [max_drift_bps], outcome: block }
`;

/** Runs `tranche policy test` with this text in `operate` of the config. */
async function tested(operate: string, ...args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-policy-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, 'twap.yaml'), twap);
  writeFileSync(
    join(folder, 'tranche.yaml'),
    `desk: main\nmode: paper\nstrategies: { files: [twap.yaml] }\njournal: sqlite:./j.db\noperate:\n  listen: 127.0.0.1:0${operate}`,
  );
  return await runLine(addApprovals, ['policy', 'test', ...args, '--config', 'tranche.yaml'], {
    cwd: folder,
    now: NOON,
    env: {},
    config: 'tranche.yaml',
  });
}

describe('tranche policy test', () => {
  it.each([
    [
      ['--parent', '150000usd', '--by', 'ann'],
      75,
      'parent of 150000usd: needs 1 of risk and 1 of treasury, within 1440 min (rule 1)',
    ],
    [['--parent', '100000'], 0, 'parent of 100000: needs no approval (rule 2)'],
    [
      ['--strategy', 'twap.yaml'],
      75,
      'strategy btc-twap: needs 2 of risk or treasury, one more than the rule states, because the requester is unknown, within 240 min, passkey optional (rule 3)',
    ],
    [['--rearm', '--by', 'CAT'], 75, 'rearm: needs 1 of risk, within 15 min (rule 4)'],
    [['--rearm'], 77, 'rearm: is blocked (no rule of operate.policy matches)'],
    [['--override', 'max_drift_bps'], 77, 'override of max_drift_bps: is blocked (rule 6)'],
    [['--kind', 'policy'], 75, 'policy: needs 1 of approvers, within 1440 min (rule 5)'],
  ])('prints the approvals that %s requires and exits with %d', async (args, code, line) => {
    const told = await tested(POLICY, ...args);
    expect([told.err, told.code, told.out.split('\n')[0]]).toEqual(['', code, line]);
    expect(told.out).toContain(
      'blocked if no rule matches: requests for limits, channels, override, rearm, doubt',
    );
  });

  it('reports that no approval is required without a policy', async () => {
    const told = await tested('\n', '--rearm');
    expect([told.code, told.out]).toEqual([
      0,
      'rearm: needs no approval (built in: there is no operate.policy)\n',
    ]);
  });

  it('rejects an amount in another currency and a call without a request to test', async () => {
    expect((await tested(POLICY, '--parent', '5eur')).code).toBe(64);
    expect((await tested(POLICY)).err).toMatch(/name what to test/u);
  });
});

describe('a policy in a config', () => {
  const problem = async (operate: string): Promise<string> => (await tested(operate, '--kind', 'policy')).err;

  it.each([
    [
      'policy: [{ for: rearm, require: { group: audit } }, { for: policy, outcome: allow }]',
      /there is no group audit/u,
    ],
    [
      'groups: { risk: [ann, bob] }\n  policy: [{ for: rearm, require: { count: 2, group: risk } }, { for: policy, outcome: allow }]',
      /cannot be reached without ann/u,
    ],
    [
      'groups: { risk: [ann] }\n  policy: [{ for: parent, require: { count: 2, group: risk } }, { for: policy, outcome: allow }]',
      /too few different people/u,
    ],
    [
      'policy: [{ for: [rearm, policy], outcome: allow }, { for: rearm, outcome: block }]',
      /it never matches: rule 1/u,
    ],
    [
      'policy: [{ for: policy, outcome: allow }, { for: policy, outcome: block }]',
      /same requests as rule 1/u,
    ],
    ['policy: [{ for: rearm, outcome: allow }]', /could never be changed again/u],
    ['policy: [{ for: rearm }]', /write either outcome: allow, outcome: block, or require/u],
    ['policy: [{ for: rearms, outcome: allow }]', /expected one or more of parent, strategy/u],
    [
      "policy: [{ for: parent, above: { amount: '5', currency: eur }, outcome: block }, { for: policy, outcome: allow }]",
      /write the amount in usd/u,
    ],
    ['four_eyes: false\n  policy: [{ for: policy, outcome: allow }]', /remove four_eyes/u],
    ['groups: { risk: [ann] }', /operate\.groups needs operate\.policy/u],
  ])('is rejected: %s', async (operate, why) => {
    expect(await problem(`\n  ${operate}\n`)).toMatch(why);
  });

  it('is accepted if it is consistent', async () => {
    expect(await problem(POLICY)).toBe('');
  });
});
