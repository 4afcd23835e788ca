import {
  add,
  fraction,
  money,
  NO_MONEY,
  NO_QUANTITY,
  price,
  cost,
  quantity,
  ratioOf,
  scale,
  subtract,
} from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { reasons } from '../core/reasons.ts';
import type { Reason } from '../core/reasons.ts';
import type { ControlRecord, FillRecord, IntentText, RecordBody } from '../core/record.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Wait } from '../core/wake.ts';
import type { StrategySource } from '../engine/state/strategy-source.ts';
import { countedScheduleFields, timesBetween } from '../strategy/calendar/schedule.ts';
import type { Forecast, ParentProgress } from '../strategy/kernel.ts';
import type { KnownState, Rehearsal } from './rehearse.ts';

/** A slice that the desk decided on virtual time, and what became of it. */
export interface PlannedSlice {
  readonly strategy: string;
  readonly intent: IntentText;
  /** Currency of its size. */
  readonly currency: string;
  readonly at: Instant;
  /** Time of its first fill. */
  filledAt?: Instant | undefined;
  /** Number of its orders. */
  orders: number;
  /** Largest value of its orders, in the currency of the limits. */
  worst: Money;
  /** Why orders were smaller than wanted, each with its figures. */
  readonly cuts: Map<Reason, string>;
  /** In the unit of its size. */
  traded: Quantity;
  result?: 'filled' | 'skipped' | 'expired' | undefined;
  reason?: Reason | undefined;
  detail?: string | undefined;
}

/** A time at which a strategy decides without trading, and why; or a closed time of its calendar. */
export interface PlannedTime {
  readonly at: Instant;
  readonly why?: string | undefined;
  readonly closed?: string | undefined;
}

export interface PlannedStrategy {
  readonly id: string;
  readonly kind: string;
  readonly source: StrategySource;
  readonly slices: PlannedSlice[];
  readonly times: PlannedTime[];
  readonly fills: FillRecord[];
  /** Whether there are more times than were read. */
  isCut: boolean;
  /**
   * State in the journal. `running`: it continues. `edited`: an earlier document with this id is running, and the new one
   * is planned as if it started now. `finished`: this document never runs again. Omitted: not started.
   */
  readonly standing: 'running' | 'edited' | 'finished' | undefined;
  /** Number of slots before and after the planned period, as far as they are known in advance. */
  readonly passed: number;
  readonly beyond: number;
  /** What it waits for at the end, and how much of its parent has traded by then. */
  readonly waits: readonly Wait[];
  readonly progress: ParentProgress | undefined;
  /** Expected cost by the kind's own model, in basis points. */
  readonly forecast: Forecast | undefined;
  /** Why it ended, with figures. */
  finished?: { readonly at: Instant; readonly reason: Reason; readonly note: string } | undefined;
}

export interface Listing {
  readonly strategies: readonly PlannedStrategy[];
  /** Halts and pauses by the desk itself. */
  readonly controls: readonly { readonly at: Instant; readonly body: ControlRecord }[];
}

/** Largest number of times of a calendar that are read. */
const TIMES_MAX = 20_000;

