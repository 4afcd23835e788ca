import type { ApprovalSettings } from '../../src/core/approvals/approval-settings.ts';
import type { ApprovalRecord, UsedToken } from '../../src/core/record.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Command, CommandAnswer, StrategiesPort } from '../../src/engine/ports.ts';
import type { StrategySource } from '../../src/engine/state/strategy-source.ts';
import { ApprovalsProof } from '../../src/journal/proof/approvals-proof.ts';
import { aBench, aStrategy, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

/** Desks whose changes need approvals, and the people who act on them. */

export const person = (name: string): UsedToken => ({ name, kind: 'person' });

export const approvalsOf = (over: Partial<ApprovalSettings>): ApprovalSettings => ({
  for: [],
  count: 1,
  passkey: 'optional',
  ...over,
});

export const run = (bench: Bench, ms: number): void => {
  bench.run(ms);
};

/** One btc at about 60,000 usd, in ten slices within ten minutes, unless `over` says otherwise. */
export function aDesk(approvals: ApprovalSettings | undefined, over: Partial<BenchOptions> = {}): Bench {
  const bench = aBench({
    strategies: [aTwap('t')],
    ...over,
    policy: { ...(approvals && { approvals }), areLimitsKept: true, ...over.policy },
  });
  bench.start();
  run(bench, MINUTE_MS);
  return bench;
}

/** The next process on the journal of `before`, which is killed. */
export function nextDesk(
  before: Bench,
  approvals: ApprovalSettings | undefined,
  over: Partial<BenchOptions> = {},
): Bench {
  before.kill();
  const { clock, exchange, journal } = before;
  return aDesk(approvals, { clock, exchange, journal, ...over });
}

/** Gives a command as this person, unless it has another token, and returns the answer given within a second. */
export function tell(bench: Bench, name: string, command: object): CommandAnswer {
  let told: CommandAnswer = { isDone: false, says: 'no answer' };
  const answer = (given: CommandAnswer): void => {
    told = given;
  };
  const whole = { by: name, why: 'w', token: person(name), ...command, answer };
  bench.operator$.next(whole as unknown as Command);
  run(bench, SECOND_MS);
  return told;
}

export const approve = (bench: Bench, name: string, request = 'ap-1', more: object = {}): CommandAnswer =>
  tell(bench, name, { do: 'approve', request, ...more });

/** A desk that somebody halted, and that eve asks to re-arm. */
export function halted(bench: Bench): Bench {
  bench.operator$.next({ do: 'halt', by: 'eve', why: 'wrong prices' });
  tell(bench, 'eve', { do: 'rearm' });
  return bench;
}

export const requests = (bench: Bench): readonly ApprovalRecord[] => bench.bodies('approval');

export const fills = (bench: Bench): number => bench.bodies('fill').length;

/** The faults that the proof of approvals finds in a desk's records. */
export function faults(bench: Bench): readonly string[] {
  const proof = new ApprovalsProof();
  for (const stored of bench.records()) proof.take(stored);
  return proof.findings.flatMap(({ fault }) => fault ?? []);
}

/** Strategy files with the content that `sources` returns. */
export const files = (sources: () => readonly StrategySource[]): StrategiesPort => ({
  read: () => ({ sources: sources(), off: [], notes: [] }),
  revive: ({ document }) => {
    const { id, kind, ...params } = document as { id: string; kind: string };
    return aStrategy(id, kind, params);
  },
});
