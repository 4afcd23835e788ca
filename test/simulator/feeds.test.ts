import { describe, expect, it } from 'vitest';
import { monotonic } from '../../src/core/time.ts';
import { readFeed } from '../../src/wire/feeds/feed.ts';
import { aVenue } from './client.ts';
import { buy, listen, subscribed } from './feed-client.ts';
import { START, systemClock } from './world.ts';

const FEED = 'ticker.sfox.btcusd';

describe('the feed server of the simulated venue', () => {
  it('sends a ticker to an authenticated subscriber at once and then at every interval', async () => {
    await using venue = await aVenue({ tickerIntervalMs: 20 });
    using line = await listen(venue.wsUrl);
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    expect(await line.next()).toMatchObject({
      type: 'success',
      sequence: 1,
      action: 'authenticate',
      payload: { action: 'authenticate' },
    });
    line.say({ type: 'subscribe', feeds: [FEED] });
    expect(await line.next()).toMatchObject({
      type: 'success',
      sequence: 2,
      payload: { action: 'subscribe', feeds: [FEED] },
    });
    const first = await line.nextText();
    expect(first).toMatch(/"timestamp":\d{19},/u);
    expect(JSON.parse(first)).toMatchObject({
      sequence: 3,
      recipient: FEED,
      payload: { pair: 'btcusd', last: 60_000, volume: 0 },
    });
    expect(await line.next()).toMatchObject({ sequence: 4, recipient: FEED });
  });

  it('includes the trades of the venue in the ticker', async () => {
    await using venue = await aVenue({ tickerIntervalMs: 20 });
    const quoted = await venue.post('/v1/quote', '{"pair":"btcusd","side":"buy","quantity":0.25}');
    const { quote_id: id } = quoted.body as { quote_id: string };
    await venue.post('/v1/orders/buy', `{"currency_pair":"btcusd","quote_id":"${id}","quantity":0.25}`);
    using line = await listen(venue.wsUrl);
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    line.say({ type: 'subscribe', feeds: [FEED] });
    await line.next();
    await line.next();
    expect((await line.next()).payload).toMatchObject({ volume: 0.25, vwap: 60_000 });
  });

  it('answers an unsubscribe request with the remaining feeds', async () => {
    await using venue = await aVenue({ tickerIntervalMs: 3_600_000 });
    using line = await subscribed(venue, FEED, 'ticker.sfox.ethusd');
    line.say({ type: 'unsubscribe', feeds: [FEED] });
    const heard = [await line.next(), await line.next(), await line.next()];
    const payload = { feeds: ['ticker.sfox.ethusd'] };
    expect(heard.at(-1)).toMatchObject({ type: 'success', action: 'unsubscribe', payload });
  });

  it('closes a connection that sends too large a frame, and every connection when the venue closes', async () => {
    const venue = await aVenue();
    using large = await listen(venue.wsUrl);
    large.say('x'.repeat(70_000));
    expect(await large.closed).toBe(1009);
    using line = await listen(venue.wsUrl);
    await venue.close();
    expect(await line.closed).toBe(1006);
  });

  it('accepts an authentication but no subscription if the venue has only the routes of the specification', async () => {
    await using venue = await aVenue({ specOnly: true });
    using line = await listen(venue.wsUrl);
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    expect(await line.next()).toMatchObject({ type: 'success', sequence: 1 });
    line.say({ type: 'subscribe', feeds: [FEED] });
    expect(await line.next()).toMatchObject({ type: 'error', action: 'subscribe' });
  });

  it('answers a failed authentication with only its action, and revokes the previous one', async () => {
    await using venue = await aVenue({ tickerIntervalMs: 3_600_000 });
    using line = await subscribed(venue, FEED);
    await line.next();
    line.say({ type: 'authenticate', apiKey: 'wrong' });
    expect(await line.next()).toStrictEqual({
      type: 'error',
      sequence: 4,
      timestamp: expect.any(Number) as number,
      payload: { action: 'authenticate' },
      action: 'authenticate',
    });
    line.say({ type: 'subscribe', feeds: [FEED] });
    expect(await line.next()).toMatchObject({ type: 'error', payload: { feeds: [] } });
  });

  it.each([
    ['subscribe', { type: 'subscribe', feeds: [FEED, 'ticker.sfox.nope'] }],
    ['subscribe', { type: 'subscribe', feeds: ['private.user.nope'] }],
    ['subscribe', { type: 'subscribe', feeds: ['orderbook.sfox.'] }],
    ['subscribe', { type: 'subscribe', feeds: [] }],
    ['subscribe', { type: 'subscribe', feeds: Array.from({ length: 201 }, () => FEED) }],
    ['subscribe', { type: 'subscribe', feeds: ['__proto__'] }],
    ['authenticate', { type: 'authenticate', apiKey: 7 }],
    ['unknown', { type: 'rob' }],
    ['unknown', [1]],
    ['unknown', null],
  ])('refuses the %s request %j as a whole and keeps the connection open', async (action, request) => {
    await using venue = await aVenue();
    using line = await listen(venue.wsUrl);
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    await line.next();
    line.say(JSON.stringify(request));
    expect(await line.next()).toMatchObject({ type: 'error', sequence: 2, action, payload: { action } });
    line.say({ type: 'subscribe', feeds: [FEED] });
    expect(await line.next()).toMatchObject({ type: 'success', payload: { feeds: [FEED] } });
  });

  it('sends pings, answers pings, and closes an idle connection', async () => {
    await using venue = await aVenue({ feeds: { pingMs: 20, pongTimeoutMs: 10_000, idleMs: 3_600_000 } });
    using line = await listen(venue.wsUrl);
    await new Promise((resolve) => line.socket.once('ping', resolve));
    const echoed: string[] = [];
    line.socket.on('pong', (data) => echoed.push(String(data)));
    // Only the newest of several pings must have a pong.
    for (const ping of ['are', 'you', 'there']) line.socket.ping(ping);
    await expect.poll(() => echoed.at(-1)).toBe('there');
    await using idle = await aVenue({ feeds: { pingMs: 20, idleMs: 40 } });
    using other = await listen(idle.wsUrl);
    expect(await other.closed).toBe(1006);
  });

  it('closes a connection that does not answer pings', async () => {
    await using venue = await aVenue({ feeds: { pingMs: 20, pongTimeoutMs: 60, idleMs: 3_600_000 } });
    // The library answers pings automatically, unless this is turned off.
    using line = await listen(venue.wsUrl, { autoPong: false });
    expect(await line.closed).toBe(1006);
  });
});

