import { slippageBps } from './money.ts';
import type { Price } from './money.ts';
import type { Instant } from './time.ts';
import type { Beyond } from './wake.ts';

/** A mid price that is independent of the quote it is compared with. */
export interface ReferencePrice {
  readonly pair: string;
  /** Quote per base. */
  readonly mid: Price;
  /** Time of the market that the price describes, not of its arrival. */
  readonly at: Instant;
  /**
   * `book`: middle of the best bid and ask of a feed. `probe`: middle of a two-sided pair of small quotes. `tape`: market
   * history. `ticker`: the last trade on any exchange, which is no mid, and is used only if there is no other price.
   */
  readonly source: 'book' | 'probe' | 'tape' | 'ticker';
}

/** Trades are rarer than changes of a book. */
const TICKER_AGES = 2;

/** Whether a price may be used at `now`; the last trade for twice as long as a mid. */
export const isFresh = ({ at, source }: ReferencePrice, now: number, ageMaxMs: number): boolean =>
  now - at <= (source === 'ticker' ? TICKER_AGES : 1) * ageMaxMs;

/** Largest relative distance between two sides: a tenth. */
const SIDES_APART_BPS_MAX = 1_000;

/** Whether a price to buy and one to sell are too far apart for their middle to be a price. */
export const areApart = (buy: Price, sell: Price): boolean =>
  slippageBps('buy', buy, sell).abs().gt(SIDES_APART_BPS_MAX);

/** Whether a price is on this side of a level; the level itself counts. */
export const isBeyond = (mid: Price, is: Beyond, level: Price): boolean =>
  is === 'at_or_below' ? mid.lte(level) : mid.gte(level);
