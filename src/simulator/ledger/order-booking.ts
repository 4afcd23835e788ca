import { holding, negate, NO_MONEY, NO_QUANTITY, price, quantity } from '../../core/money.ts';
import { after, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Random } from '../../engine/ports.ts';
import type { OrderDetail } from '../../wire/order-body.ts';
import { seededRandom } from '../market/random.ts';
import type { BookingOptions } from '../options/options-booking.ts';
import type { Booking } from '../exchange/booking.ts';
import type { Fill, Showing } from '../exchange/fills.ts';
import type { Listing } from '../exchange/listing.ts';
import type { OrderRegistry } from '../exchange/orders.ts';
import { baseFeeFor, feeFor } from '../exchange/pricing.ts';
import { splitFill } from '../exchange/split-fill.ts';

const NO_PRICE = price('0');

/** A filled order, and how to book it. */
export interface Executed {
  readonly account: string;
  readonly detail: OrderDetail;
  readonly listing: Listing;
  readonly fill: Fill;
  readonly how: BookingOptions;
}

export interface OrderBookingSetup {
  readonly registry: OrderRegistry;
  readonly booking: Booking;
  readonly seed: string;
  /** Fee of the venue, basis points. */
  readonly feeBps: number;
  /** Whether the account can pay for a second execution. */
  readonly isCovered: (executed: Executed, at: Instant) => boolean;
}

/** An event of an order after its execution. */
interface Due {
  /** Real time. */
  readonly at: Instant;
  readonly run: (at: Instant) => void;
}

/** Books filled orders as the setting `booking` says: at once, later, in several trades, and with later changes of their rows. */
export class OrderBooking {
  private readonly setup: OrderBookingSetup;
  /** In the order in which they are due. */
  private due: readonly Due[] = [];

  constructor(setup: OrderBookingSetup) {
    this.setup = setup;
  }

  /** Books a filled order. Returns the order of the response. */
  book(executed: Executed, now: Instant): OrderDetail {
    const { detail, how } = executed;
    this.bookOnce(executed, now);
    if (this.isDrawn(how.secondExecution, detail, 'second'))
      this.later(how.secondExecutionMs, now, (at) => {
        this.bookAgain(executed, at);
      });
    return this.isDrawn(how.canceledCopy, detail, 'copy') ? this.canceledCopy(executed, now) : detail;
  }

  /** Real time of the next event. */
  nextDue(): Instant | undefined {
    return this.due[0]?.at;
  }

  runNext(): void {
    const [next, ...rest] = this.due;
    this.due = rest;
    next?.run(next.at);
  }

  private later(ms: number, now: Instant, run: Due['run']): void {
    const at = after(now, ms);
    if (ms === 0) run(at);
    else this.due = [...this.due, { at, run }].toSorted((a, b) => a.at - b.at);
  }

  private bookOnce(executed: Executed, now: Instant): void {
    const { account, detail, listing, how } = executed;
    const { registry, booking } = this.setup;
    const random = seeded(detail, 'trades', this.setup.seed);
    const parts = this.partsOf(executed, random);
    const trades = parts.map((fill, index) => {
      const isLast = index === parts.length - 1;
      const showing = showingOf(how, { index, isLast }, { random, now });
      const number = registry.nextCount();
      booking.fill(account, { order: detail, listing, fill, number, showing }, now);
      return String(number);
    });
    registry.add(account, detail, now);
    this.bookCharges(executed, now);
    this.change(executed, trades[0] ?? '', now);
  }

  /** The trades of an order, each with the part of its fee that is booked on its own rows. */
  private partsOf({ listing, fill, how }: Executed, random: Random): readonly Fill[] {
    if (how.feeAs === 'quote') return splitFill(listing, fill, how, random);
    const parts = splitFill(listing, { ...fill, fees: NO_MONEY }, how, random);
    if (how.feeAs === 'charge') return parts;
    const feeBps = how.feeBps ?? this.setup.feeBps;
    return parts.map((part) => ({ ...part, baseFees: baseFeeFor(listing, part.quantity, feeBps) }));
  }

