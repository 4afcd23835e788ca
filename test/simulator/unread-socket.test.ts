import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Line } from '../../src/simulator/feeds/feed-connection.ts';
import type { LineSocket, LineWorld } from '../../src/simulator/feeds/feed-connection.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { START } from '../engine/harness.ts';
import { aVenue } from './client.ts';

const clock = new VirtualClock(START);
const A_WORLD: LineWorld = {
  clock,
  now: () => clock.wall(),
  authenticate: () => undefined,
  isFeed: () => false,
  first: () => undefined,
  admit: () => true,
};

interface Fake extends LineSocket {
  readonly pongs: string[];
  readonly flush: (() => void)[];
  cuts: number;
}

function aLine(): { readonly line: Line; readonly socket: Fake } {
  const socket: Fake = {
    pongs: [],
    flush: [],
    cuts: 0,
    backlog: () => 0,
    send: () => undefined,
    ping: () => undefined,
    pong(data, sent) {
      this.pongs.push(String(data));
      this.flush.push(sent);
    },
    cut() {
      this.cuts += 1;
    },
  };
  return { line: new Line(socket, A_WORLD), socket };
}

describe('a client of the feeds that sends pings and does not read', () => {
  it('has one pending pong and is disconnected after 1,000 more pings', () => {
    const { line, socket } = aLine();
    for (let n = 0; n <= 1_000; n++) line.pong(Buffer.from(String(n)));
    expect([socket.pongs, socket.cuts]).toEqual([['0'], 0]);
    line.pong(Buffer.from('last'));
    expect([socket.pongs, socket.cuts]).toEqual([['0'], 1]);
  });

  it('receives a pong for its newest ping once the previous pong has been sent', () => {
    const { line, socket } = aLine();
    for (const name of ['a', 'b', 'c']) line.pong(Buffer.from(name));
    socket.flush.shift()?.();
    expect(socket.pongs).toEqual(['a', 'c']);
    socket.flush.shift()?.();
    line.pong(Buffer.from('d'));
    expect([socket.pongs, socket.cuts]).toEqual([['a', 'c', 'd'], 0]);
  });

  it('is disconnected by a real server, which needs less than 64 MB for three million pings', async () => {
    await using venue = await aVenue({ feeds: { pingMs: 3_600_000, pongTimeoutMs: 3_600_000 } });
    const { hostname, port } = new URL(venue.wsUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write(
      `GET /ws HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    // A masked ping of 2 bytes whose mask is zero; 3,000 in a piece.
    const pings = Buffer.from('89820000000041 42'.replaceAll(' ', '').repeat(3_000), 'hex');
    const before = process.memoryUsage().rss;
    let sent = 0;
    while (sent < 1_000 && !socket.destroyed) {
      sent += 1;
      if (!socket.write(pings)) {
        const drained = new Promise((resolve) => socket.once('drain', resolve));
        await Promise.race([drained, closed]);
      }
    }
    socket.resume();
    await closed;
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1_048_576);
  }, 60_000);
});
