import { setTimeout as sleep } from 'node:timers/promises';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import type { Exchange, VenueHttp } from '../../src/venue/http.ts';
import { answering, client, http, warm } from './servers.ts';

const order: Exchange = { method: 'POST', path: '/v1/orders/buy', body: '{"a":1}', timeoutMs: 5_000 };
const read: Exchange = { method: 'GET', path: '/v1/currency', timeoutMs: 5_000 };

const outcomeOf = async (venue: VenueHttp, request: Exchange): Promise<unknown> =>
  await firstValueFrom(venue.exchange(request)).then(
    ({ status }) => status,
    (error: unknown) => error,
  );

const NEVER_SENT = { code: 'forbidden_route', applied: 'no', sent: false };

describe('the order route', () => {
  it.each(['shared', 'at_once'] as const)(
    'sends no order that the kill switch forbids, but still reads: %s',
    async (lane) => {
      const server = await answering(http('200 OK', '{}'));
      const venue = client(server.url, { mayMoveMoney: () => false });
      const refused = await outcomeOf(venue, { ...order, lane });
      expect(refused).toBeInstanceOf(VenueError);
      expect(refused).toMatchObject(NEVER_SENT);
      expect(server.received()).toBe('');
      expect(await outcomeOf(venue, read)).toBe(200);
    },
  );

  it('does not send an order that waits for its connection when the halt comes', async () => {
    const server = await answering(http('200 OK', '{}'));
    let isHalted = false;
    const venue = client(server.url, { mayMoveMoney: () => !isHalted });
    const outcome = outcomeOf(venue, order);
    // Nothing has been written yet: the connection takes more than this tick.
    isHalted = true;
    expect(await outcome).toMatchObject(NEVER_SENT);
    expect(server.received()).toBe('');
  });

  it('stays shut permanently once it is shut, also on connections that are open and ready', async () => {
    const server = await answering(http('200 OK', '{}'));
    const venue = client(server.url);
    warm(venue, 2);
    while (server.connections() < 2) await sleep(5);
    venue.shut();
    expect(await outcomeOf(venue, { ...order, lane: 'at_once' })).toMatchObject(NEVER_SENT);
    expect(server.received()).toBe('');
    expect(await outcomeOf(venue, read)).toBe(200);
  });

  it('returns the response to an order that was sent before it was shut', async () => {
    const server = await answering('', (socket) => {
      setTimeout(() => socket.write(http('200 OK', '{"filled":1}')), 100);
    });
    const venue = client(server.url);
    const outcome = outcomeOf(venue, order);
    while (server.received() === '') await sleep(5);
    venue.shut();
    expect(await outcome).toBe(200);
  });
});
