import { impactCurve, sizeWithin } from '../../core/risk/impact-curve.ts';
import type { Round } from '../../core/risk/impact-curve.ts';
import type { Money, Ratio } from '../../core/money.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';

const ROUND_AGE_MS = 10 * MINUTE_MS;

interface Learnt {
  readonly rounds: { readonly at: Monotonic; readonly round: Round }[];
  nextAt: number;
}

/** Known impact of size, by pair and side. Not saved across restarts. */
export class SizeProbes {
  readonly #learnt = new Map<string, Learnt>();

  of(pair: string, side: Side): Learnt {
    const key = `${side} ${pair}`;
    const known = this.#learnt.get(key) ?? { rounds: [], nextAt: 0 };
    this.#learnt.set(key, known);
    return known;
  }

  /** The largest piece, in quote currency, that costs at most `most` more than a small one; `undefined` if unknown. */
  pieceWithin(
    pair: string,
    side: Side,
    { most, now }: { readonly most: Ratio; readonly now: Monotonic },
  ): Money | undefined {
    const fresh = freshRounds(this.of(pair, side), now);
    const curve = impactCurve(fresh, side);
    return curve === undefined ? undefined : sizeWithin(curve, most);
  }
}

export const freshRounds = ({ rounds }: Learnt, now: Monotonic): readonly Round[] =>
  rounds.filter(({ at }) => now - at <= ROUND_AGE_MS).map(({ round }) => round);
