import { defaultIfEmpty, defer, forkJoin, map, of, take, throwIfEmpty, timeout } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { classifyOrder } from '../../core/cycle/answer.ts';
import { answerWaitMs } from '../../core/cycle/cycle.ts';
import type { CycleEvent } from '../../core/cycle/cycle.ts';
import { text } from '../../core/money.ts';
import type { IntentRecord, QuoteRecord } from '../../core/record.ts';
import { longestLifeMs } from '../../core/venue.ts';
import type { OrderAnswer, OrderRequest, Quote, QuoteRequest } from '../../core/venue.ts';
import type { Desk } from '../desk.ts';
import type { Approved } from './gate.ts';
import { andThen, isAsync, toObservable } from '../maybe-async.ts';
import type { MaybeAsync } from '../maybe-async.ts';

/** The facts of an attempt that sending an order needs. */
export interface Sending {
  readonly desk: Desk;
  readonly intent: IntentRecord;
  readonly request: QuoteRequest;
  readonly drain$: Observable<unknown>;
  /** Number of time jumps before the quote request. */
  readonly breaks: number;
}

/**
 * Subscribes to a request, so that it leaves first, and writes a record while it is in flight. Emits the response once
 * both are done.
 */
export const whileWriting = <T>(request: MaybeAsync<T>, write: () => MaybeAsync<unknown>): MaybeAsync<T> =>
  isAsync(request)
    ? forkJoin([request, defer(() => toObservable(write()))]).pipe(
        map(([answer]) => answer),
        throwIfEmpty(() => new Error('invariant broken: a request or a write ended without an answer')),
      )
    : andThen(write(), () => request);

/**
 * Sends the order that the gate approved, and records its quote while the request is in flight. Any end of the wait also
 * closes the exchange. The order leaves once.
 */
export function sendOrder(attempt: Sending, approved: Approved): MaybeAsync<CycleEvent> {
  const { quote, quoteLife, parentAmount } = approved;
  const { desk, intent, request } = attempt;
  const { orderTimeoutMs, inDoubt } = desk.policy;
  const { receivedAt } = quoteLife;
  const { clock, venue } = desk.ports;
  const sentAt = clock.monotonic();
  desk.account.leaves(intent.client_order_id, quoteLife.upper);
  const order: OrderRequest = {
    pair: request.pair,
    side: request.side,
    quoteId: quote.quoteId,
    size: request.size,
    clientId: intent.client_order_id,
  };
  const waitMs = answerWaitMs(quoteLife, {
    sentAt,
    orderTimeoutMs,
    bookingMarginMs: inDoubt.bookingMarginMs,
  });
  const answer = andThen(inTime(venue.order(order), clock.scheduler, waitMs), (one): CycleEvent => {
    approved.settle();
    const at = clock.monotonic();
    const meaning = classifyOrder(order, quote, one);
    desk.observer.ordered(request.pair, meaning.means, at - sentAt, sentAt - receivedAt);
    if (one.kind === 'error' && one.status === 429)
      desk.rateLimiter.block('order', one.retryAfterMs ?? 2_000);
    return { on: 'order_answer', meaning, at };
  });
  // With a fence, the quote is recorded before the order leaves.
  const isNoted = desk.ports.journal.fence !== undefined;
  return whileWriting(answer, () =>
    isNoted
      ? undefined
      : desk.journal.write([quoteRecord(intent, quote, { ageMs: sentAt - receivedAt, parentAmount })]),
  );
}

/**
 * With a fence, another owner may take over. The quote record is therefore written after the quote has arrived and
 * before the order leaves; the write succeeds only if nobody has taken over. The quote is then older than any takeover,
 * and has expired before the next owner may assume that nothing from this process trades. Without a fence, the write
 * completes in the same tick.
 */
export function acceptQuote(
  { desk, intent }: Sending,
  { quote, quoteLife, parentAmount }: Approved,
): MaybeAsync<unknown> {
  if (desk.ports.journal.fence === undefined) return undefined;
  const ageMs = desk.ports.clock.monotonic() - quoteLife.receivedAt;
  return desk.journal.write([quoteRecord(intent, quote, { ageMs, parentAmount })]);
}

/** The first response. A response that does not arrive in time is lost. */
const inTime = (
  answer: MaybeAsync<OrderAnswer>,
  scheduler: SchedulerLike,
  waitMs: number,
): MaybeAsync<OrderAnswer> =>
  isAsync(answer)
    ? answer.pipe(
        timeout({ first: waitMs, scheduler, with: () => of(lost(`no answer in ${Math.round(waitMs)} ms`)) }),
        take(1),
        defaultIfEmpty(lost('no answer')),
      )
    : answer;

const lost = (why: string): OrderAnswer => ({ kind: 'lost', sent: true, why });

const quoteRecord = (
  intent: IntentRecord,
  quote: Quote,
  { ageMs, parentAmount }: { readonly ageMs: number; readonly parentAmount: string | undefined },
): QuoteRecord => ({
  kind: 'quote',
  client_order_id: intent.client_order_id,
  quote_id: quote.quoteId,
  quantity: text(quote.quantity),
  price: text(quote.price),
  amount: text(quote.amount),
  life_ms: longestLifeMs(quote),
  quoted_at: quote.quotedAt,
  age_ms: Math.round(ageMs * 1000) / 1000,
  ...(parentAmount === undefined ? {} : { parent_amount: parentAmount }),
});
