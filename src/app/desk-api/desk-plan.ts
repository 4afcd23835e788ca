import { DAY_MS, after } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import type { AnswerOf } from '../../operate/api/desk-reads.ts';
import { Refusal } from '../../operate/api/refusal.ts';
import type { Rehearsal } from '../../planning/rehearse.ts';
import { planData, planOf } from '../../planning/wording.ts';
import { localText, zoneHere, zoneOf } from '../cli/local-time.ts';
import type { Config } from '../config/config.ts';
import { pairsOf, rehearsalOf, rehearsed } from '../strategies/feasibility.ts';

/** Largest number of slices in one plan here; more would occupy the desk's processor for too long. */
const SLICES_MAX = 2_000;

interface Wanted {
  /** Only this strategy. */
  readonly strategy: string | undefined;
  readonly until: Instant;
  /** Default: `SLICES_MAX`. */
  readonly slicesMax?: number | undefined;
}

/** Lets the running strategies continue on virtual time with the current account, prices and limits. @throws Refusal */
export async function rehearsedDesk(
  desk: Desk,
  config: Config,
  { strategy, until, slicesMax = SLICES_MAX }: Wanted,
): Promise<Rehearsal> {
  const { state, references, instruments, policy, strategies: running, ports } = desk;
  const strategies = [...running.sources.values()].filter(
    ({ id }) => strategy === undefined || id === strategy,
  );
  if (strategy !== undefined && strategies.length === 0)
    throw new Refusal(404, `this desk has no strategy "${strategy}"`);
  const prices = pairsOf(strategies, config).flatMap((pair) => {
    const known = references.get(pair);
    return known === undefined ? [] : [[pair, { mid: known.mid, from: `reference price (${known.source})` }] as const]; // prettier-ignore
  });
  const precisions = strategies.flatMap(({ bound }) =>
    bound.pairs.flatMap((pair) => {
      const { base, quote, basePrecision, quotePrecision } = instruments.of(pair);
      return [[base, basePrecision], [quote, quotePrecision]] as const; // prettier-ignore
    }),
  );
  const setup = rehearsalOf(config, {
    strategies,
    facts: {
      prices: new Map(prices),
      precisions: new Map(precisions),
      funds:
        state.balances === undefined
          ? { missing: 'the account has not been read yet' }
          : { balances: state.balances, from: 'the account' },
    },
    from: ports.clock.wall(),
    until,
    state,
    slicesMax,
  });
  return await rehearsed({ ...setup, policy: { ...setup.policy, limits: policy.limits } });
}

/** Returns the plan of the running strategies. @throws Refusal */
export async function deskPlan(
  desk: Desk,
  config: Config,
  { strategy, days = 7 }: { readonly strategy?: string | undefined; readonly days?: number | undefined },
): Promise<AnswerOf<'/api/v1/plan'>> {
  const until = after(desk.ports.clock.wall(), days * DAY_MS);
  const plan = planOf(await rehearsedDesk(desk, config, { strategy, until }), {
    days,
    where: `mode ${config.mode}, desk ${config.desk}`,
    approvals: config.operate?.approvals,
    zoneOf: ({ source }) => zoneOf(source.document) ?? zoneHere(),
    local: localText,
  });
  return planData(plan) as AnswerOf<'/api/v1/plan'>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- a test holds it against its schema
}
