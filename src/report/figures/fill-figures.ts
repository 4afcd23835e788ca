import { add, approximate, cost, NO_MONEY, price, subtract } from '../../core/money.ts';
import type { Money, Price } from '../../core/money.ts';
import type { FillRecord } from '../../core/record.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { Report } from '../json/schema.ts';
import type { Spread } from '../json/schema-parts.ts';
import { fourDecimals } from './digits.ts';
import type { FillFacts } from './facts.ts';
import { exactPrice } from './prices.ts';
import type { PriceBook } from './prices.ts';
import { spreadOf } from './quoting.ts';
import { against, bpsOf, roundedBps } from './shortfall.ts';
import { Sum } from './sum.ts';

/** Minutes after a fill at which mark-outs are measured. */
export const MARK_OUT_MINUTES = [1, 5, 30, 60, 1_440] as const;

/** Totals of several fills, weighted by notional, as `report.json` has them. Those that only it uses are computed on demand. */
export type FillsFigures = Report['groups'][number]['fills'];
type MarkOut = FillsFigures['mark_outs'][number];

/** One fill with the prices for comparison; quote currency, positive is bad. */
export interface FillRow {
  readonly record: FillRecord;
  /** `m_i`: reference price of the attempt before its quote request. */
  readonly reference: string | undefined;
  /** `s·(amount_i − q_i·m_i)`: the effective half spread, impact included. */
  readonly spread: Money | undefined;
  /** `s·(amount_i − q_i·P_a)`: compared with its parent's arrival price. The values of all fills sum to the trading cost. */
  readonly cost: Money | undefined;
}

export function fillRow({ record, figures, attempt }: FillFacts, arrival: Price | undefined): FillRow {
  const beyond = (each: Price | undefined): Money | undefined =>
    each && against(record.side, subtract(figures.amount, cost(each, figures.quantity)));
  const reference = attempt?.intent.reference_price;
  return {
    record,
    reference,
    spread: beyond(reference === undefined ? undefined : price(reference)),
    cost: beyond(arrival),
  };
}

interface Question {
  /** Fills of one side. */
  readonly fills: readonly FillFacts[];
  readonly side: 'buy' | 'sell';
  /** Sum over all fills. */
  readonly amount: Money;
  readonly prices: PriceBook;
}

export function fillsFigures(question: Question): FillsFigures {
  const { fills, side } = question;
  let [paid, paper] = [NO_MONEY, NO_MONEY];
  const spreads: number[] = [];
  for (const { attempt, figures } of fills) {
    if (attempt === undefined) continue;
    const at = cost(price(attempt.intent.reference_price), figures.quantity);
    const over = against(side, subtract(figures.amount, at));
    paid = add(paid, over);
    paper = add(paper, at);
    if (!at.isZero()) spreads.push(fourDecimals((10_000 * approximate(over)) / approximate(at)));
  }
  let [ofFills, markOuts]: [Spread | undefined, readonly MarkOut[] | undefined] = [undefined, undefined];
  return {
    fills: fills.length,
    spread_bps: bpsOf(paid, paper)?.toFixed(4),
    get spread_bps_of_fills() {
      return (ofFills ??= spreadOf(spreads));
    },
    get mark_outs() {
      return (markOuts ??= markOutsOf(question));
    },
  };
}

function markOutsOf(question: Question): readonly MarkOut[] {
  const sizes = Float64Array.from(question.fills, ({ figures }) => approximate(figures.quantity));
  return MARK_OUT_MINUTES.map((minutes) => markOutOf({ ...question, sizes, minutes }));
}

interface Marked extends Question {
  /** Quantities of the fills. */
  readonly sizes: Float64Array;
  readonly minutes: number;
}

/**
 * Computed in doubles, whose sum has a relative error of a few parts in 10^16. If the gain is less than eleven times
 * the amount, which is the limit for rounding from doubles, the error is less than the millionth of a unit that
 * rounding tolerates.
 */
function markOutOf(marked: Marked): MarkOut {
  const { fills, sizes, amount, side, minutes, prices } = marked;
  const worth = new Sum();
  let [unmarked, place, count] = [NO_MONEY, 0, 0];
  for (const fill of fills) {
    const later = priceAfter(fill, minutes, prices);
    const size = sizes[place++] ?? 0;
    if (Number.isNaN(later)) unmarked = add(unmarked, fill.figures.amount);
    else {
      worth.add(later * size);
      count++;
    }
  }
  // Nearly all fills have a price, so the amounts of the others are subtracted.
  const spent = subtract(amount, unmarked);
  const moved = (worth.value - approximate(spent)) / approximate(spent);
  const bps = spent.isZero() ? undefined : roundedBps(side === 'buy' ? moved : -moved);
  return { minutes, fills: count, bps: (bps ?? bpsOf(exactGain(marked, spent), spent))?.toFixed(4) };
}

function exactGain({ fills, side, minutes, prices }: Marked, spent: Money): Money {
  let worth = NO_MONEY;
  for (const fill of fills) {
    const later = priceAfter(fill, minutes, prices);
    if (!Number.isNaN(later)) worth = add(worth, cost(exactPrice(later), fill.figures.quantity));
  }
  return against(side, subtract(worth, spent));
}

/** The tape price some minutes after a fill. NaN if that price was known before the fill, or its bar is too long. */
function priceAfter({ record }: FillFacts, minutes: number, prices: PriceBook): number {
  const tape = prices.tape(record.pair);
  if (tape === undefined || tape.barMs > minutes * MINUTE_MS) return Number.NaN;
  return prices.newerAt(record.pair, record.executed_at + minutes * MINUTE_MS, record.executed_at);
}
