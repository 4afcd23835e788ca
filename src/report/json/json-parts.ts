import { add, priceEven, text } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { Against } from '../figures/figures.ts';
import type { Report } from './schema.ts';
import { statedBps } from '../figures/shortfall.ts';
import type { Shortfall } from '../figures/shortfall.ts';

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
  const of = (part: Money): string => statedBps(part, paper) ?? '';
  const slipped = statedBps(trading, atArrival);
  return {
    paper: text(paper),
    delay: text(delay),
    trading: text(trading),
    timing: text(timing),
    execution: text(execution),
    opportunity: text(opportunity),
    fees: text(fees),
    total: text(total),
    bps: paper.isZero()
      ? undefined
      : {
          delay: of(delay),
          trading: of(trading),
          timing: of(timing),
          execution: execution === trading ? of(trading) : of(execution),
          opportunity: of(opportunity),
          fees: of(fees),
          total: of(total),
        },
    arrival_slippage_bps: slipped,
    all_in_bps: slipped === undefined || fees.isZero() ? slipped : statedBps(add(trading, fees), atArrival),
  };
}
