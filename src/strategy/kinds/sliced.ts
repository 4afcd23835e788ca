import { z } from 'zod';
import type { Instrument, Minimum, Precisions } from '../../core/instrument.ts';
import {
  approximate,
  cost,
  decimalsOf,
  fraction,
  least,
  money,
  ONE,
  price,
  quantity,
  ratio,
  ratioOf,
  roundDown,
  scale,
  share,
  subtract,
  text,
} from '../../core/money.ts';
import type { Money, Quantity, Ratio } from '../../core/money.ts';
import { instant, MINUTE_MS, parseDuration, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Size } from '../../core/venue.ts';
import type { Wake } from '../../core/wake.ts';
import { checkDecimals, checkUnits, nearestSizes, oneOf } from '../checks.ts';
import { amountOf, durationText, pairSymbol, timeText, whole } from '../fields.ts';
import { defineStrategy } from '../kernel.ts';
import type { AnyStrategy, CheckWorld, Forecast, LadderWish, Problem, Slot, Step } from '../kernel.ts';
import { dueSize, plannedSize, slotMs, slotsPassed, unfitPlan } from '../worker/slicing.ts';
import type { Curve, SizeRule, SlicePlan } from '../worker/slicing.ts';
import { checkTactics, jitterField, ladderFields, tacticFields, tacticsOf } from '../worker/tactic-fields.ts';

const SLICES_MAX = 100_000;
/** The fields of all kinds that trade a total in slices over a window. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const slicedFields = () => ({
  pair: pairSymbol.describe('Pair to trade, such as btcusd'),
  side: z.enum(['buy', 'sell'], { error: 'expected buy or sell' }).describe('buy or sell'),
  total_quantity: amountOf('Size of the parent in base currency; give this or total_notional').optional(),
  total_notional: amountOf('Size of the parent in quote currency; give this or total_quantity').optional(),
  start_time: timeText
    .optional()
    .describe('First slot, with its zone; default: when the strategy first runs'),
  end_time: timeText.optional().describe('End of the window, with its zone; give this or duration'),
  duration: durationText.optional().describe('Length of the window, ISO 8601; give this or end_time'),
  interval: durationText
    .optional()
    .describe('Time between slots, ISO 8601; must divide the window; give this or slices'),
  slices: whole.min(1).max(SLICES_MAX).optional().describe('Number of slices; give this or interval'),
  ...tacticFields(),
  ...ladderFields(),
  jitter: jitterField({
    time: 'Largest shift of a slot within its interval, and largest increase of the wait between two quotes, percent',
    size: 'Largest change in the size of a slice, percent; the total does not change',
    seed: 'The same seed gives the same schedule',
    all: 'Randomizes slots and sizes so that others cannot infer the schedule',
  }),
  catch_up: z
    .enum(['pace', 'extend', 'skip', 'abort'], { error: 'expected pace, extend, skip or abort' })
    .default('pace')
    .describe(
      'Handling of missed quantity. pace: later slices make it up, each at most 1.5 times its planned size. extend: as pace, and the window is extended by the length of the outage, at most by 25 %. skip: it is not traded. abort: the parent stops after a gap longer than a minute',
    ),
});
type Sliced = z.output<z.ZodObject<ReturnType<typeof slicedFields>>>;

/** Returns the length of the window that starts at `startMs`, ms; zero or less if `end_time` is too early. */
export function durationMsOf(plan: Sliced, startMs: number): number {
  if (plan.duration !== undefined) return parseDuration(plan.duration);
  return plan.end_time === undefined ? 0 : parseTime(plan.end_time) - startMs;
}

const startOf = (plan: Sliced, begunAt: Instant): Instant =>
  plan.start_time === undefined ? begunAt : parseTime(plan.start_time);

const slicesOf = (plan: Sliced, durationMs: number): number =>
  plan.slices ??
  (plan.interval === undefined ? 1 : Math.max(1, Math.round(durationMs / parseDuration(plan.interval))));

/** Longest gap that `catch_up: abort` tolerates. */
const ABORT_GAP_MS = MINUTE_MS;
/** `extend` moves the end by at most this fraction of the window. */
const EXTENSION_MAX = 0.25;

