import { finalize } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { classifyQuote } from '../../core/cycle/answer.ts';
import { nextPhase } from '../../core/cycle/cycle.ts';
import type { CycleEvent, Doubt, Phase } from '../../core/cycle/cycle.ts';
import { invariant } from '../../core/errors.ts';
import { clientId } from '../../core/ids.ts';
import { unitOf } from '../../core/instrument.ts';
import type { Instrument } from '../../core/instrument.ts';
import { holding, text } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { missingOf } from '../../core/cycle/order-extent.ts';
import type { FillRecord, IntentRecord, Missing, ResolvedRecord } from '../../core/record.ts';
import { fillFromOrder } from './booking.ts';
import type { Desk } from '../desk.ts';
import { passGate, refusalNow } from './gate.ts';
import type { Approved, Gated } from './gate.ts';
import type { Sending } from './send-order.ts';
import { stopped } from '../stage-types.ts';
import type { Paced, Sized, Stopped } from '../stage-types.ts';
import { andThen, isAsync, mergeMapMaybe } from '../maybe-async.ts';
import type { MaybeAsync } from '../maybe-async.ts';
import type { Permit } from '../rate-limit/rate-limiter.ts';
import type { CommandAnswer } from '../ports.ts';
import { acceptQuote, sendOrder, whileWriting } from './send-order.ts';

/**
 * A person's resolution of a doubt. It is recorded in the journal before its consequences, and the person receives a
 * response afterwards.
 */
export interface OperatorResolution {
  readonly record: ResolvedRecord;
  answer(answer: CommandAnswer): void;
}

/** How an attempt ended: with an outcome, or as a doubt. */
export type AttemptEnd = { readonly resolution?: OperatorResolution | undefined } & (
  | {
      readonly end: 'filled';
      readonly intent: IntentRecord;
      readonly fill: FillRecord;
      readonly differs?: string | undefined;
      /** The fill differs from its quote by more than one unit of either currency; a person must examine it. */
      readonly isGrave?: boolean;
      /** More was executed than was ordered: the desk halts. */
      readonly isMore?: boolean | undefined;
    }
  | {
      readonly end: 'doubt';
      readonly intent: IntentRecord;
      readonly phase: Doubt;
      /** Order ids that rows or a lookup tie to it. */
      readonly orderIds?: readonly string[] | undefined;
    }
  | {
      readonly end: 'closed';
      readonly intent: IntentRecord;
      readonly phase: Phase & { readonly state: 'ended' };
    }
);

/** Maximum number of slices in progress at the same time. */
const CYCLES_MAX = 64;

/**
 * Runs one attempt for each permitted item: requests a quote, meanwhile makes the intent durable, checks the quote
 * and sends the order.
 */
export function execute(
  desk: Desk,
  drain$: Observable<unknown>,
): OperatorFunction<Paced | Stopped, AttemptEnd | Stopped> {
  const until = { isOver: () => desk.isStopping, over$: drain$ };
  return mergeMapMaybe<Paced | Stopped, AttemptEnd | Stopped>((paced) => {
    if (paced.stage === 'stopped') return paced;
    const { item, permit } = paced;
    const { parent } = item.slice.intent;
    if (desk.control === 'halted') {
      // The item may have waited for other attempts, and a halt since then takes precedence.
      permit.giveBack();
      return stopped(item.slice, 'halted', desk.controlWhy, { do: 'again' });
    }
    if (desk.state.totals.isPricePaused(parent)) desk.priceTrials.begin(parent, desk.ports.clock.monotonic());
    const intent = intentOf(desk, item);
    const { pair, side, client_order_id: clientOrderId } = intent;
    const request = { pair, side, size: item.size, clientId: clientOrderId };
    const breaks = desk.continuity.count;
    const attempt: Attempt = {
      desk,
      drain$,
      until,
      item,
      intent,
      request,
      breaks,
      approved: undefined,
      permit,
    };
    const release = (): void => {
      desk.leaving.delete(clientOrderId);
      permit.settle();
    };
    const end = runFrom(attempt, QUOTING);
    if (isAsync(end)) return end.pipe(finalize(release));
    release();
    return end;
  }, CYCLES_MAX);
}

const QUOTING: Phase = { state: 'quoting' };

/** One attempt. */
interface Attempt extends Gated, Sending {
  readonly desk: Desk;
  /** Permission to request the quote. */
  readonly permit: Permit;
}

/** Runs the effect of each phase; its event leads to the next phase. */
function runFrom(attempt: Attempt, from: Phase): MaybeAsync<AttemptEnd> {
  let phase = from;
  for (;;) {
    if (isFinal(phase)) return endOf(attempt, phase);
    const reached = phase;
    const event = effectOf(attempt, reached);
    if (isAsync(event)) {
      const next = (one: CycleEvent): MaybeAsync<AttemptEnd> =>
        runFrom(attempt, nextPhase(reached, one, marginOf(attempt)));
      return event.pipe(mergeMapMaybe(next));
    }
    phase = nextPhase(reached, event, marginOf(attempt));
  }
}

const marginOf = ({ desk }: Attempt): number => desk.policy.inDoubt.bookingMarginMs;

type Final = Phase & { readonly state: 'filled' | 'doubt' | 'ended' };

const isFinal = (phase: Phase): phase is Final =>
  phase.state === 'filled' || phase.state === 'doubt' || phase.state === 'ended';

