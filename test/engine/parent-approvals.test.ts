import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/state/strategy-source.ts';
import { whyOf } from '../../src/journal/why.ts';
import {
  aDesk,
  approvalsOf,
  approve,
  faults,
  files,
  fills,
  nextDesk,
  person,
  requests,
  run,
  tell,
} from './approval-desk.ts';
import { aStrategy, aTwap } from './harness.ts';
import type { Bench } from './harness.ts';

const largeParents = approvalsOf({ parents_above: '50000' });
const texts = approvalsOf({ for: ['strategy'] });
const twap = aTwap('t');
/** A TWAP that still trades after a day of waiting. */
const long = aTwap('t', { slices: 60, duration: 'P3D' });

const quotes = (bench: Bench): number => bench.bodies('intent').length;
const begun = (bench: Bench): readonly string[] => bench.bodies('strategy').map((body) => body.hash);
/** Ann and bob approve, because the requester of a file at a start is unknown. */
const both = (bench: Bench, id = 'ap-1'): string => {
  approve(bench, 'ann', id);
  return approve(bench, 'bob', id).says;
};

describe('a parent above the approval amount', () => {
  it('requests no quote before its approval, ends slices with that reason, and trades afterwards', () => {
    const bench = aDesk(largeParents);
    run(bench, MINUTE_MS);
    expect([fills(bench), quotes(bench)]).toEqual([0, 0]);
    expect(requests(bench)).toMatchObject([
      { step: 'proposed', for: 'parent', strategy: 't', count: 2, by: 'tranche' },
    ]);
    expect(requests(bench)[0]?.asks).toMatch(/^buy btcusd by strategy t: 1 btc, worth \d+(\.\d+)? usd$/u);
    expect(both(bench)).toBe('ap-1 is approved');
    run(bench, 12 * MINUTE_MS);
    expect(fills(bench)).toBeGreaterThan(0);
    const ended = bench.bodies('slice');
    expect(ended[0]).toMatchObject({
      result: 'expired',
      reason: 'approval_pending',
      detail: 'ap-1 needs 2 other people',
    });
    expect(requests(bench).filter(({ step }) => step === 'proposed')).toHaveLength(1);
    expect(faults(bench)).toEqual([]);
  });

  it('is proposed for approval once across restarts, and the approval survives a restart', () => {
    const between = nextDesk(aDesk(largeParents), largeParents);
    expect(requests(between)).toHaveLength(1);
    both(between);
    const bench = nextDesk(between, largeParents);
    // The process was killed as an order left, which is a doubt for some minutes.
    run(bench, 8 * MINUTE_MS);
    expect(fills(bench)).toBeGreaterThan(0);
    expect(requests(bench).map(({ step }) => step)).toEqual(['proposed', 'approved', 'approved']);
  });

  it('does not trade if it is rejected', () => {
    const bench = aDesk(largeParents);
    tell(bench, 'bob', { do: 'reject', request: 'ap-1' });
    run(bench, 15 * MINUTE_MS);
    expect(fills(bench)).toBe(0);
    const [, second] = bench.bodies('slice');
    expect(second).toMatchObject({ reason: 'approval_refused', detail: 'ap-1 is rejected' });
  });

  it('does not trade if nobody decides within a day', () => {
    const bench = aDesk(largeParents, { strategies: [long] });
    run(bench, DAY_MS + HOUR_MS);
    expect(fills(bench)).toBe(0);
    expect(requests(bench).at(-1)).toMatchObject({ step: 'expired', by: 'tranche' });
    expect(approve(bench, 'ann').says).toBe('ap-1 was expired by tranche');
  });

  it('lets its approval request expire even while no process runs', () => {
    const before = aDesk(largeParents, { strategies: [long] });
    before.kill();
    run(before, DAY_MS + HOUR_MS);
    const bench = nextDesk(before, largeParents, { strategies: [long] });
    expect(requests(bench).at(-1)?.step).toBe('expired');
    expect(fills(bench)).toBe(0);
  });

  it('keeps trading a day after its approval', () => {
    const bench = aDesk(largeParents, { strategies: [long] });
    both(bench);
    run(bench, DAY_MS + HOUR_MS);
    const before = fills(bench);
    run(bench, 6 * HOUR_MS);
    expect(fills(bench)).toBeGreaterThan(before);
  });

  it('needs no approval if it is not above the amount', () => {
    const bench = aDesk(approvalsOf({ parents_above: '500000' }));
    run(bench, 3 * MINUTE_MS);
    expect(fills(bench)).toBeGreaterThan(0);
    expect(requests(bench)).toEqual([]);
    expect(faults(bench)).toEqual([]);
  });

  it('cannot be approved by the person who caused its strategy to begin', () => {
    const all = approvalsOf({ for: ['strategy'], parents_above: '50000' });
    for (const settings of [largeParents, all]) {
      let sources: readonly StrategySource[] = [];
      const bench = aDesk(settings, { strategies: [], files: files(() => sources) });
      sources = [twap];
      tell(bench, 'ann', { do: 'reload' });
      if (settings === all) approve(bench, 'bob');
      run(bench, SECOND_MS);
      const asked = requests(bench).find((request) => request.for === 'parent');
      expect(asked).toMatchObject({ by: 'ann', token: person('ann'), count: 1 });
      expect(approve(bench, 'Ann', asked?.request).says).toMatch(/propose/u);
      expect(approve(bench, 'bob', asked?.request).says).toMatch(/is approved$/u);
      expect(faults(bench)).toEqual([]);
      const again = nextDesk(bench, settings, { files: files(() => sources) });
      expect(again.desk.state.lives.get('t')?.begunBy).toEqual(person('ann'));
    }
  });
});

