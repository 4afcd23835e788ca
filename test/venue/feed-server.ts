import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { venueFeed } from '../../src/venue/socket.ts';
import type { FeedOptions, FeedSignal, SocketEvent } from '../../src/venue/socket.ts';
import { systemClock, TOKEN } from './servers.ts';

export interface Feed {
  readonly url: string;
  /** Every message that was received, over all connections. */
  readonly heard: Record<string, unknown>[];
  readonly sockets: WebSocket[];
}

/** A server that lets everybody in and then does as `on` says with each message. */
export async function feed(on: (socket: WebSocket, message: Record<string, unknown>) => void): Promise<Feed> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: true });
  await once(server, 'listening');
  const made: Feed = {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`,
    heard: [],
    sockets: [],
  };
  server.on('connection', (socket) => {
    made.sockets.push(socket);
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString('utf8')) as Record<string, unknown>;
      made.heard.push(message);
      on(socket, message);
    });
  });
  onTestFinished(async () => {
    for (const socket of made.sockets) socket.terminate();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  return made;
}

export const ack = (action: unknown): string =>
  JSON.stringify({ type: 'success', timestamp: 1, payload: { action }, action });
export const ticker = (pair: string, last: string): string =>
  `{"recipient":"ticker.sfox.${pair}","timestamp":1700000000000000000,"payload":{"pair":"other","last":${last},"volume":1,"timestamp":"2026-01-05T00:00:00.000000001Z"}}`;
export const book = (pair: string, [bid, ask]: readonly [bid: string, ask: string], at: number): string =>
  `{"recipient":"orderbook.sfox.${pair}","timestamp":1700000000000000000,"payload":{"bids":[[${bid},1,"a"]],"asks":[[${ask},1,"b"]],"lastupdated":${at}}}`;

/** Accepts, then sends `messages` when the subscription comes. */
export const sending = async (...messages: readonly (string | Buffer)[]): Promise<Feed> =>
  await feed((socket, { type }) => {
    socket.send(ack(type));
    if (type === 'subscribe') for (const message of messages) socket.send(message);
  });

export const noJitter = { next: (): number => 0 };

/** The general client on a server, with all that it says. */
export function follow(
  wsUrl: string,
  more: Partial<FeedOptions> = {},
): { readonly signals: FeedSignal[]; readonly events: SocketEvent[] } {
  const signals: FeedSignal[] = [];
  const events: SocketEvent[] = [];
  const subscription = venueFeed({
    wsUrl,
    token: { reveal: () => TOKEN },
    feeds: ['ticker.sfox.btcusd'],
    clock: systemClock,
    random: noJitter,
    onEvent: (event) => events.push(event),
    ...more,
  }).subscribe((signal) => signals.push(signal));
  onTestFinished(() => subscription.unsubscribe());
  return { signals, events };
}
