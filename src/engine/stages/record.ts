import { EMPTY, concat, defer, filter, map, merge, mergeMap, of, takeUntil, timer } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import type { Next, Proof } from '../../core/cycle/cycle.ts';
import { proofRecord } from '../../core/cycle/proof.ts';
import { add, money, quantity, text } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import type { AttemptRecord, IntentRecord, RecordBody, SliceRecord } from '../../core/record.ts';
import { isNothing, isPieceCut } from '../../core/risk/sizing.ts';
import type { Monotonic } from '../../core/time.ts';
import { executedTwice, haltRecord } from '../account/halt.ts';
import { afterFill, circuitBreakers } from '../operator/circuit-breakers.ts';
import { untilTime } from '../time/watch-clocks.ts';
import type { Desk } from '../desk.ts';
import { sliceKey } from '../state/engine-state.ts';
import type { OpenSlice } from '../state/engine-state.ts';
import { missingIn } from '../state/strategy-run.ts';
import type { AttemptEnd } from '../attempt/execute.ts';
import type { Stopped } from '../stage-types.ts';
import { andThen, mergeMapMaybe } from '../maybe-async.ts';
import { raisedMaximum, statedMaximum } from '../attempt/learnt-maximum.ts';
import { leftOfSlice } from './size.ts';
import { pauseOf, waitOf } from '../attempt/tactics.ts';

/**
 * Records ends durably, in order, and decides what each slice does next. Emits the slice when it is to be retried,
 * after a wait that suits the reason. A slice that ends wakes its strategy through the state.
 */
export function record(
  desk: Desk,
  drain$: Observable<unknown>,
): OperatorFunction<AttemptEnd | Stopped, OpenSlice> {
  return (ends) =>
    ends.pipe(
      mergeMapMaybe((end) => {
        const ending = endingOf(desk, end);
        return ending.bodies.length === 0 ? ending : andThen(desk.journal.write(ending.bodies), () => ending);
      }, 1),
      map(({ after }) => after?.()),
      filter((again) => again !== undefined),
      mergeMap((again) => again.pipe(takeUntil(drain$))),
    );
}

/** What the end of an attempt leads to. */
interface Ending {
  /** Records to make durable, all together. */
  readonly bodies: readonly RecordBody[];
  /** What follows once they are durable, if anything. */
  readonly after?: (() => Observable<OpenSlice> | undefined) | undefined;
}

function endingOf(desk: Desk, end: AttemptEnd | Stopped): Ending {
  if ('stage' in end) return retryOrEnd(desk, end.slice, { ...end, bodies: [] });
  const { intent } = end;
  const id = intent.client_order_id;
  // Two sources may prove the same end; only the first is recorded.
  if (!desk.state.attempts.has(id) || desk.endsBeingRecorded.has(id)) {
    end.resolution?.answer({ isDone: false, says: `${id} is no longer in doubt` });
    return { bodies: [] };
  }
  if (isOutdated(desk, end)) return { bodies: [] };
  desk.endsBeingRecorded.add(id);
  const { bodies, after } = attemptEnding(desk, end);
  return {
    bodies,
    after: () => {
      const again = after?.();
      desk.endsBeingRecorded.delete(id);
      end.resolution?.answer({ isDone: true, says: `${id} ${became[end.end]}` });
      return again;
    },
  };
}

/** Whether the end comes from a read that is older than the proof that the order traded. Such a read no longer proves absence. */
const isOutdated = ({ account }: Desk, end: AttemptEnd): boolean =>
  end.resolution === undefined &&
  account.doubts.get(end.intent.client_order_id)?.proof.proves === 'nothing' &&
  (end.end === 'closed' || (end.end === 'doubt' && end.phase.proof.proves !== 'nothing'));

const became: Readonly<Record<AttemptEnd['end'], string>> = {
  filled: 'is booked as traded',
  closed: 'is closed as not executed',
  doubt: 'traded; the desk books it when the account shows its figures',
};

const resolutionOf = ({ resolution }: AttemptEnd): readonly RecordBody[] =>
  resolution === undefined ? [] : [resolution.record];

