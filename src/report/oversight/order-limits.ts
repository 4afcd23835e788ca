import { add, fraction, money, NO_MONEY, price, quantity, scale, subtract, text } from '../../core/money.ts';
import type { AnyAmount, Money } from '../../core/money.ts';
import type {
  AttemptRecord,
  FillRecord,
  IntentRecord,
  QuoteRecord,
  StoredRecord,
} from '../../core/record.ts';
import { limitDifference } from '../../core/risk/limit-changes.ts';
import type { LimitTexts } from '../../core/risk/limit-table.ts';
import { limitsAmong } from '../../core/risk/setting-changes.ts';
import { SettingHistory } from '../../core/risk/setting-history.ts';
import { DAY_MS, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Report } from '../json/schema.ts';

/** Limits in force for a time. */
export interface LimitPeriod {
  readonly row: NonNullable<Report['oversight']>['limits'][number];
  readonly since: Instant;
  readonly limits: LimitTexts;
}

/** One order that was sent, or may have been sent, and the limits at that time. Its value is as quoted if the limits have that currency, otherwise at its worst case. */
export type OrderVerdict = NonNullable<Report['oversight']>['judged'][number];

/**
 * Limits for which the records of an order are sufficient. The other limits depend on balances, prices and the state at
 * that moment. The gate checked them, and its refusals are in the journal.
 */
export const JUDGED =
  'pairs, sides, max_order_notional, max_order_quantity, max_day_notional, max_pair_day_notional, and the worst price of the intent';

interface Open {
  readonly intent: IntentRecord;
  readonly at: Instant;
  readonly period: number;
  /** Whether the order was sent. Until its end, it counts in the day at its worst case. */
  isOut: boolean;
}

/**
 * Number of days of which fills are kept. An order counts the fills of its own day, and a late proof may belong to the
 * day before.
 */
const DAYS_KEPT = 3;

/** Traded value by day, in the currency of the limits: in total, and by pair. */
class DaySums {
  readonly #days = new Map<number, Map<string, Money>>();
  readonly #fills = new Map<string, { readonly day: number; readonly pair: string; notional: Money }>();

  book(id: string, fill: { readonly day: number; readonly pair: string; readonly notional: Money }): void {
    this.#fills.set(id, { ...fill });
    this.#add(fill.day, fill.pair, fill.notional);
  }

  /** Replaces the booked amount `was` by the amount `now` that the account shows, in quote currency. */
  correct(id: string, was: Money, now: Money): void {
    const known = this.#fills.get(id);
    if (known === undefined || was.isZero()) return;
    const notional = scale(known.notional, fraction(now, was));
    this.#add(known.day, known.pair, subtract(notional, known.notional));
    known.notional = notional;
  }

  from(day: number, pair = ''): Money {
    let sum = NO_MONEY;
    for (const [label, sums] of this.#days) if (label >= day) sum = add(sum, sums.get(pair) ?? NO_MONEY);
    return sum;
  }

  forget(before: number): void {
    for (const day of this.#days.keys()) if (day < before) this.#days.delete(day);
    for (const [id, { day }] of this.#fills) if (day < before) this.#fills.delete(id);
  }

  #add(day: number, pair: string, notional: Money): void {
    const sums = this.#days.get(day) ?? new Map<string, Money>();
    this.#days.set(day, sums);
    for (const key of ['', pair]) sums.set(key, add(sums.get(key) ?? NO_MONEY, notional));
  }
}

/** Judges every order against the limits that were in force when it left. Pass all records in their order. */
export class OrderLimits {
  readonly periods: LimitPeriod[] = [];
  readonly #history = new SettingHistory();
  readonly #open = new Map<string, Open>();
  readonly #days = new DaySums();
  /** The day of limits, which never goes back with the clock. */
  #today = 0;
  readonly #judged: (verdict: OrderVerdict) => void;

  /** `judged` is called once for each order. */
  constructor(judged: (verdict: OrderVerdict) => void) {
    this.#judged = judged;
  }

  take(record: StoredRecord): void {
    const { at, body } = record;
    this.#turn(at);
    switch (body.kind) {
      case 'settings': {
        this.#history.take(record);
        const inForce = [...(this.#history.inForce ?? [])].map(([path, { value }]) => [path, value]);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pairs of text
        const limits = limitsAmong(Object.fromEntries(inForce) as Record<string, string>);
        this.#begin(record, limits, body);
        break;
      }
      case 'intent':
        this.#open.set(body.client_order_id, {
          intent: body,
          at,
          period: this.periods.length - 1,
          isOut: false,
        });
        break;
      case 'quote':
        this.#leave(at, body);
        break;
      case 'fill':
        this.#book(body);
        break;
      case 'correction':
        this.#days.correct(body.client_order_id, money(body.was_amount), money(body.amount));
        break;
      case 'attempt':
        this.#end(body);
        break;
      default:
    }
  }

  /** Judges the orders that are still open, and may have left without a record of their quote. */
  finish(): void {
    for (const open of this.#open.values()) if (!open.isOut) this.#judge(open.at, open, undefined);
  }

  #begin(
    { seq, at }: StoredRecord,
    limits: LimitTexts,
    { by, why, approvals = [] }: { by: string; why: string; approvals?: readonly string[] | undefined },
  ): void {
    const changes = limitDifference(this.periods.at(-1)?.limits ?? {}, limits);
    if (changes.length === 0 && this.periods.length > 0) return;
    this.periods.push({ row: { since: isoOf(at), record: seq, by, why, approvals, changes }, since: at, limits }); // prettier-ignore
  }

  #turn(at: Instant): void {
    const day = Math.floor(at / DAY_MS);
    if (day <= this.#today) return;
    this.#today = day;
    this.#days.forget(day - DAYS_KEPT + 1);
  }

  /** The quote is recorded in the tick in which the order leaves, so the current limits are those of the gate. */
  #leave(at: Instant, quote: QuoteRecord): void {
    const open = this.#open.get(quote.client_order_id);
    if (open === undefined || open.isOut) return;
    this.#judge(at, { ...open, period: this.periods.length - 1 }, quote);
    open.isOut = true;
  }

  #end({ client_order_id: id, result }: AttemptRecord): void {
    const open = this.#open.get(id);
    if (open === undefined || result === 'doubt') return;
    if (!open.isOut && result !== 'discarded') this.#judge(open.at, open, undefined);
    this.#open.delete(id);
  }

