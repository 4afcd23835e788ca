import { OperatorError } from '../core/errors.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  add,
  isAboveZero,
  least,
  negate,
  shareEven,
  subtract,
} from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import { COST_DECIMALS } from './lots.ts';
import { dateText } from './zoned-days.ts';

/** Number of earlier days whose disposals an acquisition can match. */
export const DAYS_AFTER = 30;
/** Name of the pool as a lot. */
export const POOL = 'section 104';

/** A part of the disposals of a day: the units that it is identified with, their cost, and its share of the proceeds. */
export interface Identified {
  /** The pool, `same day`, or the later day of the acquisition. */
  readonly lot: string;
  readonly acquiredAt: Instant;
  readonly disposedAt: Instant;
  readonly quantity: Quantity;
  readonly cost: Money;
  readonly proceeds: Money;
}

/** The changes that a day makes: the differences between the parts of its disposals and the parts that were booked. */
export interface Identification {
  readonly currency: string;
  readonly day: number;
  readonly changes: readonly Identified[];
  /** Cost of the pool after the day. */
  readonly cost: Money;
}

/** Units that enter or leave, and their value. */
export interface PoolFlow {
  readonly at: Instant;
  readonly day: number;
  readonly units: Quantity;
  readonly value: Money;
}

interface Sum {
  readonly units: Quantity;
  readonly value: Money;
}

const NOTHING: Sum = { units: NO_QUANTITY, value: NO_MONEY };
const plus = (a: Sum, b: Sum): Sum => ({ units: add(a.units, b.units), value: add(a.value, b.value) });

interface Day {
  readonly day: number;
  /** All acquisitions of a day count as one, and so do all disposals. */
  acquired: Sum;
  acquiredAt: Instant;
  disposed: Sum;
  disposedAt: Instant;
  /** Disposed units that are identified with acquisitions. */
  readonly matched: { lot: string; acquiredAt: Instant; units: Quantity; cost: Money }[];
  /** Units that enter the pool; negative if transfers leave it. */
  into: Sum;
  /** Disposed units from the pool, and their cost. */
  left: Quantity;
  leftCost: Money;
  /** Parts booked so far, by lot. */
  readonly booked: Map<string, Identified>;
}

/**
 * Share pooling. Disposals of a day are identified with acquisitions of the same day, then with acquisitions of the
 * next 30 days, the earliest first, and then with the pool. Source: Taxation of Chargeable Gains Act 1992, sections
 * 104, 105 and 106A; HMRC Cryptoassets Manual CRYPTO22200 to 22257.
 *
 * The fold never looks ahead: at the end of each day it returns how the disposals of that day and the last 30 days
 * differ from the books.
 */
export class SharePools {
  readonly #pools = new Map<string, SharePool>();

  acquire(currency: string, flow: PoolFlow): void {
    this.#poolOf(currency).acquire(flow);
  }

  dispose(currency: string, flow: PoolFlow): void {
    this.#poolOf(currency).dispose(flow);
  }

  /** Moves the owner's units in from elsewhere or, if negative, out. This is neither an acquisition nor a disposal. */
  transfer(currency: string, flow: PoolFlow): void {
    this.#poolOf(currency).transfer(flow);
  }

  /** Records that part of a disposal was booked from the pool. */
  book(currency: string, day: number, part: Omit<Identified, 'lot'>): void {
    this.#poolOf(currency).book(day, { ...part, lot: POOL });
  }

  /** Ends all days before this one. @throws OperatorError `data` when disposals exceed the holding. */
  *endDays(before: number): Generator<Identification> {
    for (const [currency, pool] of this.#pools) {
      const ended = pool.end(before);
      if (ended !== undefined) yield { currency, ...ended };
    }
  }

  #poolOf(currency: string): SharePool {
    let pool = this.#pools.get(currency);
    if (pool === undefined) {
      pool = new SharePool(currency);
      this.#pools.set(currency, pool);
    }
    return pool;
  }
}

class SharePool {
  readonly #currency: string;
  /** The pool before the first of `#days`. */
  #start: Sum = NOTHING;
  /** When the oldest units of the pool were acquired. */
  #since: Instant | undefined;
  /** Days that have ended and whose disposals can still be identified with later acquisitions, oldest first. */
  readonly #days: Day[] = [];
  #today: Day | undefined;

  constructor(currency: string) {
    this.#currency = currency;
  }

  acquire({ at, day, units, value }: PoolFlow): void {
    const today = this.#on(day, at);
    today.acquired = plus(today.acquired, { units, value });
    today.acquiredAt = at;
    this.#since ??= at;
  }

  dispose({ at, day, units, value }: PoolFlow): void {
    const today = this.#on(day, at);
    today.disposed = plus(today.disposed, { units, value });
    today.disposedAt = at;
  }

  transfer({ at, day, units, value }: PoolFlow): void {
    const today = this.#on(day, at);
    today.into = plus(today.into, { units, value });
    this.#since ??= at;
  }

  book(day: number, part: Identified): void {
    const { booked } = this.#on(day, part.disposedAt);
    booked.set(part.lot, sumOf(part, booked.get(part.lot)));
  }

