import { describe, expect, it } from 'vitest';
import type { ApprovalPolicy, ApprovalRule } from '../../src/core/approvals/approval-policy.ts';
import { money } from '../../src/core/money.ts';
import type { OverrideRecord, UsedToken } from '../../src/core/record.ts';
import { MINUTE_MS, SECOND_MS, after, instant } from '../../src/core/time.ts';
import type { Command, CommandAnswer, StrategiesPort } from '../../src/engine/ports.ts';
import { Overrides } from '../../src/engine/state/override-state.ts';
import { People } from '../../src/engine/state/people-state.ts';
import { ApprovalsProof } from '../../src/journal/proof/approvals-proof.ts';
import { aBench, aPolicy, aStrategy, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const person = (name: string): UsedToken => ({ name, kind: 'person' });
const groups = { risk: ['ann', 'bob', 'cat'], treasury: ['dan'] };
const rest: ApprovalRule = {
  for: ['parent', 'strategy', 'limits', 'override', 'rearm', 'doubt', 'policy'],
  outcome: 'allow',
};
const approvalsOf = (...rules: ApprovalRule[]): ApprovalPolicy => ({
  rules: [...rules, rest],
  groups,
  unknown_asker: 'one_more',
});
const risk = (count = 1) => [{ count, groups: ['risk'] }];

function aDesk(approvals: ApprovalPolicy, over: Partial<BenchOptions> = {}): Bench {
  const bench = aBench({
    strategies: [aTwap('t')],
    ...over,
    policy: { approvals, areLimitsKept: true, ...over.policy },
  });
  bench.start();
  run(bench, MINUTE_MS);
  return bench;
}
const run = (bench: Bench, ms: number): void => {
  bench.clock.run(after(bench.clock.wall(), ms));
};
function tell(bench: Bench, name: string, command: object): CommandAnswer {
  let told: CommandAnswer = { isDone: false, says: 'no answer' };
  const answer = (given: CommandAnswer): void => {
    told = given;
  };
  const whole = { by: name, why: 'w', token: person(name), ...command, answer };
  bench.operator$.next(whole as unknown as Command);
  run(bench, SECOND_MS);
  return told;
}
const approve = (bench: Bench, name: string, id = 'ov-1'): CommandAnswer =>
  tell(bench, name, { do: 'approve', override: id });
const requests = (bench: Bench): readonly OverrideRecord[] =>
  bench.records().flatMap(({ body }) => (body.kind === 'override' ? [body] : []));
const fills = (bench: Bench): number => bench.records().filter(({ body }) => body.kind === 'fill').length;
function faults(bench: Bench): readonly string[] {
  const proof = new ApprovalsProof();
  for (const stored of bench.records()) proof.take(stored);
  return proof.findings.flatMap(({ fault }) => fault ?? []);
}

describe('an approver who is removed and invited again', () => {
  const change = (bench: Bench, name: string, step: 'invited' | 'removed'): void => {
    const record = { kind: 'person', person: name, step, role: 'approver', by: 'root', why: 'w' };
    tell(bench, 'root', { do: 'person', record });
  };

  it('loses the approvals given before the removal and may approve again', () => {
    const bench = aDesk(approvalsOf({ for: ['rearm'], outcome: risk(2) }));
    bench.operator$.next({ do: 'halt', by: 'eve', why: 'w' });
    tell(bench, 'eve', { do: 'rearm' });
    change(bench, 'ann', 'invited');
    expect(approve(bench, 'ann').says).toMatch(/has your approval/u);
    change(bench, 'Ann', 'removed');
    change(bench, 'ann', 'invited');
    expect(approve(bench, 'bob').says).toMatch(/still missing: 1 of risk/u);
    expect(bench.desk.control).toBe('halted');
    expect(approve(bench, 'ann').says).toMatch(/trades again/u);
    expect(faults(bench)).toEqual([]);
  });

  it('is not counted by the approvals proof for an approval given before the removal', () => {
    const bench = aDesk(approvalsOf({ for: ['rearm'], outcome: risk(2) }));
    bench.operator$.next({ do: 'halt', by: 'eve', why: 'w' });
    tell(bench, 'eve', { do: 'rearm' });
    change(bench, 'ann', 'invited');
    approve(bench, 'ann');
    approve(bench, 'bob');
    expect(faults(bench)).toEqual([]);
    const agreed = bench
      .records()
      .findIndex(({ body }) => body.kind === 'override' && body.step === 'agreed');
    const proof = new ApprovalsProof();
    for (const [at, stored] of bench.records().entries()) {
      proof.take(stored);
      if (at !== agreed) continue;
      for (const step of ['removed', 'invited'] as const)
        proof.take({
          ...stored,
          body: { kind: 'person', person: 'ANN', step, role: 'approver', by: 'root', why: 'w' },
        });
    }
    expect(proof.findings.flatMap(({ fault }) => fault ?? [])[0]).toMatch(
      /counts as approved without 2 of risk/u,
    );
  });
});

describe('approval requests', () => {
  const propose = { do: 'propose', limit: 'max_day_notional', value: '9', pair: 'btcusd', side: 'buy' };
  const bounded = approvalsOf({ for: ['override', 'rearm'], outcome: risk() });

  it('are limited to 20 open requests per person, which does not block other people', () => {
    const bench = aDesk(bounded);
    tell(bench, 'dan', propose);
    for (let n = 0; n < 20; n += 1) expect(tell(bench, 'eve', propose).isDone).toBe(true);
    expect(tell(bench, 'Eve', propose)).toEqual({
      isDone: false,
      says: 'Eve has 20 open requests, the maximum for one person: withdraw some, or wait until they are decided',
    });
    expect(tell(bench, 'dan', propose).isDone).toBe(true);
    expect(approve(bench, 'ann', 'ov-1').isDone).toBe(true);
    tell(bench, 'eve', { do: 'withdraw', override: 'ov-2' });
    expect(tell(bench, 'eve', propose).isDone).toBe(true);
    run(bench, 16 * MINUTE_MS);
    expect(tell(bench, 'eve', propose).isDone).toBe(true);
  });

  it('are kept, with their commands, while another person makes and withdraws over 1,000 requests', () => {
    const bench = aDesk(bounded);
    bench.operator$.next({ do: 'halt', by: 'eve', why: 'w' });
    tell(bench, 'dan', { do: 'rearm' });
    const send = (command: object): void => {
      const whole = { by: 'eve', why: 'w', token: person('eve'), answer: () => undefined, ...command };
      bench.operator$.next(whole as unknown as Command);
    };
    for (let n = 2; n < 1_200; n += 1) {
      send(propose);
      send({ do: 'withdraw', override: `ov-${n}` });
    }
    run(bench, SECOND_MS);
    expect(bench.desk.state.overrides.get('ov-1')).toBeDefined();
    expect([...bench.desk.state.overrides.all()].length).toBeLessThanOrEqual(1_000);
    expect(approve(bench, 'ann').says).toBe('ov-1 is approved: the desk trades again');
  });

  it('stay in memory while open or approved, and are removed once rejected or expired', () => {
    const overrides = new Overrides();
    const at = instant(0);
    const proposal = (id: string, more: Partial<OverrideRecord> = {}): OverrideRecord => ({
      kind: 'override', override: id, step: 'proposed', limit: 'halt', request: 'rearm', expires_at: instant(10), by: 'ann', why: 'w', ...more,
    }); // prettier-ignore
    overrides.apply(proposal('open'), at);
    overrides.apply(proposal('approved'), at);
    overrides.apply(proposal('approved', { step: 'approved', by: 'bob' }), at);
    overrides.apply(proposal('rejected'), at);
    overrides.apply(proposal('rejected', { step: 'rejected', by: 'bob' }), at);
    for (let n = 0; n < 1_100; n += 1) overrides.apply(proposal(`x${n}`), at);
    expect(overrides.get('open')).toBeDefined();
    expect(overrides.get('approved')).toBeDefined();
    expect(overrides.get('rejected')).toBeUndefined();
    overrides.apply(proposal('later', { expires_at: instant(30) }), instant(20));
    expect(overrides.get('open')).toBeUndefined();
    expect([...overrides.all()].length).toBe(1_000);
  });
});

describe('a parent whose total is not known in advance', () => {
  const basket = aStrategy('r', 'rebalance', {
    target_weights: { btc: '0.5', usd: '0.5' },
    drift_threshold: '0.02',
    schedule: { cron: '*/2 * * * *' },
  });
  const above = approvalsOf({ for: ['parent'], above: '100000000', outcome: risk() });

  it('counts as above every amount of the policy, and its request states that the amount is unknown', () => {
    const bench = aDesk(above, { strategies: [basket] });
    run(bench, 5 * MINUTE_MS);
    expect(fills(bench)).toBe(0);
    expect(requests(bench)[0]).toMatchObject({
      request: 'parent',
      amount: 'unknown',
      why: 'its total is not known',
      asks: expect.stringMatching(/^sell btcusd by strategy r: amount not known before it trades/u) as string,
    });
    for (const name of ['ann', 'bob']) approve(bench, name);
    run(bench, 2 * MINUTE_MS);
    expect(faults(bench)).toEqual([]);
  });

  it('states the daily notional limit in its request, if there is one', () => {
    const limits = { ...aPolicy().limits, dayNotionalMax: money('250000') };
    const bench = aDesk(above, { strategies: [basket], policy: { limits } });
    run(bench, 5 * MINUTE_MS);
    expect(requests(bench)[0]?.asks).toMatch(
      /amount not known before it trades; at most 250000 usd a day, by max_day_notional$/u,
    );
  });
});

describe('a request from strategy files whose author is unknown', () => {
  it('needs one more approval than the rule requires, because an approver may be the author', () => {
    const twap = aTwap('t');
    const files: StrategiesPort = {
      read: () => ({ sources: [twap], off: [], notes: [] }),
      revive: () => twap,
    };
    const bench = aDesk(approvalsOf({ for: ['strategy'], outcome: risk() }), { files });
    expect(requests(bench)[0]).toMatchObject({ by: 'tranche', needs: risk(2) });
    expect(approve(bench, 'ann').says).toMatch(/still missing: 1 of risk/u);
    run(bench, MINUTE_MS);
    expect(bench.records().some(({ body }) => body.kind === 'strategy')).toBe(false);
    expect(approve(bench, 'bob').says).toBe('ov-1 is approved');
    run(bench, 2 * MINUTE_MS);
    expect(fills(bench)).toBeGreaterThan(0);
    expect(faults(bench)).toEqual([]);
  });

  it('needs one more approval for a parent too, from any of the groups if the rule names several', () => {
    const outcome = [...risk(), { count: 1, groups: ['treasury'] }];
    const bench = aDesk(approvalsOf({ for: ['parent'], outcome }));
    expect(requests(bench)[0]?.needs).toEqual([...outcome, { count: 1, groups: ['risk', 'treasury'] }]);
    for (const name of ['ann', 'dan']) approve(bench, name);
    run(bench, 2 * MINUTE_MS);
    expect(fills(bench)).toBe(0);
    approve(bench, 'bob');
    run(bench, 2 * MINUTE_MS);
    expect(fills(bench)).toBeGreaterThan(0);
    expect(faults(bench)).toEqual([]);
  });
});

describe('a request made under an earlier policy', () => {
  const twap = aTwap('t');
  const files: StrategiesPort = {
    read: () => ({ sources: [twap], off: [], notes: [] }),
    revive: () => twap,
  };
  const next = (before: Bench, approvals: ApprovalPolicy): Bench => {
    before.kill();
    const { clock, exchange, journal } = before;
    return aDesk(approvals, { clock, exchange, journal, files });
  };

  it('cannot be approved with its original number of people if the current policy requires more', () => {
    const before = aDesk(approvalsOf({ for: ['strategy'], outcome: risk() }), { files });
    approve(before, 'ann');
    const bench = next(before, approvalsOf({ for: ['strategy'], outcome: risk(2) }));
    expect(approve(bench, 'bob')).toMatchObject({
      isDone: false,
      says: expect.stringMatching(
        /asks for more than ov-1 does, because it changed since the proposal/u,
      ) as string,
    });
    tell(bench, 'bob', { do: 'reject', override: 'ov-1' });
    tell(bench, 'eve', { do: 'reload' });
    expect(requests(bench).at(-1)).toMatchObject({ override: 'ov-2', by: 'eve', needs: risk(2) });
    for (const name of ['ann', 'bob']) approve(bench, name, 'ov-2');
    expect(bench.records().some(({ body }) => body.kind === 'strategy')).toBe(true);
    expect(faults(bench)).toEqual([]);
  });

  it('cannot be approved if the current policy blocks it, and the approvals proof reports the same', () => {
    const blocked = approvalsOf({ for: ['strategy'], outcome: 'block' });
    const before = aDesk(approvalsOf({ for: ['strategy'], outcome: risk() }), { files });
    approve(before, 'ann');
    const bench = next(before, blocked);
    expect(approve(bench, 'bob').says).toMatch(
      /can no longer be approved: rule 1 of operate.policy blocks it/u,
    );
    const open = aDesk(approvalsOf({ for: ['strategy'], outcome: risk() }), { files });
    for (const name of ['ann', 'bob']) approve(open, name);
    const proof = new ApprovalsProof();
    for (const stored of open.records()) {
      const { body } = stored;
      const isLast = body.kind === 'override' && body.step === 'approved';
      const start = open.records()[0];
      if (isLast && start?.body.kind === 'started')
        proof.take({ ...start, body: { ...start.body, policy: blocked } });
      proof.take(stored);
    }
    expect(proof.findings.flatMap(({ fault }) => fault ?? [])).toContain('the policy in force blocks it');
  });
});

describe('the passkey requirement of a desk', () => {
  it('stays in force after the only person with a passkey is removed', () => {
    const bench = aDesk(approvalsOf({ for: ['rearm'], outcome: risk() }));
    const passkey = { id: 'k', public_key: 'p', counter: 0 };
    for (const step of ['invited', 'enrolled', 'removed', 'invited'] as const) {
      const more = step === 'enrolled' ? { passkey } : {};
      const record = { kind: 'person', person: 'dan', step, role: 'approver', by: 'root', why: 'w', ...more };
      tell(bench, 'root', { do: 'person', record });
    }
    bench.operator$.next({ do: 'halt', by: 'eve', why: 'w' });
    tell(bench, 'eve', { do: 'rearm' });
    expect(approve(bench, 'ann').says).toMatch(/^this request needs a passkey/u);
    expect(faults(bench)).toEqual([]);
  });

  it('stays in force after hundreds of people are removed', () => {
    const people = new People();
    const apply = (name: string, step: 'invited' | 'enrolled' | 'removed'): void => {
      const passkey = { passkey: { id: `k ${name}`, public_key: 'p', counter: 0 } };
      const more = step === 'enrolled' ? passkey : {};
      people.apply(
        { kind: 'person', person: name, step, role: 'approver', by: 'root', why: 'w', ...more },
        instant(0),
      );
    };
    for (const step of ['invited', 'enrolled', 'removed'] as const) apply('dan', step);
    for (let n = 0; n < 300; n += 1) for (const step of ['invited', 'removed'] as const) apply(`x${n}`, step);
    expect(people.get('dan')?.hadPasskey).toBe(true);
    expect([...people.all()].length).toBe(200);
  });
});
