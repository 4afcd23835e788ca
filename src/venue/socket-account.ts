import { filter, map, throttleTime } from 'rxjs';
import type { AccountHint, AccountFeedPort } from '../engine/ports.ts';
import { venueFeed } from './socket.ts';
import type { FeedOptions, FeedSignal } from './socket.ts';

export type AccountFeedOptions = Omit<FeedOptions, 'feeds' | 'quietMs'>;

/** Feeds that report account changes. They may be silent for days. */
const FEEDS = ['private.user.balances', 'private.user.open-orders', 'private.user.trades'];
/** Messages within this time, milliseconds, make at most two hints: one for the first and one for the last. */
const BURST_MS = 250;

/**
 * Hints that the account has changed, or that a change may have been missed. Does not pass the content of the feeds
 * on: they may lag, repeat or lie, and the desk reads the account's transactions instead.
 *
 * @throws OperatorError `config` when the address cannot be used.
 */
export function accountFeed(options: AccountFeedOptions): AccountFeedPort {
  const hints$ = venueFeed({ ...options, feeds: FEEDS }).pipe(
    map(hintOf),
    filter((hint) => hint !== undefined),
    throttleTime(BURST_MS, options.clock.scheduler, { leading: true, trailing: true }),
  );
  return { hints$ };
}

function hintOf(signal: FeedSignal): AccountHint | undefined {
  if (signal.signal === 'resync') return { why: signal.why };
  const { of } = signal.data;
  return of === 'balances' || of === 'orders' || of === 'fills' ? { why: of } : undefined;
}