  end(before: number): Omit<Identification, 'currency'> | undefined {
    const today = this.#today;
    if (today === undefined || today.day >= before) return undefined;
    this.#forget(today.day - DAYS_AFTER);
    this.#days.push(today);
    this.#today = undefined;
    this.#matchSameDay(today);
    this.#matchEarlier(today);
    const { value: cost } = this.#pool();
    return { day: today.day, changes: this.#days.flatMap((each) => this.#changesOf(each)), cost };
  }

  #on(day: number, at: Instant): Day {
    this.#today ??= {
      day,
      acquired: NOTHING,
      acquiredAt: at,
      disposed: NOTHING,
      disposedAt: at,
      matched: [],
      into: NOTHING,
      left: NO_QUANTITY,
      leftCost: NO_MONEY,
      booked: new Map(),
    };
    return this.#today;
  }

  /** Makes the disposals of earlier days final, so that they become part of the starting pool. */
  #forget(first: number): void {
    for (let [oldest] = this.#days; oldest !== undefined && oldest.day < first; [oldest] = this.#days) {
      this.#start = this.#after(this.#start, oldest);
      this.#days.shift();
    }
  }

  #matchSameDay(today: Day): void {
    today.left = today.disposed.units;
    if (isAboveZero(today.acquired.units) && isAboveZero(today.left)) this.#match(today, today, 'same day');
  }

  #matchEarlier(today: Day): void {
    const lot = `within ${DAYS_AFTER} days, on ${dateText(today.day)}`;
    for (const earlier of this.#days)
      if (earlier !== today && isAboveZero(today.acquired.units) && isAboveZero(earlier.left))
        this.#match(earlier, today, lot);
    today.into = plus(today.into, today.acquired);
  }

  /** Identifies disposals of a day with the remaining acquisitions of `today`. */
  #match(of: Day, today: Day, lot: string): void {
    const { units, value } = today.acquired;
    const taken = least(of.left, units);
    const cost = shareOf(value, taken, units);
    of.matched.push({ lot, acquiredAt: today.acquiredAt, units: taken, cost });
    of.left = subtract(of.left, taken);
    today.acquired = { units: subtract(units, taken), value: subtract(value, cost) };
  }

  /** Returns the pool after the last day. */
  #pool(): Sum {
    return this.#days.reduce((sum, day) => this.#after(sum, day), this.#start);
  }

  /** Returns the pool after a day, and sets the cost of the day's disposals from the pool. */
  #after(before: Sum, day: Day): Sum {
    const { units, value } = plus(before, day.into);
    if (day.left.gt(units))
      throw new OperatorError(
        'data',
        `${this.#currency}: the disposals on ${dateText(day.day)} exceed the holding, and share pooling has no rule for a short position at the end of a day. Add earlier holdings under opening`,
      );
    day.leftCost = units.isZero() ? NO_MONEY : shareOf(value, day.left, units);
    return { units: subtract(units, day.left), value: subtract(value, day.leftCost) };
  }

  /** Returns the differences between the parts of a day's disposals and the booked parts, and updates the booked parts. */
  #changesOf(day: Day): readonly Identified[] {
    const now = this.#partsOf(day);
    const lots = new Set([...day.booked.keys(), ...now.keys()]);
    const changes = [...lots].flatMap((lot) => {
      const part = now.get(lot) ?? day.booked.get(lot);
      if (part === undefined) return [];
      const none = { ...part, quantity: NO_QUANTITY, cost: NO_MONEY, proceeds: NO_MONEY };
      const change = sumOf(now.get(lot) ?? none, negated(day.booked.get(lot) ?? none));
      const isSame = change.quantity.isZero() && change.cost.isZero() && change.proceeds.isZero();
      return isSame ? [] : [{ ...part, ...change }];
    });
    day.booked.clear();
    for (const [lot, part] of now) day.booked.set(lot, part);
    return changes;
  }

  #partsOf(day: Day): ReadonlyMap<string, Identified> {
    const { disposed, disposedAt, matched, left, leftCost } = day;
    const acquiredAt = this.#since ?? disposedAt;
    const parts = [...matched];
    // If figures were corrected and no units are left, the proceeds still need a part.
    if (!left.isZero() || (parts.length === 0 && !disposed.value.isZero()))
      parts.push({ lot: POOL, acquiredAt, units: left, cost: leftCost });
    let proceedsLeft = disposed.value;
    return new Map(
      parts.map(({ lot, units, cost, acquiredAt: since }, n) => {
        const isLast = n === parts.length - 1;
        const proceeds = isLast ? proceedsLeft : shareOf(disposed.value, units, disposed.units);
        proceedsLeft = subtract(proceedsLeft, proceeds);
        return [lot, { lot, acquiredAt: since, disposedAt, quantity: units, cost, proceeds }];
      }),
    );
  }
}

/** Returns the share of a value that belongs to `part` of `whole`, 12 decimals, half to even. */
const shareOf = (value: Money, part: Quantity, whole: Quantity): Money =>
  part.eq(whole) ? value : shareEven(value, part, whole, COST_DECIMALS);

const negated = (part: Identified): Identified => ({
  ...part,
  quantity: negate(part.quantity),
  cost: negate(part.cost),
  proceeds: negate(part.proceeds),
});

const sumOf = (a: Identified, b: Identified | undefined): Identified =>
  b === undefined
    ? a
    : {
        ...a,
        quantity: add(a.quantity, b.quantity),
        cost: add(a.cost, b.cost),
        proceeds: add(a.proceeds, b.proceeds),
      };