describe('the feed server under its limits', () => {
  it('accepts 10 connections per address, and another one when one of them closes', async () => {
    await using venue = await aVenue();
    const lines = [];
    for (let count = 0; count < 10; count++) lines.push(await listen(venue.wsUrl));
    await expect(listen(venue.wsUrl)).rejects.toThrow('429');
    lines[3]?.socket.close();
    await lines[3]?.closed;
    await expect
      .poll(async () => await listen(venue.wsUrl).then((line) => lines.push(line), () => 'refused'))
      .toBe(11); // prettier-ignore
    for (const line of lines) line[Symbol.dispose]();
  });

  it('accepts 40 requests per address and minute, then answers with errors until the block ends', async () => {
    await using venue = await aVenue({ feeds: { blockMs: 60_000 } });
    using one = await listen(venue.wsUrl);
    using two = await listen(venue.wsUrl);
    one.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    for (let count = 0; count < 39; count++) one.say({ type: 'unsubscribe', feeds: [FEED] });
    for (let count = 0; count < 40; count++) expect(await one.next()).toMatchObject({ type: 'success' });
    two.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    expect(await two.next()).toMatchObject({
      type: 'error',
      action: 'authenticate',
      payload: { error: 'too many requests' },
    });
    one.say({ type: 'subscribe', feeds: [FEED] });
    expect(await one.next()).toMatchObject({ type: 'error', action: 'subscribe' });
  });

  it('accepts more connections and requests if limits are not enforced', async () => {
    await using venue = await aVenue({ limits: { enforced: false } });
    const lines = [];
    for (let count = 0; count < 12; count++) lines.push(await listen(venue.wsUrl));
    for (let count = 0; count < 45; count++) lines[0]?.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    for (let count = 0; count < 45; count++)
      expect(await lines[0]?.next()).toMatchObject({ type: 'success' });
    for (const line of lines) line[Symbol.dispose]();
  });
});

/** The names of all text values of an object. */
const textKeys = (of: object): string[] =>
  Object.entries(of).flatMap(([key, value]) => (typeof value === 'string' ? [key] : []));

