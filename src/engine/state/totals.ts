import { amountsOf, feesInQuote } from '../../core/cycle/balance-changes.ts';
import type { FillAmounts } from '../../core/cycle/balance-changes.ts';
import {
  add,
  cost,
  fraction,
  holding,
  money,
  NO_MONEY,
  NO_QUANTITY,
  price,
  quantity,
} from '../../core/money.ts';
import { priceOf, ratio, scale, slippageBps, subtract } from '../../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../../core/money.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import type { Reason } from '../../core/reasons.ts';
import type {
  AttemptRecord,
  ControlRecord,
  FillRecord,
  IntentRecord,
  WakeRecord,
} from '../../core/record.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import { LateCosts } from '../attempt/late-costs.ts';
import { ParentSlices } from './parent-slices.ts';
import type { SavedSlices } from './parent-slices.ts';
import { RecentOrders } from './recent-orders.ts';
import type { LeftOrder } from './recent-orders.ts';

/** Totals of a parent, without doubts. */
export interface ParentTotals {
  readonly side: Side;
  /** Reference price when the first slice was decided. */
  readonly arrival: Price | undefined;
  /** Σ of the decided slices, in the unit of their intents. */
  readonly decided: Quantity;
  readonly filled: Quantity;
  readonly filledAmount: Money;
  readonly fees: Money;
  readonly slices: Pick<ParentSlices, 'executed' | 'hasExecuted' | 'lastGap'>;
  /** Consecutive quotes outside the collar, and when the first of them was discarded. */
  readonly collars: number;
  readonly collarsSince: Instant | undefined;
}

interface Day {
  total: Money;
  cost: Money;
  readonly byPair: Map<string, Money>;
}

type Parent = { -readonly [K in keyof ParentTotals]: ParentTotals[K] } & { readonly slices: ParentSlices };
type SavedParent = Omit<Parent, 'slices'> & SavedSlices;

const PARENTS_MAX = 5_000;
/** Number of days kept. Fills of earlier days no longer count. */
const DAYS_KEPT = 3;

/** Reasons for responses that could not be used. */
export const MALFORMED: ReadonlySet<Reason> = new Set<Reason>([
  'quote_invalid',
  'quote_reused',
  'venue_refused',
]);
/** Reasons after a valid quote of which only the price or the time was unacceptable. */
const GOOD: ReadonlySet<Reason> = new Set<Reason>([
  'limit_price',
  'tactics_refused',
  'price_drift',
  'prices_agree',
  'quote_too_short',
  'no_funds',
]);

export interface TotalsData {
  newestDay: number;
  readonly days: Map<number, Day>;
  orders: RecentOrders;
  readonly parents: Map<string, Parent>;
  /** Consecutive orders that the venue did not fill, by pair. */
  readonly rejects: Map<string, number>;
  /** Consecutive invalid responses, by pair. */
  readonly malformed: Map<string, number>;
  /** Why a parent, a pair or a strategy is paused, by `parent:…`, `pair:…` and `strategy:…`. */
  readonly paused: Map<string, string>;
  /** Parents whose pause ends once quotes agree with the reference price. */
  readonly pricePauses: Set<string>;
}

export type SavedTotals = Omit<TotalsData, 'orders' | 'parents'> & {
  readonly orders: readonly LeftOrder[];
  readonly parents: Map<string, SavedParent>;
};

/** Totals that limits are compared with: a fold of the journal, so that a restart rebuilds them. */
export class Totals {
  /** The complete state, once `settle` was called. */
  data: TotalsData = {
    newestDay: 0,
    days: new Map(),
    orders: new RecentOrders(),
    parents: new Map(),
    rejects: new Map(),
    malformed: new Map(),
    paused: new Map(),
    pricePauses: new Set(),
  };
  /** Cache of the parent used last, because consecutive records mostly concern the same one. */
  newest: { readonly of: TotalsData; readonly parent: string; readonly known: Parent } | undefined;
  readonly late = new LateCosts(costOf);

  /** Completes `data`. */
  settle(): void {
    this.late.count();
  }

  saved(): SavedTotals {
    this.settle();
    const parents = new Map<string, SavedParent>();
    for (const [parent, known] of this.data.parents) parents.set(parent, savedParent(known));
    return { ...this.data, orders: this.data.orders.saved(), parents };
  }

  restore(saved: SavedTotals): void {
    const parents: TotalsData['parents'] = new Map();
    for (const [parent, { executed, gaps, deadlines, ...known }] of saved.parents)
      parents.set(parent, { ...known, slices: new ParentSlices({ executed, gaps, deadlines }) });
    this.data = { ...saved, orders: new RecentOrders(saved.orders), parents };
  }

  /** Traded since midnight UTC, in the currency of the limits: of one pair, or in total. */
  dayNotional(at: Instant, pair?: string): Money {
    return this.#sumFrom(at, tradedOf, pair);
  }

