import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ReferencePrice } from '../../src/core/reference-price.ts';
import { text } from '../../src/core/money.ts';
import { instant, MINUTE_MS, monotonic, SECOND_MS } from '../../src/core/time.ts';
import type { Clock } from '../../src/engine/ports.ts';
import { retryDelayMs } from '../../src/venue/socket.ts';
import type { SocketEvent } from '../../src/venue/socket.ts';
import { marketFeed } from '../../src/venue/socket-market.ts';
import type { MarketFeedOptions } from '../../src/venue/socket-market.ts';
import { ack, book, feed, noJitter, sending, ticker } from './feed-server.ts';
import { systemClock, TOKEN } from './servers.ts';

interface Listener {
  readonly prices: ReferencePrice[];
  readonly events: SocketEvent[];
  readonly told: () => [string, string][];
  readonly volume: (pair: string) => string | undefined;
  stop(): void;
}

function listen(wsUrl: string, more: Partial<MarketFeedOptions> = {}): Listener {
  const prices: ReferencePrice[] = [];
  const events: SocketEvent[] = [];
  const market = marketFeed({
    wsUrl,
    token: { reveal: () => TOKEN },
    pairs: ['btcusd', 'ethusd'],
    clock: systemClock,
    random: noJitter,
    onEvent: (event) => events.push(event),
    ...more,
  });
  const subscription = market.prices$.subscribe((price) => prices.push(price));
  onTestFinished(() => subscription.unsubscribe());
  const told = (): [string, string][] => prices.map(({ pair, mid }) => [pair, text(mid)]);
  const volume = (pair: string): string | undefined => {
    const known = market.volume?.(pair);
    return known && text(known);
  };
  return { prices, events, told, volume, stop: () => subscription.unsubscribe() };
}

const FEEDS = ['ticker.sfox.btcusd', 'ticker.sfox.ethusd', 'orderbook.sfox.btcusd', 'orderbook.sfox.ethusd'];
const DATED = '"timestamp":"2026-01-05T00:00:00Z"';

describe('the order book', () => {
  it('gives the mid of its best bid and ask with the time of its last change', async () => {
    const at = Date.UTC(2026, 0, 5);
    const server = await sending(book('btcusd', ['60000.5', '"60001"'], at));
    const listener = listen(server.url);
    await expect.poll(listener.told).toEqual([['btcusd', '60000.75']]);
    expect(listener.prices).toMatchObject([{ source: 'book', at }]);
  });

  it('gives no price without a side, a time or credible sides, and none from the future', async () => {
    const at = Date.UTC(2026, 0, 5);
    const whole = book('btcusd', ['5', '7'], at);
    const server = await sending(
      whole.replace('[[5,1,"a"]]', '[]'),
      whole.replace('[[7,1,"b"]]', '[]'),
      whole.replace(`,"lastupdated":${at}`, ''),
      whole,
      book('btcusd', ['0', '0.1'], at),
      book('btcusd', ['7', '7.1'], Date.now() + 3_600_000),
      book('btcusd', ['8', '8.1'], Date.now() + 10_000),
    );
    const listener = listen(server.url);
    await expect.poll(listener.told).toEqual([['btcusd', '8.05']]);
    expect(listener.prices[0]?.at).toBeLessThanOrEqual(Date.now());
  });
});

