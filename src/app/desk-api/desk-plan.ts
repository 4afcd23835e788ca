import { DAY_MS, after } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import type { AnswerOf } from '../../operate/api/desk-reads.ts';
import { Refusal } from '../../operate/api/refusal.ts';
import type { Config } from '../config/config.ts';
import type { PlanWorld } from '../planning/planning.ts';
import { planData } from '../planning/plan-text.ts';
import { checkedPlan } from '../planning/checked-plan.ts';

/** Largest number of slots in one plan here; more slots would delay the desk. */
const SLOTS_MAX = 2_000;

export interface PlanQuery {
  readonly world: PlanWorld;
  readonly strategy?: string | undefined;
  readonly days?: number | undefined;
}

/** Returns the plan of the running strategies, checked against the current account, prices and limits. @throws Refusal */
export async function deskPlan(
  desk: Desk,
  config: Config,
  { world, strategy, days = 7 }: PlanQuery,
): Promise<AnswerOf<'/api/v1/plan'>> {
  const sources = [...desk.strategies.sources.values()].filter(
    ({ id }) => strategy === undefined || id === strategy,
  );
  if (strategy !== undefined && sources.length === 0)
    throw new Refusal(404, `this desk has no strategy "${strategy}"`);
  const from = desk.ports.clock.wall();
  const { balances, totals } = desk.state;
  const slots = sources.reduce((sum, { id, bound }) => {
    const begunAt = desk.state.lives.get(id)?.begunAt ?? from;
    return sum > SLOTS_MAX ? sum : sum + bound.slots(begunAt, undefined).length + bound.pairs.length * days;
  }, 0);
  if (slots > SLOTS_MAX)
    throw new Refusal(
      422,
      `the plan has more than ${SLOTS_MAX} slots: name one strategy, request fewer days, or run tranche plan`,
    );
  const pairs = new Set(sources.flatMap(({ bound }) => bound.pairs));
  const prices = new Map(
    [...pairs].flatMap((pair) => {
      const known = desk.references.get(pair);
      return known === undefined ? [] : [[pair, { mid: known.mid, from: `reference price (${known.source})` }] as const]; // prettier-ignore
    }),
  );
  const told = checkedPlan({
    config,
    strategies: sources,
    found: {
      prices,
      funds:
        balances === undefined
          ? { missing: 'the account has not been read yet' }
          : { balances, from: 'the account' },
    },
    world,
    begun: { dayNotional: (at, pair) => totals.dayNotional(at, pair) },
    span: { from, until: after(from, days * DAY_MS) },
    days,
    isNamed: false,
  });
  return await Promise.resolve(planData(told) as AnswerOf<'/api/v1/plan'>); // oxlint-disable-line typescript/no-unsafe-type-assertion -- a test holds it against its schema
}