function attemptEnding(desk: Desk, end: AttemptEnd): Ending {
  const { intent } = end;
  const slice = desk.state.slices.get(sliceKey(intent.parent, intent.slice));
  switch (end.end) {
    case 'doubt': {
      const isNew = !desk.account.doubts.has(intent.client_order_id);
      desk.account.doubts.set(intent.client_order_id, end.phase);
      const bodies: RecordBody[] = [
        ...resolutionOf(end),
        attemptRecord(desk, intent, { ...end.phase, result: 'doubt', orderIds: end.orderIds }),
      ];
      if (end.phase.halt) bodies.push(haltRecord(`the venue refused the token: ${end.phase.detail}`));
      if (isNew)
        desk.observer.alert('doubt_open', {
          client_order_id: intent.client_order_id,
          why: end.phase.detail,
        });
      return { bodies };
    }
    case 'filled':
      desk.account.doubts.delete(intent.client_order_id);
      desk.failures.delete(intent.pair);
      desk.footprint.filled(intent.pair);
      if (end.differs !== undefined)
        desk.observer.alert(end.isMore === true ? 'executed_twice' : 'fill_differs', {
          client_order_id: intent.client_order_id,
          why: end.differs,
        });
      return fillEnding(desk, slice, end);
    case 'closed': {
      desk.account.doubts.delete(intent.client_order_id);
      const { phase } = end;
      const bodies = [
        ...resolutionOf(end),
        attemptRecord(desk, intent, phase),
        ...statedMaximum(intent, phase),
      ];
      if (slice === undefined) return { bodies };
      return retryOrEnd(desk, slice, { ...phase, bodies });
    }
  }
}

/** The result of an attempt or, for a doubt, the progress of its proof. */
export function attemptRecord(
  { ports: { clock } }: Desk,
  { client_order_id }: IntentRecord,
  {
    result,
    reason,
    detail,
    proof,
    orderIds = [],
  }: Why &
    Pick<AttemptRecord, 'result'> & {
      readonly proof?: Proof;
      readonly orderIds?: readonly string[] | undefined;
    },
): AttemptRecord {
  const made: { -readonly [K in keyof AttemptRecord]: AttemptRecord[K] } = {
    kind: 'attempt',
    client_order_id,
    result,
  };
  // Omitted rather than `undefined`, because the journal holds plain JSON.
  if (reason !== undefined) made.reason = reason;
  if (detail !== undefined) made.detail = detail;
  if (orderIds.length > 0) made.order_ids = orderIds;
  if (proof !== undefined) made.proof = proofRecord(proof, clock.monotonic(), clock.boot?.());
  return made;
}

/** Books a fill. The slice continues after a piece, and ends when it is complete or was cut for lack of funds. */
function fillEnding(desk: Desk, slice: OpenSlice | undefined, end: AttemptEnd & { end: 'filled' }): Ending {
  const { fill, intent, differs } = end;
  const isTwice = end.isMore === true && desk.control !== 'halted';
  const bodies: RecordBody[] = [
    ...resolutionOf(end),
    ...(isTwice ? [haltRecord(executedTwice(intent, differs))] : []),
    fill,
    attemptRecord(desk, intent, { result: 'filled', detail: differs }),
  ];
  if (!isTwice && end.isGrave === true) bodies.push(...pauseRecord(desk, intent, differs));
  bodies.push(...raisedMaximum(desk, fill, intent), ...afterFill(desk, fill));
  if (slice === undefined) return { bodies };
  const after: Traded = {
    strategy: slice.strategy,
    intent: slice.intent,
    filled: add(slice.filled, quantity(fill.quantity)),
    filledAmount: add(slice.filledAmount, money(fill.amount)),
    missing: add(slice.missing, missingIn(fill).missing),
    missingAmount: add(slice.missingAmount, missingIn(fill).missingAmount),
  };
  const { cuts, cut_notes: notes } = intent;
  const cut = cuts.findIndex((reason) => !isPieceCut(reason));
  const isWhole = isNothing(leftOfSlice(after)) || isDust(desk, after);
  if (isWhole || cut >= 0) {
    bodies.push(sliceRecord(after, 'filled', isWhole ? {} : { reason: cuts[cut], detail: notes?.[cut] }));
    return { bodies };
  }
  // After a piece that tactics cut, the price gets time to recover. After a piece that the venue cut, the next one
  // follows immediately.
  const next = cuts.includes('size_impact')
    ? timer(pauseOf(desk, slice), desk.ports.clock.scheduler).pipe(map(() => slice))
    : of(slice);
  return { bodies, after: () => next };
}

/** A fill that differs from its quote is booked as reported; nothing new starts until a person has examined it. */
function pauseRecord(desk: Desk, { client_order_id: id }: IntentRecord, differs = ''): readonly RecordBody[] {
  const { control, controlUntil } = desk.state;
  // A pause that ends automatically would let the desk continue before a person has checked.
  if (control === 'halted' || (control === 'paused' && controlUntil === undefined)) return [];
  const why = `the fill of ${id} differs from its quote: ${differs}`;
  return [{ kind: 'control', state: 'paused', by: 'tranche', why }];
}