  #book(fill: FillRecord): void {
    const open = this.#open.get(fill.client_order_id);
    if (open !== undefined && !open.isOut) this.#judge(open.at, open, undefined);
    this.#open.delete(fill.client_order_id);
    const day = Math.floor(fill.executed_at / DAY_MS);
    this.#days.book(fill.client_order_id, { day, pair: fill.pair, notional: money(fill.notional_usd) });
  }

  #judge(at: Instant, { intent, period }: Open, quote: QuoteRecord | undefined): void {
    const inForce = this.periods[period];
    const notional = notionalOf(intent, quote, inForce?.limits['currency']);
    const found =
      inForce === undefined ? [] : this.#exceeded(intent, quote, { limits: inForce.limits, notional });
    this.#judged({
      at: isoOf(at),
      order: intent.client_order_id,
      strategy: intent.strategy,
      limits_record: inForce?.row.record,
      pair: intent.pair,
      side: intent.side,
      notional: text(notional),
      verdict: inForce === undefined ? 'unknown' : found.length === 0 ? 'within' : 'beyond',
      exceeds: found.map(({ limit, most, value }) => `${limit} limit=${most} value=${valueText(value)}`),
    });
  }

  #exceeded(
    intent: IntentRecord,
    quote: QuoteRecord | undefined,
    { limits, notional }: { readonly limits: LimitTexts; readonly notional: Money },
  ): readonly Exceeded[] {
    const { pair, side } = intent;
    const found: Exceeded[] = [];
    for (const [limit, value] of [
      ['pairs', pair],
      ['sides', side],
    ] as const)
      if (limits[limit]?.split(', ').includes(value) === false)
        found.push({ limit, most: limits[limit], value });
    const hold = (limit: string, value: AnyAmount | undefined): void => {
      const most = limits[limit];
      if (most !== undefined && value?.gt(money(most)) === true) found.push({ limit, most, value });
    };
    hold('max_order_notional', notional);
    hold(
      `max_order_quantity.${pair}`,
      quote === undefined
        ? intent.by === 'quantity'
          ? quantity(intent.size)
          : undefined
        : quantity(quote.quantity),
    );
    hold('max_day_notional', add(this.#dayNotional(intent), notional));
    hold(`max_pair_day_notional.${pair}`, add(this.#dayNotional(intent, pair), notional));
    const worst = price(intent.worst_price);
    const paid = quote && price(quote.price);
    if (paid !== undefined && (side === 'buy' ? paid.gt(worst) : paid.lt(worst)))
      found.push({ limit: 'worst_price', most: intent.worst_price, value: paid });
    return found;
  }

  /** Traded today, plus the worst case of the orders that were sent and have not ended, without this order. */
  #dayNotional({ client_order_id: id }: IntentRecord, pair?: string): Money {
    let sum = this.#days.from(this.#today, pair);
    for (const { intent, isOut } of this.#open.values())
      if (isOut && intent.client_order_id !== id && (pair === undefined || pair === intent.pair))
        sum = add(sum, money(intent.notional_usd));
    return sum;
  }
}

interface Exceeded {
  readonly limit: string;
  readonly most: string;
  readonly value: string | AnyAmount;
}

const valueText = (value: string | AnyAmount): string => (typeof value === 'string' ? value : text(value));

const notionalOf = (
  intent: IntentRecord,
  quote: QuoteRecord | undefined,
  currency: string | undefined,
): Money =>
  quote !== undefined && currency === intent.quote ? money(quote.amount) : money(intent.notional_usd);
