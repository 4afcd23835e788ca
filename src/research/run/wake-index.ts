import type { Instant } from '../../core/time.ts';
import type { Lookout } from '../../engine/ports.ts';
import type { History } from './drift.ts';
import { indexPrices } from '../tape/index.ts';
import type { PriceIndex } from '../tape/index.ts';
import { driftSolver, nextCrossing, nextPriceAt } from './solve.ts';
import type { NextPossible } from './tape-market.ts';
import type { Tape } from '../tape/tape.ts';

type DriftWait = Extract<Lookout['wait'], { readonly on: 'drift' }>;

/**
 * Returns a function that computes when a wait can be met over these tapes: the next crossing of a level, the next
 * drift out of a band, or the next price at all. Indexes a tape when a strategy first waits for its prices; `indexOf`
 * may return an existing index.
 */
export function solvedOver(
  tapes: readonly Tape[],
  indexOf: (tape: Tape) => PriceIndex = indexPrices,
): NextPossible {
  const histories = new Map<string, History>();
  const historyOf = (pair: string): History | undefined => {
    const known = histories.get(pair);
    if (known !== undefined) return known;
    const tape = tapes.find((one) => one.pair === pair);
    if (tape === undefined) return undefined;
    const history = { tape, index: indexOf(tape) };
    histories.set(pair, history);
    return history;
  };
  const solvers = new WeakMap<DriftWait['targets'], Solver>();
  const solverOf = (wait: DriftWait): Solver['solve'] => {
    const known = solvers.get(wait.targets);
    if (known !== undefined && isSameBand(known.wait, wait)) return known.solve;
    const solve = driftSolver(histories, wait);
    solvers.set(wait.targets, { wait, solve });
    return solve;
  };
  return ({ pairs, wait, holdings }, from): Instant | undefined => {
    const known = pairs.map(historyOf).filter((history) => history !== undefined);
    // Only a new price can change an earlier result.
    const next = nextPriceAt(
      known.map(({ tape }) => tape),
      from,
    );
    if (next === undefined || wait === undefined) return next;
    if (wait.on === 'drift') return solverOf(wait)({ from: next, holdings: holdings ?? new Map() });
    const history = historyOf(wait.pair);
    return history && nextCrossing(history, wait, next);
  };
}

/**
 * Serves every wait for the same band, because a strategy waits for the band after every trade, with its own targets.
 * `notBefore` is handled elsewhere.
 */
interface Solver {
  readonly wait: DriftWait;
  readonly solve: ReturnType<typeof driftSolver>;
}

const isSameBand = (a: DriftWait, b: DriftWait): boolean =>
  a.cash === b.cash &&
  a.aside === b.aside &&
  a.via === b.via &&
  a.driftType === b.driftType &&
  a.threshold === b.threshold;