describe('the ticker', () => {
  it('gives no price without the time of its trade', async () => {
    const undated = ticker('btcusd', '6').replace('"timestamp":"', '"time":"');
    const listener = listen((await sending(undated, ticker('btcusd', '7'))).url);
    await expect.poll(listener.told).toEqual([['btcusd', '7']]);
  });

  it('authenticates, subscribes to all pairs at once, and emits exact prices for the pair in the feed name', async () => {
    const server = await sending(ticker('btcusd', '60001.000000000000000009'), ticker('ethusd', '"3000.5"'));
    const listener = listen(server.url);
    await expect.poll(listener.told).toEqual([['btcusd', '60001.000000000000000009'], ['ethusd', '3000.5']]); // prettier-ignore
    expect(server.heard).toEqual([
      { type: 'authenticate', apiKey: TOKEN },
      { type: 'subscribe', feeds: FEEDS },
    ]);
    expect(listener.prices[0]).toMatchObject({ source: 'ticker', at: Date.UTC(2026, 0, 5) });
    expect(listener.events).toEqual([{ event: 'open' }]);
  });

  it('reports the daily volume of the newest message, also if it is lower, and forgets it after two minutes', async () => {
    const told = (volume: string): string =>
      `{"recipient":"ticker.sfox.btcusd","payload":{"last":7,${DATED}${volume}}}`;
    const server = await sending(told(',"volume":1200.5'), told(',"volume":0.25'));
    let lateMs = 0;
    const clock = { ...systemClock, monotonic: () => monotonic(systemClock.monotonic() + lateMs) };
    const listener = listen(server.url, { clock });
    await expect.poll(listener.told).toHaveLength(2);
    expect([listener.volume('btcusd'), listener.volume('ethusd')]).toEqual(['0.25', undefined]);
    lateMs = 2 * MINUTE_MS + SECOND_MS;
    expect(listener.volume('btcusd')).toBeUndefined();
    lateMs = 0;
    for (const socket of server.sockets) socket.send(told(''));
    await expect.poll(listener.told).toHaveLength(3);
    expect(listener.volume('btcusd')).toBeUndefined();
  });

  it('reads the price of a payload that is JSON within a string', async () => {
    const payload = JSON.stringify(`{"last":0.10000000000000000001,${DATED}}`);
    const server = await sending(`{"recipient":"ticker.sfox.btcusd","payload":${payload}}`);
    const listener = listen(server.url);
    await expect.poll(listener.told).toEqual([['btcusd', '0.10000000000000000001']]);
  });

  it('ignores messages that it cannot read or did not subscribe to', async () => {
    const server = await sending(
      'no json', '[]', '{}', ticker('btcusd', '0'), ticker('btcusd', '-1'), ticker('btcusd', 'null'), ticker('solusd', '5'),
      '{"recipient":"trades.sfox.btcusd","payload":{"price":"1"}}', Buffer.of(1, 2), ticker('btcusd', '7'),
    ); // prettier-ignore
    const listener = listen(server.url);
    await expect.poll(listener.told).toEqual([['btcusd', '7']]);
    expect(listener.events.filter(({ event }) => event === 'unreadable')).toHaveLength(8);
    expect(server.sockets).toHaveLength(1);
  });

  it('has one connection for all subscribers and closes it after the last one', async () => {
    const server = await sending(ticker('btcusd', '7'));
    const market = marketFeed({
      wsUrl: server.url,
      token: { reveal: () => TOKEN },
      pairs: ['btcusd'],
      clock: systemClock,
      random: noJitter,
    });
    const prices: ReferencePrice[] = [];
    const both = [
      market.prices$.subscribe((price) => prices.push(price)),
      market.prices$.subscribe((price) => prices.push(price)),
    ];
    await expect.poll(() => prices.length).toBe(2);
    expect(server.sockets).toHaveLength(1);
    for (const one of both) one.unsubscribe();
    await expect.poll(() => server.sockets[0]?.readyState).toBe(3);
  });

  it('reconnects after the venue has closed the connection', async () => {
    const server = await sending(ticker('btcusd', '7'));
    const listener = listen(server.url);
    await expect.poll(() => listener.prices.length).toBe(1);
    server.sockets[0]?.close(1012, `restart ${TOKEN}`);
    await expect.poll(() => listener.prices.length).toBe(2);
    expect(listener.events).toEqual([
      { event: 'open' },
      { event: 'closed', why: 'closed with 1012 restart [token]', retryMs: 1_000 },
      { event: 'open' },
    ]);
  });

  it.each([
    [
      'is refused authentication',
      async () => await feed((socket) => socket.send('{"type":"error","payload":{"action":"authenticate"}}')),
      /refused to authenticate/u,
    ],
    [
      'receives a message above 1 MiB',
      async () => await sending(ticker('btcusd', `7,"x":"${'x'.repeat(1024 * 1024)}"`)),
      /max payload/iu,
    ],
  ])('closes a connection when it %s', async (_, make, why) => {
    const server = await make();
    const listener = listen(server.url);
    await expect
      .poll(() => listener.events.at(-1))
      .toMatchObject({ event: 'closed', why: expect.stringMatching(why) as string });
    expect(listener.prices).toEqual([]);
  });

  it('does not follow a redirect with its token', async () => {
    const target = await sending();
    const server = createServer().listen(0, '127.0.0.1');
    server.on('upgrade', (_, socket) => socket.end(`HTTP/1.1 302 Found\r\nlocation: ${target.url}\r\n\r\n`));
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const listener = listen(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await expect
      .poll(() => listener.events)
      .toMatchObject([{ event: 'closed', why: expect.stringContaining('302') as string }]);
    expect(target.sockets).toEqual([]);
  });

  it('sends a ping after 15 s of silence and closes the connection after 30 s', async () => {
    // The clock is virtual, the connection is real.
    const scheduler = new VirtualTimeScheduler(undefined, 15_000);
    const clock: Clock = {
      scheduler,
      wall: () => instant(scheduler.now()),
      monotonic: () => monotonic(scheduler.frame),
    };
    const server = await feed((socket, { type }) => {
      socket.send(ack(type));
      if (type === 'subscribe') socket.pause();
    });
    const listener = listen(server.url, { clock });
    await expect.poll(() => listener.events).toEqual([{ event: 'open' }]);
    let pings = 0;
    server.sockets[0]?.on('ping', () => pings++);
    scheduler.flush();
    server.sockets[0]?.resume();
    await expect.poll(() => pings).toBe(1);
    expect(listener.events).toHaveLength(1);
    // The pong counts as activity at 15 s. From here on this thread reads nothing from the socket.
    scheduler.maxFrames = 40_000;
    scheduler.flush();
    expect(listener.events).toHaveLength(1);
    scheduler.maxFrames = 45_000;
    scheduler.flush();
    expect(listener.events.slice(1)).toEqual([{ event: 'closed', why: 'silent for 30 s', retryMs: 1_000 }]);
  });

  it('opens no connection without pairs', async () => {
    const server = await sending();
    const { events } = listen(server.url, { pairs: [] });
    expect([events, server.sockets]).toEqual([[], []]);
  });
});

describe('the delay before a reconnection', () => {
  it('is random between 1 s and a bound that doubles up to 60 s', () => {
    const bounds = [0, 1, 2, 3, 4, 5, 6, 1_000].map((failures) => retryDelayMs(failures, { next: () => 1 }));
    expect(bounds).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(retryDelayMs(1_000, noJitter)).toBe(1_000);
  });
});
