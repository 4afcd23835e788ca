import { describe, expect, it } from 'vitest';
import type { ApprovalPolicy, ApprovalRule } from '../../src/core/approvals/approval-policy.ts';
import type { OverrideRecord, UsedToken } from '../../src/core/record.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import type { Command, CommandAnswer, StrategiesPort } from '../../src/engine/ports.ts';
import type { StrategySource } from '../../src/engine/state/strategy-source.ts';
import { whyOf } from '../../src/journal/why.ts';
import { aBench, aStrategy, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const person = (name: string): UsedToken => ({ name, kind: 'person' });
const groups = { risk: ['ann', 'bob'] };
const risk = [{ count: 1, groups: ['risk'] }];
const rest: ApprovalRule = {
  for: ['parent', 'strategy', 'limits', 'override', 'rearm', 'doubt', 'policy'],
  outcome: 'allow',
};
const policyOf = (...rules: ApprovalRule[]): ApprovalPolicy => ({ rules: [...rules, rest], groups });
const largeParents = policyOf({ for: ['parent'], above: '50000', outcome: risk });
const strategyTexts = policyOf({ for: ['strategy'], outcome: risk, within_ms: 2 * HOUR_MS });

/** One btc at about 60,000 usd, in ten slices within ten minutes. */
const twap = aTwap('t');

function aDesk(approvals: ApprovalPolicy, over: Partial<BenchOptions> = {}): Bench {
  const bench = aBench({ strategies: [twap], policy: { approvals }, ...over });
  bench.start();
  run(bench, MINUTE_MS);
  return bench;
}
const run = (bench: Bench, ms: number): void => {
  bench.clock.run(after(bench.clock.wall(), ms));
};
const next = (before: Bench, approvals: ApprovalPolicy, over: Partial<BenchOptions> = {}): Bench => {
  before.kill();
  const { clock, exchange, journal } = before;
  return aDesk(approvals, { clock, exchange, journal, ...over });
};

function tell(bench: Bench, name: string, command: object): string {
  let told: CommandAnswer | undefined;
  const answer = (given: CommandAnswer): void => {
    told = given;
  };
  const whole = { by: name, why: 'w', token: person(name), ...command, answer };
  bench.operator$.next(whole as unknown as Command);
  run(bench, SECOND_MS);
  return told?.says ?? 'no answer';
}
const approve = (bench: Bench, name: string, id = 'ov-1'): string =>
  tell(bench, name, { do: 'approve', override: id });

const requests = (bench: Bench): readonly OverrideRecord[] =>
  bench.records().flatMap(({ body }) => (body.kind === 'override' ? [body] : []));
const fills = (bench: Bench): number => bench.records().filter(({ body }) => body.kind === 'fill').length;
const quotes = (bench: Bench): number => bench.records().filter(({ body }) => body.kind === 'intent').length;
const begun = (bench: Bench): readonly string[] =>
  bench.records().flatMap(({ body }) => (body.kind === 'strategy' ? [body.hash] : []));

/** Strategy files with the content that `sources` returns. */
const files = (sources: () => readonly StrategySource[]): StrategiesPort => ({
  read: () => ({ sources: sources(), off: [], notes: [] }),
  revive: ({ document }) => {
    const { id, kind, ...params } = document as { id: string; kind: string };
    return aStrategy(id, kind, params);
  },
});

describe('a parent above the approval amount', () => {
  it('requests no quote before its approval, ends slices with that reason, and trades afterwards', () => {
    const bench = aDesk(largeParents);
    run(bench, MINUTE_MS);
    expect([fills(bench), quotes(bench)]).toEqual([0, 0]);
    expect(requests(bench)).toMatchObject([
      { step: 'proposed', request: 'parent', strategy: 't', needs: risk, by: 'tranche' },
    ]);
    expect(requests(bench)[0]?.asks).toMatch(/^buy btcusd by strategy t: 1 btc, worth \d+(\.\d+)? usd$/u);
    expect(approve(bench, 'ann')).toBe('ov-1 is approved');
    run(bench, 12 * MINUTE_MS);
    expect(fills(bench)).toBeGreaterThan(0);
    const ended = bench.records().flatMap(({ body }) => (body.kind === 'slice' ? [body] : []));
    expect(ended[0]).toMatchObject({
      result: 'expired',
      reason: 'approval_pending',
      detail: 'ov-1 needs 1 of risk',
    });
    expect(requests(bench).filter(({ step }) => step === 'proposed')).toHaveLength(1);
  });

  it('is proposed for approval once across restarts, and the approval survives a restart', () => {
    const before = aDesk(largeParents);
    const between = next(before, largeParents);
    expect(requests(between)).toHaveLength(1);
    approve(between, 'ann');
    const bench = next(between, largeParents);
    run(bench, 3 * MINUTE_MS);
    expect(fills(bench)).toBeGreaterThan(0);
    expect(requests(bench).map(({ step }) => step)).toEqual(['proposed', 'approved']);
  });

  it('does not trade if it is rejected, or if nobody decides in time', () => {
    const bench = aDesk(largeParents);
    tell(bench, 'bob', { do: 'reject', override: 'ov-1' });
    run(bench, 15 * MINUTE_MS);
    expect(fills(bench)).toBe(0);
    const [, second] = bench.records().flatMap(({ body }) => (body.kind === 'slice' ? [body] : []));
    expect(second).toMatchObject({ reason: 'approval_refused', detail: 'ov-1 is rejected' });
    const late = aDesk(
      policyOf({ for: ['parent'], above: '50000', outcome: risk, within_ms: 2 * MINUTE_MS }),
    );
    run(late, 15 * MINUTE_MS);
    expect(fills(late)).toBe(0);
    expect(requests(late).at(-1)).toMatchObject({ step: 'expired', by: 'tranche' });
    expect(approve(late, 'ann')).toBe('ov-1 was expired by tranche');
  });

  it('lets its approval request expire even while no process runs', () => {
    const policy = policyOf({
      for: ['parent'],
      above: '50000',
      outcome: risk,
      within_ms: 2 * MINUTE_MS,
    });
    const before = aDesk(policy);
    before.kill();
    before.clock.run(after(before.clock.wall(), 5 * MINUTE_MS));
    const bench = next(before, policy);
    expect(requests(bench).at(-1)?.step).toBe('expired');
    expect(fills(bench)).toBe(0);
  });

  it('needs no approval if it is below the amount, or the rule is for other strategies', () => {
    for (const rule of [{ above: '500000' }, { strategies: ['other'] }]) {
      const bench = aDesk(policyOf({ for: ['parent'], outcome: risk, ...rule }));
      run(bench, 3 * MINUTE_MS);
      expect(fills(bench)).toBeGreaterThan(0);
      expect(requests(bench)).toEqual([]);
    }
  });

  it('cannot be approved by the person who caused its strategy to begin', () => {
    const both = policyOf(
      { for: ['parent'], above: '50000', outcome: risk },
      { for: ['strategy'], outcome: risk },
    );
    for (const policy of [largeParents, both]) {
      let texts: readonly StrategySource[] = [];
      const bench = aDesk(policy, { strategies: [], files: files(() => texts) });
      texts = [twap];
      tell(bench, 'ann', { do: 'reload' });
      if (policy === both) approve(bench, 'bob');
      run(bench, SECOND_MS);
      const asked = requests(bench).find(({ request }) => request === 'parent');
      expect(asked).toMatchObject({ by: 'ann', token: person('ann') });
      expect(approve(bench, 'Ann', asked?.override)).toMatch(/propose/u);
      expect(approve(bench, 'bob', asked?.override)).toMatch(/is approved$/u);
      const again = next(bench, policy, { files: files(() => texts) });
      expect(again.desk.state.lives.get('t')?.begunBy).toEqual(person('ann'));
    }
  });

  it('is refused if no rule matches it', () => {
    const bench = aDesk({ rules: [{ ...rest, for: ['strategy', 'rearm', 'policy'] }], groups });
    run(bench, 12 * MINUTE_MS);
    expect(fills(bench)).toBe(0);
    const slices = bench.records().flatMap(({ body }) => (body.kind === 'slice' ? [body.reason] : []));
    expect(new Set(slices)).toEqual(new Set(['approval_refused']));
  });
});

describe('a strategy whose text needs an approval', () => {
  const small = { total_quantity: { amount: '0.1', currency: 'btc' } };

  it('does not begin at a start before its approval, and then begins once', () => {
    const bench = aDesk(strategyTexts, { files: files(() => [twap]) });
    run(bench, 5 * MINUTE_MS);
    expect(begun(bench)).toEqual([]);
    expect(requests(bench)).toMatchObject([{ request: 'strategy', strategy: 't', step: 'proposed' }]);
    expect(requests(bench)[0]?.difference).toContain('slices: (nothing) → 10');
    approve(bench, 'bob');
    run(bench, 3 * MINUTE_MS);
    expect(begun(bench)).toEqual([twap.hash]);
    expect(fills(bench)).toBeGreaterThan(0);
    expect(begun(next(bench, strategyTexts, { files: files(() => [twap]) }))).toEqual([twap.hash]);
  });

  it('begins once if the process dies between the approval and its effect', () => {
    const before = aDesk(strategyTexts);
    approve(before, 'bob');
    expect(begun(before)).toEqual([]);
    const bench = next(before, strategyTexts);
    expect(begun(bench)).toEqual([twap.hash]);
    expect(begun(next(bench, strategyTexts))).toEqual([twap.hash]);
  });

  it('needs another approval if its text changes before the first one', () => {
    let text = twap;
    const bench = aDesk(strategyTexts, { files: files(() => [text]) });
    text = aTwap('t', { slices: 5 });
    approve(bench, 'bob');
    run(bench, 3 * MINUTE_MS);
    expect(begun(bench)).toEqual([]);
    expect(requests(bench).filter(({ step }) => step === 'proposed')).toHaveLength(2);
    approve(bench, 'bob', 'ov-2');
    expect(begun(bench)).toEqual([text.hash]);
  });

  it("names the person who reloaded it and does not accept that person's approval", () => {
    let texts = [aTwap('t', small)];
    const bench = aDesk(strategyTexts, { strategies: texts, files: files(() => texts) });
    approve(bench, 'bob');
    texts = [...texts, aTwap('u', small)];
    expect(tell(bench, 'ann', { do: 'reload' })).toMatch(/u waits for approval/u);
    expect(approve(bench, 'ANN', 'ov-2')).toMatch(/proposed/u);
    expect(begun(bench)).toHaveLength(1);
    expect(approve(bench, 'bob', 'ov-2')).toBe('ov-2 is approved');
    expect(begun(bench)).toHaveLength(2);
  });

  it('is proposed again after a rejection only by a person', () => {
    const bench = aDesk(strategyTexts, { files: files(() => [twap]) });
    tell(bench, 'ann', { do: 'reject', override: 'ov-1' });
    const again = next(bench, strategyTexts, { files: files(() => [twap]) });
    expect(requests(again).filter(({ step }) => step === 'proposed')).toHaveLength(1);
    tell(again, 'bob', { do: 'reload' });
    expect(requests(again).filter(({ step }) => step === 'proposed')).toHaveLength(2);
  });
});

describe('tranche why for a strategy that waits for approval', () => {
  it('names the request, the required people, the approver and the slices that expired', () => {
    const bench = aDesk(largeParents);
    run(bench, 3 * MINUTE_MS);
    approve(bench, 'ann');
    run(bench, MINUTE_MS);
    const lines = [...whyOf(bench.records(), { currencies: () => undefined })].map(
      ({ strategy, says, reason }) => [strategy, says, reason],
    );
    expect(lines).toContainEqual([
      't',
      expect.stringMatching(/^waits for approval ov-1 \(1 of risk\): buy btcusd by strategy t: 1 btc/u),
      undefined,
    ]);
    expect(lines).toContainEqual(['t', 'ov-1 approved by ann', undefined]);
    expect(lines.map(([, , reason]) => reason)).toContain('approval_pending');
  });
});

describe('a process that dies at any append between a request and its effect', () => {
  const policy = policyOf(
    { for: ['strategy', 'rearm'], outcome: risk },
    { for: ['parent'], above: '50000', outcome: risk },
  );
  /** Ann approves each open request, once a second. */
  const keepApproving = (bench: Bench, seconds: number): void => {
    for (let second = 0; second < seconds; second++) {
      for (const [id, { approvedBy, ended }] of bench.desk.state.overrides.all())
        if (approvedBy === undefined && ended === undefined) approve(bench, 'ann', id);
      run(bench, SECOND_MS);
    }
  };

  it.each(
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].flatMap((at) =>
      (['lost', 'durable'] as const).map((records) => ({ at, records })),
    ),
  )('begins the strategy once and trades once, with append $at $records', (death) => {
    const before = aDesk(policy, { death, files: files(() => [twap]) });
    keepApproving(before, 30);
    const bench = next(before, policy, { files: files(() => [twap]) });
    keepApproving(bench, 30);
    run(bench, 12 * MINUTE_MS);
    const records = bench.records();
    expect(begun(bench)).toEqual([twap.hash]);
    const seqOf = (isIt: (body: OverrideRecord) => boolean): number =>
      records.find(({ body }) => body.kind === 'override' && isIt(body))?.seq ?? Number.NaN;
    const approved = seqOf(({ step, request }) => step === 'approved' && request === 'parent');
    const intent = records.find(({ body }) => body.kind === 'intent');
    expect(intent?.seq).toBeGreaterThan(approved);
    const traded = records.reduce(
      (sum, { body }) => sum + (body.kind === 'fill' ? Number(body.quantity) : 0),
      0,
    );
    expect(traded).toBeGreaterThan(0);
    expect(traded).toBeLessThanOrEqual(1);
    const slices = records.flatMap(({ body }) => (body.kind === 'fill' ? [body.slice] : []));
    expect(new Set(slices).size).toBe(slices.length);
  });

  it('lifts a halt once if the approval is durable, and otherwise not at all', () => {
    for (const records of ['lost', 'durable'] as const) {
      let appends = 0;
      const ready = aDesk(policyOf({ for: ['rearm'], outcome: risk }));
      tell(ready, 'eve', { do: 'halt' });
      tell(ready, 'eve', { do: 'rearm' });
      appends = ready.appends();
      const before = aDesk(policyOf({ for: ['rearm'], outcome: risk }), {
        death: { at: appends + 2, records },
      });
      tell(before, 'eve', { do: 'halt' });
      tell(before, 'eve', { do: 'rearm' });
      approve(before, 'ann');
      const bench = next(before, policyOf({ for: ['rearm'], outcome: risk }));
      const lifted = bench
        .records()
        .filter(({ body }) => body.kind === 'control' && body.state === 'active').length;
      expect([bench.desk.control, lifted]).toEqual(records === 'lost' ? ['halted', 0] : ['active', 1]);
    }
  });
});
