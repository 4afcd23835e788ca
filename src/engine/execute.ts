import type { Observable, OperatorFunction, Subscriber } from 'rxjs';
import { classifyQuote } from '../core/answer.ts';
import { follow } from '../core/cycle.ts';
import type { CycleEvent, Phase } from '../core/cycle.ts';
import { lastOrderStart } from '../core/doubts.ts';
import { clientId } from '../core/ids.ts';
import { unitOf } from '../core/instrument.ts';
import type { Instrument } from '../core/instrument.ts';
import { holding, price, text } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import type { Reason } from '../core/reasons.ts';
import type { FillRecord, IntentRecord, ResolvedRecord } from '../core/record.ts';
import { isoOf } from '../core/time.ts';
import type { Quote } from '../core/venue.ts';
import { fillFromOrder } from './booking.ts';
import { nextAfter, refuses } from './control.ts';
import type { Desk } from './desk.ts';
import { Part, guard, hear, soon, whenBoth } from './flow.ts';
import { stopped } from './item.ts';
import type { Paced, Stopped } from './item.ts';
import type { Wish } from './pacer.ts';
import type { CommandAnswer } from './ports.ts';
import { trustOf } from './policy.ts';
import { passResendGate, sendOrder } from './send.ts';
import type { Sending } from './send.ts';
import { canPay, leftOfSlice } from './size.ts';
import { keepOf, tacticFault } from './tactics.ts';

/** A person's word about a doubt: goes into the journal before what follows from it, and is answered afterwards. */
export interface Word {
  readonly record: ResolvedRecord;
  answer(answer: CommandAnswer): void;
}

/** How an attempt ended, for now or for good. */
export type AttemptEnd = { readonly word?: Word | undefined } & (
  | {
      readonly end: 'filled';
      readonly intent: IntentRecord;
      readonly fill: FillRecord;
      readonly item?: Paced | undefined;
      readonly differs?: string | undefined;
      /** By more than a unit of either currency: something is wrong that a person must look at. */
      readonly isGrave?: boolean;
    }
  | {
      readonly end: 'doubt';
      readonly intent: IntentRecord;
      readonly phase: Phase & { readonly state: 'doubt' };
    }
  | {
      readonly end: 'closed';
      readonly intent: IntentRecord;
      readonly phase: Phase & { readonly state: 'ended' };
      readonly item?: Paced | undefined;
    }
);

/** Runs one attempt a permitted item: asks for a quote, makes the intent durable meanwhile, checks, executes. */
export function execute(
  desk: Desk,
  drain$: Observable<unknown>,
): OperatorFunction<Paced | Stopped, AttemptEnd | Stopped> {
  return soon<Paced | Stopped, AttemptEnd | Stopped>((item, stage, done) => {
    if (item.stage === 'stopped') done(item);
    else if (desk.control === 'halted') {
      // It may have waited for others to end: a halt since then comes before its quote.
      item.permit.giveBack();
      done(stopped(item.slice, 'halted', desk.controlWhy, { do: 'again' }));
    } else attempt({ desk, item, drain$ }, stage, done);
  }, desk.policy.cyclesMax);
}

/** The facts of one attempt that its effects share. */
interface Run extends Sending {
  readonly item: Paced;
  phase: Phase;
  /** What phases do and have not done yet. */
  underWay: number;
  /** Told of the end. */
  readonly end: (ended: AttemptEnd) => void;
}

function attempt(
  { desk, item, drain$ }: Pick<Run, 'desk' | 'item' | 'drain$'>,
  stage: Subscriber<AttemptEnd>,
  done: () => void,
): void {
  const intent = intentOf(desk, item);
  const { pair, side } = intent;
  const by = new Part(stage, () => {
    desk.leaving.delete(intent.client_order_id);
    item.permit.settle();
  });
  let isBeginning = true;
  let isOver = false;
  const leave = (): void => {
    by.unsubscribe();
    // The next one may begin in it: what fails there is not of this one.
    guard(stage, done);
  };
  const run: Run = {
    desk,
    item,
    by,
    intent,
    drain$,
    breaks: desk.continuity.count,
    orderPermit: undefined,
    phase: { state: 'quoting' },
    underWay: 0,
    request: { pair, side, size: item.size, clientId: intent.client_order_id },
    end: (ended) => {
      stage.next(ended);
      isOver = true;
      if (!isBeginning) leave();
    },
  };
  enter(run);
  isBeginning = false;
  // The next one begins when all has returned that led to the end of this one.
  if (isOver) leave();
}

/**
 * Does what the phase does. It tells of one event, which leads to the next phase; the last phases do nothing. The end is
 * told when all is done that led there: whoever grants a permit has then granted it.
 */
