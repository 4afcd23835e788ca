import type { PriceIndex } from './index.ts';
import type { Tape } from './tape.ts';

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

/**
 * Whether all tapes have a bar at the very same instants, one after another without a gap. Told by their ends alone: such bars
 * are as many as fit between the first and the last.
 */
export function areEven(tapes: readonly Pick<Tape, 'times' | 'barMs' | 'rows'>[]): boolean {
  const [one] = tapes;
  // Trades may share their instant, and the last of them counts.
  if (one === undefined || one.rows === 0 || one.barMs === 0) return false;
  const { times, rows, barMs } = one;
  const [begins = 0, ends = 0] = [times[0], times[rows - 1]];
  return (
    ends - begins === (rows - 1) * barMs &&
    tapes.every(
      (tape) =>
        tape.rows === rows &&
        tape.barMs === barMs &&
        tape.times[0] === begins &&
        tape.times[rows - 1] === ends,
    )
  );
}