const state = z.lazy(() =>
  z.strictObject({
    /** Next slice to start. */
    next: z.int().min(0),
    /** Not yet traded, in the currency of the total. */
    left: z.string(),
    /** How far `extend` has moved the slots, ms. */
    shiftMs: z.number().min(0),
  }),
);
type State = z.output<typeof state>;

const LEG = 'all';

type Slices = SlicePlan<Quantity | Money>;

/** The window of a parent, and the number of its slices. */
export interface Window {
  /** Unix ms. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly slices: number;
}

/** The parts that differ between kinds of sliced parents. */
interface SlicedKind<Params extends Sliced> {
  readonly kind: string;
  /** One sentence for `--help` and the schema. */
  readonly summary: string;
  /** `slicedFields` and the fields of the kind. */
  readonly params: z.ZodType<Params>;
  /** Returns how the total is spread over the slices; equally if omitted or if it returns `undefined`. */
  curve?(plan: Params, window: Window): Curve | undefined;
  /** Whether the curve depends on the start. */
  readonly curveNeedsStart?: boolean | undefined;
  /** For people: what makes the smallest slice larger, other than fewer slices. */
  readonly smallestHint?: string | undefined;
  /** Checks across the kind's own fields; called once the shared fields for size and window are complete. */
  check?(plan: Params, world: CheckWorld): readonly Problem[];
  forecast?(plan: Params, slices: Slices): Forecast | undefined;
}

/**
 * Returns a kind that trades a total in slices over a window. Slot rule: `n` slices at `start + k·(duration/n)`, `k =
 * 0…n−1`; the last slice takes the remainder, so that Σ slices = total exactly. A slice lasts until the next slot. A
 * slice never starts before the previous one has ended, so an unknown outcome pauses the parent.
 */
export function slicedStrategy<Params extends Sliced>(kind: SlicedKind<Params>): AnyStrategy {
  const planOf = slicePlanner(kind);
  return defineStrategy<Params, State>({
    kind: kind.kind,
    summary: kind.summary,
    params: kind.params,
    state,
    pairs: (plan) => [plan.pair],
    check: (plan, world) => check({ ...kind, planOf }, plan, world),
    ladder: ladderOf,

    start(plan, begunAt, view): Step<State> {
      const instrument = view.instrument(plan.pair);
      const slices = planOf(plan, begunAt, instrument);
      const first: State = { next: 0, left: text(slices.total), shiftMs: 0 };
      const why = unfitPlan(slices, sizeRuleOf(plan, instrument.minimum, instrument));
      if (why !== undefined) return ended(first, 'invalid_plan', why);
      return waitForSlot(first, slices);
    },

    step(was, wake, plan, context): Step<State> {
      const slices = planOf(plan, context.begunAt, context.view.instrument(plan.pair));
      if (wake.on === 'outcome') return takeOutcome(was, wake, plan, slices);
      return startSlice(was, wake.at, plan, slices);
    },

    progress: ({ left }, plan) => {
      const { amount, currency } = plan.total_quantity ??
        plan.total_notional ?? { amount: '0', currency: '' };
      return { total: amount, left, currency };
    },

    slots(plan, begunAt, known): readonly Slot[] {
      const slices = planOf(plan, begunAt, known);
      const currency = (plan.total_quantity ?? plan.total_notional)?.currency ?? '';
      return Array.from({ length: slices.slices }, (_, slice) => ({
        slice,
        at: instant(slotMs(slices, slice)),
        size: text(plannedSize(slices, slice)),
        currency,
      }));
    },

    forecast: (plan, begunAt, known) => kind.forecast?.(plan, planOf(plan, begunAt, known)),
  });
}

/** Returns the sizes up to an equal slice. While the start is unknown, the window may be shorter, but has the same slices. */
function ladderOf(plan: Sliced): LadderWish | undefined {
  if (plan.size_ladder === undefined) return undefined;
  const durationMs = durationMsOf(plan, plan.start_time === undefined ? 0 : parseTime(plan.start_time));
  const slices = slicesOf(plan, durationMs);
  const { pair, side, total_quantity: base, total_notional: notional } = plan;
  const size: Size =
    base === undefined
      ? { by: 'amount', amount: share(money(notional?.amount ?? '0'), slices, LADDER_DECIMALS) }
      : { by: 'quantity', quantity: share(quantity(base.amount), slices, LADDER_DECIMALS) };
  return { pair, side, size };
}
/** The probe rounds a size down to the decimals of its currency. */
const LADDER_DECIMALS = 18;

/** Returns a function that plans slices in base quantities or in quote amounts, in the unit of the total. */
function slicePlanner<Params extends Sliced>(kind: SlicedKind<Params>) {
  // A curve may be long, and every step needs it, so it is computed once per life.
  const made = new WeakMap<Params, { readonly startMs: number; readonly curve: Curve | undefined }>();
  const curveOf = (plan: Params, window: Window): Curve | undefined => {
    const known = made.get(plan);
    if (known?.startMs === window.startMs) return known.curve;
    const curve = kind.curve?.(plan, window);
    made.set(plan, { startMs: window.startMs, curve });
    return curve;
  };
  return (plan: Params, begunAt: Instant, known: Precisions | undefined): Slices => {
    const startMs = startOf(plan, begunAt);
    const durationMs = durationMsOf(plan, startMs);
    const window = { startMs, durationMs, slices: slicesOf(plan, durationMs) };
    const total =
      plan.total_quantity === undefined
        ? money(plan.total_notional?.amount ?? '0')
        : quantity(plan.total_quantity.amount);
    const precision = plan.total_quantity === undefined ? known?.quotePrecision : known?.basePrecision;
    return {
      ...window,
      total,
      precision: precision ?? Math.max(8, decimalsOf(total)),
      curve: curveOf(plan, window),
      jitter: plan.jitter && {
        timePct: plan.jitter.time_pct,
        sizePct: plan.jitter.size_pct,
        seed: plan.jitter.seed,
      },
    };
  };
}

const endOf = (slices: Slices, was: State): Instant =>
  instant(slices.startMs + slices.durationMs + was.shiftMs);
const slotOf = (slices: Slices, was: State, k: number): Instant =>
  k >= slices.slices ? endOf(slices, was) : instant(slotMs(slices, k) + was.shiftMs);
const leftOf = (was: State, plan: Sliced): Quantity | Money =>
  plan.total_quantity === undefined ? money(was.left) : quantity(was.left);

const ended = (was: State, reason: NonNullable<Step<State>['finished']>, note?: string): Step<State> => ({
  state: was,
  waits: [],
  finished: reason,
  reason: reason === 'finished' ? undefined : reason,
  note,
});

const waitForSlot = (was: State, slices: Slices): Step<State> => ({
  state: was,
  waits: [{ on: 'at', at: slotOf(slices, was, was.next) }],
});

const undone = ({ left }: State, plan: Sliced, { total }: Slices): string =>
  `${left} of ${text(total)} ${(plan.total_quantity ?? plan.total_notional)?.currency ?? ''} not traded`;

/** Subtracts the fill of a slice and waits for the next slot. */
function takeOutcome(was: State, wake: Wake & { on: 'outcome' }, plan: Sliced, slices: Slices): Step<State> {
  const { filled, filledAmount } = wake.outcome;
  const done = plan.total_quantity === undefined ? filledAmount : filled;
  const now: State = { ...was, left: text(subtract(leftOf(was, plan), done)) };
  if (!leftOf(now, plan).gt(0)) return ended(now, 'finished');
  if (now.next >= slices.slices) return ended(now, 'window_over', undone(now, plan, slices));
  return waitForSlot(now, slices);
}

/** Starts the slice that is due, after `catch_up` has dealt with the slots that passed. */
function startSlice(was: State, at: Instant, plan: Sliced, slices: Slices): Step<State> {
  const lateMs = at - slotOf(slices, was, was.next);
  const isGap = at >= slotOf(slices, was, was.next + 1);
  const shiftMs = plan.catch_up === 'extend' && isGap ? extension(was, lateMs, slices) : was.shiftMs;
  const now: State = { ...was, shiftMs };

  let turn = now.next;
  while (turn < slices.slices && slotOf(slices, now, turn + 1) <= at) turn++;
  const missed = Array.from({ length: turn - now.next }, (_, i) => {
    const slice = now.next + i;
    return { leg: LEG, slice, due: slotOf(slices, now, slice), size: text(plannedSize(slices, slice)) };
  });
  const gap =
    missed.length === 0 ? {} : { missed, reason: 'missed_slot' as const, note: slotsPassed(missed.length) };

  if (plan.catch_up === 'abort' && lateMs > ABORT_GAP_MS) {
    return {
      ...ended(now, 'aborted', `a gap of ${Math.round(lateMs / 1000)} s; ${undone(now, plan, slices)}`),
      missed,
    };
  }
  if (turn >= slices.slices) {
    return {
      ...ended({ ...now, next: turn }, 'window_over', undone(now, plan, slices)),
      missed,
    };
  }
  const size = dueSize(
    slices,
    turn,
    leftOf(now, plan),
    plan.catch_up === 'pace' || plan.catch_up === 'extend',
  );
  return {
    state: { ...now, next: turn + 1 },
    waits: [{ on: 'outcome', leg: LEG, slice: turn }],
    intents: [
      {
        leg: LEG,
        slice: turn,
        pair: plan.pair,
        side: plan.side,
        size:
          plan.total_quantity === undefined
            ? { by: 'amount', amount: money(text(size)) }
            : { by: 'quantity', quantity: quantity(text(size)) },
        limit: plan.limit_price === undefined ? undefined : price(plan.limit_price),
        tactics: tacticsOf(plan),
        deadline: slotOf(slices, now, turn + 1),
      },
    ],
    ...gap,
  };
}

const extension = (was: State, lateMs: number, slices: Slices): number =>
  Math.min(was.shiftMs + Math.max(0, Math.floor(lateMs)), Math.floor(slices.durationMs * EXTENSION_MAX));

/** Returns the unit and the minimum that apply to the total. The desk and `validate` use the same rule. */
const sizeRuleOf = (
  plan: Sliced,
  minimum: Minimum,
  { base, quote }: Pick<Instrument, 'base' | 'quote'>,
): SizeRule =>
  plan.total_quantity === undefined
    ? { unit: quote, minimum: minimum.notional }
    : { unit: base, minimum: minimum.quantity };

/** A kind, and the function with which the desk plans its slices. */
interface PlannedKind<Params extends Sliced> extends SlicedKind<Params> {
  planOf(plan: Params, begunAt: Instant, known: Precisions): SlicePlan<Quantity | Money>;
}

/** Checks across the fields of a document of a sliced kind. */
function check<Params extends Sliced>(
  kind: PlannedKind<Params>,
  plan: Params,
  world: CheckWorld,
): readonly Problem[] {
  const problems = [
    ...oneOf<Sliced>(plan, 'total_quantity', 'total_notional'),
    ...oneOf<Sliced>(plan, 'interval', 'slices'),
    ...oneOf<Sliced>(plan, 'duration', 'end_time'),
    ...checkUnits<Sliced>(plan, { base: 'total_quantity', quote: 'total_notional' }, world),
  ];
  if (problems.length > 0) return problems;
  const wrong = [...checkWindow(plan), ...checkTactics(plan, world), ...(kind.check?.(plan, world) ?? [])];
  // A curve uses only fields that have been checked.
  if (kind.curve !== undefined && wrong.length > 0) return wrong;
  const small = checkMinimum(plan, world, { curveOf: curveMaker(kind, plan), hint: kind.smallestHint });
  return [...wrong, ...(wrong.length + small.length > 0 ? small : checkSizes(kind, plan, world))];
}

/** Reports what the desk would reject when the parent begins, as far as its decimals are known, and suggests usable totals. */
function checkSizes<Params extends Sliced>(
  kind: PlannedKind<Params>,
  plan: Params,
  world: CheckWorld,
): readonly Problem[] {
  const known = world.precisions(plan.pair);
  const names = world.currencies(plan.pair);
  const isBase = plan.total_quantity !== undefined;
  const precision = isBase ? known.basePrecision : known.quotePrecision;
  const fields = { base: 'total_quantity', quote: 'total_notional' } as const;
  if (names === undefined || precision === undefined) return [];
  // A curve that depends on its start is checked against the minimum when the parent begins.
  if (plan.start_time === undefined && kind.curveNeedsStart === true)
    return checkDecimals<Sliced>(plan, fields, { world });
  const slices = kind.planOf(
    plan,
    instant(plan.start_time === undefined ? 0 : parseTime(plan.start_time)),
    known,
  );
  const rule = sizeRuleOf(plan, world.minimum(plan.pair), names);
  // For each total that it tries, the search evaluates every slice of a curve.
  const isSearched = slices.curve === undefined || slices.slices <= SEARCHED_MAX;
  const isUsable = (total: Quantity | Money): boolean => unfitPlan({ ...slices, total }, rule) === undefined;
  const decimals = checkDecimals<Sliced>(plan, fields, {
    world,
    isUsable: isSearched ? isUsable : undefined,
  });
  const why = decimals.length > 0 ? undefined : unfitPlan(slices, rule);
  if (why === undefined) return decimals;
  const [more] = isSearched ? nearestSizes(slices.total, precision, isUsable) : [];
  const fix = more === undefined ? '' : `, or a total of ${text(more)} ${rule.unit} or more`;
  return [
    {
      path: [plan.slices === undefined ? 'interval' : 'slices'],
      message: `${why}: write fewer slices${fix}`,
    },
  ];
}

/** Largest number of slices of a curve for which usable totals are searched. */
const SEARCHED_MAX = 2_000;

function checkWindow(plan: Sliced): readonly Problem[] {
  if (plan.end_time !== undefined && plan.start_time === undefined) {
    return [{ path: ['end_time'], message: 'end_time needs start_time; or write duration instead' }];
  }
  const startMs = plan.start_time === undefined ? 0 : parseTime(plan.start_time);
  const durationMs = durationMsOf(plan, startMs);
  if (durationMs <= 0) return [{ path: ['end_time'], message: 'end_time must be later than start_time' }];
  const problems: Problem[] = [];
  if (plan.interval !== undefined && durationMs % parseDuration(plan.interval) !== 0) {
    const near = Math.max(1, Math.round(durationMs / parseDuration(plan.interval)));
    problems.push({
      path: ['interval'],
      message: `interval does not divide the window of ${durationMs / 1000} s; write slices: ${near} instead`,
    });
  }
  if (slicesOf(plan, durationMs) > SLICES_MAX) {
    problems.push({
      path: ['interval'],
      message: `more than ${SLICES_MAX} slices: choose a longer interval`,
    });
  }
  return problems;
}

/** Returns the curve over this many slices; `undefined` if all are equal. */
type CurveMaker = (slices: number) => Curve | undefined;

/**
 * Returns how the total is spread. While the start is unknown, a curve that depends on it is treated as equal slices.
 * The curve's smallest slice is never larger than these, and the parent checks it again when it begins.
 */
function curveMaker<Params extends Sliced>(kind: SlicedKind<Params>, plan: Params): CurveMaker {
  if (plan.start_time === undefined && kind.curveNeedsStart === true) return () => undefined;
  const startMs = plan.start_time === undefined ? 0 : parseTime(plan.start_time);
  return (slices) => kind.curve?.(plan, { startMs, durationMs: durationMsOf(plan, startMs), slices });
}

/** Rejects a slice below the venue's minimum, and names the largest possible number of slices. */
function checkMinimum(
  plan: Sliced,
  world: CheckWorld,
  { curveOf, hint }: { readonly curveOf: CurveMaker; readonly hint: string | undefined },
): readonly Problem[] {
  const durationMs = durationMsOf(plan, plan.start_time === undefined ? 0 : parseTime(plan.start_time));
  const slices = slicesOf(plan, durationMs);
  const [tightest] = minimumsOf(plan, world).toSorted((a, b) => a.feasible - b.feasible);
  if (tightest === undefined) return [];
  const { minimum, total, reduced, unit, shareMin } = tightest;
  const curve = curveOf(slices);
  const smallest = curve === undefined ? undefined : smallestShare(curve, slices);
  if (smallest === undefined ? slices <= tightest.feasible : smallest.gte(shareMin)) return [];
  const field = plan.slices === undefined ? 'interval' : 'slices';
  const feasible = smallest === undefined ? tightest.feasible : feasibleAlong(curveOf, slices, tightest);
  if (feasible < 1) {
    const message = `the whole total is below the venue's minimum of ${text(minimum)} ${unit}`;
    return [{ path: [field], message }];
  }
  const bound = `the venue's minimum of ${text(minimum)} ${unit}`;
  const wrong =
    smallest === undefined
      ? `${text(total)} ${unit} in ${slices} slices is below ${bound} each`
      : `the smallest of ${slices} slices is ${text(roundDown(scale(reduced, smallest), 8))} ${unit}, below ${bound}`;
  const fix = `at most ${feasible} slices are possible${field === 'interval' ? `, so write slices: ${feasible} instead` : ''}`;
  const other = smallest === undefined || hint === undefined ? '' : `; ${hint}`;
  return [{ path: [field], message: `${wrong}; ${fix}${other}` }];
}

function smallestShare(curve: Curve, slices: number): Ratio {
  const shares = Array.from({ length: slices }, (_, k) => subtract(curve(k + 1), curve(k)));
  return shares.reduce((a, b) => least(a, b), ONE);
}

/**
 * Returns the largest number of slices below the requested one for which no slice of the curve is too small. More
 * slices make the smallest slice smaller.
 */
function feasibleAlong(curveOf: CurveMaker, slices: number, { shareMin, feasible }: Bound): number {
  const isFeasible = (count: number): boolean => {
    const curve = curveOf(count);
    return (curve === undefined ? fraction(ONE, ratioOf(count)) : smallestShare(curve, count)).gte(shareMin);
  };
  let [yes, no] = [0, Math.min(slices, feasible + 1)];
  while (no - yes > 1) {
    const between = Math.floor((yes + no) / 2);
    if (isFeasible(between)) yes = between;
    else no = between;
  }
  return yes;
}

/** A total and one of the venue's minimums, both in `unit`. */
interface Bound {
  readonly minimum: Quantity | Money;
  readonly total: Quantity | Money;
  /** The total, reduced by the largest jitter of sizes. */
  readonly reduced: Quantity | Money;
  readonly unit: string;
  /** Largest number of equal slices that the minimum allows. */
  readonly feasible: number;
  /** Smallest planned share of the total that the minimum allows for a slice. */
  readonly shareMin: Ratio;
}

/** Returns what a minimum allows, with the largest jitter of sizes. */
function boundOf(plan: Sliced, { minimum, total, unit }: Pick<Bound, 'minimum' | 'total' | 'unit'>): Bound {
  const needed = scale(minimum, ratioOf(100));
  const smallest = scale(total, ratioOf(100 - (plan.jitter?.size_pct ?? 0)));
  const feasible = needed.gt(0) ? approximate(roundDown(fraction(smallest, needed), 0)) : SLICES_MAX;
  const reduced = scale(smallest, ratio('0.01'));
  return { minimum, total, reduced, unit, feasible, shareMin: fraction(needed, smallest) };
}

/** Returns the minimums that can be compared: the minimum in the unit of the total and, through `limit_price`, the other minimum. */
function minimumsOf(plan: Sliced, world: CheckWorld): readonly Bound[] {
  const { quantity: fewest, notional } = world.minimum(plan.pair);
  if (plan.total_notional !== undefined) {
    const { amount, currency } = plan.total_notional;
    return notional === undefined
      ? []
      : [boundOf(plan, { minimum: notional, total: money(amount), unit: currency })];
  }
  const total = quantity(plan.total_quantity?.amount ?? '0');
  const bounds =
    fewest === undefined
      ? []
      : [boundOf(plan, { minimum: fewest, total, unit: plan.total_quantity?.currency ?? '' })];
  if (notional !== undefined && plan.limit_price !== undefined) {
    const unit = world.currencies(plan.pair)?.quote ?? 'quote currency';
    bounds.push(boundOf(plan, { minimum: notional, total: cost(price(plan.limit_price), total), unit }));
  }
  return bounds;
}
