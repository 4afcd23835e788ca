import { after, DAY_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { standingChecks } from '../../planning/feasible.ts';
import type { Check, PlanFacts } from '../../planning/plan.ts';
import { zoneHere } from '../cli/local-time.ts';
import type { Config } from '../config/config.ts';
import { worldOf } from '../strategies/strategies.ts';
import { knownBeforehand } from './plan-facts.ts';
import { planLimits } from './plan-limits.ts';
import { planOf, timeIn } from './planning.ts';
import type { PlanWorld, PlannedSource } from './planning.ts';

/**
 * Number of days that the checks cover, as in `tranche plan` by default. For a strategy that starts later, they count
 * from its start.
 */
const DAYS = 7;

export interface Standing {
  readonly config: Config;
  /** Strategies to check; disabled ones are skipped. */
  readonly strategies: readonly (PlannedSource & { readonly enabled?: boolean })[];
  readonly now: Instant;
  /** Returns the life of a strategy that has started. */
  readonly life?: PlanWorld['life'];
}

/**
 * Returns faults that no account and no price could remedy. These are the checks of `tranche plan` that need only the
 * config and the documents, with the same texts. `validate`, a start and a reload refuse a strategy with such a fault;
 * a desk only warns if it already runs.
 */
export function standingFaults({ config, strategies, now, life }: Standing): readonly Check[] {
  const world: PlanWorld = {
    ...worldOf(config),
    zone: zoneHere(),
    ...(life === undefined ? {} : { life }),
  };
  const { prices } = knownBeforehand(config);
  const spans = strategies
    .filter(({ enabled }) => enabled !== false)
    .map((one) => ({ one, from: now, until: after(startOf(one, now), DAYS * DAY_MS) }));
  const facts: PlanFacts = {
    ...planLimits(config),
    now,
    until: instant(Math.max(now, ...spans.map(({ until }) => until))),
    currencies: (pair) => world.currencies(pair),
    minimum: (pair) => world.minimum(pair),
    precisions: (pair) => world.precisions(pair),
    price: (pair) => prices.get(pair),
    funds: { missing: 'the account was not read' },
  };
  const planned = spans.map(({ one, ...span }) => planOf(one, span, world));
  return standingChecks(planned, facts).filter(({ verdict }) => verdict === 'refused');
}

const startOf = ({ document }: PlannedSource, now: Instant): Instant =>
  instant(Math.max(now, timeIn(document, 'start_time') ?? now));

/** Returns a fault in one sentence, with its remedy. */
export const faultWords = ({ says, fix }: Check): string =>
  fix === undefined ? says : `${says}. To fix it: ${fix}`;