describe('a feed payload', () => {
  it('contains figures as numbers and words as text: ticker', async () => {
    await using venue = await aVenue();
    using line = await subscribed(venue, FEED);
    const { payload } = await line.next();
    expect(textKeys(payload)).toStrictEqual(['exchange', 'pair', 'route', 'source', 'timestamp']);
    const figures = ['amount', 'high', 'last', 'low', 'open', 'volume', 'vwap'];
    for (const figure of figures) expect(payload[figure]).toEqual(expect.any(Number));
  });

  it('contains the last trade of others, with its time, size and place: ticker', async () => {
    const clock = { ...systemClock, wall: () => START, monotonic: () => monotonic(0) };
    await using venue = await aVenue({}, { clock });
    using tickers = await subscribed(venue, FEED);
    using trades = await subscribed(venue, 'trades.sfox.btcusd');
    const { payload: day } = await tickers.next();
    const { payload: trade } = await trades.next();
    const { price, quantity, exchange, timeStamp } = trade as Record<string, string>;
    expect(day).toMatchObject({
      last: Number(price),
      amount: Number(quantity),
      exchange,
      timestamp: `${timeStamp}Z`,
    });
  });

  it('contains prices after fees: orderbook.net', async () => {
    await using venue = await aVenue({ feeBps: 10 });
    using raw = await subscribed(venue, 'orderbook.sfox.btcusd');
    using net = await subscribed(venue, 'orderbook.net.btcusd');
    const best = async (line: typeof raw): Promise<number[]> => {
      const { bids, asks } = (await line.next()).payload as Record<'bids' | 'asks', [number][]>;
      return [bids[0]?.[0] ?? 0, asks[0]?.[0] ?? 0];
    };
    const [[bid = 0, ask = 0], [netBid, netAsk]] = [await best(raw), await best(net)];
    expect(netBid).toBeCloseTo(bid * 0.999, 1);
    expect(netAsk).toBeCloseTo(ask * 1.001, 1);
  });

  it('contains amounts as text and two timestamps: trades', async () => {
    await using venue = await aVenue();
    using line = await subscribed(venue, 'trades.sfox.btcusd');
    const text = await line.nextText();
    const { payload } = JSON.parse(text) as { payload: Record<string, string> };
    expect(textKeys(payload)).toStrictEqual([
      'id', 'quantity', 'price', 'exchange', 'side', 'pair', 'timestamp', 'timeStamp', 'buyOrderId', 'sellOrderId',
    ]); // prettier-ignore
    expect(payload['timestamp']).toMatch(/T\d\d:\d\d:\d\d\.\d{9}Z$/u);
    expect(payload['timeStamp']).toMatch(/T\d\d:\d\d:\d\d\.\d{3}$/u);
    expect(readFeed(text)).toMatchObject({ kind: 'data', data: { of: 'trade' } });
  });

  it('contains the whole book around the price: orderbook.sfox', async () => {
    await using venue = await aVenue({
      accounts: [{ balances: { usd: '1' } }],
      pairs: { btcusd: { startPrice: '60000', volatilityPctYear: 0, halfSpreadBps: 5 } },
    });
    using line = await subscribed(venue, 'orderbook.sfox.btcusd');
    const { payload } = await line.next();
    const { bids, asks } = payload as Record<'bids' | 'asks', [number, number, string][]>;
    const prices = (levels: typeof bids): number[] => levels.map(([price]) => price);
    expect(prices(asks)).toStrictEqual(prices(asks).toSorted((a, b) => a - b));
    expect(prices(bids)).toStrictEqual(prices(bids).toSorted((a, b) => b - a));
    expect(prices(asks)[0]).toBeGreaterThan(60_000);
    expect(prices(bids)[0]).toBeLessThan(60_000);
  });

  it('contains all balances as text, at once and once after each trade: private.user.balances', async () => {
    await using venue = await aVenue({ accounts: [{ balances: { usd: '100000', btc: '2' } }] });
    using line = await subscribed(venue, 'private.user.balances');
    const before = await line.nextText();
    expect(before).toContain('"currency":"usd","balance":"100000","available":"100000","held":"0"');
    await buy(venue, '0.5');
    const after = await line.nextText();
    expect(after).toContain('"currency":"usd","balance":"70000"');
    expect(after).toContain('"currency":"btc","balance":"2.5"');
    expect(readFeed(after)).toMatchObject({ data: { of: 'balances' } });
    expect(line.waiting()).toBe(0);
  }); // prettier-ignore

  it('is sent once at first and then after each transaction: private.user.post-trade-settlement', async () => {
    await using venue = await aVenue();
    using line = await subscribed(venue, 'private.user.post-trade-settlement');
    const { payload } = await line.next();
    expect(payload['enabled']).toBe(true);
    expect(textKeys(payload).toSorted()).toStrictEqual([
      'available_exposure', 'equity', 'equity_for_withdrawals', 'exposure', 'exposure_limit', 'liquidation_level',
    ]); // prettier-ignore
    expect(payload['liquidation_level']).toBe('0.1');
    await buy(venue, '0.5');
    expect(readFeed(await line.nextText())).toMatchObject({ data: { of: 'settlement' } });
  });

  it('is not sent to another account', async () => {
    await using venue = await aVenue({
      accounts: [
        { name: 'one', balances: { usd: '100000' } },
        { name: 'two', balances: { usd: '5' } },
      ],
    });
    using other = await listen(venue.wsUrl);
    other.say({ type: 'authenticate', apiKey: venue.tokens[1] });
    other.say({ type: 'subscribe', feeds: ['private.user.trades', 'private.user.balances'] });
    using own = await subscribed(venue, 'private.user.trades');
    await buy(venue, '0.5');
    await own.next();
    await other.next();
    await other.next();
    expect((await other.next()).payload).toMatchObject([{ currency: 'usd', balance: '5' }]);
    expect(other.waiting()).toBe(0);
  });
});
