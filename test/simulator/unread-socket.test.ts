import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { aVenue } from './client.ts';

describe('a client of the feeds that sends pings and does not read', () => {
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
