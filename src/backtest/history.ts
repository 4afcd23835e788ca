import type { PriceIndex } from './index.ts';
import type { Tape } from './tape.ts';

/** Market history of a pair, and its index. */
export interface History {
  readonly tape: Pick<Tape, 'pair' | 'times' | 'close' | 'barMs' | 'rows'>;
  readonly index: PriceIndex;
}

/** How an asset is valued: at the price of its pair, times that of a second one where it has none against cash. */
export interface Valuation {
  /** Place of the pair among the histories. */
  readonly pair: number;
  readonly onward?: number | undefined;
}

/**
 * Whether all histories have a price at the very same instants, and one only. Told by their ends alone: bars that follow one another without a
 * gap are as many as fit between the first and the last.
 */
export function areAligned(histories: readonly History[]): boolean {
  const [one, ...others] = histories;
  // Trades may share their instant, and the last of them counts.
  if (one === undefined || one.tape.barMs === 0) return false;
  if (others.length === 0) return true;
  const { times, rows, barMs } = one.tape;
  const [begins = 0, ends = 0] = [times[0], times[rows - 1]];
  return (
    ends - begins === (rows - 1) * barMs &&
    others.every(
      ({ tape }) =>
        tape.rows === rows &&
        tape.barMs === barMs &&
        tape.times[0] === begins &&
        tape.times[rows - 1] === ends,
    )
  );
}
