import type { add, Money } from '../../core/money.ts';
import type { FillRecord } from '../../core/record.ts';

/** What the fills of a day cost. */
interface CostDay {
  cost: Money;
}

interface LateCost {
  readonly day: CostDay;
  readonly fill: FillRecord;
  readonly combine: typeof add;
}

/** Fills that wait to be counted. */
const LATE_MAX = 1_000;

/**
 * Fills whose cost is not in that of their day yet: it takes long divisions, and a desk without a limit of its daily cost
 * asks for it only where its state is kept. Whoever reads the cost of a day calls `count` first.
 */
export class LateCosts {
  readonly #costOf: (fill: FillRecord) => Money;
  #late: LateCost[] = [];

  constructor(costOf: (fill: FillRecord) => Money) {
    this.#costOf = costOf;
  }

  add(late: LateCost): void {
    if (this.#late.push(late) >= LATE_MAX) this.count();
  }

  /** Adds what is late to its days, in the order in which it came. */
  count(): void {
    for (const { day, fill, combine } of this.#late) day.cost = combine(day.cost, this.#costOf(fill));
    if (this.#late.length > 0) this.#late = [];
  }

  /** The oldest day is not needed any more: only the newest is counted. */
  forget(gone: CostDay): void {
    let first = 0;
    while (this.#late[first]?.day === gone) first++;
    if (first > 0) this.#late = this.#late.slice(first);
  }
}
