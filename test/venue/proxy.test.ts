import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpOptions } from '../../src/venue/http.ts';
import { aVenue } from '../simulator/client.ts';
import { anIdentity, encrypted } from './certificates.ts';
import { follow } from './feed-server.ts';
import { client, TOKEN, warm } from './servers.ts';

const authority = anIdentity({ name: 'an authority', isAuthority: true });
const CREDENTIALS = 'desk:open sesame';
const credentials = { reveal: () => CREDENTIALS };

interface TestProxy {
  readonly url: string;
  /** Requests for a tunnel: target and credentials. */
  readonly asked: (readonly [target: string | undefined, authorization: string | undefined])[];
  /** All bytes that the client sent through tunnels. */
  readonly passed: () => string;
}

/** A proxy that opens tunnels for `CREDENTIALS` alone, and knows no other request. */
async function aProxy(): Promise<TestProxy> {
  const asked: TestProxy['asked'] = [];
  let passed = '';
  const sockets = new Set<Socket>();
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', (request, socket: Socket) => {
    const authorization = request.headers['proxy-authorization'];
    asked.push([request.url, authorization]);
    socket.on('error', () => undefined);
    if (authorization !== `Basic ${btoa(CREDENTIALS)}`) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    const venue = connect(Number(new URL(`http://${request.url ?? ''}`).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.on('data', (bytes: Buffer) => (passed += bytes.toString('latin1')));
      socket.pipe(venue).pipe(socket);
    });
    venue.on('error', () => socket.destroy());
    sockets.add(socket).add(venue);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, passed: () => passed };
}

async function behindProxy(): Promise<{
  readonly proxy: TestProxy;
  readonly venue: URL;
  readonly token: string;
  readonly wsUrl: string;
}> {
  const simulated = await aVenue();
  onTestFinished(async () => await simulated.close());
  const identity = anIdentity({ by: authority });
  const url = `https://${await encrypted(simulated.baseUrl, identity)}`;
  return {
    proxy: await aProxy(),
    venue: new URL(url),
    token: simulated.tokens[0] ?? '',
    wsUrl: `${url.replace('https', 'wss')}/ws`,
  };
}

describe('a proxy', () => {
  const get = async (url: string, options: Partial<HttpOptions>): Promise<unknown> =>
    await firstValueFrom(
      client(url, { ca: authority.cert, ...options }).exchange({
        method: 'GET',
        path: '/v1/currency',
        timeoutMs: 5_000,
      }),
    ).then(
      ({ status }) => status,
      (error: unknown) => error,
    );

  it('carries requests, spare connections included, and learns neither the token nor the path', async () => {
    const { proxy, venue, token } = await behindProxy();
    const options = {
      ca: authority.cert,
      token: { reveal: () => token },
      proxy: { url: proxy.url, credentials },
    };
    const http = client(venue.origin, options);
    warm(http, 1);
    await expect.poll(() => proxy.asked).toEqual([[venue.host, `Basic ${btoa(CREDENTIALS)}`]]);
    const request = { method: 'GET', path: '/v1/currency', timeoutMs: 5_000 } as const;
    expect((await firstValueFrom(http.exchange(request))).status).toBe(200);
    await expect.poll(() => proxy.passed().length).toBeGreaterThan(500);
    expect((await firstValueFrom(http.exchange({ ...request, lane: 'at_once' }))).status).toBe(200);
    expect(proxy.asked).toHaveLength(2);
    for (const secret of [token, '/v1/', 'Bearer']) expect(proxy.passed()).not.toContain(secret);
  });

  it('carries the feeds', async () => {
    const { proxy, venue, token, wsUrl } = await behindProxy();
    const { signals, events } = follow(wsUrl, {
      ca: authority.cert,
      token: { reveal: () => token },
      proxy: { url: proxy.url, credentials },
    });
    await expect
      .poll(() => signals.filter(({ signal }) => signal === 'data').length, { timeout: 5_000 })
      .toBeGreaterThan(0);
    expect(events).toEqual([{ event: 'open' }]);
    expect(proxy.asked.map(([target]) => target)).toEqual([venue.host]);
    expect(proxy.passed()).not.toContain(token);
  });

  it('that refuses the desk, or is not there, is a failed connection: nothing was sent', async () => {
    const { proxy, venue, wsUrl } = await behindProxy();
    const refused = await get(venue.origin, { proxy: { url: proxy.url } });
    expect(refused).toMatchObject({
      code: 'connect',
      sent: false,
      applied: 'no',
      cause: { message: expect.stringContaining('status 407') as string },
    });
    expect(await get(venue.origin, { proxy: { url: 'http://127.0.0.1:1' } })).toMatchObject({
      code: 'connect',
      sent: false,
    });
    const { events } = follow(wsUrl, { ca: authority.cert, proxy: { url: proxy.url } });
    await expect
      .poll(() => events)
      .toMatchObject([{ event: 'closed', why: expect.stringContaining('status 407') as string }]);
    expect(proxy.passed()).toBe('');
  });

  it('cannot stand in for the venue: its certificate is refused, over both ways', async () => {
    const { proxy, venue, wsUrl } = await behindProxy();
    const options = { ca: anIdentity({ isAuthority: true }).cert, proxy: { url: proxy.url, credentials } };
    expect(await get(venue.origin, options)).toMatchObject({ code: 'certificate', sent: false });
    const { events } = follow(wsUrl, options);
    await expect.poll(() => events).toMatchObject([{ event: 'certificate_refused' }]);
    expect(proxy.passed()).not.toContain(TOKEN);
  });

  it('is refused for a venue whose connection is not encrypted', () => {
    expect(() => client('http://127.0.0.1:1', { proxy: { url: 'http://127.0.0.1:2' } })).toThrow(
      'a proxy would read the token',
    );
  });
});