  /** Cost of the fills since midnight UTC compared with their decision prices, including fees, in the currency of the limits. */
  dayCost(at: Instant): Money {
    this.settle();
    return this.#sumFrom(at, lossOf);
  }

  parent(parent: string): ParentTotals | undefined {
    return this.data.parents.get(parent);
  }

  /** Orders that were sent lately. */
  get orders(): RecentOrders {
    return this.data.orders;
  }

  /** Consecutive orders of a pair that the venue did not fill. */
  rejects(pair: string): number {
    return this.data.rejects.get(pair) ?? 0;
  }

  /** Consecutive invalid responses for a pair. */
  malformed(pair: string): number {
    return this.data.malformed.get(pair) ?? 0;
  }

  /** Why the parent, or its pair, is paused; `undefined` when neither is. */
  pausedWhy(parent: string, pair: string): string | undefined {
    if (this.data.paused.size === 0) return undefined;
    return this.data.paused.get(`parent:${parent}`) ?? this.data.paused.get(`pair:${pair}`);
  }

  /** Why the pair is paused; `undefined` when it is not. */
  pairPausedWhy(pair: string): string | undefined {
    return this.data.paused.get(`pair:${pair}`);
  }

  /** Whether the parent is paused until quotes agree with the reference price. */
  isPricePaused(parent: string): boolean {
    return this.data.pricePauses.size > 0 && this.data.pricePauses.has(parent);
  }

  /** Why the strategy is not woken; `undefined` when it is. */
  strategyPausedWhy(strategy: string): string | undefined {
    return this.data.paused.size === 0 ? undefined : this.data.paused.get(`strategy:${strategy}`);
  }

  /** Paused parents, pairs and strategies, each with its reason, for people. */
  get paused(): ReadonlyMap<string, string> {
    return this.data.paused;
  }

  decide({ intents }: WakeRecord): void {
    if (intents.length === 0) return;
    for (const intent of intents) {
      const known = this.#touch(intent.parent, intent.side);
      known.arrival ??= intent.decision_price === undefined ? undefined : price(intent.decision_price);
      known.decided = add(known.decided, quantity(intent.size));
      known.slices.decide(intent.slice, intent.deadline);
    }
  }

  /** An order was sent, or may have been sent. */
  leave(intent: IntentRecord, at: Instant): void {
    this.#touch(intent.parent, intent.side).slices.leave(intent.slice);
    this.data.orders.add(intent, at);
  }

  /** Records how an attempt ended, or that it is in doubt. */
  end({ result, reason }: AttemptRecord, intent: IntentRecord, at: Instant): void {
    const { pair, parent, side } = intent;
    if (result !== 'discarded') this.leave(intent, at);
    if (result === 'rejected') this.data.rejects.set(pair, this.rejects(pair) + 1);
    const isMalformed = reason !== undefined && MALFORMED.has(reason);
    const isCollar = reason === 'collar';
    const isGood = result !== 'discarded' || (reason !== undefined && GOOD.has(reason));
    if (isMalformed) this.data.malformed.set(pair, this.malformed(pair) + 1);
    else if (isGood || isCollar) this.data.malformed.delete(pair);
    const known = this.#touch(parent, side);
    if (isCollar) {
      known.collars++;
      known.collarsSince ??= at;
    } else if (isGood) endCollars(known);
  }

  /** Adds a new fill. A clock that was set back does not reopen a past day. */
  book(fill: FillRecord, amounts = amountsOf(fill)): void {
    this.data.newestDay = Math.max(this.data.newestDay, dayOf(fill.executed_at));
    this.#count(fill, amounts, 'add');
    for (const [each, gone] of this.data.days) {
      if (each >= this.data.newestDay - DAYS_KEPT) continue;
      this.data.days.delete(each);
      this.late.forget(gone);
    }
    const known = this.#touch(fill.parent, fill.side);
    known.slices.book(fill.slice);
    endCollars(known);
    this.data.rejects.delete(fill.pair);
    this.data.malformed.delete(fill.pair);
  }

  /** Corrects a fill. The difference counts for the newest day. */
  correct(before: FillRecord, now: FillRecord): void {
    this.#count(before, amountsOf(before), 'take');
    this.#count(now, amountsOf(now), 'add');
  }