/** Whether less than one unit of the currency's precision is left. An amount that is filled by quantity cannot be reached exactly. */
function isDust(desk: Desk, slice: Traded): boolean {
  const left = leftOfSlice(slice);
  const { basePrecision, quotePrecision } = desk.instruments.precisions(slice.intent.pair);
  return left.by === 'quantity'
    ? left.quantity.lt(`1e-${basePrecision}`)
    : left.amount.lt(`1e-${quotePrecision}`);
}

interface EndedTry {
  readonly reason: Reason;
  readonly detail: string;
  readonly next: Next;
  /** Records to write with their consequences. */
  readonly bodies: readonly RecordBody[];
}

/** After an attempt that did not trade: a retry later, or the end of the slice. */
function retryOrEnd(desk: Desk, slice: OpenSlice, { reason, detail, next, bodies }: EndedTry): Ending {
  if (reason === 'collar') desk.references.renew(slice.intent.pair);
  const braked = [...bodies, ...circuitBreakers(desk, slice, { reason, detail })];
  if (next.do === 'halt') {
    const isToken = reason === 'unauthorised';
    if (!isToken) desk.observer.alert('limit_breached', { reason, detail });
    const why = isToken ? `the venue refused the token: ${detail}` : `${reason}: ${detail}`;
    return {
      bodies: [...braked, ...(desk.state.control === 'halted' ? [] : [haltRecord(why)])],
      after: () => retryAt(desk, slice, desk.policy.retry.capMs),
    };
  }
  const result = slice.filled.gt(0) ? 'filled' : 'skipped';
  if (next.do === 'stop')
    return { bodies: [...braked, sliceRecord(slice, result, causeOf(desk, slice, { reason, detail }))] };
  const waitMs = waitFor(desk, slice, reason, next.do === 'smaller' ? undefined : next.waitMs);
  if (waitMs === undefined)
    return { bodies: [...braked, sliceRecord(slice, result, { reason: 'retry_budget', detail })] };
  if (desk.ports.clock.wall() + waitMs >= slice.intent.deadline) {
    // Nothing more can be tried, but the slice ends only at its deadline, so that the strategy keeps its schedule.
    return { bodies: braked, after: () => expireLater(desk, slice, { reason, detail }) };
  }
  const retry = (): Observable<OpenSlice> => retryAt(desk, slice, waitMs, reason);
  // The risk mode may have changed since it was read, so the next attempt must read it again.
  const isStale = reason === 'order_refused' && desk.policy.pts.use !== 'never';
  return { bodies: braked, after: () => (isStale ? merge(desk.pts.poll(), retry()) : retry()) };
}

function retryAt(desk: Desk, slice: OpenSlice, waitMs: number, reason?: Reason): Observable<OpenSlice> {
  if (reason !== undefined) desk.observer.retried(reason);
  return timer(waitMs, desk.ports.clock.scheduler).pipe(map(() => slice));
}

/** Ends a slice at its deadline, unless something else ended it before. */
export function expireLater(desk: Desk, slice: OpenSlice, known: Why): Observable<never> {
  const why = causeOf(desk, slice, known);
  return concat(
    untilTime(desk, slice.intent.deadline).pipe(mergeMap(() => EMPTY)),
    defer(() => {
      const open = desk.state.slices.get(sliceKey(slice.intent.parent, slice.intent.slice));
      if (open === undefined || open.openAttempt !== undefined) return EMPTY;
      return desk.journal
        .append([sliceRecord(open, open.filled.gt(0) ? 'filled' : 'expired', why)])
        .pipe(mergeMap(() => EMPTY));
    }),
  );
}

/** Consequences of a venue that does not respond or quote. They are not the reason why a slice ends. */
const SYMPTOMS: ReadonlySet<Reason | undefined> = new Set<Reason>([
  'deadline',
  'no_balances',
  'no_reference',
]);

/** The venue's fault that caused a reason, otherwise the reason itself. */
function causeOf({ venueHealth }: Desk, { intent }: OpenSlice, why: Why): Why {
  const fault = SYMPTOMS.has(why.reason) ? venueHealth.faultOf(intent.pair) : undefined;
  if (fault === undefined) return why;
  return { reason: fault.reason, detail: `${fault.detail} (${why.reason ?? ''})` };
}

/** Why a slice ended as it did, with the figures. */
interface Why {
  readonly reason?: Reason | undefined;
  readonly detail?: string | undefined;
}

