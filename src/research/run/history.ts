import type { PriceIndex } from '../tape/index.ts';
import type { Tape } from '../tape/tape.ts';

/** What a search needs of a tape. */
export type Prices = Pick<Tape, 'pair' | 'times' | 'close' | 'barMs' | 'rows'>;

/** Market history of a pair, and its index. */
export interface History {
  readonly tape: Prices;
  readonly index: PriceIndex;
}

/** How an asset is valued: at the price of its pair, times that of a second one where it has none against cash. */
export interface Valuation {
  /** Place of the pair among the histories. */
  readonly pair: number;
  readonly onward?: number | undefined;
}
