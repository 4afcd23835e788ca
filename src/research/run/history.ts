import type { PriceIndex } from '../tape/index.ts';
import type { Tape } from '../tape/tape.ts';

/** The fields of a tape that a search needs. */
export type Prices = Pick<Tape, 'pair' | 'times' | 'close' | 'barMs' | 'rows'>;

/** Market history of a pair, and its index. */
export interface History {
  readonly tape: Prices;
  readonly index: PriceIndex;
}

/** Valuation of an asset: at the price of its pair, multiplied by the price of a second pair if the first is not against cash. */
export interface Valuation {
  /** Index of the pair among the histories. */
  readonly pair: number;
  readonly onward?: number | undefined;
}
