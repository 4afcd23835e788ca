import { filter, map, throttleTime } from 'rxjs';
import type { AccountHint, AccountFeedPort } from '../engine/ports.ts';
import { venueFeed } from './socket.ts';
import type { FeedOptions, FeedSignal } from './socket.ts';

export type AccountFeedOptions = Omit<FeedOptions, 'feeds' | 'quietMs'> & {
  /** Whether to subscribe to the feed of the credit; an account without post-trade settlement may lack it. */
  readonly hasCredit?: boolean | undefined;
};

/** Feeds that report account changes. They may be silent for days. */
const FEEDS = ['private.user.balances', 'private.user.open-orders', 'private.user.trades'];
const CREDIT = 'private.user.post-trade-settlement';
/** A burst of messages gives one or two hints. */
const BURST_MS = 250;

/**
 * Hints that the account has changed, or that a change may have been missed. Does not pass on the content of the feeds, except
 * that of the credit, because they may lag, repeat or lie. The desk reads the account's transactions instead.
 *
 * @throws OperatorError `config` when the address cannot be used.
 */
export function accountFeed({ hasCredit = false, ...options }: AccountFeedOptions): AccountFeedPort {
  const signals$ = venueFeed({ ...options, feeds: [...FEEDS, ...(hasCredit ? [CREDIT] : [])] });
  const hints$ = signals$.pipe(
    map(hintOf),
    filter((hint) => hint !== undefined),
    throttleTime(BURST_MS, options.clock.scheduler, { leading: true, trailing: true }),
  );
  const credit$ = signals$.pipe(
    map((signal) =>
      signal.signal === 'data' && signal.data.of === 'settlement' ? signal.data.metrics : undefined,
    ),
    filter((metrics) => metrics !== undefined),
  );
  return { hints$, credit$ };
}

function hintOf(signal: FeedSignal): AccountHint | undefined {
  if (signal.signal === 'resync') return { why: signal.why };
  const { of } = signal.data;
  return of === 'balances' || of === 'orders' || of === 'fills' ? { why: of } : undefined;
}
