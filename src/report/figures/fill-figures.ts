import { add, approximate, cost, NO_MONEY, price, subtract } from '../../core/money.ts';
import type { Money, Price } from '../../core/money.ts';
import type { FillRecord } from '../../core/record.ts';
import { MINUTE_MS, after } from '../../core/time.ts';
import type { Report } from '../json/schema.ts';
import type { FillFacts } from './facts.ts';
import type { PriceBook } from './prices.ts';
import { spreadOf } from './quoting.ts';
import { onDemand } from './rows.ts';
import { against, statedBps } from './shortfall.ts';

/** Minutes after a fill at which mark-outs are measured. */
export const MARK_OUT_MINUTES = [1, 5, 30, 60, 1_440] as const;

type FillsFigures = Report['groups'][number]['fills'];

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
  readonly prices: PriceBook;
}

export function fillsFigures(question: Question): FillsFigures {
  const { fills, side } = question;
  const judged = fills.flatMap(({ attempt, figures: { quantity, amount } }) => {
    if (attempt === undefined) return [];
    const at = cost(price(attempt.intent.reference_price), quantity);
    return [{ over: against(side, subtract(amount, at)), at }];
  });
  const sumOf = (part: 'over' | 'at'): Money => judged.reduce((sum, one) => add(sum, one[part]), NO_MONEY);
  return onDemand({
    fills: fills.length,
    spread_bps: statedBps(sumOf('over'), sumOf('at')),
    get spread_bps_of_fills() {
      const spreads = judged.filter(({ at }) => !at.isZero()).map(({ over, at }) => (10_000 * approximate(over)) / approximate(at)); // prettier-ignore
      return spreadOf(spreads.map((bps) => Number(bps.toFixed(4))));
    },
    get mark_outs() {
      return MARK_OUT_MINUTES.map((minutes) => markOutOf(question, minutes));
    },
  });
}

function markOutOf({ fills, side, prices }: Question, minutes: number): FillsFigures['mark_outs'][number] {
  let [gain, spent, count] = [NO_MONEY, NO_MONEY, 0];
  for (const { record, figures } of fills) {
    const later = priceAfter(record, minutes, prices);
    if (later === undefined) continue;
    gain = add(gain, subtract(cost(later, figures.quantity), figures.amount));
    spent = add(spent, figures.amount);
    count++;
  }
  return { minutes, fills: count, bps: statedBps(against(side, gain), spent) };
}

/** The tape price some minutes after a fill; `undefined` if it was known before the fill, or its bar is too long. */
function priceAfter(
  { pair, executed_at: at }: FillRecord,
  minutes: number,
  prices: PriceBook,
): Price | undefined {
  const barMs = prices.tape(pair)?.barMs ?? Number.POSITIVE_INFINITY;
  return barMs > minutes * MINUTE_MS ? undefined : prices.newerAt(pair, after(at, minutes * MINUTE_MS), at);
}
