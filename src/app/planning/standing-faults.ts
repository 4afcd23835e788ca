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

/** As many days as `tranche plan` covers by default; of what starts later, from its start on. */
const DAYS = 7;

export interface Standing {
  readonly config: Config;
  /** Those that are not enabled are left out. */
  readonly strategies: readonly (PlannedSource & { readonly enabled?: boolean })[];
  readonly now: Instant;
  /** Lives that are known to have started. */
  readonly life?: PlanWorld['life'];
}

/**
 * What no account and no price could make feasible: the checks of `tranche plan` that need only the config and the documents, with
 * the same texts. `validate`, a start and a reload refuse them in what would begin; a desk warns of them in what runs already.
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

/** A fault in one sentence, with the way out. */
export const faultWords = ({ says, fix }: Check): string =>
  fix === undefined ? says : `${says}. To fix it: ${fix}`;
