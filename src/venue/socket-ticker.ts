import { filter, map, NEVER } from 'rxjs';
import type { Observable } from 'rxjs';
import type { ReferencePrice } from '../core/reference-price.ts';
import type { Quantity } from '../core/money.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Monotonic } from '../core/time.ts';
import type { MarketPort } from '../engine/ports.ts';
import { venueFeed } from './socket.ts';
import type { FeedOptions } from './socket.ts';

export type TickerOptions = Omit<FeedOptions, 'feeds' | 'quietMs'> & { readonly pairs: readonly string[] };

/** The venue sends a ticker every few seconds. */
const QUIET_MS = MINUTE_MS;

/** Maximum age of a volume. */
const VOLUME_AGE_MS = 2 * MINUTE_MS;

/**
 * The venue's ticker as reference prices: the last price of each pair, with its time of arrival, and the volume of the
 * day. A smaller volume than before is accepted, because the venue's day has started again.
 *
 * Gaps in the sequence are ignored, because every ticker message replaces the previous one, so a lost message matters
 * only briefly.
 *
 * @throws OperatorError `config` when the address cannot be used.
 */
export function tickerMarket({ pairs, ...options }: TickerOptions): MarketPort {
  const pairOf = new Map(pairs.map((pair) => [`ticker.sfox.${pair}`, pair]));
  const signals$ = venueFeed({ ...options, feeds: [...pairOf.keys()], quietMs: QUIET_MS });
  const volumes = new Map<string, { readonly volume: Quantity; readonly seenAt: Monotonic }>();
  if (pairs.length === 0) return { prices$: NEVER };
  const prices$: Observable<ReferencePrice> = signals$.pipe(
    map((signal): ReferencePrice | undefined => {
      if (signal.signal !== 'data' || signal.data.of !== 'ticker') return undefined;
      const pair = pairOf.get(signal.feed);
      if (pair === undefined) return undefined;
      const { volume } = signal.data.ticker;
      if (volume === undefined || volume === null) volumes.delete(pair);
      else volumes.set(pair, { volume, seenAt: options.clock.monotonic() });
      return { pair, mid: signal.data.ticker.last, at: options.clock.wall(), source: 'ticker' };
    }),
    filter((price) => price !== undefined),
  );
  return {
    prices$,
    volume(pair) {
      const told = volumes.get(pair);
      return told !== undefined && options.clock.monotonic() - told.seenAt <= VOLUME_AGE_MS
        ? told.volume
        : undefined;
    },
  };
}