describe('a parent whose total is not known in advance', () => {
  const basket = aStrategy('r', 'rebalance', {
    target_weights: { btc: '0.5', usd: '0.5' },
    drift_threshold: '0.02',
    schedule: { cron: '*/2 * * * *' },
  });
  const above = approvalsOf({ parents_above: '100000000' });

  it('counts as above every amount, and its request states that the amount is unknown', () => {
    const bench = aDesk(above, { strategies: [basket] });
    run(bench, 5 * MINUTE_MS);
    expect(fills(bench)).toBe(0);
    expect(requests(bench)[0]).toMatchObject({
      for: 'parent',
      amount: 'unknown',
      why: 'its total is not known',
      asks: expect.stringMatching(/^sell btcusd by strategy r: amount not known before it trades/u) as string,
    });
    both(bench);
    run(bench, 2 * MINUTE_MS);
    expect(faults(bench)).toEqual([]);
  });
});

describe('a strategy whose text needs an approval', () => {
  const small = { total_quantity: { amount: '0.1', currency: 'btc' } };

  it('does not begin at a start before its approval by one more person than usual, and then begins once', () => {
    const bench = aDesk(texts, { files: files(() => [twap]) });
    run(bench, 5 * MINUTE_MS);
    expect(begun(bench)).toEqual([]);
    expect(requests(bench)).toMatchObject([
      { for: 'strategy', strategy: 't', step: 'proposed', by: 'tranche', count: 2 },
    ]);
    expect(requests(bench)[0]?.difference).toContain('slices: (nothing) → 10');
    expect(approve(bench, 'ann').says).toMatch(/still missing: 1 other person/u);
    run(bench, MINUTE_MS);
    expect(begun(bench)).toEqual([]);
    expect(approve(bench, 'bob').says).toBe('ap-1 is approved');
    run(bench, 3 * MINUTE_MS);
    expect(begun(bench)).toEqual([twap.hash]);
    expect(fills(bench)).toBeGreaterThan(0);
    expect(faults(bench)).toEqual([]);
    expect(begun(nextDesk(bench, texts, { files: files(() => [twap]) }))).toEqual([twap.hash]);
  });

  it('begins once if the process dies between the approval and its effect', () => {
    const before = aDesk(texts);
    both(before);
    expect(begun(before)).toEqual([]);
    const bench = nextDesk(before, texts);
    expect(begun(bench)).toEqual([twap.hash]);
    expect(begun(nextDesk(bench, texts))).toEqual([twap.hash]);
  });

  it.each([undefined, 'viewer, person'])(
    'needs another approval if a token that approved it becomes %s',
    (role) => {
      const tokens = (ann?: string) => ({
        policy: {
          settings: { 'operate.tokens.bob': 'approver, person', ...(ann && { 'operate.tokens.ann': ann }) },
        },
      });
      const before = aDesk(texts, tokens('approver, person'));
      both(before);
      const bench = nextDesk(before, texts, tokens(role));
      expect(begun(bench)).toEqual([]);
      expect(approve(bench, 'cat').says).toBe('ap-1 is approved');
      const last = nextDesk(bench, texts, tokens(role));
      expect(begun(last)).toEqual([twap.hash]);
      expect(faults(last)).toEqual([]);
    },
  );

  it('needs another approval if its text changes before the first one', () => {
    let text = twap;
    const bench = aDesk(texts, { files: files(() => [text]) });
    text = aTwap('t', { slices: 5 });
    both(bench);
    run(bench, 3 * MINUTE_MS);
    expect(begun(bench)).toEqual([]);
    expect(requests(bench).filter(({ step }) => step === 'proposed')).toHaveLength(2);
    both(bench, 'ap-2');
    expect(begun(bench)).toEqual([text.hash]);
  });

  it("names the person who reloaded it and does not accept that person's approval", () => {
    let sources = [aTwap('t', small)];
    const bench = aDesk(texts, { strategies: sources, files: files(() => sources) });
    both(bench);
    sources = [...sources, aTwap('u', small)];
    expect(tell(bench, 'ann', { do: 'reload' }).says).toMatch(/u waits for approval/u);
    expect(approve(bench, 'ANN', 'ap-2').says).toMatch(/proposed/u);
    expect(begun(bench)).toHaveLength(1);
    expect(approve(bench, 'bob', 'ap-2').says).toBe('ap-2 is approved');
    expect(begun(bench)).toHaveLength(2);
  });

  it('is proposed again after a rejection only by a person', () => {
    const bench = aDesk(texts, { files: files(() => [twap]) });
    tell(bench, 'ann', { do: 'reject', request: 'ap-1' });
    const again = nextDesk(bench, texts, { files: files(() => [twap]) });
    expect(requests(again).filter(({ step }) => step === 'proposed')).toHaveLength(1);
    tell(again, 'bob', { do: 'reload' });
    expect(requests(again).filter(({ step }) => step === 'proposed')).toHaveLength(2);
  });

  it('cannot be approved by the people of an earlier request if more are required now', () => {
    const before = aDesk(texts, { files: files(() => [twap]) });
    approve(before, 'ann');
    const more = approvalsOf({ for: ['strategy'], count: 2 });
    const bench = nextDesk(before, more, { files: files(() => [twap]) });
    expect(approve(bench, 'bob').says).toMatch(/^operate.approvals demands more than ap-1 does: 3 other/u);
    tell(bench, 'bob', { do: 'reject', request: 'ap-1' });
    tell(bench, 'eve', { do: 'reload' });
    expect(requests(bench).at(-1)).toMatchObject({ request: 'ap-2', by: 'eve', count: 2 });
    both(bench, 'ap-2');
    expect(begun(bench)).toEqual([twap.hash]);
    expect(faults(bench)).toEqual([]);
  });
});