function enter(run: Run): void {
  const { phase } = run;
  if (phase.state === 'filled' || phase.state === 'doubt' || phase.state === 'ended') return;
  const then = (event: CycleEvent): void => {
    run.phase = follow(phase, event, trustOf(run.desk.policy));
    enter(run);
    run.underWay--;
    if (run.underWay === 0 && !run.by.closed) run.end(endOf(run, run.phase));
  };
  run.underWay++;
  switch (phase.state) {
    case 'quoting':
      askForQuote(run, then);
      break;
    case 'quoted':
      passGate(run, phase, then);
      break;
    case 'ordering':
      sendOrder(run, phase, then);
      break;
    case 'resending':
      hear(passResendGate(run, phase), run.by, { next: then, complete: () => undefined });
  }
}

function intentOf(desk: Desk, item: Paced): IntentRecord {
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
  if (item.override !== undefined) intent.override = item.override;
  return intent;
}

/** The request leaves first; the intent becomes durable while it is under way. Both must have come before anything follows. */
function askForQuote({ desk, item, intent, request, by }: Run, then: (event: CycleEvent) => void): void {
  const { clock, venue } = desk.ports;
  const askedAt = clock.monotonic();
  const both = whenBoth(then);
  hear(venue.quote(request), by, {
    next: (answer) => {
      item.permit.settle();
      const at = clock.monotonic();
      const meaning = classifyQuote(request, answer, item.instrument);
      const result =
        meaning.means === 'quote' ? 'quote' : meaning.means === 'smaller' ? 'too_large' : meaning.reason;
      desk.observer.quoted(request.pair, result, at - askedAt);
      desk.footprint.asked(request.pair, 'slice', meaning.means === 'quote');
      both.brings({ on: 'quote_answer', meaning, askedAt, at });
    },
    complete: both.ends,
  });
  if (!by.closed) desk.write([intent], by, both.ends);
}

/** The gate: the only way to an order. What it reads and the write to the socket happen in one tick, unless the order limit is full. */
function passGate(run: Run, phase: Phase & { state: 'quoted' }, then: (event: CycleEvent) => void): void {
  const { desk, intent, drain$ } = run;
  const { quote, life } = phase;
  const lastStart = lastOrderStart(life, desk.policy);
  const fault = quoteFault(run, quote);
  if (fault !== undefined) {
    then(fault);
    return;
  }
  const tooShort: CycleEvent = {
    on: 'stopped',
    reason: 'quote_too_short',
    detail: `a life of ${quote.lifeMs} ms leaves no time for an order`,
    next: { do: 'again' },
  };
  const wish: Wish = {
    route: 'order',
    priority: 'execute',
    key: intent.strategy,
    deadline: lastStart,
    until: { isOver: () => desk.isStopping, over$: drain$ },
  };
  desk.pacer.ask(wish, run.by, {
    granted: (permit) => {
      desk.observer.paced('order', 'execute', permit.waitedMs);
      const refused = desk.ports.clock.monotonic() > lastStart ? tooShort : gateFault(run, quote);
      if (refused !== undefined) permit.giveBack();
      else run.orderPermit = permit;
      then(refused ?? { on: 'approved' });
    },
    refused: () => {
      then(desk.isStopping ? shutdown : tooShort);
    },
  });
}

const shutdown: CycleEvent = { on: 'stopped', reason: 'shutdown', detail: 'stopping', next: { do: 'again' } };

/** A quote id must be new, and no life longer than what a crash would be waited out for. */
function quoteFault({ desk }: Run, { quoteId, lifeMs }: Quote): CycleEvent | undefined {
  if (lifeMs > desk.policy.inDoubt.lifeMaxMs) {
    return {
      on: 'stopped',
      reason: 'quote_mismatch',
      detail: `a life of ${lifeMs} ms`,
      next: { do: 'again' },
    };
  }
  if (desk.quoteIds.has(quoteId)) {
    return { on: 'stopped', reason: 'quote_reused', detail: quoteId, next: { do: 'again' } };
  }
  desk.quoteIds.add(quoteId);
  return undefined;
}

