import { defaultIfEmpty, map } from 'rxjs';
import { lastOrderStart } from '../../core/cycle/cycle.ts';
import type { CycleEvent, Next, Phase, QuoteLife } from '../../core/cycle/cycle.ts';
import type { ReferencePrice } from '../../core/reference-price.ts';
import { holding, price } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import type { IntentRecord } from '../../core/record.ts';
import { isoOf } from '../../core/time.ts';
import type { Quote } from '../../core/venue.ts';
import { nextAfter, refuses } from '../stages/control.ts';
import type { Desk } from '../desk.ts';
import { judgedParent } from '../operator/parent-approvals.ts';
import type { Sized } from '../stage-types.ts';
import type { MaybeAsync } from '../maybe-async.ts';
import type { Permit, PermitRequest } from '../rate-limit/rate-limiter.ts';
import { quoteSufficed, quoteWasTooShort } from './short-quotes.ts';
import type { ShortQuotes } from './quote-failures.ts';
import { canPay, leftOfSlice } from '../stages/size.ts';
import { keepOf, tacticFault } from './tactics.ts';

type Quoted = Phase & { readonly state: 'quoted' };

/** What the gate needs to know about an attempt. */
export interface Gated {
  readonly desk: Desk;
  readonly item: Sized;
  readonly intent: IntentRecord;
  /** Number of time jumps before the quote request. */
  readonly breaks: number;
  /** Once this scope has ended, the gate approves no order. */
  readonly until: NonNullable<PermitRequest['until']>;
  /** The approved order; only the gate sets it. */
  approved: Approved | undefined;
}

/** An order that may leave in this tick. Only this module creates one, and `sendOrder` accepts nothing else. */
class Approval {
  readonly quote: Quote;
  readonly quoteLife: QuoteLife;
  readonly #permit: Permit;
  /** The amount by which the parent was judged, if it was judged. */
  readonly parentAmount: string | undefined;

  constructor(
    { quote, quoteLife }: { readonly quote: Quote; readonly quoteLife: QuoteLife },
    permit: Permit,
    parentAmount: string | undefined,
  ) {
    this.parentAmount = parentAmount;
    this.quote = quote;
    this.quoteLife = quoteLife;
    this.#permit = permit;
  }

  /** The response has arrived, or never will. */
  settle(): void {
    this.#permit.settle();
  }

  /** The order does not leave after all. */
  giveBack(): void {
    this.#permit.giveBack();
  }
}
export type Approved = Approval;

/** Why an order does not leave. */
export interface Refused {
  readonly reason: Reason;
  readonly detail: string;
  readonly next: Next;
  /** The order would not have reached the venue within the certain life of its quote. */
  readonly isLate?: boolean;
  /** Set if the quote's life was too short: that life, and the life that an order needs. */
  readonly tooShort?: Omit<ShortQuotes, 'count'>;
}

/**
 * The gate: the only way to send an order. `approve` checks in the tick in which the order leaves, unless the order limit is
 * full; this function applies the consequences of the result.
 */
export function passGate(attempt: Gated, phase: Quoted): MaybeAsync<CycleEvent> {
  const { desk, intent, until } = attempt;
  const { quote, quoteLife } = phase;
  const fault = quoteFault(desk, quote);
  if (fault !== undefined) return stoppedBy(fault);
  desk.quoteIds.add(quote.quoteId);
  const deadline = lastOrderStart(quoteLife, desk.policy.orderMarginMs);
  const refuse = (refused: Refused): CycleEvent => {
    if (refused.isLate !== true) quoteSufficed(desk, intent.pair);
    if (refused.tooShort !== undefined) quoteWasTooShort(desk, intent.pair, refused.tooShort);
    return stoppedBy(refused);
  };
  const request: PermitRequest = {
    route: 'order',
    priority: 'execute',
    key: intent.strategy,
    deadline,
    until,
  };
  const withPermit = (permit: Permit | undefined): CycleEvent => {
    if (permit === undefined) return desk.isStopping ? SHUTDOWN : refuse(lateRefusal(phase, desk));
    desk.observer.paced('order', 'execute', permit.waitedMs);
    const decision = approve(attempt, phase, permit);
    if (!(decision instanceof Approval)) {
      permit.giveBack();
      return refuse(decision);
    }
    quoteSufficed(desk, intent.pair);
    attempt.approved = decision;
    desk.leaving.set(intent.client_order_id, intent);
    return { on: 'approved' };
  };
  const permit = desk.rateLimiter.takeAtOnce(request);
  if (permit !== undefined) return withPermit(permit);
  return desk.rateLimiter.take(request).pipe(defaultIfEmpty(undefined), map(withPermit));
}

/** Whether the order may leave on this quote now. Changes nothing. */
export function approve(
  attempt: Pick<Gated, 'desk' | 'item' | 'intent' | 'breaks'>,
  phase: Quoted,
  permit: Permit,
): Approved | Refused {
  return (
    refusalNow(attempt, phase) ??
    new Approval(phase, permit, judgedParent(attempt.desk, attempt.item.slice).amount)
  );
}

/**
 * Why an order on this quote may not leave now; `undefined` if it may. Also checked after a write that took time, because an
 * approval may no longer hold.
 */
