import { describe, expect, it } from 'vitest';
import {
  APPROVERS,
  areMet,
  bothRequirements,
  builtInPolicy,
  metNeeds,
  requirementOf,
} from '../../../src/core/approvals/approval-policy.ts';
import type { ApprovalPolicy, ApprovalRule } from '../../../src/core/approvals/approval-policy.ts';
import { policyFaults, uncoveredKinds } from '../../../src/core/approvals/policy-faults.ts';
import { money } from '../../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts';

const groups = { risk: ['ann', 'bob'], treasury: ['bob', 'cat', 'dan'] };
const oneOf = (...names: string[]) => [{ count: 1, groups: names }];
const policyOf = (...rules: ApprovalRule[]): ApprovalPolicy => ({ rules, groups });
const anyChange: ApprovalRule = { for: ['policy'], outcome: oneOf(APPROVERS) };

describe('the requirement for a request', () => {
  const policy = policyOf(
    { for: ['parent'], above: '100000', outcome: oneOf('risk') },
    { for: ['parent'], outcome: 'allow' },
    { for: ['override'], limits: ['max_day_notional'], outcome: 'block' },
    { for: ['override', 'rearm'], by: ['risk'], outcome: oneOf('treasury'), within_ms: 8 * HOUR_MS },
  );

  it('follows the first rule that matches', () => {
    expect(requirementOf(policy, { kind: 'parent', amount: money('100000') })).toMatchObject({
      outcome: 'allow',
      rule: 2,
    });
    expect(requirementOf(policy, { kind: 'parent', amount: money('100000.01') })).toMatchObject({
      outcome: 'require',
      rule: 1,
      needs: oneOf('risk'),
    });
  });

  it('treats an unknown amount as above every threshold', () => {
    expect(requirementOf(policy, { kind: 'parent' }).rule).toBe(1);
  });

  it('is a block if no rule matches', () => {
    expect(requirementOf(policy, { kind: 'strategy' })).toMatchObject({ outcome: 'block', needs: [] });
    expect(requirementOf(policy, { kind: 'rearm' }).outcome).toBe('block');
    expect(requirementOf(policy, { kind: 'rearm', by: 'cat' }).outcome).toBe('block');
  });

  it('matches the requester regardless of the case of the name', () => {
    expect(requirementOf(policy, { kind: 'rearm', by: ' ANN ' }).rule).toBe(4);
  });

  it('limits approvals of a re-arm to 15 minutes, whatever the rule states', () => {
    expect(requirementOf(policy, { kind: 'rearm', by: 'ann' }).withinMs).toBe(15 * MINUTE_MS);
    expect(requirementOf(policy, { kind: 'parent' }).withinMs).toBe(24 * HOUR_MS);
  });

  it('combines the needs of two requirements, and blocks if either of them blocks', () => {
    const [risk, block] = [
      requirementOf(policyOf({ for: ['rearm'], outcome: [{ count: 2, groups: ['risk'] }] }), {
        kind: 'rearm',
      }),
      requirementOf(policyOf(), { kind: 'limits' }),
    ];
    const one = requirementOf(
      policyOf({ for: ['limits'], outcome: [...oneOf('risk'), ...oneOf('treasury')] }),
      { kind: 'limits' },
    );
    expect(bothRequirements(risk, one).needs).toEqual([{ count: 2, groups: ['risk'] }, ...oneOf('treasury')]);
    expect(bothRequirements(risk, block).outcome).toBe('block');
  });
});

describe('people who approve', () => {
  const needs = [...oneOf('risk'), ...oneOf('treasury')];
  const policy = policyOf();
  const met = (people: readonly string[], initiator?: string): boolean =>
    areMet(metNeeds(policy, needs, people, initiator));

  it('count for one need each, even if they belong to two groups', () => {
    expect(met(['bob'])).toBe(false);
    expect(met(['bob', 'bob'])).toBe(false);
    expect(met(['bob', 'BOB '])).toBe(false);
    expect(met(['bob', 'cat'])).toBe(true);
  });

  it('are assigned so that as many needs as possible are met, in any order', () => {
    expect(met(['bob', 'ann'])).toBe(true);
    expect(met(['ann', 'bob'])).toBe(true);
    expect(met(['ann', 'cat'])).toBe(true);
  });

  it('do not count if they made the request themselves', () => {
    expect(met(['ann', 'cat'], 'Ann')).toBe(false);
    expect(met(['bob', 'cat'], 'ann')).toBe(true);
  });

  it('count for either group of a need that names two groups', () => {
    const either = [{ count: 2, groups: ['risk', 'treasury'] }];
    expect(areMet(metNeeds(policy, either, ['ann', 'dan']))).toBe(true);
    expect(areMet(metNeeds(policy, either, ['ann', 'eve']))).toBe(false);
  });
});