describe('tranche why for a strategy that waits for approval', () => {
  it('names the request, the number of people, the approver and the slices that expired', () => {
    const bench = aDesk(largeParents);
    run(bench, 3 * MINUTE_MS);
    both(bench);
    run(bench, MINUTE_MS);
    const lines = [...whyOf(bench.records(), { currencies: () => undefined })].map(
      ({ strategy, says, reason }) => [strategy, says, reason],
    );
    expect(lines).toContainEqual([
      't',
      expect.stringMatching(/^waits for approval ap-1 \(2 other people\): buy btcusd by strategy t: 1 btc/u),
      undefined,
    ]);
    expect(lines).toContainEqual(['t', 'ap-1 approved by ann', undefined]);
    expect(lines.map(([, , reason]) => reason)).toContain('approval_pending');
  });
});

describe('a process that dies at any append between a request and its effect', () => {
  const settings = approvalsOf({ for: ['strategy', 'rearm'], parents_above: '50000' });
  /** Ann and bob approve each open request, once a second. */
  const keepApproving = (bench: Bench, seconds: number): void => {
    for (let second = 0; second < seconds; second++) {
      for (const { proposal, isApproved, ended } of bench.desk.state.approvals.all())
        if (!isApproved && ended === undefined) both(bench, proposal.request);
      run(bench, SECOND_MS);
    }
  };

  it.each(
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14].flatMap((at) =>
      (['lost', 'durable'] as const).map((records) => ({ at, records })),
    ),
  )('begins the strategy once and trades once, with append $at $records', (death) => {
    const before = aDesk(settings, { death, files: files(() => [twap]) });
    keepApproving(before, 30);
    const bench = nextDesk(before, settings, { files: files(() => [twap]) });
    keepApproving(bench, 30);
    run(bench, 12 * MINUTE_MS);
    const records = bench.records();
    expect(begun(bench)).toEqual([twap.hash]);
    const approvedAt = records.findLast(
      ({ body }) => body.kind === 'approval' && body.step === 'approved' && body.for === 'parent',
    )?.seq;
    const intent = records.find(({ body }) => body.kind === 'intent');
    expect(intent?.seq).toBeGreaterThan(approvedAt ?? Number.NaN);
    const traded = records.reduce(
      (sum, { body }) => sum + (body.kind === 'fill' ? Number(body.quantity) : 0),
      0,
    );
    expect(traded).toBeGreaterThan(0);
    expect(traded).toBeLessThanOrEqual(1);
    const slices = records.flatMap(({ body }) => (body.kind === 'fill' ? [body.slice] : []));
    expect(new Set(slices).size).toBe(slices.length);
    expect(faults(bench)).toEqual([]);
  });
});
