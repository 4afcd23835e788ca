import type { Observable, OperatorFunction, Subscriber } from 'rxjs';
import { classifyQuote } from '../core/answer.ts';
import { follow } from '../core/cycle.ts';
import type { CycleEvent, Phase, Trust } from '../core/cycle.ts';
import { clientId } from '../core/ids.ts';
import { unitOf } from '../core/instrument.ts';
import type { Instrument } from '../core/instrument.ts';
import { holding, text } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { missingOf } from '../core/ordered.ts';
import type { FillRecord, IntentRecord, Missing, ResolvedRecord } from '../core/record.ts';
import type { Monotonic } from '../core/time.ts';
import type { QuoteAnswer, QuoteRequest } from '../core/venue.ts';
import { fillFromOrder } from './booking.ts';
import type { Desk } from './desk.ts';
import { Both, Part, guard, hear, soon } from './flow.ts';
import type { Heard } from './flow.ts';
import { passGate } from './gate.ts';
import type { Gated } from './gate.ts';
import { stopped } from './item.ts';
import type { Paced, Sized, Stopped } from './item.ts';
import { isAsync } from './maybe-async.ts';
import type { Permit } from './pacer.ts';
import type { CommandAnswer } from './ports.ts';
import { trustOf } from './policy.ts';
import { passResendGate, patienceOf, sendOrder } from './send.ts';

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
      readonly differs?: string | undefined;
      /** By more than a unit of either currency: something is wrong that a person must look at. */
      readonly isGrave?: boolean;
      /** More was executed than was ordered: the desk halts. */
      readonly isMore?: boolean | undefined;
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
    }
);

/** What all attempts share. */
interface Common extends Pick<Gated, 'desk' | 'drain$' | 'patience' | 'until'> {
  readonly trust: Trust;
}

/** Runs one attempt a permitted item: asks for a quote, makes the intent durable meanwhile, checks, executes. */
export function execute(
  desk: Desk,
  drain$: Observable<unknown>,
): OperatorFunction<Paced | Stopped, AttemptEnd | Stopped> {
  const common: Common = {
    desk,
    drain$,
    patience: patienceOf(desk),
    trust: trustOf(desk.policy),
    until: { isOver: () => desk.isStopping, over$: drain$ },
  };
  return soon<Paced | Stopped, AttemptEnd | Stopped>((paced, stage, done) => {
    if (paced.stage === 'stopped') done(paced);
    else if (desk.control === 'halted') {
      // It may have waited for others to end: a halt since then comes before its quote.
      paced.permit.giveBack();
      done(stopped(paced.item.slice, 'halted', desk.controlWhy, { do: 'again' }));
    } else {
      const { parent } = paced.item.slice.intent;
      if (desk.state.totals.isPricePaused(parent))
        desk.priceTrials.begin(parent, desk.ports.clock.monotonic());
      new Attempt(common, paced, stage).begin(done);
    }
  }, desk.policy.cyclesMax);
}

const QUOTING: Phase = { state: 'quoting' };

/** The facts of one attempt, and what each of its phases does. It hears the answer to its quote request itself. */
class Attempt implements Gated, Heard<QuoteAnswer> {
  readonly desk: Desk;
  readonly drain$: Observable<unknown>;
  readonly patience: Gated['patience'];
  readonly until: Gated['until'];
  readonly item: Sized;
  readonly intent: IntentRecord;
  readonly request: QuoteRequest;
  readonly by: Part;
  readonly breaks: number;
  readonly both = new Both<CycleEvent>(this);
  orderPermit: Permit | undefined;
  readonly #trust: Trust;
  readonly #stage: Subscriber<AttemptEnd>;
  readonly #quotePermit: Permit;
  #phase = QUOTING;
  #askedAt: Monotonic;
  /** What phases do and have not done yet. */
  #underWay = 0;
  #isOver = false;
  /** Told of the end. Not known while it begins. */
  #done: (() => void) | undefined;

