import { OperatorError } from '../core/errors.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  add,
  isAboveZero,
  least,
  negate,
  priceOf,
  shareEven,
  size,
  subtract,
} from '../core/money.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import type { Instant } from '../core/time.ts';

/** Order in which a disposal takes lots. `average`: all units of a currency have the average cost at that moment. */
export type LotMethod = 'fifo' | 'lifo' | 'hifo' | 'average';

/** Units that were acquired together. A short position has a negative quantity and cost. */
export interface Lot {
  readonly id: string;
  readonly acquiredAt: Instant;
  readonly quantity: Quantity;
  /** In the currency of the books. */
  readonly cost: Money;
}

/** A disposed part of a lot, with its share of the proceeds. */
export interface Disposed extends Lot {
  /** Proceeds; negative when a short position was closed. */
  readonly proceeds: Money;
}

/** A change of a holding: the disposed lots, and the lot that was opened. */
export interface LotChange {
  readonly currency: string;
  readonly disposed: readonly Disposed[];
  readonly opened: Lot | undefined;
}

/** Lots that a disposal takes before others: quantity by lot id. */
export type Choice = readonly { readonly lot: string; readonly quantity: Quantity }[];

/** The cost of part of a lot is rounded to this many decimals, half to even; the rest of the lot keeps the remainder. */
export const COST_DECIMALS = 12;

const AVERAGE = 'average';

/** Open lots by currency. */
export class Lots {
  #method: LotMethod;
  /** Id of the only lot of a currency under `average`. */
  readonly #averageId: string;
  readonly #holdings = new Map<string, Holding>();

  constructor(method: LotMethod, averageId = AVERAGE) {
    this.#method = method;
    this.#averageId = averageId;
  }

