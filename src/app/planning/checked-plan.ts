import { precisionsOf } from '../../core/instrument.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { approvalChecks } from '../../planning/check-approvals.ts';
import { expectedCosts } from '../../planning/check-cost.ts';
import { checksOf, isFeasible } from '../../planning/feasible.ts';
import type { Check, PlanFacts, PlannedStrategy } from '../../planning/plan.ts';
import type { Problem } from '../../strategy/kernel.ts';
import type { Config } from '../config/config.ts';
import type { JournalSnapshot } from '../strategies/journal-snapshot.ts';
import { worldOf } from '../strategies/strategies.ts';
import type { Found } from './plan-facts.ts';
import { planLimits } from './plan-limits.ts';
import type { CheckedPlan } from './plan-text.ts';
import { planOf } from './planning.ts';
import type { PlannedSource, PlanWorld } from './planning.ts';
import { rehearse } from './rehearse.ts';

/** Returns what the config and the venue's latest response state about pairs. */
export function planWorld(
  config: Config,
  { precisions }: Pick<Found, 'precisions'>,
  zone: string,
): PlanWorld {
  const world = worldOf(config);
  return {
    ...world,
    // The venue's latest response takes precedence over the config.
    precisions(pair) {
      const names = world.currencies(pair);
      return names === undefined
        ? world.precisions(pair)
        : precisionsOf(names, (currency) => precisions.get(currency), world.minimum(pair));
    },
    zone,
  };
}

const refusals = (strategy: string, problems: readonly Problem[]): readonly Check[] =>
  problems.map(({ message }) => ({ check: 'minimum', verdict: 'refused', strategy, says: message }));

/** Input of a plan. */
export interface Wanted {
  readonly config: Config;
  readonly strategies: readonly PlannedSource[];
  readonly found: Pick<Found, 'prices' | 'funds'>;
  readonly world: PlanWorld;
  readonly begun: Pick<JournalSnapshot, 'dayNotional'> | undefined;
  readonly span: { readonly from: Instant; readonly until: Instant };
  readonly days: number;
  /** Whether the operator named one zone for all strategies. */
  readonly isNamed: boolean;
}

/** Returns the plan of all strategies together, checked against limits, funds and calendars. */
export function checkedPlan({
  config,
  strategies,
  found,
  world,
  begun,
  span,
  days,
  isNamed,
}: Wanted): CheckedPlan {
  const facts: PlanFacts = {
    ...planLimits(config),
    now: span.from,
    until: span.until,
    currencies: (pair) => world.currencies(pair),
    minimum: (pair) => world.minimum(pair),
    precisions: (pair) => world.precisions(pair),
    price: (pair) => found.prices.get(pair),
    funds: found.funds,
    traded: begun && {
      day: isoOf(span.from).slice(0, 10),
      total: begun.dayNotional(span.from),
      ofPair: (pair) => begun.dayNotional(span.from, pair),
    },
  };
  const planned = strategies.map((one): PlannedStrategy => {
    const own = planOf(one, span, world);
    const estimate = estimateOf(one, own, facts);
    return {
      ...own,
      ...(isNamed ? { zone: world.zone } : {}),
      ...(estimate === undefined ? {} : { estimate }),
    };
  });
  const checks = [
    ...checksOf(planned, facts),
    ...approvalChecks(planned, facts, {
      settings: config.operate?.approvals,
      isBegun: (id) => world.life?.(id)?.hash === strategies.find((one) => one.id === id)?.hash,
    }),
    // When the strategies were first checked, the decimals of currencies that the venue has since returned were
    // unknown.
    ...strategies
      .filter(({ id }) => planned.some((one) => one.id === id && one.standing !== 'finished'))
      .flatMap(({ id, bound }) => refusals(id, bound.check(world))),
  ];
  return {
    from: span.from,
    until: span.until,
    days,
    where: `mode ${config.mode}, desk ${config.desk}`,
    strategies: planned,
    costs: expectedCosts(planned, facts),
    checks,
    feasible: isFeasible(checks),
    currency: facts.limits.currency,
    names: (pair) => world.currencies(pair),
  };
}

/**
 * Estimates the trades of a strategy whose decisions depend on the account: at its next scheduled time, or now if it
 * watches prices.
 */
function estimateOf(
  { id, bound, document }: PlannedSource,
  { standing, times }: PlannedStrategy,
  facts: PlanFacts,
): PlannedStrategy['estimate'] {
  if (!bound.isEstimated || standing === 'finished') return undefined;
  const isScheduled = document['schedule'] !== undefined;
  const at = isScheduled ? times.find(({ closed }) => closed === undefined)?.at : facts.now;
  return at === undefined ? undefined : rehearse({ id, bound, at, isScheduled }, facts);
}
