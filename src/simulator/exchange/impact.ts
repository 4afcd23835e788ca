import { approximate } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';

/** Market impact of one client's trades. */
export interface ImpactOptions {
  /** Half-life of the effect of past trades, in ms; 0: past trades have no effect. */
  readonly halfLifeMs: number;
  /** Impact of one million USD now, basis points; default: the setting of the pair. */
  readonly bpsAt?: ((pair: string, at: Instant) => number | undefined) | undefined;
}

interface Remembered {
  /** Traded on one side, million USD. */
  readonly size: number;
  readonly at: Instant;
}

/**
 * Impact that decays. A size costs c·((D + q)^1.5 − D^1.5) / q, where q is the size and D is the decayed sum of earlier
 * trades on the same side, in million USD; trades on the other side do not change it. With D = 0, that is the
 * square-root law c·√q, so slices of one instant cost as much as one order.
 *
 * Square root: Almgren, Thum, Hauptmann and Li 2005; Tóth et al. 2011. Decay: the propagator of Bouchaud, Gefen,
 * Potters and Wyart 2004, with the exponential resilience of Obizhaeva and Wang 2013. No round trip earns from its own
 * impact, because no trade makes another cheaper (Gatheral 2010).
 */
export class Impact {
  readonly #options: ImpactOptions;
  /** By pair and side. */
  readonly #traded = new Map<string, Remembered>();

  constructor(options: ImpactOptions) {
    this.#options = options;
  }

  /** Basis points against the client. `millionBps`: impact of one million USD if `bpsAt` has no value. */
  bps(
    { pair, side, millionBps }: { readonly pair: string; readonly side: Side; readonly millionBps: number },
    usd: Money,
    now: Instant,
  ): number {
    const size = Math.max(0, approximate(usd)) / 1e6;
    if (size === 0) return 0;
    const before = this.#rememberedOf(pair, side, now);
    const of = this.#options.bpsAt?.(pair, now) ?? millionBps;
    return (of * ((before + size) ** 1.5 - before ** 1.5)) / size;
  }

  /** Adds an executed trade. */
  add(pair: string, side: Side, usd: Money, now: Instant): void {
    const size = this.#rememberedOf(pair, side, now) + approximate(usd) / 1e6;
    this.#traded.set(`${pair} ${side}`, { size, at: now });
  }

  #rememberedOf(pair: string, side: Side, now: Instant): number {
    const known = this.#traded.get(`${pair} ${side}`);
    const { halfLifeMs } = this.#options;
    if (known === undefined || halfLifeMs === 0) return 0;
    return known.size * 2 ** (-(now - known.at) / halfLifeMs);
  }
}