export function refusalNow(
  attempt: Pick<Gated, 'desk' | 'item' | 'intent' | 'breaks'>,
  { quote, quoteLife }: Pick<Quoted, 'quote' | 'quoteLife'>,
): Refused | undefined {
  const { ports, policy } = attempt.desk;
  return ports.clock.monotonic() > lastOrderStart(quoteLife, policy.orderMarginMs)
    ? lateRefusal({ quote, quoteLife }, attempt.desk)
    : refusalOf(attempt, quote);
}

const AGAIN = { do: 'again' } as const;
const SHUTDOWN: CycleEvent = { on: 'stopped', reason: 'shutdown', detail: 'stopping', next: AGAIN };

const again = (reason: Reason, detail: string): Refused => ({ reason, detail, next: AGAIN });

const stoppedBy = ({ reason, detail, next }: Refused): CycleEvent => ({
  on: 'stopped',
  reason,
  detail,
  next,
});

/** Why the order would not reach the venue within the certain life of its quote. */
function lateRefusal(
  { quote: { lifeMs }, quoteLife }: Pick<Quoted, 'quote' | 'quoteLife'>,
  { ports, policy }: Desk,
): Refused {
  const needsMs = Math.ceil(ports.clock.monotonic() - quoteLife.askedAt + policy.orderMarginMs);
  if (needsMs <= lifeMs)
    return {
      ...again('quote_too_short', `the limit of orders leaves no time in ${lifeMs} ms`),
      isLate: true,
    };
  return {
    ...again('quote_too_short', `limit=${lifeMs} ms of life value=${needsMs} ms needed for an order`),
    isLate: true,
    tooShort: { lifeMs, needsMs },
  };
}

/** Rejects a reused quote id, and a life that is longer than recovery after a crash would wait. */
function quoteFault({ policy, quoteIds }: Desk, quote: Quote): Refused | undefined {
  const { quoteId } = quote;
  if (quote.lifeMs > policy.inDoubt.lifeMaxMs) return again('quote_invalid', `a life of ${quote.lifeMs} ms`);
  return quoteIds.has(quoteId) ? again('quote_reused', quoteId) : undefined;
}

/** Checks limits and funds with the quote in hand, counting all orders in flight. */
function refusalOf(
  { desk, item, intent, breaks }: Pick<Gated, 'desk' | 'item' | 'intent' | 'breaks'>,
  quote: Quote,
): Refused | undefined {
  const clientOrderId = intent.client_order_id;
  const { limit } = item.slice.intent;
  const unasked = judgedParent(desk, item.slice).refusal;
  if (unasked !== undefined) return { ...unasked, next: nextAfter(desk, unasked) };
  // After a time jump, the quote may be older than the monotonic clock shows.
  if (desk.continuity.count !== breaks)
    return again('discontinuity', 'time was not continuous since the quote was asked for');
  const reference = desk.references.get(intent.pair);
  const stale = staleFault(desk, item, reference);
  if (stale !== undefined) return stale;
  const mid = (reference ?? item.reference).mid;
  const dear = tacticFault(desk, item.slice, { price: quote.price, mid });
  if (dear !== undefined) return again(dear.reason, dear.detail);
  const refused = refuses(desk, item, {
    price: quote.price,
    quantity: quote.quantity,
    amount: quote.amount,
    notional: desk.rates.convert(intent.quote, holding(quote.amount), desk.policy.limits.currency),
    limit: limit === undefined ? undefined : price(limit),
    clientId: clientOrderId,
  });
  if (refused !== undefined) return { ...refused, next: nextAfter(desk, refused) };
  if (desk.state.totals.isPricePaused(intent.parent))
    return again('prices_agree', `${quote.price.toFixed()} at a reference of ${mid.toFixed()}`);
  const { instrument, worst } = item;
  const { side } = intent;
  const pays = side === 'buy' ? intent.quote : intent.base;
  const needs = side === 'buy' ? holding(quote.amount) : quote.quantity;
  const keep = keepOf(desk, item.slice.intent, pays);
  if (canPay(desk, { instrument, side, needs, worst, clientId: clientOrderId, keep })) return undefined;
  const available = desk.state.available(pays, clientOrderId);
  return again('no_funds', `needs ${needs.toFixed()} ${pays}, has ${available?.toFixed() ?? 'unknown'}`);
}

/** Checks again what may have changed since sizing: the slice's time, its price and its state. */
function staleFault(
  desk: Desk,
  { slice, size, reference: known }: Sized,
  reference: ReferencePrice | undefined,
): Refused | undefined {
  if (desk.ports.clock.wall() >= slice.intent.deadline)
    return again('deadline', 'the quote came after the slice was over');
  if (reference === undefined) return again('no_reference', `the reference price is of ${isoOf(known.at)}`);
  const left = leftOfSlice(slice);
  const isMore =
    size.by === 'quantity'
      ? left.by !== 'quantity' || size.quantity.gt(left.quantity)
      : left.by !== 'amount' || size.amount.gt(left.amount);
  return isMore ? again('quote_invalid', 'the slice was filled meanwhile') : undefined;
}
