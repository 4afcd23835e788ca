import { instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { BegunDocument } from '../../engine/state/strategy-source.ts';
import type { Clock, VenuePort } from '../../engine/ports.ts';
import { knownAt } from '../tape/tape.ts';
import type { Tape } from '../tape/tape.ts';

/** Treatment of an asset whose prices end before the window: it is sold at its last price, or kept at that price. */
export type Delisting = 'liquidate' | 'freeze';

/** Returns when the last price of a tape is known. */
export const lastKnownAt = (tape: Tape): Instant => knownAt(tape, tape.rows - 1);

/** Returns the tape of a pair that is delisted at its end. Reads columns only when they are used. */
export const delistedTape = (tape: Tape): Tape =>
  Object.create(tape, { isDelisted: { value: true, enumerable: true } }) as Tape; // oxlint-disable-line typescript/no-unsafe-type-assertion -- a tape with one more field

export interface Closing {
  readonly clock: Clock;
  readonly tapes: readonly Tape[];
  /** How long an asset can be sold at the last price of a tape, in ms; 0: it cannot be sold. */
  readonly sellsForMs: (tape: Tape) => number;
}

/** Returns a venue that quotes no delisted pair: no buy from its last price on, and no sell after the time to sell. */
export function closingVenue(venue: VenuePort, { clock, tapes, sellsForMs }: Closing): VenuePort {
  const delisted = new Map(tapes.filter((tape) => tape.isDelisted === true).map((tape) => [tape.pair, tape]));
  if (delisted.size === 0) return venue;
  return {
    ...venue,
    quote(request) {
      const tape = delisted.get(request.pair);
      const sinceMs = tape === undefined ? -1 : clock.wall() - lastKnownAt(tape);
      const isOpen =
        tape === undefined || sinceMs < 0 || (request.side === 'sell' && sinceMs < sellsForMs(tape));
      if (isOpen) return venue.quote(request);
      return {
        kind: 'error',
        status: 422,
        error: `${request.pair} was delisted and is not currently supported for RFQ`,
      };
    },
  };
}

export interface Liquidation {
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly at: Instant;
  /** How long selling may take, ms. */
  readonly forMs: number;
  /** Largest order, quote currency. */
  readonly orderMax: string | undefined;
}

/** Returns the document of a strategy that sells all of a delisted asset: at the last price, through the same pipeline. */
export function liquidationOf({
  pair,
  base,
  quote,
  at,
  forMs,
  orderMax,
}: Liquidation): Omit<BegunDocument, 'hash'> {
  const id = `delisted-${base}`;
  return {
    strategy: id,
    type: 'sweep',
    document: {
      id,
      kind: 'sweep',
      from: base,
      to: quote,
      pair,
      start_time: isoOf(at),
      end_time: isoOf(instant(at + forMs)),
      ...(orderMax === undefined ? {} : { max_slice_notional: { amount: orderMax, currency: quote } }),
    },
  };
}