  /** Changes the order in which later disposals take lots. Neither method may be `average`. */
  changeMethod(method: LotMethod): void {
    this.#method = method;
    for (const holding of this.#holdings.values()) holding.changeMethod(method);
  }

  /** Returns the cost of all units of a currency. */
  costOf(currency: string): Money {
    return this.#holdings.get(currency)?.cost ?? NO_MONEY;
  }

  /**
   * Adds to a holding (positive quantity and cost) or takes from it (both negative). Units that close a position are disposed of; the
   * rest opens a lot.
   */
  change(currency: string, lot: Lot, choice: Choice = []): LotChange {
    const holding = this.#holdingOf(currency);
    const isOpening = holding.isEmpty || holding.isShort === lot.quantity.isNegative();
    if (isOpening) return { currency, disposed: [], opened: holding.open(lot) };
    const wanted = size(lot.quantity);
    const parts = holding.take(wanted, choice);
    const closed = parts.reduce((sum, part) => add(sum, size(part.quantity)), NO_QUANTITY);
    const rest = subtract(wanted, closed);
    const disposed = withProceeds(parts, lot, closed);
    const proceeds = disposed.reduce((sum, part) => add(sum, part.proceeds), NO_MONEY);
    const opened = isAboveZero(rest)
      ? holding.open({
          ...lot,
          quantity: lot.quantity.isNegative() ? negate(rest) : rest,
          cost: add(lot.cost, proceeds),
        })
      : undefined;
    return { currency, disposed, opened };
  }

  /** Takes up to `units` from a long position, without a disposal. */
  take(currency: string, units: Quantity, choice: Choice = []): readonly Lot[] {
    const holding = this.#holdingOf(currency);
    return holding.isShort ? [] : holding.take(units, choice);
  }

  /** Takes the remainder of a lot. */
  remove(currency: string, id: string): Lot | undefined {
    return this.#holdingOf(currency).remove(id);
  }

  /**
   * Restores units, as a lot.
   *
   * @throws OperatorError `data` when the position has changed its sign since.
   */
  restore(currency: string, lot: Lot): void {
    const holding = this.#holdingOf(currency);
    if (this.#method !== 'average' && !holding.isEmpty && holding.isShort !== lot.quantity.isNegative())
      throw new OperatorError(
        'data',
        `a trade in ${currency} cannot be corrected, because the position has changed sign since: ${lot.id} cannot be restored`,
      );
    holding.open(lot);
  }

  /** Yields the open lots of each currency, in the order of their disposal. */
  *open(): Iterable<readonly [currency: string, lot: Lot]> {
    for (const [currency, holding] of this.#holdings)
      for (const lot of holding.inOrder()) yield [currency, lot];
  }

  #holdingOf(currency: string): Holding {
    let holding = this.#holdings.get(currency);
    if (holding === undefined) {
      holding = new Holding(this.#method, this.#averageId);
      this.#holdings.set(currency, holding);
    }
    return holding;
  }
}

/** Splits the value of a disposal over the parts by quantity; the last part takes the rounding remainder. */
function withProceeds(parts: readonly Lot[], lot: Lot, closed: Quantity): readonly Disposed[] {
  const value = negate(lot.cost);
  const isWhole = closed.eq(size(lot.quantity));
  const total = isWhole ? value : shareEven(value, closed, size(lot.quantity), COST_DECIMALS);
  let left = total;
  return parts.map((part, n) => {
    const share = shareEven(total, size(part.quantity), closed, COST_DECIMALS);
    const proceeds = n === parts.length - 1 ? left : share;
    left = subtract(left, proceeds);
    return { ...part, proceeds };
  });
}

interface OpenLot {
  readonly id: string;
  readonly acquiredAt: Instant;
  /** Cost of a unit. Computed only for `hifo`, because a quotient of 80 digits takes time and memory. */
  unit: Price | undefined;
  quantity: Quantity;
  cost: Money;
}

/** Number of taken lots at the head of the array from which on the array is trimmed, once they make up most of it. */
const HEAD_MAX = 1_024;

/** The open lots of one currency, all long or all short. */
class Holding {
  #method: LotMethod;
  readonly #averageId: string;
  readonly #byId = new Map<string, OpenLot>();
  /** Sorted by acquisition, or by unit cost for `hifo`. Chosen lots that become empty remain in the list until they are reached. */
  #lots: OpenLot[] = [];
  #head = 0;
  #isShort = false;

  constructor(method: LotMethod, averageId: string) {
    this.#method = method;
    this.#averageId = averageId;
  }

  changeMethod(method: LotMethod): void {
    this.#method = method;
    const lots = this.#lots.slice(this.#head).filter((lot) => !lot.quantity.isZero());
    for (const lot of lots) lot.unit = this.#unitOf(lot);
    this.#lots = lots.toSorted((a, b) => this.#compare(a, b));
    this.#head = 0;
  }

  /** With averages, the sign is that of the single lot, which a correction may reverse. */
  get isShort(): boolean {
    return this.#method === 'average'
      ? this.#byId.get(this.#averageId)?.quantity.isNegative() === true
      : this.#isShort;
  }

  get cost(): Money {
    return this.#byId.values().reduce((sum, { cost }) => add(sum, cost), NO_MONEY);
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  open(lot: Lot): Lot {
    if (this.isEmpty) this.#isShort = lot.quantity.isNegative();
    const id = this.#method === 'average' ? this.#averageId : lot.id;
    const known = this.#byId.get(id);
    if (known !== undefined) {
      known.quantity = add(known.quantity, lot.quantity);
      known.cost = add(known.cost, lot.cost);
      if (known.quantity.isZero() && known.cost.isZero()) this.#byId.delete(id);
      return { ...lot, id };
    }
    const made: OpenLot = { ...lot, id, unit: this.#unitOf(lot) };
    this.#byId.set(id, made);
    this.#lots.splice(this.#placeOf(made), 0, made);
    return { ...lot, id };
  }

  #unitOf({ cost, quantity }: Pick<Lot, 'cost' | 'quantity'>): Price | undefined {
    return this.#method === 'hifo' ? priceOf(cost, quantity) : undefined;
  }

  remove(id: string): Lot | undefined {
    const lot = this.#byId.get(id);
    return lot === undefined ? undefined : this.#part(lot, size(lot.quantity));
  }

  /** Takes parts of up to `wanted` units, chosen lots first. */
  take(wanted: Quantity, choice: Choice): readonly Lot[] {
    const parts: Lot[] = [];
    let left = wanted;
    const takeFrom = (lot: OpenLot, most: Quantity): void => {
      const part = this.#part(lot, least(left, most, size(lot.quantity)));
      left = subtract(left, size(part.quantity));
      parts.push(part);
    };
    for (const { lot: id, quantity } of choice) {
      const lot = this.#byId.get(id);
      if (lot !== undefined && isAboveZero(left)) takeFrom(lot, quantity);
    }
    for (let next = this.#next(); next !== undefined && isAboveZero(left); next = this.#next())
      takeFrom(next, left);
    return parts;
  }

  *inOrder(): Iterable<Lot> {
    const lots = this.#lots.slice(this.#head).filter((lot) => !lot.quantity.isZero());
    for (const { id, acquiredAt, quantity, cost } of this.#method === 'fifo' ? lots : lots.toReversed())
      yield { id, acquiredAt, quantity, cost };
  }

  /** Returns the lot to take from next; drops empty ones. */
  #next(): OpenLot | undefined {
    const isFirst = this.#method === 'fifo';
    for (;;) {
      const lot = isFirst ? this.#lots[this.#head] : this.#lots.at(-1);
      if (lot === undefined || !lot.quantity.isZero()) return lot;
      if (isFirst) this.#head += 1;
      else this.#lots.pop();
      if (this.#head > HEAD_MAX && this.#head * 2 > this.#lots.length) {
        this.#lots = this.#lots.slice(this.#head);
        this.#head = 0;
      }
    }
  }

  /** Takes `units` from a lot, which has at least as many. */
  #part(lot: OpenLot, units: Quantity): Lot {
    const isWhole = units.eq(size(lot.quantity));
    const quantity = lot.quantity.isNegative() ? negate(units) : units;
    const cost = isWhole ? lot.cost : shareEven(lot.cost, units, size(lot.quantity), COST_DECIMALS);
    lot.quantity = subtract(lot.quantity, quantity);
    lot.cost = subtract(lot.cost, cost);
    if (isWhole) this.#byId.delete(lot.id);
    return { id: lot.id, acquiredAt: lot.acquiredAt, quantity, cost };
  }

  /** Returns the position of a new lot, usually the end. */
  #placeOf(lot: OpenLot): number {
    let [low, high] = [this.#head, this.#lots.length];
    const last = this.#lots.at(-1);
    if (last === undefined || this.#compare(last, lot) <= 0) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#lots[middle];
      if (other !== undefined && this.#compare(other, lot) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Compares two lots. For `hifo`, the last lot is the one whose disposal gains least: the most expensive, or in a short position
   * the cheapest.
   */
  #compare(a: OpenLot, b: OpenLot): number {
    if (this.#method !== 'hifo') return a.acquiredAt - b.acquiredAt;
    if (a.unit === undefined || b.unit === undefined) return 0;
    return this.isShort ? b.unit.comparedTo(a.unit) : a.unit.comparedTo(b.unit);
  }
}
