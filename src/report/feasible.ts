import { checkFunds } from './plan-funds.ts';
import { checkDays } from './plan-days.ts';
import { checkCost } from './plan-cost.ts';
import { checkMinutes, checkPace } from './plan-pace.ts';
import { checkMinimum, checkOrderLimits } from './plan-sizes.ts';
import { checkClockChanges, checkHours, checkWindows } from './plan-times.ts';
import type { Check, PlanFacts, PlannedStrategy } from './plan.ts';

/** Every check of a plan, in the order in which they are told. */
export const checksOf = (strategies: readonly PlannedStrategy[], facts: PlanFacts): readonly Check[] => [
  ...checkWindows(strategies, facts),
  ...checkMinimum(strategies, facts),
  ...checkOrderLimits(strategies, facts),
  ...checkMinutes(strategies, facts),
  ...checkDays(strategies, facts),
  ...checkFunds(strategies, facts),
  ...checkPace(strategies, facts),
  ...checkHours(strategies, facts),
  ...checkClockChanges(strategies),
  ...checkCost(strategies, facts),
];

/** Whether no check refuses it. What was not checked does not refuse, and is told. */
export const isFeasible = (checks: readonly Check[]): boolean =>
  checks.every(({ verdict }) => verdict !== 'refused');
