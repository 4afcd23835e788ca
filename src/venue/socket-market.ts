import { filter, map, NEVER } from 'rxjs';
import { middle } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';
import { areApart } from '../core/reference-price.ts';
import type { ReferencePrice } from '../core/reference-price.ts';
import { instant, MINUTE_MS, parseIso } from '../core/time.ts';
import type { Instant, Monotonic } from '../core/time.ts';
import type { MarketPort } from '../engine/ports.ts';
import { stampTime } from '../wire/feeds/feed.ts';
import { venueFeed } from './socket.ts';
import type { FeedOptions } from './socket.ts';

export type MarketFeedOptions = Omit<FeedOptions, 'feeds' | 'quietMs'> & {
  readonly pairs: readonly string[];
};

/** The venue sends tickers and books every few seconds. */
const QUIET_MS = MINUTE_MS;

/** How far the venue's clock may be ahead of ours. Live mode does not start with more. */
const AHEAD_MAX_MS = 30_000;

/** Maximum age of a volume. */
const VOLUME_AGE_MS = 2 * MINUTE_MS;

/**
 * The venue's order books and tickers as reference prices, and the volume of the day. A book gives the mid of its best
 * bid and ask, with the time of its last change; a ticker the last trade, with the time of that trade. A message without
 * its time or without a credible price gives none. A smaller volume than before is accepted, because the venue's day has
 * started again.
 *
 * Gaps in the sequence are ignored, because every message replaces the previous one, so a lost message matters only
 * briefly.
 *
 * @throws OperatorError `config` when the address cannot be used.
 */
export function marketFeed({ pairs, ...options }: MarketFeedOptions): MarketPort {
  const feeds = ['ticker.sfox', 'orderbook.sfox'].flatMap((feed) => pairs.map((pair) => `${feed}.${pair}`));
  const signals$ = venueFeed({ ...options, feeds, quietMs: QUIET_MS });
  const volumes = new Map<string, { readonly volume: Quantity; readonly seenAt: Monotonic }>();
  if (pairs.length === 0) return { prices$: NEVER };
  const prices$ = signals$.pipe(
    map((signal): ReferencePrice | undefined => {
      if (signal.signal !== 'data') return undefined;
      const { feed, data } = signal;
      const pair = feed.slice(feed.lastIndexOf('.') + 1);
      const now = options.clock.wall();
      // A time further in the future would make a price that no longer changes look fresh.
      const timeOf = (at: Instant | undefined): Instant | undefined =>
        at === undefined || at > now + AHEAD_MAX_MS ? undefined : instant(Math.min(at, now));
      if (data.of === 'book') {
        const [bid, ask] = [data.book.bids[0]?.[0], data.book.asks[0]?.[0]];
        const at = timeOf(stampTime(data.book.lastupdated));
        if (bid === undefined || ask === undefined || at === undefined) return undefined;
        if (!bid.gt(0) || !ask.gt(0) || areApart(ask, bid)) return undefined;
        return { pair, mid: middle(bid, ask), at, source: 'book' };
      }
      if (data.of !== 'ticker') return undefined;
      const { last, timestamp, volume } = data.ticker;
      if (volume === undefined || volume === null) volumes.delete(pair);
      else volumes.set(pair, { volume, seenAt: options.clock.monotonic() });
      const at = timeOf(parseIso(timestamp ?? ''));
      return at && { pair, mid: last, at, source: 'ticker' };
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