  /** Books the fee and the rebate that are rows of their own. */
  private bookCharges({ account, detail, listing, fill, how }: Executed, now: Instant): void {
    const { booking } = this.setup;
    const { orderId } = detail;
    const clientId = detail.clientId === '' ? undefined : detail.clientId;
    const book = (ms: number, description: string, amount: ReturnType<typeof holding>): void => {
      if (amount.isZero()) return;
      const row = { orderId, clientId, currency: listing.quote, amount, description };
      this.later(ms, now, (at) => {
        booking.moved(account, listing.quote, at, () => {
          booking.ledger.adjust(account, row, at);
        });
      });
    };
    if (how.feeAs === 'charge') book(how.feeRowMs, `fee of order ${orderId}`, negate(holding(fill.fees)));
    const rebate = holding(feeFor(listing, fill.amount, how.rebateBps));
    book(how.rebateMs, `rebate of order ${orderId}`, rebate);
  }

  /** Changes booked rows later. */
  private change({ account, detail, listing, how }: Executed, tradeId: string, now: Instant): void {
    const { amended, renumberedAfterMs } = how;
    const { booking } = this.setup;
    if (amended !== undefined) {
      const isBase = amended.leg === 'base';
      const by = { amount: quantity(amended.amount), fee: quantity(amended.fee) };
      this.later(amended.after_ms, now, (at) => {
        booking.moved(account, isBase ? listing.base : listing.quote, at, () => {
          booking.ledger.amend(account, { tradeId, isBase }, by);
        });
      });
    }
    if (renumberedAfterMs !== undefined)
      this.later(renumberedAfterMs, now, () => {
        booking.ledger.renumber(account, detail.orderId);
      });
  }

  /** Executes an order a second time, as a separate order under the same client id. */
  private bookAgain(executed: Executed, at: Instant): void {
    const orderId = this.setup.registry.nextNumber();
    const detail = { ...executed.detail, orderId, updatedAt: instant(Math.floor(at)) };
    const second = { ...executed, detail };
    if (this.setup.isCovered(second, at)) this.bookOnce(second, at);
  }

  /** The copy of an executed order that arrived second. */
  private canceledCopy({ account, detail }: Executed, now: Instant): OrderDetail {
    const { registry } = this.setup;
    const copy: OrderDetail = {
      ...detail,
      orderId: registry.nextNumber(),
      status: 'Canceled',
      filled: NO_QUANTITY,
      filledAmount: NO_MONEY,
      vwap: NO_PRICE,
      fees: NO_MONEY,
    };
    registry.add(account, copy, now);
    return copy;
  }

  private isDrawn(share: number, detail: OrderDetail, what: string): boolean {
    return share > 0 && seeded(detail, what, this.setup.seed).next() < share;
  }
}

const seeded = ({ orderId }: OrderDetail, what: string, seed: string): Random =>
  seededRandom(`${what} ${orderId} ${seed}`);

/** When the rows of a trade appear. `index`: number of the trade within its order. */
function showingOf(
  { delaysMs, delaySpreadMs, legGapMs, legSpreadMs, lastLegMs, stamps }: BookingOptions,
  { index, isLast }: { readonly index: number; readonly isLast: boolean },
  { random, now }: { readonly random: Random; readonly now: Instant },
): Showing | undefined {
  const delayMs = (delaysMs[index] ?? delaysMs.at(-1) ?? 0) + Math.floor(random.next() * delaySpreadMs);
  const ownMs = (): number => (legSpreadMs === 0 ? 0 : Math.floor(random.next() * legSpreadMs));
  const baseMs = delayMs + Math.max(0, -legGapMs) + ownMs();
  const quoteMs = delayMs + Math.max(0, legGapMs) + ownMs() + (isLast ? lastLegMs : 0);
  if (baseMs === 0 && quoteMs === 0) return undefined;
  const [base, quote] = [after(now, baseMs), after(now, quoteMs)];
  return { base, quote, stamp: instant(Math.floor(stamps === 'booked' ? Math.min(base, quote) : now)) };
}
