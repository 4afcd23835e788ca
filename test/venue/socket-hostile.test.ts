import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { text } from '../../src/core/money.ts';
import { instant, monotonic } from '../../src/core/time.ts';
import type { AccountHint, Clock } from '../../src/engine/ports.ts';
import { Faults } from '../../src/simulator/faults/fault-plan.ts';
import { accountFeed } from '../../src/venue/socket-account.ts';
import { aVenue } from '../simulator/client.ts';
import { buy } from '../simulator/feed-client.ts';
import { ack, feed, follow, noJitter, sending, ticker } from './feed-server.ts';
import { systemClock, TOKEN } from './servers.ts';

const numbered = (sequence: number, last: string, timestamp = 1_700_000_000_000 + sequence): string =>
  `{"recipient":"ticker.sfox.btcusd","sequence":${sequence},"timestamp":${timestamp},"payload":{"last":${last}}}`;

/** The signals: the price of data, and the reason of a resync. */
const told = (signals: ReturnType<typeof follow>['signals']): string[] =>
  signals.map((signal) => {
    if (signal.signal === 'resync') return signal.why;
    return signal.data.of === 'ticker' ? text(signal.data.ticker.last) : signal.data.of;
  });

describe('the feed client', () => {
  it('emits a resync signal when it has connected and when a sequence number is missing', async () => {
    const server = await sending(numbered(3, '1'), numbered(4, '2'), numbered(7, '3'), numbered(8, '4'));
    const { signals, events } = follow(server.url);
    await expect.poll(() => told(signals)).toEqual(['connected', '1', '2', 'gap', '3', '4']);
    expect(events).toEqual([{ event: 'open' }, { event: 'gap', order: 'gap', sequence: 7 }]);
    expect(server.sockets).toHaveLength(1);
  });

  it('drops messages older than the newest one and reports them as late, and passes on a repeated one', async () => {
    const server = await sending(numbered(3, '1'), numbered(5, '3'), numbered(4, '2'), numbered(5, '3'));
    const { signals, events } = follow(server.url);
    await expect.poll(() => told(signals)).toEqual(['connected', '1', 'gap', '3', 'gap', 'gap', '3']);
    expect(events.slice(1)).toEqual([
      { event: 'gap', order: 'gap', sequence: 5 },
      { event: 'gap', order: 'late', sequence: 4 },
      { event: 'gap', order: 'late', sequence: 5 },
    ]);
  });

  it('subscribes in batches and is open once the venue has answered all of them', async () => {
    const server = await sending();
    const feeds = Array.from({ length: 250 }, (_, index) => `ticker.sfox.p${index}`);
    const { events } = follow(server.url, { feeds });
    await expect.poll(() => events).toEqual([{ event: 'open' }]);
    const asked = server.heard.slice(1) as { feeds: string[] }[];
    expect(asked.map((message) => message.feeds.length)).toEqual([100, 100, 50]);
    expect(asked.flatMap((message) => message.feeds)).toEqual(feeds);
  });

  it('reports why a subscription was refused', async () => {
    const server = await feed((socket, { type }) => {
      const refused = `{"type":"error","payload":{"action":"subscribe","error":"unknown feed \\u001b[31m${TOKEN}"}}`;
      socket.send(type === 'subscribe' ? refused : ack(type));
    });
    const { events } = follow(server.url);
    await expect.poll(() => events).toMatchObject([{ why: 'the venue refused to subscribe: unknown feed �[31m[token]' }]);
  }); // prettier-ignore

  it('reports an unreadable message, truncated and without the token', async () => {
    const server = await sending(`{"${TOKEN}":${'9'.repeat(9_000)}`, numbered(3, '1'));
    const { signals, events } = follow(server.url);
    await expect.poll(() => told(signals)).toContain('1');
    const poison = events.find((event) => event.event === 'unreadable');
    expect(poison).toMatchObject({ why: 'not JSON', head: expect.stringMatching(/^\{"\[token\]":9/u) as string });
    expect(poison?.head).toHaveLength(4_096);
  }); // prettier-ignore

  it.each([
    ['10 unreadable messages', Array.from({ length: 10 }, () => 'poison'), '10 unreadable messages in a minute'],
    ['10 messages of nested brackets', Array.from({ length: 10 }, () => '['.repeat(900_000)), '10 unreadable messages in a minute'],
    ['too many messages per second', Array.from({ length: 12_000 }, () => ticker('btcusd', '1')), 'more than 2000 messages in a second'],
  ])('closes a connection that sends %s, for at least a minute', async (_, messages, why) => {
    const server = await sending(...messages);
    const { events } = follow(server.url);
    await expect.poll(() => events.at(-1)).toEqual({ event: 'closed', why, retryMs: 61_000 });
    expect(events.filter(({ event }) => event === 'unreadable').length).toBeLessThanOrEqual(10);
    expect(server.sockets).toHaveLength(1);
  }); // prettier-ignore

  it('keeps a connection open after 9 unreadable messages', async () => {
    const server = await sending(...Array.from({ length: 9 }, () => 'poison'), ticker('btcusd', '7'));
    const { signals } = follow(server.url);
    await expect.poll(() => told(signals)).toEqual(['connected', '7']);
  });

  it.each([
    ['an answer', [], undefined, 20_000, 'the venue did not answer the subscription'],
    ['data', ['ok'], 10_000, 10_000, 'no data for 10 s'],
  ] as const)('closes a live connection without %s', async (_, answers, quietMs, afterMs, why) => {
    const scheduler = new VirtualTimeScheduler(undefined, 0);
    const clock: Clock = {
      scheduler,
      wall: () => instant(scheduler.now()),
      monotonic: () => monotonic(scheduler.frame),
    };
    const server = await feed((socket, { type }) => {
      if (type === 'authenticate' || answers.length > 0) socket.send(ack(type));
    });
    const { events } = follow(server.url, { clock, quietMs });
    await expect.poll(() => [server.heard.length, events.length]).toEqual([2, answers.length]);
    for (let ms = 5_000; ms < afterMs; ms += 5_000) {
      scheduler.maxFrames = ms;
      scheduler.flush();
      server.sockets[0]?.ping();
      await new Promise((resolve) => server.sockets[0]?.once('pong', resolve));
    }
    expect(events.filter(({ event }) => event === 'closed')).toEqual([]);
    scheduler.maxFrames = afterMs;
    scheduler.flush();
    expect(events.at(-1)).toMatchObject({ event: 'closed', why });
  });
});

describe('the account hints', () => {
  function hintsOf(wsUrl: string, token: string | undefined): AccountHint['why'][] {
    const hints: AccountHint['why'][] = [];
    const { hints$ } = accountFeed({
      wsUrl,
      token: { reveal: () => token ?? '' },
      clock: systemClock,
      random: noJitter,
    });
    const subscription = hints$.subscribe(({ why }) => hints.push(why));
    onTestFinished(() => subscription.unsubscribe());
    return hints;
  }

  it('are sent after connecting and after changes, at most two per burst', async () => {
    await using venue = await aVenue();
    const hints = hintsOf(venue.wsUrl, venue.tokens[0]);
    await expect.poll(() => hints.length).toBeGreaterThanOrEqual(2);
    expect(hints[0]).toBe('connected');
    await new Promise((resolve) => setTimeout(resolve, 600));
    const before = hints.length;
    await buy(venue, '0.5');
    await expect.poll(() => hints.length).toBe(before + 2);
  });

  it.each([
    ['garble', { kind: 'garble', text: '{"recipient":"private.user.balances","payload":[{"currency":1}]}' }],
    ['duplicate', { kind: 'duplicate' }],
    ['reorder', { kind: 'reorder', by: 1 }],
    ['gap', { kind: 'gap', messages: 1 }],
  ] as const)('are the only output of a feed with the fault %s', async (_, fault) => {
    const feeds = [{ name: 'drill', on: 'private.*', probability: 0.5, fault }];
    const feedFaults = new Faults({ feeds }, monotonic(performance.now()));
    await using venue = await aVenue({}, { feedFaults });
    const hints = hintsOf(venue.wsUrl, venue.tokens[0]);
    await expect.poll(() => hints).toContain('connected');
    for (let count = 0; count < 3; count++) await buy(venue, '0.1');
    await expect.poll(() => hints.length).toBeGreaterThan(1);
    const words: ReadonlySet<string> = new Set(['connected', 'gap', 'balances', 'orders', 'fills']);
    expect(hints.filter((why) => !words.has(why))).toStrictEqual([]);
    expect(feedFaults.counts()[0]?.struck).toBeGreaterThan(0);
  });

  it('contain no data of the feed', async () => {
    const server = await sending(
      '{"recipient":"private.user.balances","payload":[{"currency":"usd","balance":"999999","available":"999999"}]}',
      '{"recipient":"private.user.post-trade-settlement","payload":{"enabled":true}}',
    );
    const seen: AccountHint[] = [];
    const { hints$ } = accountFeed({
      wsUrl: server.url,
      token: { reveal: () => TOKEN },
      clock: systemClock,
      random: noJitter,
    });
    const subscription = hints$.subscribe((hint) => seen.push(hint));
    onTestFinished(() => subscription.unsubscribe());
    await expect.poll(() => seen).toStrictEqual([{ why: 'connected' }, { why: 'balances' }]);
  });
});