/** What a rehearsal recorded, by strategy. */
export function listingOf({ setup, records, desk, cutAt }: Rehearsal): Listing {
  const { strategies, from, state } = setup;
  const until = cutAt ?? setup.until;
  const planned = new Map(
    strategies.map((source): [string, PlannedStrategy] => {
      const { id, kind, bound } = source;
      const standing = standingOf(source, state);
      const life = desk.state.lives.get(id);
      const begunAt = life?.begunAt ?? from;
      const [pair] = bound.pairs;
      const known =
        pair === undefined || life === undefined || standing === 'finished'
          ? undefined
          : desk.instruments.of(pair);
      const slots = standing === 'finished' ? [] : bound.slots(begunAt, known);
      const closed = standing === 'finished' ? [] : timesOf(source, from, until);
      return [
        id,
        {
          id,
          kind,
          source,
          slices: [],
          times: closed.filter((time) => time.closed !== undefined),
          fills: [],
          isCut: closed.length >= TIMES_MAX,
          standing,
          passed: slots.filter(({ at }) => at < from).length,
          beyond: slots.filter(({ at }) => at >= until).length,
          waits: life?.waits ?? [],
          progress:
            life?.state === undefined || standing === 'finished' ? undefined : bound.progress(life.state),
          forecast: slots.length === 0 ? undefined : bound.forecast(begunAt, known),
        },
      ];
    }),
  );
  const slices = new Map<string, PlannedSlice>();
  const controls: { at: Instant; body: ControlRecord }[] = [];
  for (const { at, body } of records) {
    if (body.kind === 'control') controls.push({ at, body });
    else if (body.kind === 'wake') {
      const one = planned.get(body.strategy);
      if (one === undefined) continue;
      for (const intent of body.intents) {
        const { base, quote } = desk.instruments.of(intent.pair);
        const currency = intent.by === 'quantity' ? base : quote;
        const slice: PlannedSlice = {
          strategy: one.id,
          intent,
          currency,
          at,
          orders: 0,
          worst: NO_MONEY,
          cuts: new Map(),
          traded: NO_QUANTITY,
        };
        one.slices.push(slice);
        slices.set(`${intent.parent} ${intent.slice}`, slice);
      }
      const why = [body.reason, body.note].filter(Boolean).join(': ');
      if (body.finished !== undefined)
        one.finished = { at, reason: body.finished, note: body.note ?? reasons[body.finished] };
      // The calendar names closed times itself.
      else if (
        body.intents.length === 0 &&
        body.reason !== undefined &&
        body.reason !== 'blackout' &&
        body.on !== 'outcome'
      )
        one.times.push({ at, why });
    } else noteOn(slices, planned, at, body);
  }
  return { strategies: [...planned.values()], controls };
}

/** Notes what became of a slice. */
function noteOn(
  slices: ReadonlyMap<string, PlannedSlice>,
  planned: ReadonlyMap<string, PlannedStrategy>,
  at: Instant,
  body: RecordBody,
): void {
  if (body.kind !== 'intent' && body.kind !== 'fill' && body.kind !== 'slice') return;
  if (body.kind === 'fill') planned.get(body.strategy)?.fills.push(body);
  const slice = slices.get(`${body.parent} ${body.slice}`);
  if (slice === undefined) return;
  if (body.kind === 'intent') {
    slice.orders++;
    slice.worst = add(slice.worst, money(body.notional_usd));
    for (const [n, cut] of body.cuts.entries()) slice.cuts.set(cut, body.cut_notes?.[n] ?? '');
  } else if (body.kind === 'fill') {
    slice.filledAt ??= at;
    slice.traded = add(slice.traded, quantity(slice.intent.by === 'quantity' ? body.quantity : body.amount));
  } else Object.assign(slice, { result: body.result, reason: body.reason, detail: body.detail });
}

function standingOf(
  { id, hash }: StrategySource,
  state: KnownState | undefined,
): PlannedStrategy['standing'] {
  const life = state?.lives.get(id);
  if (life === undefined) return undefined;
  if (life.hash !== hash) return life.finished === undefined ? 'edited' : undefined;
  return life.finished === undefined ? 'running' : 'finished';
}

/** Times of the document's schedule in the period, between the document's own start and end. */
function timesOf({ document }: StrategySource, from: Instant, until: Instant): readonly PlannedTime[] {
  const schedule = countedScheduleFields.safeParse(document['schedule']);
  return schedule.success
    ? timesBetween(schedule.data, { from: instant(from - 1), until, most: TIMES_MAX })
    : [];
}

/** Whether a slice trades less than its size, apart from rounding. */
export const isShort = ({ intent, traded, result }: PlannedSlice): boolean =>
  result !== 'filled' || traded.lt(scale(quantity(intent.size), ALMOST));
const ALMOST = ratioOf(0.999);

/** Value of fills at the reference price, and what they cost compared with it, in the currency of the limits. */
export function paidFor(fills: readonly FillRecord[]): { readonly notional: Money; readonly cost: Money } {
  let [notional, paid] = [NO_MONEY, NO_MONEY];
  for (const { side, amount, quantity: filled, decision_price: decision, notional_usd: worth } of fills) {
    const atReference = cost(price(decision === '' ? '0' : decision), quantity(filled));
    const value = scale(money(worth), fraction(atReference, money(amount)));
    notional = add(notional, value);
    paid =
      side === 'buy' ? add(paid, subtract(money(worth), value)) : add(paid, subtract(value, money(worth)));
  }
  return { notional, cost: paid };
}
