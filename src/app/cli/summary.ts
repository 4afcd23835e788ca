import {
  add,
  cost,
  fraction,
  money,
  NO_MONEY,
  NO_QUANTITY,
  price,
  quantity,
  ratioOf,
  roundEven,
  scale,
  subtract,
} from '../../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../../core/money.ts';
import type { FillRecord, StoredRecord } from '../../core/record.ts';

/** What one strategy traded of one pair and side, against the price when it was decided. */
export interface Traded {
  readonly strategy: string;
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly side: 'buy' | 'sell';
  readonly fills: number;
  readonly quantity: Quantity;
  readonly amount: Money;
  readonly fees: Money;
  readonly average: Price;
  /** Reference price when the first parent of these fills was decided; `undefined` when none was known. */
  readonly arrival: Price | undefined;
  /** Average price against arrival, each fill against the arrival of its parent. Positive is bad. Basis points. */
  readonly costBps: Ratio | undefined;
}

/** Sums of one row. `benchmark`: what the same quantities would have cost at arrival; unknown once one arrival is. */
interface Sums {
  readonly first: FillRecord;
  fills: number;
  traded: Quantity;
  amount: Money;
  fees: Money;
  benchmark: Money | undefined;
}

/** Parents whose arrival is remembered, the newest: earlier ones have ended. */
const ARRIVALS_MAX = 10_000;

/** Adds the fills of this run up as records come by. Arrival: the reference price when the first slice of a parent was decided. */
export class Summary {
  #arrivals = new Map<string, Price>();
  readonly #sums = new Map<string, Sums>();

  take(stored: StoredRecord): void {
    this.replay(stored);
    if (stored.body.kind === 'fill') this.#add(stored.body);
  }

  /** A record of an earlier run: its arrivals count on, its fills do not. */
  replay({ body }: StoredRecord): void {
    if (body.kind !== 'wake') return;
    for (const { parent, decision_price: decision } of body.intents) {
      if (decision !== undefined && !this.#arrivals.has(parent)) this.#arrivals.set(parent, price(decision));
    }
    if (this.#arrivals.size > ARRIVALS_MAX) this.#arrivals.delete(this.#arrivals.keys().next().value ?? '');
  }

  /** What counts on in the next process. */
  saved(): ReadonlyMap<string, Price> {
    return this.#arrivals;
  }

  /** Takes over what `saved` gave. */
  restore(arrivals: ReadonlyMap<string, Price>): void {
    this.#arrivals = new Map(arrivals);
  }

  rows(): readonly Traded[] {
    return [...this.#sums.values()].map((sums) => this.#row(sums));
  }

  #add(fill: FillRecord): void {
    const key = [fill.strategy, fill.pair, fill.side].join('\n');
    const sums: Sums = this.#sums.get(key) ?? {
      first: fill,
      fills: 0,
      traded: NO_QUANTITY,
      amount: NO_MONEY,
      fees: NO_MONEY,
      benchmark: NO_MONEY,
    };
    this.#sums.set(key, sums);
    const arrival = this.#arrivals.get(fill.parent);
    sums.fills++;
    sums.traded = add(sums.traded, quantity(fill.quantity));
    sums.amount = add(sums.amount, money(fill.amount));
    sums.fees = add(sums.fees, money(fill.fees));
    sums.benchmark =
      sums.benchmark === undefined || arrival === undefined
        ? undefined
        : add(sums.benchmark, cost(arrival, quantity(fill.quantity)));
  }

  #row({ first, fills, traded, amount, fees, benchmark }: Sums): Traded {
    return {
      strategy: first.strategy,
      pair: first.pair,
      base: first.base,
      quote: first.quote,
      side: first.side,
      fills,
      quantity: traded,
      amount,
      fees,
      average: price(amount.div(traded).toFixed(12)),
      arrival: this.#arrivals.get(first.parent),
      costBps: benchmark === undefined ? undefined : costBps(first.side, amount, benchmark),
    };
  }
}

/** `s (P̄ − P_a) / P_a`, in basis points to the nearest of four decimals: positive means that the trades were worse than arrival. */
function costBps(side: 'buy' | 'sell', amount: Money, benchmark: Money): Ratio {
  const away = side === 'buy' ? subtract(amount, benchmark) : subtract(benchmark, amount);
  return roundEven(scale(fraction(away, benchmark), ratioOf(10_000)), 4);
}

/** The closing words of a run. */
export function summaryLines(rows: readonly Traded[]): readonly string[] {
  if (rows.length === 0) return ['nothing was traded'];
  const cells = rows.map((row) => [
    row.strategy,
    row.side,
    `${row.quantity.toFixed()} ${row.base}`,
    `${row.fills} fill${row.fills === 1 ? '' : 's'}`,
    `at ${row.average.toFixed(2)}`,
    row.arrival === undefined ? 'arrival unknown' : `arrival ${row.arrival.toFixed(2)}`,
    row.costBps === undefined ? '' : `cost ${row.costBps.toFixed(2)} bps`,
    row.fees.isZero() ? '' : `fees ${row.fees.toFixed()} ${row.quote}`,
  ]);
  return [
    ...table(cells),
    '',
    'cost is against the reference price at the decision of each parent; positive is bad',
  ];
}

/** Columns of text, aligned. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