  constructor(common: Common, { item, permit }: Paced, stage: Subscriber<AttemptEnd>) {
    const { desk } = common;
    this.desk = desk;
    this.drain$ = common.drain$;
    this.patience = common.patience;
    this.until = common.until;
    this.item = item;
    const intent = intentOf(desk, item);
    const { pair, side, client_order_id: clientOrderId } = intent;
    this.intent = intent;
    this.request = { pair, side, size: item.size, clientId: clientOrderId };
    this.by = new Part(stage, () => {
      desk.leaving.delete(clientOrderId);
      permit.settle();
    });
    this.breaks = desk.continuity.count;
    this.#trust = common.trust;
    this.#stage = stage;
    this.#quotePermit = permit;
    this.#askedAt = desk.ports.clock.monotonic();
  }

  begin(done: () => void): void {
    this.#enter();
    this.#done = done;
    // The next one begins when all has returned that led to the end of this one.
    if (this.#isOver) this.#leave(done);
  }

  /**
   * Does what the phase does. It tells of one event, which leads to the next phase; the last phases do nothing. The end is
   * told when all is done that led there: whoever grants a permit has then granted it.
   */
  #enter(): void {
    const phase = this.#phase;
    if (phase.state === 'filled' || phase.state === 'doubt' || phase.state === 'ended') return;
    this.#underWay++;
    switch (phase.state) {
      case 'quoting':
        this.#askForQuote();
        break;
      case 'quoted':
        passGate(this, phase);
        break;
      case 'ordering':
        sendOrder(this, phase);
        break;
      case 'resending':
        hear(passResendGate(this, phase), this.by, {
          next: (event) => {
            this.goOn(event);
          },
          complete: () => undefined,
        });
    }
  }

  goOn(event: CycleEvent): void {
    this.#phase = follow(this.#phase, event, this.#trust);
    this.#enter();
    this.#underWay--;
    if (this.#underWay > 0 || this.by.closed) return;
    this.#stage.next(endOf(this, this.#phase));
    this.#isOver = true;
    if (this.#done !== undefined) this.#leave(this.#done);
  }

  #leave(done: () => void): void {
    this.by.unsubscribe();
    // The next one may begin in it: what fails there is not of this one.
    guard(this.#stage, done);
  }

  /** The request leaves first; the intent becomes durable while it is under way. Both must have come before anything follows. */
  #askForQuote(): void {
    const { desk, intent, by, both } = this;
    const { clock, venue } = desk.ports;
    this.#askedAt = clock.monotonic();
    hear(venue.quote(this.request), by, this);
    if (by.closed) return;
    // Stamped after the request has left: the quote is not older than that.
    const boot = clock.boot?.();
    const written = desk.write([boot === undefined ? intent : { ...intent, boot }]);
    if (isAsync(written)) hear(written, by, { next: () => undefined, complete: both.ends });
    else if (!by.closed) both.ends();
  }

  next(answer: QuoteAnswer): void {
    const { desk, request, item, both } = this;
    this.#quotePermit.settle();
    const askedAt = this.#askedAt;
    const at = desk.ports.clock.monotonic();
    const meaning = classifyQuote(request, answer, item.instrument);
    const result =
      meaning.means === 'quote' ? 'quote' : meaning.means === 'smaller' ? 'too_large' : meaning.reason;
    desk.observer.quoted(request.pair, result, at - askedAt);
    desk.footprint.asked(request.pair, 'slice', meaning.means === 'quote');
    both.brings({ on: 'quote_answer', meaning, askedAt, at });
  }

  complete(): void {
    this.both.ends();
  }
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
  if (item.override !== undefined) intent.override = item.override;
  return intent;
}

function endOf({ desk, item, intent }: Gated, phase: Phase): AttemptEnd {
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
        differs: phase.differs,
        isGrave: isGrave(phase, item.instrument),
        fill: fillFromOrder(intent, {
          order: phase.order,
          quote: phase.quote,
          executedAt,
          notional,
          source,
          decisionPrice: desk.decisionPrice(intent),
          missing: phase.differs === undefined ? undefined : missingOfAnswer(intent, phase),
        }),
      };
    }
    case 'doubt':
      return { end: 'doubt', intent, phase };
    case 'ended':
      return { end: 'closed', intent, phase };
    default:
      throw new Error(`invariant broken: an attempt stopped while ${phase.state}`);
  }
}

/** What an answer says that the venue did not fill, although it fills orders whole: it may have. */
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