  #count(fill: FillRecord, amounts: FillAmounts, how: 'add' | 'take'): void {
    const combine = how === 'add' ? add : subtract;
    const { newestDay, days } = this.data;
    let day = days.get(newestDay);
    if (day === undefined) {
      day = { total: NO_MONEY, cost: NO_MONEY, byPair: new Map() };
      days.set(newestDay, day);
    }
    const notional = money(fill.notional_usd);
    day.total = combine(day.total, notional);
    this.late.add({ day, fill, combine });
    day.byPair.set(fill.pair, combine(day.byPair.get(fill.pair) ?? NO_MONEY, notional));
    const known = this.#touch(fill.parent, fill.side);
    known.filled = combine(known.filled, amounts.quantity);
    known.filledAmount = combine(known.filledAmount, amounts.amount);
    known.fees = combine(known.fees, fill.other_fees === undefined ? amounts.fees : feesInQuote(fill));
  }

  /** Applies pauses and resumes of parents, pairs and strategies. Re-arming the desk resets its execution counts. */
  control({ state, why, parent, pair, strategy, ends }: ControlRecord): void {
    const scope = scopeOf({ parent, pair, strategy });
    if (scope === undefined) {
      if (state !== 'active') return;
      this.data.orders = new RecentOrders();
      for (const known of this.data.parents.values()) known.slices.rearm();
      return;
    }
    // The newest command counts. A person's pause ends when a person lifts it.
    if (parent !== undefined) this.data.pricePauses.delete(parent);
    if (state !== 'active') {
      this.data.paused.set(scope, why);
      if (parent !== undefined && ends === 'prices_agree') this.data.pricePauses.add(parent);
      return;
    }
    this.data.paused.delete(scope);
    if (pair !== undefined) this.data.malformed.delete(pair);
    const known = parent === undefined ? undefined : this.data.parents.get(parent);
    if (known !== undefined) endCollars(known);
  }

  #sumFrom(at: Instant, of: (day: Day, pair?: string) => Money, pair?: string): Money {
    const first = dayOf(at);
    const { days, newestDay } = this.data;
    // Common case: no day is later than the newest.
    if (first === newestDay) {
      const today = days.get(first);
      return today === undefined ? NO_MONEY : of(today, pair);
    }
    let sum: Money | undefined;
    for (const [label, day] of days)
      if (label >= first) sum = sum === undefined ? of(day, pair) : add(sum, of(day, pair));
    return sum ?? NO_MONEY;
  }

  /** Returns the parent and marks it as used last; the oldest parents are dropped. */
  #touch(parent: string, side: Side): Parent {
    if (this.newest?.parent === parent && this.newest.of === this.data) return this.newest.known;
    const { parents } = this.data;
    const before = parents.get(parent);
    if (before !== undefined) parents.delete(parent);
    const known = before ?? {
      side,
      arrival: undefined,
      decided: NO_QUANTITY,
      filled: NO_QUANTITY,
      filledAmount: NO_MONEY,
      fees: NO_MONEY,
      slices: new ParentSlices(),
      collars: 0,
      collarsSince: undefined,
    };
    parents.set(parent, known);
    keepNewest(parents, PARENTS_MAX);
    this.newest = { of: this.data, parent, known };
    return known;
  }
}

function endCollars(known: Parent): void {
  known.collars = 0;
  known.collarsSince = undefined;
}

/** The scope of a pause or resume; `undefined` for the desk. */
export function scopeOf({
  parent,
  pair,
  strategy,
}: Pick<ControlRecord, 'parent' | 'pair' | 'strategy'>): string | undefined {
  if (parent !== undefined) return `parent:${parent}`;
  if (pair !== undefined) return `pair:${pair}`;
  return strategy === undefined ? undefined : `strategy:${strategy}`;
}

/** As plain data. */
const savedParent = ({ slices, collars, collarsSince, ...known }: Parent): SavedParent => ({
  ...known,
  ...slices.saved(),
  collars,
  collarsSince,
});

/** Days since the epoch, UTC. */
const dayOf = (at: Instant): number => Math.floor(at / DAY_MS);

const tradedOf = ({ total, byPair }: Day, pair?: string): Money =>
  pair === undefined ? total : (byPair.get(pair) ?? NO_MONEY);
const lossOf = (day: Day): Money => day.cost;

const BASIS_POINT = ratio('0.0001');

/** Cost of a fill compared with its decision price, including fees, in the currency of the limits. Positive is bad. */
export function costOf(fill: FillRecord): Money {
  const [amount, notional] = [money(fill.amount), money(fill.notional_usd)];
  if (amount.isZero()) return NO_MONEY;
  const paidFees = feesInQuote(fill);
  const fees = paidFees.isZero() ? NO_MONEY : scale(notional, fraction(paidFees, amount));
  if (fill.decision_price === '' || quantity(fill.quantity).isZero()) return fees;
  const paid = priceOf(amount, quantity(fill.quantity));
  const bps = slippageBps(fill.side, paid, price(fill.decision_price));
  return add(fees, scale(notional, scale(bps, BASIS_POINT)));
}

/** Cost of a parent so far compared with its arrival price, including fees, in basis points; `undefined` if unknown. */
export function shortfallBps(parent: ParentTotals): Ratio | undefined {
  const { side, arrival, filled, filledAmount, fees } = parent;
  if (arrival === undefined || filled.isZero()) return undefined;
  const fair = cost(arrival, filled);
  const over = side === 'buy' ? subtract(filledAmount, fair) : subtract(fair, filledAmount);
  return scale(fraction(add(over, fees), fair), ratio('10000'));
}

/** What a parent traded, in the unit of its intents. */
export const doneOf = (parent: ParentTotals, by: 'quantity' | 'amount'): Quantity =>
  by === 'quantity' ? parent.filled : holding(parent.filledAmount);
