import { concat, defaultIfEmpty, ignoreElements, map, takeUntil, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { classifyOrder } from '../core/answer.ts';
import { deskRefusal } from '../core/controls.ts';
import { lastResendStart } from '../core/cycle.ts';
import type { CycleEvent, Life, Phase } from '../core/cycle.ts';
import { answerWaitMs } from '../core/doubts.ts';
import { text } from '../core/money.ts';
import type { IntentRecord, QuoteRecord } from '../core/record.ts';
import type { Monotonic } from '../core/time.ts';
import type { OrderAnswer, OrderRequest, Quote, QuoteRequest } from '../core/venue.ts';
import type { Desk } from './desk.ts';
import { hear, hearWithin } from './flow.ts';
import type { Both, Listening, Patience } from './flow.ts';
import { isAsync } from './maybe-async.ts';
import type { Permit } from './pacer.ts';

/** What sending an order needs to know of its attempt. */
export interface Sending {
  readonly desk: Desk;
  /** Who listens to the attempt. */
  readonly by: Listening;
  readonly intent: IntentRecord;
  readonly request: QuoteRequest;
  readonly drain$: Observable<unknown>;
  /** Breaks of time before the quote was asked for. */
  readonly breaks: number;
  readonly patience: Patience<OrderAnswer>;
  /** A request, and the record that is written meanwhile. */
  readonly both: Both<CycleEvent>;
  /** Leave to send the order, once the gate has it. */
  orderPermit: Permit | undefined;
  /** Goes on with what came of its phase. */
  goOn(event: CycleEvent): void;
}

/** Longest wait for the answer to an order. */
export const patienceOf = ({ policy, ports }: Desk): Patience<OrderAnswer> =>
  patienceFor(policy.orderTimeoutMs, ports.clock.scheduler);

function patienceFor(ms: number, scheduler: SchedulerLike): Patience<OrderAnswer> {
  const late = lost(`no answer in ${Math.round(ms)} ms`);
  const none = lost('no answer');
  return { ms, scheduler, late: () => late, none: () => none };
}

/** The wait for the answer to one order, fitted to the life of its quote. */
function fittedPatience({ patience, desk }: Sending, life: Life, sentAt: Monotonic): Patience<OrderAnswer> {
  const { bookingMarginMs } = desk.policy.inDoubt;
  const ms = answerWaitMs(life, { sentAt, orderTimeoutMs: patience.ms, bookingMarginMs });
  return ms === patience.ms ? patience : patienceFor(ms, patience.scheduler);
}

/**
 * Sends the order, and writes down which quote it was for while the answer is under way. Whatever ends the wait closes the
 * exchange as well: there are never two copies in flight.
 */
export function sendOrder(run: Sending, { quote, copies, life }: Phase & { state: 'ordering' }): void {
  const { desk, intent, request, by, both } = run;
  const { receivedAt } = life;
  const { clock, venue } = desk.ports;
  const sentAt = clock.monotonic();
  // The same for every copy: it is a function of the attempt and its quote alone.
  const order: OrderRequest = {
    pair: request.pair,
    side: request.side,
    quoteId: quote.quoteId,
    size: request.size,
    clientId: intent.client_order_id,
  };
  hearWithin(venue.order(order), by, {
    patience: fittedPatience(run, life, sentAt),
    heard: (answer) => {
      run.orderPermit?.settle();
      const at = clock.monotonic();
      const meaning = classifyOrder(order, quote, answer);
      desk.observer.ordered(request.pair, meaning.means, at - sentAt, sentAt - receivedAt);
      if (answer.kind === 'error' && answer.status === 429)
        desk.pacer.block('order', answer.retryAfterMs ?? 2_000);
      both.brings({ on: 'order_answer', meaning, at });
      both.ends();
    },
  });
  if (by.closed) return;
  // Only the first copy is noted.
  if (copies > 1) both.ends();
  else {
    const written = desk.write([quoteRecord(intent, quote, sentAt - receivedAt)]);
    if (isAsync(written)) hear(written, by, { next: () => undefined, complete: both.ends });
    else if (!by.closed) both.ends();
  }
}

const lost = (why: string): OrderAnswer => ({ kind: 'lost', sent: true, why });

/** The gate for a further copy: waits, takes leave, and looks once more in the tick in which it leaves. */
export function passResendGate(run: Sending, phase: Phase & { state: 'resending' }): Observable<CycleEvent> {
  const { desk, intent, drain$ } = run;
  const { clock } = desk.ports;
  const deadline = lastResendStart(phase.life);
  const hold = (why: string): CycleEvent => ({ on: 'hold', why });
  const pause = timer(Math.max(0, Math.ceil(phase.notBefore - clock.monotonic())), clock.scheduler);
  return concat(
    pause.pipe(ignoreElements()),
    desk.pacer.take({ route: 'order', priority: 'execute', key: intent.strategy, deadline }),
  ).pipe(
    takeUntil(drain$),
    map((permit): CycleEvent => {
      const refused = resendFault(run);
      if (refused === undefined) {
        run.orderPermit = permit;
        return { on: 'resend', at: clock.monotonic() };
      }
      permit.giveBack();
      return hold(refused);
    }),
    defaultIfEmpty(hold('no other copy: no time left, or stopping')),
  );
}

/** Why no other copy may leave now. The attempt itself, its price and its limits are what they were. */
function resendFault({ desk, breaks }: Sending): string | undefined {
  if (desk.continuity.count !== breaks) return 'no other copy: time was not continuous';
  const refused = deskRefusal(desk);
  return refused === undefined ? undefined : `no other copy: ${refused.detail}`;
}

const quoteRecord = (intent: IntentRecord, quote: Quote, ageMs: number): QuoteRecord => ({
  kind: 'quote',
  client_order_id: intent.client_order_id,
  quote_id: quote.quoteId,
  quantity: text(quote.quantity),
  price: text(quote.price),
  amount: text(quote.amount),
  life_ms: quote.lifeMs,
  quoted_at: quote.quotedAt,
  age_ms: Math.round(ageMs * 1000) / 1000,
});
