import { checkFunds } from './check-funds.ts';
import { checkDays } from './check-days.ts';
import { checkCost } from './check-cost.ts';
import { checkMinutes, checkPace } from './check-pace.ts';
import { checkMinimum, checkOrderLimits } from './check-sizes.ts';
import { checkClockChanges, checkHours, checkWindows } from './check-times.ts';
import { estimatedOf } from './plan.ts';
import type { Check, PlanFacts, PlannedStrategy } from './plan.ts';

/** Every check of a plan, in the order of the output. */
export const checksOf = (strategies: readonly PlannedStrategy[], facts: PlanFacts): readonly Check[] => [
  ...checkWindows(strategies, facts),
  ...checkMinimum(strategies.map(withEstimate), facts),
  ...checkOrderLimits(strategies.map(withEstimate), facts),
  ...checkMinutes(strategies.map(withEstimate), facts),
  ...checkDays(strategies.map(withEstimate), facts),
  ...checkFunds(strategies, facts),
  ...checkPace(strategies, facts),
  ...checkHours(strategies, facts),
  ...checkClockChanges(strategies),
  ...checkCost(strategies, facts),
];

/** Checks that need neither the account nor the venue, for commands that check only files. */
export const standingChecks = (
  strategies: readonly PlannedStrategy[],
  facts: PlanFacts,
): readonly Check[] => [
  ...checkMinimum(strategies, facts),
  ...checkOrderLimits(strategies, facts),
  ...checkMinutes(strategies, facts),
  ...checkDays(strategies, facts),
  ...checkPace(strategies, facts),
  ...checkHours(strategies, facts),
];

/**
 * Compares the estimate of a strategy with the limits as if it were planned; the current account provides its funds.
 */
const withEstimate = (strategy: PlannedStrategy): PlannedStrategy => ({
  ...strategy,
  slices: [...strategy.slices, ...estimatedOf(strategy)],
});

/** Whether no check refuses the plan. A check that could not run does not refuse the plan, but is reported. */
export const isFeasible = (checks: readonly Check[]): boolean =>
  checks.every(({ verdict }) => verdict !== 'refused');
