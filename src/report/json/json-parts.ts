import { add, priceEven, text } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { atCosts } from '../figures/at-costs.ts';
import type { Against } from '../figures/figures.ts';
import type { Report } from './schema.ts';
import { statedBps } from '../figures/shortfall.ts';
import type { Shortfall } from '../figures/shortfall.ts';

type Json<Row> = { readonly [Key in keyof Row]: Exclude<Row[Key], undefined> };
/** A row to which known fields are added one by one. */
export type Draft<Row> = { -readonly [Key in keyof Row]: Row[Key] };

/** Returns the row without the fields that are `undefined`. */
export function known<Row extends Readonly<Record<string, unknown>>>(row: Row): Partial<Json<Row>> {
  const kept: Record<string, unknown> = {};
  for (const key of Object.keys(row)) if (row[key] !== undefined) kept[key] = row[key];
  return kept as Partial<Json<Row>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- what is left out is exactly what may be
}

export const atCostsJson = (
  all: ReturnType<typeof atCosts>,
): readonly { readonly times: number; readonly sum: string }[] =>
  all.map(({ times, sum }) => ({ times, sum: text(sum) }));

export const slippage = (beyond: Against | undefined): string | undefined =>
  beyond && statedBps(beyond.over, beyond.at);

/** The average price of a unit, with twelve decimals; `undefined` if nothing traded. */
export function averageOf(amount: Money, traded: Quantity): string | undefined {
  if (traded.isZero()) return undefined;
  if (lastAverage.amount !== amount || lastAverage.traded !== traded)
    lastAverage = { amount, traded, text: text(priceEven(amount, traded, AVERAGE_DECIMALS)) };
  return lastAverage.text;
}
const AVERAGE_DECIMALS = 12;
/** Cached, because most parents trade in one slice, and parent and slice then have the same average. */
let lastAverage: { readonly amount?: Money; readonly traded?: Quantity; readonly text: string } = {
  text: '',
};

type CostsJson = NonNullable<Report['parents'][number]['costs']>;
export function costsJson(shortfall: Shortfall): CostsJson {
  const { paper, delay, trading, timing, execution, opportunity, fees, total, atArrival } = shortfall;
  const json: Draft<CostsJson> = {
    paper: text(paper),
    delay: text(delay),
    trading: text(trading),
    timing: text(timing),
    execution: text(execution),
    opportunity: text(opportunity),
    fees: text(fees),
    total: text(total),
  };
  if (!paper.isZero()) {
    const of = (part: Money): string => statedBps(part, paper) ?? '';
    json.bps = {
      delay: of(delay),
      trading: of(trading),
      timing: of(timing),
      execution: execution === trading ? of(trading) : of(execution),
      opportunity: of(opportunity),
      fees: of(fees),
      total: of(total),
    };
  }
  const slipped = statedBps(trading, atArrival);
  if (slipped === undefined) return json;
  json.arrival_slippage_bps = slipped;
  json.all_in_bps = fees.isZero() ? slipped : (statedBps(add(trading, fees), atArrival) ?? '');
  return json;
}
