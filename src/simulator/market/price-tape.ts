import type { Instant } from '../../core/time.ts';
import type { PriceSource } from './random-walk.ts';

/** Market history of one pair: trades, or closes of bars, each known at the end of its bar. The caller that starts a venue loads it. */
export interface PriceTape extends PriceSource {
  /** When the first close is known. */
  readonly startsAt: Instant;
  /** When the last close is known; it applies from then on. */
  readonly endsAt: Instant;
  readonly rows: number;
  /** Length of a bar, ms; 0 for trades. */
  readonly barMs: number;
}

/**
 * Reads the prices of a pair from the file that a venue's options name.
 *
 * @throws OperatorError (`data`) that names the file, and the row if one is damaged.
 */
export type LoadTape = (pair: string, file: string) => Promise<PriceTape>;
