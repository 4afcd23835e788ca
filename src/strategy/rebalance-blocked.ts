import { z } from 'zod';
import { greatest, least, NO_QUANTITY, quantity, ratio, scale, text } from '../core/money.ts';
import type { Ratio } from '../core/money.ts';
import type { Reason } from '../core/reasons.ts';
import { after, DAY_MS, HOUR_MS, MINUTE_MS, parseDuration } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Wait } from '../core/wake.ts';
import type { View } from './kernel.ts';
import { basisOf, targetsOf } from './rebalance-fields.ts';
import type { Params } from './rebalance-fields.ts';
import type { Leg } from './rebalance-legs.ts';

/** What stood in the way of the last rebalancings, none of which traded anything. Kept in the state. */
export const blockedShape = z.lazy(() =>
  z.strictObject({
    /** `pair side reason` of each trade of the last one. */
    by: z.array(z.string()).readonly(),
    /** How many in a row, up to `TIMES_MAX`. */
    times: z.int().min(1),
  }),
);
export type Blocked = z.output<typeof blockedShape>;

/**
 * Limits that stay as they are until a day, a person, a trade or another price changes what they are held against. Terms of the venue,
 * such as its risk mode, are not among them: nobody is told when they come back.
 */
const STANDING: ReadonlySet<string> = new Set<Reason>([
  'no_funds',
  'kept_back',
  'below_minimum',
  'pts_never',
  'pts_max_credit',
  'halted',
  'paused',
  'parent_paused',
  'reducing',
  'restricted_hours',
  'pair_not_allowed',
  'side_not_allowed',
  'selling_off',
  'order_notional',
  'order_quantity',
  'day_notional',
  'pair_day_notional',
  'position_floor',
  'position_ceiling',
  'unsupported_pair',
]);
/** Those that end with the day of the limits, which begins at midnight UTC. */
const OF_THE_DAY: ReadonlySet<string> = new Set<Reason>(['day_notional', 'pair_day_notional']);

/** Longest wait, unless `min_interval` is longer. */
const REST_MAX_MS = HOUR_MS;
/** Longest wait for hours that open at a time which only the config knows. */
const HOURS_MAX_MS = 15 * MINUTE_MS;
/** Long before that every wait is the longest. */
const TIMES_MAX = 32;
/** A weight moves by so much at least before it counts as another situation. */
const MOVE_MIN = '0.01';

/**
 * What blocked a rebalancing that is over: `undefined` when it traded, or when something else than a limit stood in the way of a
 * trade. One more in a row where one of the same trades met the same limit as before.
 */
export function blockedBy(legs: readonly Leg[], before: Blocked | undefined): Blocked | undefined {
  if (legs.some(({ filled = '0' }) => quantity(filled).gt(0))) return undefined;
  // A trade of which nothing was left, because of those before it, has no reason of its own.
  const tried = legs.flatMap(({ pair, side, reason }) =>
    reason === undefined ? [] : [{ pair, side, reason }],
  );
  if (tried.length === 0 || !tried.every(({ reason }) => STANDING.has(reason))) return undefined;
  const by = tried.map(({ pair, side, reason }) => `${pair} ${side} ${reason}`).toSorted();
  const isSame = before?.by.some((one) => by.includes(one)) ?? false;
  return { by, times: isSame ? Math.min(TIMES_MAX, (before?.times ?? 0) + 1) : 1 };
}

/** When a blocked rebalancing is tried again at the latest: after twice as long each time, but no later than a limit may end by itself. */
export function restUntil(plan: Params, { by, times }: Blocked, at: Instant): Instant {
  const leastMs = parseDuration(plan.min_interval);
  const reasons = by.map((one) => one.split(' ').at(-1) ?? '');
  const mostMs = Math.min(
    reasons.includes('restricted_hours') ? HOURS_MAX_MS : REST_MAX_MS,
    reasons.some((one) => OF_THE_DAY.has(one)) ? DAY_MS - (at % DAY_MS) : REST_MAX_MS,
  );
  return after(at, Math.max(leastMs, Math.min(mostMs, leastMs * 2 ** (times - 1))));
}

/**
 * What may lift the limit before: a balance that is another, a word of the operator, a new process; or weights that have moved so far
 * that other trades may be due.
 */
export function sooner(
  plan: Params,
  { at, view }: { readonly at: Instant; readonly view: View },
): readonly Wait[] {
  const notBefore = after(at, parseDuration(plan.min_interval));
  const basis = basisOf(plan);
  const targets = targetsOf(plan);
  const valued = view.value(targets, basis);
  const currencies = [...new Set([...targets.keys(), plan.cash])];
  const held = currencies.map((one) => [one, text(view.holdings?.get(one) ?? NO_QUANTITY)] as const);
  const lifted: Wait = { on: 'lifted', held: Object.fromEntries(held), since: at, notBefore };
  if (valued === undefined) return [lifted];
  const weights = [...valued.weights].map(([currency, weight]) => [currency, weight.toFixed(6)] as const);
  const moved: Wait = {
    on: 'drift',
    targets: Object.fromEntries(weights),
    ...basis,
    driftType: 'absolute',
    threshold: text(bandWidth(plan, [...targets.values()])),
    notBefore,
  };
  return [lifted, moved];
}

/** How far a weight may be from its target, the narrowest band of all. */
function bandWidth(
  { drift_type: type, drift_threshold: threshold }: Params,
  targets: readonly Ratio[],
): Ratio {
  const wanted = targets.filter((target) => target.gt(0));
  const scaled = type === 'absolute' ? [] : wanted.map((target) => scale(target, ratio(threshold)));
  return greatest(ratio(MOVE_MIN), least(ratio(threshold), ...scaled));
}
