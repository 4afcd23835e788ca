import type { add, Money } from '../../core/money.ts';
import type { FillRecord } from '../../core/record.ts';

/** The cost of the fills of one day. */
interface CostDay {
  cost: Money;
}

interface LateCost {
  readonly day: CostDay;
  readonly fill: FillRecord;
  readonly combine: typeof add;
}

/** Fills that are not counted yet. */
const LATE_MAX = 1_000;

/**
 * Postpones adding the cost of fills to their day, because it takes long divisions, and a desk without a daily cost limit needs
 * it only for snapshots. Readers of a day's cost call `count` first.
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

  /** Adds the pending fills to their days, in order of arrival. */
  count(): void {
    for (const { day, fill, combine } of this.#late) day.cost = combine(day.cost, this.#costOf(fill));
    if (this.#late.length > 0) this.#late = [];
  }

  /** Only the newest day counts, so the oldest can be dropped. */
  forget(gone: CostDay): void {
    let first = 0;
    while (this.#late[first]?.day === gone) first++;
    if (first > 0) this.#late = this.#late.slice(first);
  }
}
