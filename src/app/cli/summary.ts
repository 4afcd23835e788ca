import { corrected } from '../../core/cycle/corrected-fill.ts';
import { feesInQuote, unpricedFees } from '../../core/cycle/balance-changes.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import {
  add,
  cost,
  money,
  NO_MONEY,
  NO_QUANTITY,
  price,
  quantity,
  subtract,
  text,
} from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import type { CorrectionRecord, FillRecord, RecordBody, StoredRecord } from '../../core/record.ts';
import { withSeparators } from '../../core/text/with-separators.ts';
import { against, averageOf, statedBps } from '../../report/figures/shortfall.ts';
import { grouped, priced } from '../../report/html/markup.ts';
import { sliceKey } from '../../engine/state/strategy-run.ts';

/** Totals of one strategy, pair and side, compared with the price when each order was decided. */
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
  /** Fees in currencies that the pair does not trade. */
  readonly otherFees: Readonly<Record<string, string>>;
  readonly average: string;
  /** Reference price when the first parent of these fills was decided; `undefined` when none was known. */
  readonly arrival: Price | undefined;
  /** Average price compared with the arrival price, each fill with that of its parent, in basis points. Positive is bad. */
  readonly costBps: string | undefined;
  /** Execution part of `costBps`: each slice compared with the price at its own decision. It consists of spread and impact. */
  readonly executionBps: string | undefined;
  /** Timing, the rest of `costBps`: how far the market moved between the parent's arrival and each slice's decision. */
  readonly timingBps: string | undefined;
}

/**
 * Sums of one row. `benchmark`: the cost of the same quantities at arrival; `decided`: at the decision of each slice.
 * Both become unknown as soon as one price is unknown.
 */
interface Sums {
  readonly first: FillRecord;
  fills: number;
  traded: Quantity;
  amount: Money;
  fees: Money;
  readonly otherFees: Record<string, string>;
  benchmark: Money | undefined;
  decided: Money | undefined;
}

/** Largest number of parents, and of slices, whose prices a summary keeps. It drops the oldest, which have ended. */
const PRICES_MAX = 10_000;

/** State that the next process continues from. */
interface Kept {
  readonly arrivals: ReadonlyMap<string, Price>;
  readonly decisions: ReadonlyMap<string, Price>;
  readonly sums: ReadonlyMap<string, Sums>;
  readonly finished: ReadonlySet<string>;
  readonly fills: ReadonlyMap<string, FillRecord>;
}

/** Number of newest fills whose corrections a summary applies. */
const FILLS_MAX = 1_000;

/**
 * Adds up the fills of each strategy as records arrive, including fills of earlier processes unless the strategy had finished by
 * then. Arrival is the reference price when the first slice of a parent was decided.
 */
export class Summary {
  #arrivals = new Map<string, Price>();
  /** Reference prices at the decision of slices, by `sliceKey`. */
  #decisions = new Map<string, Price>();
  #sums = new Map<string, Sums>();
  #finished = new Set<string>();
  /** The newest fills in `#sums`, by client id, as corrected. */
  #fills = new Map<string, FillRecord>();
  /** Rows of strategy versions that a new document replaced in this process. */
  readonly #earlier: Sums[] = [];

  take({ body }: StoredRecord): void {
    this.#note(body);
    if (body.kind === 'fill') this.#add(body);
    if (body.kind === 'correction') this.#correct(body);
  }