function effectOf(attempt: Attempt, phase: Exclude<Phase, Final>): MaybeAsync<CycleEvent> {
  switch (phase.state) {
    case 'quoting':
      return askForQuote(attempt);
    case 'quoted':
      return passGate(attempt, phase);
    case 'ordering':
      invariant(attempt.approved !== undefined, 'the gate approves before an order leaves');
      return acceptAndSend(attempt, attempt.approved);
  }
}

/**
 * Sends an order. If accepting the quote required a write, the gate checks once more in the tick in which
 * the order leaves.
 */
function acceptAndSend(attempt: Attempt, approved: Approved): MaybeAsync<CycleEvent> {
  const accepted = acceptQuote(attempt, approved);
  if (!isAsync(accepted)) return sendOrder(attempt, approved);
  return accepted.pipe(
    mergeMapMaybe(() => {
      const refused = refusalNow(attempt, approved);
      if (refused === undefined) return sendOrder(attempt, approved);
      approved.giveBack();
      const meaning = { means: 'not_sent', detail: refused.detail } as const;
      return { on: 'order_answer', meaning, at: attempt.desk.ports.clock.monotonic() } as const;
    }),
  );
}

/**
 * The request leaves first; the intent becomes durable during the request. Nothing follows before both have
 * completed.
 */
function askForQuote({ desk, intent, request, item, permit }: Attempt): MaybeAsync<CycleEvent> {
  const { clock, venue } = desk.ports;
  const askedAt = clock.monotonic();
  const answer = andThen(venue.quote(request), (one): CycleEvent => {
    permit.settle();
    const at = clock.monotonic();
    const meaning = classifyQuote(request, one, item.instrument);
    const result =
      meaning.means === 'quote' ? 'quote' : meaning.means === 'smaller' ? 'too_large' : meaning.reason;
    desk.observer.quoted(request.pair, result, at - askedAt);
    desk.venueHealth.quoted(request.pair, result, 'detail' in meaning ? meaning.detail : '');
    desk.footprint.asked(request.pair, 'slice', meaning.means === 'quote');
    return { on: 'quote_answer', meaning, askedAt, at };
  });
  return whileWriting(answer, () => {
    // Timestamped after the request has left, because the quote is not older than that.
    const boot = clock.boot?.();
    return desk.journal.write([boot === undefined ? intent : { ...intent, boot }]);
  });
}

function intentOf(desk: Desk, item: Sized): IntentRecord {
  const { slice, instrument, size } = item;
  const { parent, slice: number, pair, side } = slice.intent;
  const intent: { -readonly [K in keyof IntentRecord]: IntentRecord[K] } = {
    kind: 'intent',
    client_order_id: clientId({ desk: desk.policy.desk, parent, slice: number, attempt: slice.attempts }),
    strategy: slice.strategy,
    parent,
    slice: number,
    attempt: slice.attempts,
    pair,
    base: instrument.base,
    quote: instrument.quote,
    side,
    by: size.by,
    size: text(size.by === 'quantity' ? size.quantity : size.amount),
    worst_price: text(item.worst),
    reference_price: text(item.reference.mid),
    notional_usd: item.notional === undefined ? '0' : text(item.notional),
    cuts: item.cuts,
  };
  if (item.notes.length > 0) intent.cut_notes = item.notes;
  return intent;
}

function endOf({ desk, item, intent }: Attempt, phase: Final): AttemptEnd {
  switch (phase.state) {
    case 'filled': {
      // Uses the days that limits use, because a clock that was set back must not cause a booking in a past day.
      const executedAt = desk.limitDay.now();
      const notional = desk.rates.convert(
        intent.quote,
        holding(phase.order.filledAmount),
        desk.policy.limits.currency,
      );
      const source = desk.policy.mode === 'dry_run' ? 'dry_run' : 'order';
      return {
        end: 'filled',
        intent,
        differs: phase.differs,
        isGrave: phase.differs !== undefined && isGrave(phase, item.instrument),
        fill: fillFromOrder(intent, {
          order: phase.order,
          quote: phase.quote,
          executedAt,
          notional,
          source,
          decisionPrice: desk.state.decisionPrice(intent),
          missing: phase.differs === undefined ? undefined : missingOfAnswer(intent, phase),
        }),
      };
    }
    case 'doubt':
      return { end: 'doubt', intent, phase };
    case 'ended':
      return { end: 'closed', intent, phase };
  }
}

/** The part that the response reports as not filled. The venue fills orders completely, so this part may have traded. */
function missingOfAnswer(
  intent: IntentRecord,
  { order, quote }: Phase & { state: 'filled' },
): Missing | undefined {
  const { quantity, amount } = quote;
  return missingOf(
    { intent, quoted: { quantity, amount } },
    { quantity: order.filled, amount: order.filledAmount },
  );
}

/** Whether a fill differs from its quote by more than one unit of a currency's precision. */
const isGrave = ({ order, quote }: Phase & { state: 'filled' }, instrument: Instrument): boolean =>
  isBeyond(order.filled, quote.quantity, instrument.basePrecision) ||
  isBeyond(order.filledAmount, quote.amount, instrument.quotePrecision);

const isBeyond = <A extends Quantity | Money>(a: A, b: A, precision: number): boolean =>
  !a.eq(b) && a.minus(b).abs().gt(unitOf(precision));
