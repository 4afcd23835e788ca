import { checkFunds } from './check-funds.ts';
import { checkDays } from './check-days.ts';
import { checkCost } from './check-cost.ts';
import { checkMinutes, checkPace } from './check-pace.ts';
import { checkMinimum, checkOrderLimits } from './check-sizes.ts';
import { checkClockChanges, checkHours, checkWindows } from './check-times.ts';
import { estimatedOf } from './plan.ts';
import type { Check, PlanFacts, PlannedStrategy } from './plan.ts';

/** Every check of a plan, in the order in which they are told. */
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

/** Those that need neither the account nor the venue: for whoever checks the files alone. */
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

/** What a strategy would trade now is held against the limits as if it were planned. Its funds it takes from the account as it is then. */
const withEstimate = (strategy: PlannedStrategy): PlannedStrategy => ({
  ...strategy,
  slices: [...strategy.slices, ...estimatedOf(strategy)],
});

/** Whether no check refuses it. What was not checked does not refuse, and is told. */
export const isFeasible = (checks: readonly Check[]): boolean =>
  checks.every(({ verdict }) => verdict !== 'refused');
