import { unitOf } from '../../core/instrument.ts';
import { feesInQuote } from '../../core/cycle/balance-changes.ts';
import { add, holding, money, quantity, subtract } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import type { ControlRecord, FillRecord, RecordBody } from '../../core/record.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { Desk } from '../desk.ts';
import { sliceKey } from '../state/engine-state.ts';
import type { OpenSlice } from '../state/engine-state.ts';
import { costOf, MALFORMED, shortfallBps } from '../state/totals.ts';
import type { ParentTotals } from '../state/totals.ts';

/** The effects of a bad end beyond its slice: pauses of a parent, a pair or the desk, and halts. */

export interface BadEnd {
  readonly reason: Reason;
  /** `limit=… value=…` where a limit was broken. */
  readonly detail: string;
}

/** Consecutive quotes outside the collar, over at least `reference.max_age`, that pause their parent. */
const COLLAR_DISCARDS_MAX = 3;
/** Consecutive invalid responses for a pair that pause it. */
const MALFORMED_MAX = 5;
/** Limits whose breach raises an alert although only one slice ends. */
const TOLD: ReadonlySet<Reason> = new Set<Reason>(['order_size', 'position_limit', 'control_failed']);

/** Records that accompany an attempt that ended without a trade, or a try without a quote request. */
export function circuitBreakers(desk: Desk, { intent }: OpenSlice, end: BadEnd): readonly RecordBody[] {
  const { reason, detail } = end;
  const { totals } = desk.state;
  const { parent, pair } = intent;
  if (TOLD.has(reason)) desk.observer.alert('limit_refused', { parent, pair, reason, detail });
  if (reason === 'message_throttle') {
    desk.observer.alert('messages_throttled', { detail });
    return pauseDesk(desk, end);
  }
  if (reason === 'prices_agree') return resumeParent(desk, parent, detail);
  if (totals.pausedWhy(parent, pair) !== undefined) return [];
  if (reason === 'price_drift') return [pauseParent(desk, parent, end)];
  if (reason === 'collar' && haveDisagreed(desk, parent)) {
    desk.priceTrials.start(parent, desk.ports.clock.monotonic());
    return [{ ...pauseParent(desk, parent, end), ends: 'prices_agree' }];
  }
  const streak = totals.malformed(pair) + 1;
  if (!MALFORMED.has(reason) || streak < MALFORMED_MAX) return [];
  const figures = `limit=${MALFORMED_MAX} in a row value=${streak}`;
  desk.observer.alert('parent_paused', { pair, reason, detail: figures });
  return [
    {
      kind: 'control',
      state: 'paused',
      pair,
      by: 'tranche',
      why: words({ reason, detail: `${figures} ${detail}` }),
    },
  ];
}

/**
 * Whether quotes of a parent were outside the collar often enough and for long enough. Reference prices expire after
 * `reference.max_age`, so the quotes disagreed with at least two of them, and one absurd price cannot pause a parent.
 */
function haveDisagreed({ state, policy, ports }: Desk, parent: string): boolean {
  const known = state.totals.parent(parent);
  const collars = (known?.collars ?? 0) + 1;
  const now = ports.clock.wall();
  const since = known?.collarsSince ?? now;
  const isLong = since > now || now - since >= policy.reference.maxAgeMs;
  return isLong && collars >= COLLAR_DISCARDS_MAX;
}

/** Ends a parent's pause because of disagreeing prices; a person's pause stays. */
function resumeParent(desk: Desk, parent: string, detail: string): readonly RecordBody[] {
  if (!desk.state.totals.isPricePaused(parent)) return [];
  desk.priceTrials.end(parent);
  return [{ kind: 'control', state: 'active', parent, by: 'tranche', why: `prices_agree: ${detail}` }];
}

/** Records to write with a fill, computed as if it were already booked. */
export function afterFill(desk: Desk, fill: FillRecord): readonly RecordBody[] {
  if (fill.source === 'transactions' || fill.source === 'lookup') tellLate(desk, fill);
  if (desk.state.filledIds.has(fill.client_order_id)) return [];
  const known = desk.state.totals.parent(fill.parent);
  const broken = capBroken(desk, fill, known) ?? dayBroken(desk, fill);
  if (broken !== undefined) {
    desk.observer.alert('limit_breached', { client_order_id: fill.client_order_id, ...broken });
    return desk.control === 'halted'
      ? []
      : [{ kind: 'control', state: 'halted', by: 'tranche', why: words(broken) }];
  }
  const most = desk.policy.limits.shortfallBpsMax;
  const bps = known && most && shortfallBps(withFill(known, fill));
  if (most === undefined || bps === undefined || bps.lte(most)) return [];
  if (desk.state.totals.pausedWhy(fill.parent, fill.pair) !== undefined) return [];
  const detail = `limit=${most.toFixed()} bps value=${bps.toFixed(2)} bps`;
  return [pauseParent(desk, fill.parent, { reason: 'shortfall', detail })];
}