  /** Adds a record of an earlier process. */
  replay({ body }: StoredRecord): void {
    this.#note(body);
    if (body.kind === 'fill' && !this.#finished.has(body.strategy)) this.#add(body);
    if (body.kind === 'correction') this.#correct(body);
    if (body.kind === 'wake' && body.finished !== undefined) this.#forget(body.strategy);
    this.#earlier.length = 0;
  }

  #note(body: RecordBody): void {
    if (body.kind === 'strategy') this.#beginLife(body.strategy);
    if (body.kind !== 'wake') return;
    for (const { parent, slice, decision_price: decision } of body.intents) {
      if (decision === undefined) continue;
      remember(this.#decisions, sliceKey(parent, slice), price(decision));
      if (!this.#arrivals.has(parent)) remember(this.#arrivals, parent, price(decision));
    }
    if (body.finished !== undefined) this.#finished.add(body.strategy);
  }

  /** Keeps a separate row for the fills of the previous version in this process. */
  #beginLife(strategy: string): void {
    this.#finished.delete(strategy);
    this.#earlier.push(...this.#forget(strategy));
  }

  #forget(strategy: string): readonly Sums[] {
    const own = [...this.#sums].filter(([, { first }]) => first.strategy === strategy);
    for (const [key] of own) this.#sums.delete(key);
    for (const [id, fill] of this.#fills) if (fill.strategy === strategy) this.#fills.delete(id);
    return own.map(([, sums]) => sums);
  }

  saved(): Kept {
    return {
      arrivals: this.#arrivals,
      decisions: this.#decisions,
      sums: this.#sums,
      finished: this.#finished,
      fills: this.#fills,
    };
  }

  /** Restores the state that `saved` returned. */
  restore({ arrivals, decisions, sums, finished, fills }: Kept): void {
    this.#arrivals = new Map(arrivals);
    this.#decisions = new Map(decisions);
    this.#finished = new Set(finished);
    this.#fills = new Map(fills);
    this.#sums = new Map([...sums].map(([key, one]) => [key, { ...one, otherFees: { ...one.otherFees } }]));
    for (const strategy of finished) this.#forget(strategy);
  }

  rows(): readonly Traded[] {
    return [...this.#earlier, ...this.#sums.values()].map((sums) => this.#row(sums));
  }

  #add(fill: FillRecord): void {
    const key = keyOf(fill);
    const sums: Sums = this.#sums.get(key) ?? {
      first: fill,
      fills: 0,
      traded: NO_QUANTITY,
      amount: NO_MONEY,
      fees: NO_MONEY,
      otherFees: {},
      benchmark: NO_MONEY,
      decided: NO_MONEY,
    };
    this.#sums.set(key, sums);
    sums.fills++;
    this.#count(sums, fill, add);
    this.#fills.set(fill.client_order_id, fill);
    keepNewest(this.#fills, FILLS_MAX);
  }

  /** The account shows other figures of a fill. */
  #correct(body: CorrectionRecord): void {
    const before = this.#fills.get(body.client_order_id);
    const sums = before === undefined ? undefined : this.#sums.get(keyOf(before));
    if (before === undefined || sums === undefined) return;
    const now = corrected(before, body);
    this.#count(sums, before, subtract);
    this.#count(sums, now, add);
    this.#fills.set(body.client_order_id, now);
  }

  #count(sums: Sums, fill: FillRecord, combine: typeof add): void {
    sums.traded = combine(sums.traded, quantity(fill.quantity));
    sums.amount = combine(sums.amount, money(fill.amount));
    sums.fees = combine(sums.fees, feesInQuote(fill));
    for (const [currency, fee] of Object.entries(unpricedFees(fill)))
      sums.otherFees[currency] = text(combine(quantity(sums.otherFees[currency] ?? '0'), quantity(fee)));
    const at = (sum: Money | undefined, each: Price | undefined): Money | undefined =>
      sum && each && combine(sum, cost(each, quantity(fill.quantity)));
    sums.benchmark = at(sums.benchmark, this.#arrivals.get(fill.parent));
    sums.decided = at(sums.decided, this.#decisions.get(sliceKey(fill.parent, fill.slice)));
  }

  #row({ first, fills, traded, amount, fees, otherFees, benchmark, decided }: Sums): Traded {
    const bps = (from: Money | undefined, to: Money | undefined): string | undefined =>
      from && to && benchmark && statedBps(against(first.side, subtract(to, from)), benchmark);
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
      otherFees,
      average: averageOf(amount, traded) ?? '0',
      arrival: this.#arrivals.get(first.parent),
      costBps: bps(benchmark, amount),
      executionBps: bps(decided, amount),
      timingBps: bps(benchmark, decided),
    };
  }
}

function remember(prices: Map<string, Price>, key: string, value: Price): void {
  prices.set(key, value);
  if (prices.size > PRICES_MAX) prices.delete(prices.keys().next().value ?? '');
}

const keyOf = ({ strategy, pair, side }: FillRecord): string => [strategy, pair, side].join('\n');

/** Returns the summary that a run prints at its end. */
export function summaryLines(rows: readonly Traded[]): readonly string[] {
  if (rows.length === 0) return ['nothing was traded'];
  const cells = rows.map((row) => [
    row.strategy,
    row.side,
    `${withSeparators(row.quantity.toFixed())} ${row.base}`,
    `${withSeparators(String(row.fills))} fill${row.fills === 1 ? '' : 's'}`,
    `at ${plain(priced(row.average))}`,
    row.arrival === undefined ? 'arrival unknown' : `arrival ${plain(priced(row.arrival.toFixed()))}`,
    row.costBps === undefined ? '' : `cost ${shortBps(row.costBps)} bps`,
    row.executionBps === undefined || row.timingBps === undefined
      ? ''
      : `= execution ${shortBps(row.executionBps)} + timing ${shortBps(row.timingBps)}`,
    feesText(row),
  ]);
  return [
    ...table(cells),
    '',
    'cost is measured against the reference price at the decision of each order; positive is bad',
    'execution: the spread and impact that each slice paid, against the price at its own decision',
    'timing: how far the market moved from the decision of the order to that of each slice',
  ];
}

function feesText({ fees, quote, otherFees }: Traded): string {
  const all = [...(fees.isZero() ? [] : [[quote, fees.toFixed()] as const]), ...Object.entries(otherFees)];
  return all.length === 0
    ? ''
    : `fees ${all.map(([currency, fee]) => `${withSeparators(fee)} ${currency}`).join(' and ')}`;
}

/** Returns a figure as in a printed report, with an ASCII minus sign. */
export const plain = (shown: string): string => shown.replace('\u2212', '-');
/** Returns basis points with two decimals, rounded to the nearest. */
export const shortBps = (bps: string): string => plain(grouped(bps));

/** Returns lines of text with aligned columns. */
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
