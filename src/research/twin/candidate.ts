import { NO_MONEY, add, subtract } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import { meanCostOf, sharesOf, worthAt } from './compare.ts';
import type { Worth } from './compare.ts';
import type { Unasked } from './live-answers.ts';
import { sliceKey } from './outcomes.ts';
import type { SliceOutcome } from './outcomes.ts';
import { marketOf, play } from './play.ts';
import type { TwinRun } from './play.ts';
import { causes } from './twin-setup.ts';
import type { Cause, TwinSetup } from './twin-setup.ts';

/** A candidate text of a strategy compared with live. Amounts in USD; a positive amount favours the candidate. */
export interface CandidateComparison {
  readonly from: Instant;
  readonly until: Instant;
  /** Hash of the last record of live. */
  readonly head: string;
  readonly live: StrategySum;
  readonly candidate: StrategySum;
  readonly total: Money;
  /**
   * `text`: effect of the text on the model alone. For each other cause: how much more it changes the candidate than
   * live's text. The effects sum exactly to `total`.
   */
  readonly shares: Readonly<Record<Cause | 'rest', Money>>;
  /** Number of slices of the candidate that the model quoted. */
  readonly modelled: number;
  /** Number of the candidate's requests for which live has no response, by reason. */
  readonly unasked: Readonly<Record<Unasked, number>>;
}

/** One strategy, over all its slices. */
export interface StrategySum {
  readonly slices: number;
  readonly filled: number;
  /** USD. */
  readonly traded: Money;
  /** Mean cost of its slices compared with their references, in basis points; `undefined` if nothing traded. */
  readonly meanBps: number | undefined;
}

/** Runs live's text and the candidate, each as `compare` does. @throws OperatorError */
export function compareCandidate(
  setup: TwinSetup & { readonly candidate: StrategySource },
): CandidateComparison {
  const { recorded, candidate } = setup;
  const { id } = candidate;
  const until = setup.until ?? recorded.until;
  const market = marketOf(setup);
  const worth = worthAt(setup, market, until);
  const taken = [new Set<Cause>(), ...causes.map((_, i) => new Set(causes.slice(0, i + 1)))];
  const liveRuns = taken.map((each) => play({ ...setup, candidate: undefined }, market, each));
  const candidateRuns = taken.map((each) => play(setup, market, each));
  const differences = taken.map((_, i) =>
    subtract(worthIn(candidateRuns[i], id, worth), worthIn(liveRuns[i], id, worth)),
  );
  const liveSlices = [...recorded.slices.values()].filter(({ strategy }) => strategy === id);
  const last = candidateRuns.at(-1);
  const candidateSlices = slicesIn(last, id);
  const total = subtract(sum(candidateSlices, worth), sum(liveSlices, worth));
  return {
    from: recorded.from,
    until,
    head: recorded.head,
    live: strategySum(liveSlices, worth),
    candidate: strategySum(candidateSlices, worth),
    total,
    shares: sharesOf((cause) => {
      if (cause === 'rest') return subtract(total, differences.at(-1) ?? NO_MONEY);
      const step = subtract(
        differences[causes.indexOf(cause) + 1] ?? NO_MONEY,
        differences[causes.indexOf(cause)] ?? NO_MONEY,
      );
      return cause === 'text' ? add(differences[0] ?? NO_MONEY, step) : step;
    }),
    modelled: candidateSlices.filter((slice) => last?.modelled.has(sliceKey(slice)) === true).length,
    unasked: countsOf(last?.unasked ?? []),
  };
}

const slicesIn = (run: TwinRun | undefined, id: string): readonly SliceOutcome[] =>
  [...(run?.slices.values() ?? [])].filter(({ strategy }) => strategy === id);

const worthIn = (run: TwinRun | undefined, id: string, worth: Worth): Money => sum(slicesIn(run, id), worth);

const sum = (slices: readonly SliceOutcome[], worth: Worth): Money =>
  slices.reduce((all, slice) => add(all, worth.of(slice)), NO_MONEY);

const strategySum = (slices: readonly SliceOutcome[], worth: Worth): StrategySum => ({
  slices: slices.length,
  filled: slices.filter(({ result }) => result === 'filled').length,
  traded: slices.reduce((all, slice) => add(all, worth.traded(slice)), NO_MONEY),
  meanBps: meanCostOf(slices),
});

const countsOf = (unasked: readonly Unasked[]): CandidateComparison['unasked'] => ({
  pair_and_side: unasked.filter((why) => why === 'pair_and_side').length,
  time: unasked.filter((why) => why === 'time').length,
  size: unasked.filter((why) => why === 'size').length,
});
