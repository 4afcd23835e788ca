import { text } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import { balancesBody } from '../../wire/account-bodies.ts';
import { feedOrderBody, marketTradeBody, settlementBody, tickerBody } from '../../wire/feeds/feed-bodies.ts';
import { orderBookBody } from '../../wire/market.ts';
import { ownTradeBody } from '../../wire/orders.ts';
import type { Change } from '../exchange/exchange-changes.ts';
import { orderBook } from '../market/order-book.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** Feeds of a pair, by the prefix of their names. */
const MARKET = ['ticker.sfox.', 'trades.sfox.', 'orderbook.sfox.', 'orderbook.net.'] as const;
const BALANCES = 'private.user.balances';
const ORDERS = 'private.user.open-orders';
const FILLS = 'private.user.trades';
const SETTLEMENT = 'private.user.post-trade-settlement';
const PRIVATE: ReadonlySet<string> = new Set([BALANCES, ORDERS, FILLS, SETTLEMENT]);

/** Payloads of the feeds of an exchange, as JSON. */
export class FeedSource {
  private readonly exchange: Exchange;
  private readonly now: () => Instant;

  constructor(exchange: Exchange, now: () => Instant) {
    this.exchange = exchange;
    this.now = now;
  }

  isFeed(feed: string): boolean {
    return PRIVATE.has(feed) || this.pairOf(feed) !== undefined;
  }

  isPrivate(feed: string): boolean {
    return PRIVATE.has(feed);
  }

  /** Current payload of a market feed; `undefined` if there is none. */
  market(feed: string): string | undefined {
    const found = this.pairOf(feed);
    if (found === undefined) return undefined;
    const [start, pair] = found;
    const { exchange } = this;
    const now = this.now();
    if (start === 'ticker.sfox.' || start === 'trades.sfox.') {
      const day = exchange.ticker(pair, now);
      return day && JSON.stringify(start === 'ticker.sfox.' ? tickerBody(day) : marketTradeBody(day.trade));
    }
    const book = orderBook(
      exchange.market,
      pair,
      now,
      start === 'orderbook.net.' ? exchange.options.feeBps : 0,
    );
    return book.ok ? JSON.stringify(orderBookBody(book.value)) : undefined;
  }

  /**
   * First message of a private feed to a new subscriber: all balances, all open orders, or the credit. Source: public
   * documentation. No document states a first message for the feed of fills, so it has none and starts with the next
   * fill.
   */
  first(feed: string, account: string): string | undefined {
    if (feed === BALANCES) return this.balances(account);
    if (feed === SETTLEMENT) return this.settlement(account);
    if (feed === ORDERS) return JSON.stringify(this.exchange.registry.openOf(account).map(feedOrderBody));
    return feed === FILLS ? undefined : this.market(feed);
  }

  /** Payloads of the account feeds after a change. The balances are always the full list. */
  changed(change: Change): readonly (readonly [feed: string, payload: string])[] {
    const { account } = change;
    if (change.kind === 'order') return [[ORDERS, JSON.stringify([feedOrderBody(change.order)])]];
    if (change.kind === 'trade') return [[FILLS, JSON.stringify([ownTradeBody(change.trade)])]];
    return [
      [BALANCES, this.balances(account)],
      [SETTLEMENT, this.settlement(account)],
    ];
  }

  private balances(account: string): string {
    const balances = this.exchange.balances(account);
    return JSON.stringify(balances.ok ? balancesBody(balances.value, text) : []);
  }

  private settlement(account: string): string {
    const metrics = this.exchange.metrics(account, this.now());
    return JSON.stringify(settlementBody(metrics.ok ? metrics.value : undefined));
  }

  private pairOf(feed: string): readonly [(typeof MARKET)[number], string] | undefined {
    const start = MARKET.find((each) => feed.startsWith(each));
    if (start === undefined) return undefined;
    const pair = feed.slice(start.length);
    return this.exchange.market.listings.has(pair) ? [start, pair] : undefined;
  }
}