describe('the built-in policy', () => {
  it('always requires an approver for overrides, and with four eyes for re-arming, doubts, limits and policy', () => {
    for (const hasFourEyes of [true, false]) {
      const policy = builtInPolicy(hasFourEyes);
      const of = (kind: Parameters<typeof requirementOf>[1]['kind']): string =>
        requirementOf(policy, { kind }).outcome;
      expect(of('override')).toBe('require');
      for (const kind of ['rearm', 'doubt', 'limits', 'policy'] as const)
        expect(of(kind)).toBe(hasFourEyes ? 'require' : 'allow');
      for (const kind of ['parent', 'strategy'] as const) expect(of(kind)).toBe('allow');
      expect(uncoveredKinds(policy)).toEqual([]);
    }
  });
});

describe('the check of a policy', () => {
  const problems = (...rules: ApprovalRule[]): readonly string[] =>
    policyFaults(policyOf(...rules), []).map(({ problem }) => problem);

  it('rejects a group that does not exist', () => {
    expect(problems({ for: ['rearm'], outcome: oneOf('audit') }, anyChange)).toEqual([
      'there is no group audit in operate.groups',
    ]);
  });

  it('rejects groups with too few people, or with too few besides the requester', () => {
    expect(problems({ for: ['parent'], outcome: [{ count: 3, groups: ['risk'] }] }, anyChange)[0]).toMatch(
      /^3 of risk: these groups have too few different people/u,
    );
    expect(problems({ for: ['rearm'], outcome: [{ count: 2, groups: ['risk'] }] }, anyChange)[0]).toMatch(
      /^when ann asks, 2 of risk cannot be reached without ann/u,
    );
    expect(
      problems({ for: ['rearm'], by: ['treasury'], outcome: [{ count: 1, groups: ['risk'] }] }, anyChange),
    ).toEqual([]);
  });

  it('rejects a rule that can never match or is a duplicate', () => {
    const wide: ApprovalRule = { for: ['parent'], above: '1000', outcome: oneOf('risk') };
    expect(problems(wide, { ...wide, above: '5000', outcome: 'block' }, anyChange)).toEqual([
      'it never matches: rule 1 comes before it and matches all of its requests',
    ]);
    expect(problems(wide, { ...wide, outcome: 'block' }, anyChange)).toEqual([
      'it is for the same requests as rule 1: keep one',
    ]);
    expect(problems({ ...wide, above: '5000' }, wide, anyChange)).toEqual([]);
  });

  it('rejects a policy that nobody could ever change', () => {
    expect(problems({ for: ['rearm'], outcome: 'allow' })[0]).toMatch(/could never be changed again/u);
    expect(problems({ for: ['policy'], outcome: 'block' })[0]).toMatch(/could never be changed again/u);
  });

  it('rejects a member who cannot approve or is listed twice', () => {
    const twice = policyFaults({ rules: [anyChange], groups: { risk: ['ann', 'Ann'], approvers: ['x'] } }, [
      { name: 'ANN', mayApprove: false },
    ]);
    expect(twice.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/^ann cannot approve/u),
      'Ann is written twice',
      expect.stringMatching(/^Ann cannot approve/u),
      expect.stringMatching(/^approvers is a reserved name/u),
    ]);
  });

  it('rejects a condition that belongs to another kind of request', () => {
    expect(problems({ for: ['rearm'], above: '5', outcome: oneOf('risk') }, anyChange)[0]).toMatch(
      /^above narrows rules for parent alone/u,
    );
  });
});
