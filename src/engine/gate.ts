import { lastOrderStart } from '../core/doubts.ts';
import type { CycleEvent, Phase } from '../core/cycle.ts';
import type { ReferencePrice } from '../core/market.ts';
import { holding, price } from '../core/money.ts';
import type { Reason } from '../core/reasons.ts';
import type { IntentRecord } from '../core/record.ts';
import { isoOf } from '../core/time.ts';
import type { Monotonic } from '../core/time.ts';
import type { Quote } from '../core/venue.ts';
import { nextAfter, refuses } from './control.ts';
import type { Desk } from './desk.ts';
import type { Listening } from './flow.ts';
import type { Sized } from './item.ts';
import type { Granting, Permit, Wish } from './pacer.ts';
import type { Sending } from './send.ts';
import { quoteSufficed, quoteWasTooShort } from './short-quotes.ts';
import { canPay, leftOfSlice } from './size.ts';
import { keepOf, tacticFault } from './tactics.ts';

type Quoted = Phase & { readonly state: 'quoted' };

/** What the gate needs to know of an attempt. */
export interface Gated extends Sending {
  readonly item: Sized;
  /** No order is let go any more once this is over. */
  readonly until: NonNullable<Wish['until']>;
}

/** The gate: the only way to an order. What it reads and the write to the socket happen in one tick, unless the order limit is full. */
export function passGate(run: Gated, phase: Quoted): void {
  const { desk } = run;
  const { quote, life } = phase;
  const fault = quoteFault(desk, quote);
  if (fault !== undefined) {
    run.goOn(fault);
    return;
  }
  const lastStart = lastOrderStart(life, desk.policy.orderMarginMs);
  const leave = new Leave(run, phase, lastStart);
  desk.pacer.ask(leave, leave);
}

/** The wish to send an order, and what becomes of it. */
class Leave implements Wish, Granting {
  readonly route = 'order';
  readonly priority = 'execute';
  readonly key: string;
  readonly deadline: Monotonic;
  readonly until: Gated['until'];
  readonly by: Listening;
  readonly #run: Gated;
  readonly #phase: Quoted;

  constructor(run: Gated, phase: Quoted, lastStart: Monotonic) {
    this.key = run.intent.strategy;
    this.deadline = lastStart;
    this.until = run.until;
    this.by = run.by;
    this.#run = run;
    this.#phase = phase;
  }

  granted(permit: Permit): void {
    const run = this.#run;
    const { desk } = run;
    desk.observer.paced('order', 'execute', permit.waitedMs);
    const isLate = desk.ports.clock.monotonic() > this.deadline;
    const { quote } = this.#phase;
    const refused = isLate ? tooShort(desk, run.intent.pair, this.#phase) : gateFault(run, quote);
    if (!isLate) quoteSufficed(desk, run.intent.pair);
    if (refused !== undefined) permit.giveBack();
    else run.orderPermit = permit;
    run.goOn(refused ?? APPROVED);
  }

  refused(): void {
    const { desk, intent } = this.#run;
    this.#run.goOn(desk.isStopping ? SHUTDOWN : tooShort(desk, intent.pair, this.#phase));
  }
}

const AGAIN = { do: 'again' } as const;
const APPROVED: CycleEvent = { on: 'approved' };
const SHUTDOWN: CycleEvent = { on: 'stopped', reason: 'shutdown', detail: 'stopping', next: AGAIN };

const again = (reason: Reason, detail: string): CycleEvent => ({
  on: 'stopped',
  reason,
  detail,
  next: AGAIN,
});

/** The order would not reach the venue while its quote certainly lives. */
function tooShort(desk: Desk, pair: string, { quote, life }: Quoted): CycleEvent {
  const needsMs = Math.ceil(desk.ports.clock.monotonic() - life.askedAt + desk.policy.orderMarginMs);
  const { lifeMs } = quote;
  if (needsMs <= lifeMs)
    return again('quote_too_short', `the limit of orders leaves no time in ${lifeMs} ms`);
  quoteWasTooShort(desk, pair, { lifeMs, needsMs });
  return again('quote_too_short', `limit=${lifeMs} ms of life value=${needsMs} ms needed for an order`);
}

/** A quote id must be new, and no life longer than what a crash would be waited out for. */
function quoteFault(desk: Desk, { quoteId, lifeMs }: Quote): CycleEvent | undefined {
  if (lifeMs > desk.policy.inDoubt.lifeMaxMs) return again('quote_mismatch', `a life of ${lifeMs} ms`);
  if (desk.quoteIds.has(quoteId)) {
    return again('quote_reused', quoteId);
  }
  desk.quoteIds.add(quoteId);
  return undefined;
}

/** Limits and funds, with the quote in hand and everything under way counted. */
function gateFault({ desk, item, intent, breaks }: Gated, quote: Quote): CycleEvent | undefined {
  const clientOrderId = intent.client_order_id;
  const { limit } = item.slice.intent;
  // The quote may be older than the monotonic clock says.
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
    notional: desk.convert(intent.quote, holding(quote.amount), desk.policy.limits.currency),
    limit: limit === undefined ? undefined : price(limit),
    clientId: clientOrderId,
  });
  if (refused !== undefined) return { on: 'stopped', ...refused, next: nextAfter(desk, refused.reason) };
  if (desk.state.totals.isPricePaused(intent.parent))
    return again('prices_agree', `${quote.price.toFixed()} at a reference of ${mid.toFixed()}`);
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
  return again('no_funds', `needs ${needs.toFixed()} ${pays}, has ${available?.toFixed() ?? 'unknown'}`);
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
function staleFault(
  desk: Desk,
  { slice, size, reference: known }: Sized,
  reference: ReferencePrice | undefined,
): CycleEvent | undefined {
  if (desk.ports.clock.wall() >= slice.intent.deadline)
    return again('deadline', 'the quote came after the slice was over');
  if (reference === undefined)
    return again('stale_reference', `the reference price is of ${isoOf(known.at)}`);
  const left = leftOfSlice(slice);
  const isMore =
    size.by === 'quantity'
      ? left.by !== 'quantity' || size.quantity.gt(left.quantity)
      : left.by !== 'amount' || size.amount.gt(left.amount);
  return isMore ? again('quote_mismatch', 'the slice was filled meanwhile') : undefined;
}