const REPORT_MS = 5 * SECOND_MS;

/** Raises an alert for a fill that became known late. */
function tellLate(desk: Desk, { client_order_id, executed_at }: FillRecord): void {
  const lateMs = desk.ports.clock.wall() - executed_at;
  if (lateMs > REPORT_MS) desk.observer.alert('fill_reported_late', { client_order_id, late_ms: lateMs });
}

const withFill = (known: ParentTotals, fill: FillRecord): ParentTotals => ({
  ...known,
  filled: add(known.filled, quantity(fill.quantity)),
  filledAmount: add(known.filledAmount, money(fill.amount)),
  fees: add(known.fees, feesInQuote(fill)),
});

/** A fill that exceeds its parent or slice by more than one unit of the currency means a bug or a broken venue. */
function capBroken(desk: Desk, fill: FillRecord, known: ParentTotals | undefined): BadEnd | undefined {
  const slice = desk.state.slices.get(sliceKey(fill.parent, fill.slice));
  if (slice === undefined) return undefined;
  const { intent } = slice;
  const { basePrecision, quotePrecision } = desk.instruments.precisions(intent.pair);
  const isQuantity = intent.by === 'quantity';
  const unit = unitOf(isQuantity ? basePrecision : quotePrecision);
  const more = quantity(isQuantity ? fill.quantity : fill.amount);
  const ofSlice = add(isQuantity ? slice.filled : holding(slice.filledAmount), more);
  const size = quantity(intent.size);
  if (ofSlice.gt(size) && subtract(ofSlice, size).gt(unit))
    return { reason: 'parent_cap', detail: `limit=${intent.size} of the slice value=${ofSlice.toFixed()}` };
  const plan = desk.strategies.plan(slice.strategy);
  const most = plan?.by === intent.by ? plan.total : known?.decided;
  const done = known && add(isQuantity ? known.filled : holding(known.filledAmount), more);
  return most !== undefined && done?.gt(most) === true && subtract(done, most).gt(unit)
    ? { reason: 'parent_cap', detail: `limit=${most.toFixed()} of the parent value=${done.toFixed()}` }
    : undefined;
}

/** The gate refuses orders before they exceed the day limit; if fills exceed it anyway, a person must investigate. */
function dayBroken(desk: Desk, fill: FillRecord): BadEnd | undefined {
  const { limits } = desk.policy;
  const today = desk.limitDay.now();
  const { dayNotionalMax, dayCostMax } = limits;
  if (dayNotionalMax !== undefined) {
    const total = add(desk.state.totals.dayNotional(today), money(fill.notional_usd));
    if (total.gt(dayNotionalMax))
      return {
        reason: 'day_limit',
        detail: `limit=max_day_notional ${dayNotionalMax.toFixed()} value=${total.toFixed(2)}`,
      };
  }
  const pairMax = limits.pairDayNotionalMax?.get(fill.pair);
  if (pairMax !== undefined) {
    const ofPair = add(desk.state.totals.dayNotional(today, fill.pair), money(fill.notional_usd));
    if (ofPair.gt(pairMax))
      return {
        reason: 'day_limit',
        detail: `limit=max_pair_day_notional ${pairMax.toFixed()} of ${fill.pair} value=${ofPair.toFixed(2)}`,
      };
  }
  if (dayCostMax === undefined) return undefined;
  const spent = add(desk.state.totals.dayCost(today), costOf(fill));
  return spent.gt(dayCostMax)
    ? { reason: 'day_limit', detail: `limit=max_day_cost ${dayCostMax.toFixed()} value=${spent.toFixed(2)}` }
    : undefined;
}

/** Text for the journal. The code comes first, so that it can be searched for. */
const words = ({ reason, detail }: BadEnd): string => `${reason}: ${detail}`;

function pauseParent(desk: Desk, parent: string, end: BadEnd): ControlRecord {
  desk.observer.alert('parent_paused', { parent, ...end });
  return { kind: 'control', state: 'paused', parent, by: 'tranche', why: words(end) };
}

/** A pause that ends automatically is not enough here. This pause waits for a person. */
const pauseDesk = (desk: Desk, end: BadEnd): readonly RecordBody[] =>
  desk.control === 'active' || (desk.control === 'paused' && desk.state.controlUntil !== undefined)
    ? [{ kind: 'control', state: 'paused', by: 'tranche', why: words(end) }]
    : [];