/** Limits and funds, with the quote in hand and everything under way counted. */
function gateFault({ desk, item, intent, breaks }: Run, quote: Quote): CycleEvent | undefined {
  const clientOrderId = intent.client_order_id;
  const { limit } = item.slice.intent;
  // The quote may be older than the monotonic clock says.
  if (desk.continuity.count !== breaks) {
    const detail = 'time was not continuous since the quote was asked for';
    return { on: 'stopped', reason: 'discontinuity', detail, next: { do: 'again' } };
  }
  const stale = staleFault(desk, item);
  if (stale !== undefined) return stale;
  const mid = desk.references.get(intent.pair)?.mid ?? item.reference.mid;
  const dear = tacticFault(desk, item.slice, { price: quote.price, mid });
  if (dear !== undefined) return { on: 'stopped', ...dear, next: { do: 'again' } };
  const refused = refuses(desk, item, {
    price: quote.price,
    quantity: quote.quantity,
    amount: quote.amount,
    notional: desk.convert(intent.quote, holding(quote.amount), desk.policy.limits.currency),
    limit: limit === undefined ? undefined : price(limit),
    clientId: clientOrderId,
  });
  if (refused !== undefined) return { on: 'stopped', ...refused, next: nextAfter(desk, refused.reason) };
  const { instrument, worst } = item;
  const { side } = intent;
  const pays = side === 'buy' ? intent.quote : intent.base;
  const needs = side === 'buy' ? holding(quote.amount) : quote.quantity;
  const keep = keepOf(desk, item.slice.intent, pays);
  if (canPay(desk, { instrument, side, needs, worst, clientId: clientOrderId, keep })) {
    desk.leaving.set(clientOrderId, intent);
    if (intent.override !== undefined) tellUse(desk, intent);
    return undefined;
  }
  const available = desk.available(pays, clientOrderId);
  return {
    on: 'stopped',
    reason: 'no_funds',
    detail: `needs ${needs.toFixed()} ${pays}, has ${available?.toFixed() ?? 'unknown'}`,
    next: { do: 'again' },
  };
}

function tellUse(
  { observer, state }: Desk,
  { override = '', client_order_id, parent, slice }: IntentRecord,
): void {
  const known = state.overrides.get(override);
  if (known?.usedBy !== client_order_id) return;
  const { proposal, approvedBy } = known;
  observer.alert('override_used', {
    override,
    client_order_id,
    parent,
    slice,
    limit: proposal.limit,
    value: proposal.value,
    proposed_by: proposal.by,
    approved_by: approvedBy,
  });
}

/** What was true when the attempt was sized and may not be any more: its time, its price, its slice. */
function staleFault(desk: Desk, { slice, size, reference }: Paced): CycleEvent | undefined {
  const stop = (reason: Reason, detail: string): CycleEvent => ({
    on: 'stopped',
    reason,
    detail,
    next: { do: 'again' },
  });
  const { pair, deadline } = slice.intent;
  if (desk.ports.clock.wall() >= deadline) return stop('deadline', 'the quote came after the slice was over');
  if (desk.references.get(pair) === undefined)
    return stop('stale_reference', `the reference price is of ${isoOf(reference.at)}`);
  const left = leftOfSlice(slice);
  const isMore =
    size.by === 'quantity'
      ? left.by !== 'quantity' || size.quantity.gt(left.quantity)
      : left.by !== 'amount' || size.amount.gt(left.amount);
  return isMore ? stop('quote_mismatch', 'the slice was filled meanwhile') : undefined;
}

function endOf({ desk, item, intent }: Run, phase: Phase): AttemptEnd {
  switch (phase.state) {
    case 'filled': {
      // By the days of the limits: a clock that was set back must not book into a day that nobody looks at.
      const executedAt = desk.limitDay.now();
      const notional = desk.convert(
        intent.quote,
        holding(phase.order.filledAmount),
        desk.policy.limits.currency,
      );
      const source = desk.policy.mode === 'dry_run' ? 'dry_run' : 'order';
      return {
        end: 'filled',
        intent,
        item,
        differs: phase.differs,
        isGrave: isGrave(phase, item.instrument),
        fill: fillFromOrder(intent, {
          order: phase.order,
          quote: phase.quote,
          executedAt,
          notional,
          source,
          decisionPrice: desk.decisionPrice(intent),
        }),
      };
    }
    case 'doubt':
      return { end: 'doubt', intent, phase };
    case 'ended':
      return { end: 'closed', intent, phase, item };
    default:
      throw new Error(`invariant broken: an attempt stopped while ${phase.state}`);
  }
}

/** Whether a fill differs from its quote by more than one unit of a currency's precision. */
const isGrave = ({ order, quote }: Phase & { state: 'filled' }, instrument: Instrument): boolean =>
  isBeyond(order.filled, quote.quantity, instrument.basePrecision) ||
  isBeyond(order.filledAmount, quote.amount, instrument.quotePrecision);

const isBeyond = <A extends Quantity | Money>(a: A, b: A, precision: number): boolean =>
  !a.eq(b) && a.minus(b).abs().gt(unitOf(precision));
