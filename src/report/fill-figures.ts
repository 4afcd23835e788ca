import { add, approximate, cost, NO_MONEY, price, subtract } from '../core/money.ts';
import type { Money, Price, Ratio } from '../core/money.ts';
import { MINUTE_MS } from '../core/time.ts';
import { fourDecimals } from './digits.ts';
import type { FillFacts } from './facts.ts';
import type { PriceBook } from './prices.ts';
import { spreadOf } from './quoting.ts';
import type { Spread } from './quoting.ts';
import { against, bpsOf } from './shortfall.ts';

/** Minutes after a fill at which the price is looked at again. */
export const MARK_OUT_MINUTES = [1, 5, 30, 60, 1_440] as const;

/** What one fill says of the venue. Basis points, four decimals. */
export interface FillFigures {
  readonly facts: FillFacts;
  /** Reference price of its attempt, before its quote: independent of the quote. */
  readonly mid: Price | undefined;
  /** `s·(amount/q − m)/m`: half of the spread that was paid. Positive is bad. */
  readonly spreadBps: Ratio | undefined;
  /** `s·(m(t+τ) − p)/p` after each of `MARK_OUT_MINUTES`: positive is GOOD, the price went our way. */
  readonly markOuts: readonly (Ratio | undefined)[];
}

/** Fills together, weighted by notional. */
export interface FillsFigures {
  readonly fills: number;
  /** `Σ s·(amount − q·m) / Σ q·m` over the fills with a reference price. */
  readonly spreadBps: Ratio | undefined;
  /** Of the fills, each counted once. */
  readonly spreadBpsOfFills: Spread | undefined;
  readonly markOuts: readonly MarkOut[];
}

export interface MarkOut {
  readonly minutes: number;
  /** Fills with a price that long after them. */
  readonly fills: number;
  /** `Σ s·(q·m(t+τ) − amount) / Σ amount` over those. Positive is good. */
  readonly bps: Ratio | undefined;
}

export function fillFigures(fill: FillFacts, prices: PriceBook): FillFigures {
  const { side } = fill.record;
  const { quantity: traded, amount } = fill.figures;
  const mid = midOf(fill);
  const spread = mid === undefined ? undefined : bpsOf(...spreadSums(fill, mid));
  return {
    facts: fill,
    mid,
    spreadBps: spread,
    markOuts: MARK_OUT_MINUTES.map((minutes) => {
      const later = priceAfter(fill, minutes, prices);
      if (later === undefined) return undefined;
      const moved = subtract(cost(later, traded), amount);
      return bpsOf(against(side, moved), amount);
    }),
  };
}

export function fillsFigures(fills: readonly FillFacts[], prices: PriceBook): FillsFigures {
  let [paid, paper] = [NO_MONEY, NO_MONEY];
  const spreads: number[] = [];
  const marks = MARK_OUT_MINUTES.map((minutes) => new Mark(minutes));
  const amounts = { buy: NO_MONEY, sell: NO_MONEY };
  for (const fill of fills) {
    const { side } = fill.record;
    const { amount } = fill.figures;
    amounts[side] = add(amounts[side], amount);
    for (const mark of marks) mark.take(fill, priceAfter(fill, mark.minutes, prices));
    const mid = midOf(fill);
    if (mid === undefined) continue;
    const [over, at] = spreadSums(fill, mid);
    paid = add(paid, over);
    paper = add(paper, at);
    if (!at.isZero()) spreads.push(fourDecimals((10_000 * approximate(over)) / approximate(at)));
  }
  return {
    fills: fills.length,
    spreadBps: bpsOf(paid, paper),
    spreadBpsOfFills: spreadOf(spreads),
    markOuts: marks.map((mark) => mark.figures(fills.length, amounts)),
  };
}

interface Sides {
  readonly buy: Money;
  readonly sell: Money;
}

/** Sums of the fills with a price so many minutes later. Nearly all of them have one: the amounts of the others are taken out. */
class Mark {
  readonly minutes: number;
  readonly #worth = { buy: NO_MONEY, sell: NO_MONEY };
  readonly #unmarked = { buy: NO_MONEY, sell: NO_MONEY };
  #left = 0;

  constructor(minutes: number) {
    this.minutes = minutes;
  }

  take({ record: { side }, figures: { quantity, amount } }: FillFacts, later: Price | undefined): void {
    if (later === undefined) {
      this.#unmarked[side] = add(this.#unmarked[side], amount);
      this.#left++;
    } else this.#worth[side] = add(this.#worth[side], cost(later, quantity));
  }

  figures(fills: number, amounts: Sides): MarkOut {
    const buys = subtract(amounts.buy, this.#unmarked.buy);
    const sells = subtract(amounts.sell, this.#unmarked.sell);
    const gained = subtract(subtract(this.#worth.buy, buys), subtract(this.#worth.sell, sells));
    return { minutes: this.minutes, fills: fills - this.#left, bps: bpsOf(gained, add(buys, sells)) };
  }
}

/** What was paid beyond the middle price, and what the middle price comes to. */
const spreadSums = ({ record, figures }: FillFacts, mid: Price): readonly [over: Money, at: Money] => {
  const at = cost(mid, figures.quantity);
  return [against(record.side, subtract(figures.amount, at)), at];
};

const midOf = ({ attempt }: FillFacts): Price | undefined =>
  attempt === undefined ? undefined : price(attempt.intent.reference_price);

/** The price of a tape some minutes after a fill. One that was known before the fill, or bars that are longer, say nothing of it. */
function priceAfter({ record }: FillFacts, minutes: number, prices: PriceBook): Price | undefined {
  const tape = prices.tape(record.pair);
  if (tape === undefined || tape.barMs > minutes * MINUTE_MS) return undefined;
  return prices.newerAt(record.pair, record.executed_at + minutes * MINUTE_MS, record.executed_at);
}