export function sliceRecord(
  { strategy, intent, filled, filledAmount, missing, missingAmount }: Traded,
  result: SliceRecord['result'],
  { reason, detail }: Why,
): SliceRecord {
  const { parent, leg, slice } = intent;
  const made: { -readonly [K in keyof SliceRecord]: SliceRecord[K] } = {
    kind: 'slice',
    strategy,
    parent,
    leg,
    slice,
    result,
    filled: text(filled),
    filled_amount: text(filledAmount),
  };
  // Omitted rather than `undefined`, because the journal holds plain JSON.
  if (reason !== undefined) made.reason = reason;
  if (detail !== undefined && detail !== '') made.detail = detail;
  if (!missing.isZero()) made.missing = text(missing);
  if (!missingAmount.isZero()) made.missing_amount = text(missingAmount);
  return made;
}

/** The fields of a slice that the record of its end contains. */
type Traded = Pick<
  OpenSlice,
  'strategy' | 'intent' | 'filled' | 'filledAmount' | 'missing' | 'missingAmount'
>;

/**
 * How long to wait before the next attempt, in milliseconds; `undefined` if the pair has had no quotes for longer than
 * permitted. Failures of the venue back off with full jitter; an unacceptable price is retried soon.
 */
function waitFor(
  desk: Desk,
  slice: OpenSlice,
  reason: Reason,
  statedMs: number | undefined,
): number | undefined {
  const { pair } = slice.intent;
  const { retry } = desk.policy;
  const now = desk.ports.clock.monotonic();
  if (reason === 'rate_limited') {
    const ms = statedMs ?? Math.min(2_000 * 2 ** failed(desk, pair, now), 60_000);
    desk.rateLimiter.block('quote', ms);
    return ms;
  }
  // A smaller size is requested immediately. If the venue also refuses that, the slice waits.
  if (reason === 'too_large' && (desk.failures.get(pair)?.count ?? 0) < SMALLER_MAX) {
    failed(desk, pair, now);
    return 0;
  }
  if (!FAILURES.has(reason)) {
    if (QUOTED.has(reason)) desk.failures.delete(pair);
    return waitOf(desk, slice) * slowedBy(desk, slice, reason);
  }
  const count = failed(desk, pair, now);
  if (now - (desk.failures.get(pair)?.since ?? now) > retry.budgetMs) return undefined;
  return desk.ports.random.next() * Math.min(retry.capMs, retry.baseMs * 2 ** count);
}

/** After this many consecutive unfilled orders of a pair, its slices wait four times as long, then sixteen times. */
const REJECTS_MAX = 3;

/** After this many consecutive quotes outside the collar, the waits stop growing. */
const COLLAR_DOUBLINGS_MAX = 4;

function slowedBy(desk: Desk, { intent: { parent, pair } }: OpenSlice, reason: Reason): number {
  if (reason === 'collar')
    return 2 ** Math.min(COLLAR_DOUBLINGS_MAX, desk.state.totals.parent(parent)?.collars ?? 0);
  if (reason !== 'order_canceled' && reason !== 'order_refused') return 1;
  // The record of this failure is written with its consequences.
  const streak = desk.state.totals.rejects(pair) + 1;
  return 4 ** Math.min(2, Math.floor(streak / REJECTS_MAX));
}

/** Number of consecutive immediate retries with a smaller size. */
const SMALLER_MAX = 4;

/** Failures of the venue. Each consecutive failure lengthens the wait. */
const FAILURES: ReadonlySet<Reason> = new Set<Reason>([
  'quotes_unavailable',
  'venue_failed',
  'quote_invalid',
  'venue_refused',
  'never_sent',
  'too_large',
]);
/** Reasons that imply that a quote was received, which ends a series of failures. */
const QUOTED: ReadonlySet<Reason> = new Set<Reason>([
  'collar',
  'limit_price',
  'tactics_refused',
  'price_drift',
  'prices_agree',
  'quote_too_short',
  'no_funds',
  'order_canceled',
  'order_refused',
  'proven_absent',
]);

/** Counts a failure of a pair; returns the number before it. A failure after a long quiet time starts over. */
function failed(desk: Desk, pair: string, now: Monotonic): number {
  const known = desk.failures.get(pair);
  const isOld = known === undefined || now - known.last > 4 * desk.policy.retry.capMs;
  const streak = isOld ? { count: 0, since: now } : known;
  desk.failures.set(pair, { count: streak.count + 1, since: streak.since, last: now });
  return Math.min(streak.count, 10);
}
