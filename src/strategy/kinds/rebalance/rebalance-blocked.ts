import { z } from 'zod';
import { greatest, least, NO_QUANTITY, quantity, ratio, scale, text } from '../../../core/money.ts';
import type { Ratio } from '../../../core/money.ts';
import type { Basis, Targets } from '../../../core/risk/portfolio.ts';
import type { Reason } from '../../../core/reasons.ts';
import { after, DAY_MS, HOUR_MS, MINUTE_MS, parseDuration } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import type { Wait } from '../../../core/wake.ts';
import type { Step, View } from '../../kernel.ts';
import type { Leg } from './rebalance-legs.ts';

/** The allowed drift of weights, and the interval between checks. */
interface Band {
  readonly drift_type: 'absolute' | 'relative';
  /** Fraction, as text. */
  readonly drift_threshold: string;
  /** ISO 8601. */
  readonly min_interval: string;
}

/** The reasons that blocked the latest rebalancings, none of which traded anything. Part of the state. */
export const blockedShape = z.lazy(() =>
  z.strictObject({
    /** `pair side reason` of each trade of the latest blocked rebalancing. */
    by: z.array(z.string()).readonly(),
    /** Number of consecutive blocked rebalancings, up to `TIMES_MAX`. */
    times: z.int().min(1),
  }),
);
export type Blocked = z.output<typeof blockedShape>;

/**
 * Reasons that persist until a new day, a person, a trade or another price changes the situation. Terms of the venue,
 * such as its risk mode, are not included, because the desk gets no notification when they change back.
 */
const STANDING: ReadonlySet<string> = new Set<Reason>([
  'no_funds',
  'kept_back',
  'below_minimum',
  'pts_credit',
  'halted',
  'paused',
  'reducing',
  'restricted_hours',
  'not_allowed',
  'selling_off',
  'order_size',
  'day_limit',
  'position_limit',
  'unsupported_pair',
]);

/** After this many consecutive failures for the same reason, the strategy waits for a change and notifies the operator. */
export const SAME_MAX = 10;
/** Longest wait before `SAME_MAX` is reached, unless `min_interval` is longer. */
const REST_MAX_MS = HOUR_MS;
/** Longest wait for a change, because an unobserved change may also lift the block. */
const CHANGE_MAX_MS = DAY_MS;
/** Shortest time between two wakes that changes cause, so that there are at most ten in an hour. */
const CHANGE_APART_MS = HOUR_MS / SAME_MAX;
/**
 * A block that the venue may lift is retried this many times after `min_interval`, then every ten minutes, which is at most ten
 * times in an hour.
 */
const TRANSIENT_MAX = 4;
const TRANSIENT_REST_MS = 10 * MINUTE_MS;
/** Longest wait for opening hours that only the config knows. */
const HOURS_MAX_MS = 15 * MINUTE_MS;
/** The waits reach their maximum long before this count. */
const TIMES_MAX = 32;
/** Smallest change of a weight that counts as a new situation. */
const MOVE_MIN = '0.01';

/**
 * Returns what blocked a rebalancing that has ended; `undefined` if it traded. The count grows if at least one trade met the same
 * reason as before.
 */
export function blockedBy(legs: readonly Leg[], before: Blocked | undefined): Blocked | undefined {
  if (legs.some(({ filled = '0' }) => quantity(filled).gt(0))) return undefined;
  // A trade that earlier trades reduced to nothing has no reason of its own.
  const tried = legs.flatMap(({ pair, side, reason }) =>
    reason === undefined ? [] : [{ pair, side, reason }],
  );
  if (tried.length === 0) return undefined;
  return again(tried.map(({ pair, side, reason }) => `${pair} ${side} ${reason}`).toSorted(), before);
}

/** Does the same as `blockedBy` for a decision that could not be made, and keeps earlier reasons that blocked trades. */
export function undecided(reason: Reason, before: Blocked | undefined): Blocked {
  const isOther = before !== undefined && !before.by.includes(reason);
  return isOther ? before : again([reason], before);
}

function again(by: readonly string[], before: Blocked | undefined): Blocked {
  const isSame = before?.by.some((one) => by.includes(one)) ?? false;
  return { by, times: isSame ? Math.min(TIMES_MAX, (before?.times ?? 0) + 1) : 1 };
}

const reasonsOf = ({ by }: Blocked): readonly string[] => by.map((one) => one.split(' ').at(-1) ?? '');

/** Whether only persistent reasons blocked the rebalancing. */
export const isStanding = (blocked: Blocked): boolean =>
  reasonsOf(blocked).every((reason) => STANDING.has(reason));

/** Returns the report for the moment at which the same reason has blocked `SAME_MAX` rebalancings in a row; empty otherwise. */
export const saidOf = (blocked: Blocked | undefined): Pick<Step<unknown>, 'reason' | 'note'> =>
  blocked?.times === SAME_MAX
    ? { reason: 'strategy_blocked', note: `${SAME_MAX} times in a row: ${blocked.by.join(', ')}` }
    : {};

/**
 * Returns when a blocked rebalancing is retried at the latest. For persistent reasons, the wait doubles each time, but
 * ends when the reason may end on its own. Blocks that the venue may lift are first retried after `min_interval`.
 */
export function restUntil(plan: Pick<Band, 'min_interval'>, blocked: Blocked, at: Instant): Instant {
  const { times } = blocked;
  const leastMs = parseDuration(plan.min_interval);
  if (!isStanding(blocked))
    return after(at, times <= TRANSIENT_MAX ? leastMs : Math.max(leastMs, TRANSIENT_REST_MS));
  const reasons = reasonsOf(blocked);
  const isOver = times >= SAME_MAX;
  const mostMs = Math.min(
    reasons.includes('restricted_hours') ? HOURS_MAX_MS : CHANGE_MAX_MS,
    reasons.includes('day_limit') ? DAY_MS - (at % DAY_MS) : CHANGE_MAX_MS,
    isOver ? CHANGE_MAX_MS : REST_MAX_MS,
  );
  const wishedMs = isOver ? CHANGE_MAX_MS : leastMs * 2 ** (times - 1);
  return after(at, Math.max(leastMs, Math.min(mostMs, wishedMs)));
}

/** The holdings at `at`, and the target weights. */
interface Portfolio {
  readonly at: Instant;
  readonly view: View;
  readonly targets: Targets;
  readonly basis: Basis;
}

/**
 * Returns waits for events that may lift the limit earlier (another balance, an operator's command, a new process), or
 * for weights that have moved so far that other trades may be due.
 */
export function sooner(
  plan: Band,
  { times }: Pick<Blocked, 'times'>,
  { at, view, targets, basis }: Portfolio,
): readonly Wait[] {
  const leastMs = parseDuration(plan.min_interval);
  const isOver = times >= SAME_MAX;
  const notBefore = after(at, isOver ? Math.max(leastMs, CHANGE_APART_MS) : leastMs);
  const valued = view.value(targets, basis);
  const currencies = [...new Set([...targets.keys(), basis.cash])];
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
    notBefore: isOver ? after(at, Math.max(leastMs, REST_MAX_MS)) : notBefore,
  };
  return [lifted, moved];
}

/** Returns the width of the narrowest band around a target weight. */
function bandWidth({ drift_type: type, drift_threshold: threshold }: Band, targets: readonly Ratio[]): Ratio {
  const wanted = targets.filter((target) => target.gt(0));
  const scaled = type === 'absolute' ? [] : wanted.map((target) => scale(target, ratio(threshold)));
  return greatest(ratio(MOVE_MIN), least(ratio(threshold), ...scaled));
}
