import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import type { Reply } from '../../src/venue/call.ts';
import type { Exchange, HttpOptions, VenueHttp } from '../../src/venue/http.ts';
import { leaksOf } from '../custody/leaks.ts';
import { answering, client, http, httpServer, rawServer, TOKEN, warm } from './servers.ts';

const read: Exchange = { method: 'GET', path: '/v1/currency', timeoutMs: 5_000 };
const order: Exchange = {
  method: 'POST',
  path: '/v1/orders/buy',
  body: '{"a":1}',
  timeoutMs: 5_000,
  lane: 'at_once',
};

const get = async (venue: VenueHttp, request: Exchange = read): Promise<Reply> =>
  await firstValueFrom(venue.exchange(request));

async function failure(venue: VenueHttp, request: Exchange): Promise<VenueError> {
  const outcome = await get(venue, request).then(
    (reply) => new Error(`answered ${reply.status}`),
    (error: unknown) => error,
  );
  if (!(outcome instanceof VenueError)) throw outcome;
  return outcome;
}

describe('the HTTP client of the venue', () => {
  it('sends the request in the required format and returns the whole response', async () => {
    const server = await answering(http('201 Created', '{"ok":1}', 'retry-after: 2', 'date: now'));
    const reply = await get(client(server.url), {
      ...order,
      query: { from: 5, types: 'buy,sell', to: undefined },
    });
    expect(reply).toMatchObject({ status: 201, body: '{"ok":1}', retryAfterMs: 2_000 });
    expect(reply.headers['date']).toBe('now');
    expect(reply.lastByteAt).toBeGreaterThanOrEqual(reply.sentAt);
    const [head = '', body] = server.received().split('\r\n\r\n');
    expect(body).toBe('{"a":1}');
    expect(head.split('\r\n')).toEqual(
      expect.arrayContaining([
        'POST /v1/orders/buy?from=5&types=buy%2Csell HTTP/1.1',
        `authorization: Bearer ${TOKEN}`,
        'accept-encoding: identity',
        'user-agent: tranche/9.9.9',
        'content-type: application/json',
        'content-length: 7',
      ]),
    );
  });

  it('keeps a path in the base address', async () => {
    const server = await answering(http('200 OK', '[]'));
    await get(client(`${server.url}/proxy/`));
    expect(server.received()).toMatch(/^GET \/proxy\/v1\/currency HTTP/u);
  });

  it('reuses a connection for the next exchange', async () => {
    const connections = new Set<unknown>();
    const url = await httpServer((request, response) => {
      connections.add(request.socket);
      response.end('[]');
    });
    const venue = client(url);
    for (let i = 0; i < 3; i++) {
      await get(venue);
      await sleep(5);
    }
    expect(connections.size).toBe(1);
  });

  it.each([
    // Without a usable header, the documented pause of a route.
    [undefined, 10_000],
    ['0', 10_000],
    ['-1', 10_000],
    ['soon', 10_000],
    ['1e2', 10_000],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 10_000],
    ['300', 300_000],
    ['3600', 300_000],
    ['999999999', 300_000],
  ])('reads the retry-after value %s as %j ms', async (value, retryAfterMs) => {
    const server = await answering(
      http('429 Too Many', '{"error":"slow"}', value === undefined ? 'x: y' : `retry-after: ${value}`),
    );
    await expect(get(client(server.url))).resolves.toMatchObject({ status: 429, retryAfterMs });
  });

  it.each([
    'GET /v1/user/withdraw',
    'POST /v1/user/withdraw',
    'DELETE /v1/whitelisted-addresses/1',
    'POST /v1/currency',
    'GET /v1/orders/1/../../user/withdraw',
    'GET /v1/orders/%2e%2e',
    'POST /v1/orders/..%2Fuser%2Fwithdraw',
    'POST /v1/orders/x?y=/v1/user/withdraw',
    'POST /v1/orders/a\r\nPOST\t/v1/user/withdraw',
    'POST //v1/user/withdraw',
    'POST /V1/user/withdraw',
    'PATCH /v1/approvals/1',
    'GET /v1/orders/',
    'GET //evil.example/v1/currency',
    'GET /v1/currency?x=1',
    'DELETE /v1/orders/5',
  ])('refuses %s before any name lookup', async (call) => {
    // prettier-ignore
    const [method, path] = call.split(' ') as [Exchange['method'], string];
    // This name cannot be resolved: a lookup would fail with the error `connect`.
    const error = await failure(client('https://venue.invalid'), { method, path, timeoutMs: 5_000 });
    expect(error).toMatchObject({ code: 'forbidden_route', applied: 'no', sent: false });
  });

  it('refuses an address without encryption, without showing its password', () => {
    const make = (): unknown => client('http://user:pw@venue.example');
    const message = expect.not.stringContaining('pw') as string;
    expect(make).toThrow(expect.objectContaining({ exit: 'config', message }));
  });

  it.each(['', 'two words', 'line\nend', 'ümlaut'])(
    'refuses the token %j without showing it in the error',
    (token) => {
      const make = (): unknown => client('https://v.example', { token: { reveal: () => token } });
      expect(make).toThrow('venue.token: expected printable characters');
    },
  );
});

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

describe('a failed exchange', () => {
  it('reports that nothing was sent if no server listens at the address', async () => {
    // No system assigns this port; a port that was just closed may already belong to another process.
    const error = await failure(client('http://127.0.0.1:1'), order);
    expect(error).toMatchObject({ code: 'connect', applied: 'no', sent: false });
  });

  it.each([
    ['the total limit', { timeoutMs: 500 }, {}],
    ['the connection limit', { timeoutMs: 20_000 }, { connectTimeoutMs: 200 }],
  ])('reports that nothing was sent if the handshake takes longer than %s', async (_, time, options) => {
    // Accepts the connection and never answers the TLS client hello.
    const server = await rawServer(() => undefined);
    const venue = client(server.url.replace('http:', 'https:'), options);
    const error = await failure(venue, { ...order, ...time });
    expect(error).toMatchObject({ code: 'connect', applied: 'no', sent: false, status: undefined });
    expect(server.received()).not.toContain(TOKEN);
  });

  const STALLED = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{';
  it.each<[string, Partial<Exchange>, Partial<HttpOptions>, string, object]>([
    ['no byte comes, for an order', { ...order, timeoutMs: 1_000 }, {}, '', { applied: 'unknown' }],
    ['no byte comes, for a read', { ...read, timeoutMs: 1_000 }, {}, '', { applied: 'no' }],
    [
      'the head exceeds its own limit',
      { ...order, timeoutMs: 600_000 },
      { headersTimeoutMs: 100 },
      '',
      { applied: 'unknown' },
    ],
    [
      'the body stalls beyond its own limit',
      { ...order, timeoutMs: 600_000 },
      { bodyTimeoutMs: 100 },
      STALLED,
      { applied: 'unknown', status: 200 },
    ],
  ])('times out if %s', async (_, request, limits, bytes, expected) => {
    const server = await answering(bytes);
    const error = await failure(client(server.url, limits), { ...read, ...request });
    expect(error).toMatchObject({ code: 'timeout', sent: true, status: undefined, ...expected });
  });

  it('ends if the body arrives slowly beyond the total limit, without a long pause', async () => {
    const server = await answering('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', (socket) => {
      const timer = setInterval(() => socket.write(' '), 10);
      socket.once('close', () => clearInterval(timer));
    });
    const error = await failure(client(server.url), { ...read, timeoutMs: 1_500 });
    expect(error).toMatchObject({ code: 'timeout', status: 200 });
    await expect.poll(() => [...server.sockets].every((socket) => socket.destroyed)).toBe(true);
  });

  it('is too large by the bytes that arrive, while a body of exactly the limit is accepted', async () => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
    const fits = await answering(`${head}${chunk('x'.repeat(60))}${chunk('y'.repeat(40))}0\r\n\r\n`);
    expect((await get(client(fits.url), { ...read, capBytes: 100 })).body).toHaveLength(100);
    const over = await answering(`${head}${chunk('x'.repeat(60))}${chunk('y'.repeat(41))}0\r\n\r\n`);
    expect(await failure(client(over.url), { ...read, capBytes: 100 })).toMatchObject({ code: 'too_large' });
  });

  it.each([
    [65_537, order, { applied: 'unknown', status: 200 }],
    [2_000_000, { ...read, capBytes: 9e9 }, { applied: 'no' }],
  ])(
    'is too large by a content-length of %i, before any byte of the body',
    async (length, request, expected) => {
      const server = await answering(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`);
      expect(await failure(client(server.url), request)).toMatchObject({ code: 'too_large', ...expected });
    },
  );

  it.each([
    ['before the answer', ''],
    ['within the head', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['within the body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"a"'],
    ['within a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"'],
  ])('is broken if the connection ends %s', async (_, bytes) => {
    const broken = { code: 'broken', applied: 'unknown', sent: true };
    const ends = await answering(bytes, (socket) => socket.end());
    expect(await failure(client(ends.url), order)).toMatchObject(broken);
    const resets = await answering(bytes, (socket) => setTimeout(() => socket.resetAndDestroy(), 20));
    expect(await failure(client(resets.url), order)).toMatchObject(broken);
  });

  it('is broken if the response is not HTTP', async () => {
    const server = await answering(`220 mail ready ${TOKEN}\r\n`);
    const error = await failure(client(server.url), order);
    expect(error).toMatchObject({ code: 'broken', applied: 'unknown' });
    expect(everythingOf(error)).not.toContain(TOKEN);
  });

  it.each(['301', '302', '303', '307', '308'])(
    'does not follow a redirect with status %s',
    async (status) => {
      const target = await rawServer(() => undefined);
      const server = await answering(http(`${status} Moved`, '', `location: ${target.url}/v1/orders/buy`));
      const error = await failure(client(server.url), order);
      expect(error).toMatchObject({
        code: 'redirect',
        applied: 'unknown',
        sent: true,
        status: Number(status),
      });
      await sleep(50);
      expect([target.connections(), target.received()]).toEqual([0, '']);
    },
  );

  it.each(['gzip', 'br', 'gzip, identity', 'GZIP'])(
    'refuses a response encoded with %s without reading it',
    async (encoding) => {
      const url = await httpServer((_, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync('{"a":1}'));
      });
      expect(await failure(client(url), read)).toMatchObject({ code: 'unreadable', status: 200 });
    },
  );

  it('refuses a body that is not UTF-8', async () => {
    const server = await answering(
      Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n'), Buffer.of(0xff)]),
    );
    expect(await failure(client(server.url), read)).toMatchObject({ code: 'unreadable', status: 200 });
  });

  it('is not repeated after the connection was reset', async () => {
    let requests = 0;
    const server = await rawServer((socket) => {
      socket.on('data', () => {
        requests++;
        socket.resetAndDestroy();
      });
    });
    await failure(client(server.url), order);
    await failure(client(server.url), read);
    await sleep(100);
    expect(requests).toBe(2);
  });
});

describe('unsubscribing', () => {
  it('closes the connection of an exchange in progress', async () => {
    const server = await rawServer(() => undefined);
    const subscription = client(server.url).exchange(order).subscribe();
    await expect.poll(() => server.received()).toContain('{"a":1}');
    subscription.unsubscribe();
    await expect.poll(() => [...server.sockets].every((socket) => socket.destroyed)).toBe(true);
  });

  it('prevents an exchange that waits for its connection from being sent', async () => {
    const server = await rawServer(() => undefined);
    client(server.url).exchange(order).subscribe().unsubscribe();
    await expect.poll(() => server.connections()).toBe(1);
    await sleep(50);
    expect(server.received()).toBe('');
  });
});

/** All texts of an error that a log could print. */
function everythingOf(error: Error): string {
  const parts: unknown[] = [];
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    parts.push(each.name, each.message, each.stack, ...(Object.values(each) as unknown[]));
  }
  return parts.map(String).join('\n');
}

describe('the token', () => {
  it('is sent only in the authorization header', async () => {
    const server = await answering(http('200 OK', '[]'));
    await get(client(server.url), { ...order, query: { a: 1 } });
    expect(server.received().split(TOKEN)).toHaveLength(2);
    expect(server.received()).toContain(`authorization: Bearer ${TOKEN}\r\n`);
  });

  it('is read anew for each request, so that it can change', async () => {
    const seen: (string | undefined)[] = [];
    const url = await httpServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end('[]');
    });
    let token = 'first';
    const venue = client(url, { token: { reveal: () => token } });
    await get(venue);
    token = 'second';
    await get(venue);
    expect(seen).toEqual(['Bearer first', 'Bearer second']);
  });

  it('is removed from the body of a response, in any field and encoding', async () => {
    const body = JSON.stringify({
      id: TOKEN,
      pair: `x${Buffer.from(`Bearer ${TOKEN}`).toString('base64')}`,
      note: encodeURIComponent(TOKEN),
      rest: 'stays',
    });
    const server = await answering(http('201 Created', body));
    const reply = await get(client(server.url), order);
    expect(leaksOf(reply.body, TOKEN)).toEqual([]);
    expect(JSON.parse(reply.body)).toMatchObject({ id: '[token]', rest: 'stays' });
  });

  it('makes a response unreadable if it contains the token in unusual escapes', async () => {
    const odd = `\\u00${TOKEN.charCodeAt(0).toString(16)}${TOKEN.slice(1)}`;
    const server = await answering(http('201 Created', `{"id":"${odd}"}`));
    const error = await failure(client(server.url), order);
    expect(error).toMatchObject({ code: 'unreadable', applied: 'unknown', sent: true });
    expect(leaksOf(everythingOf(error), TOKEN)).toEqual([]);
  });

  it('is removed from error texts of the venue, as are control characters, and long texts are truncated', () => {
    const venue = client('https://venue.invalid');
    const said = venue.clean(`no ${TOKEN}\r\n\u001B[31mred\u202E ${'x'.repeat(500)}`);
    expect(said).toMatch(/^no \[token\]\uFFFD\uFFFD\uFFFD\[31mred\uFFFD x+$/u);
    expect(said).toHaveLength(200);
    expect(venue.clean(`${'y'.repeat(196)}${TOKEN}`)).not.toContain(TOKEN.slice(0, 4));
  });
});

/** A venue in another thread. `byte[0]` becomes 1 when the first byte of a request arrives; `byte[1]` counts the connections. */
async function venueInThread(): Promise<{ readonly url: string; readonly byte: Int32Array }> {
  const byte = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads');
     const server = require('node:net').createServer((socket) => {
       Atomics.add(workerData, 1, 1);
       socket.on('error', () => {}).once('data', () => {
         Atomics.store(workerData, 0, 1);
         Atomics.notify(workerData, 0);
         socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}');
       });
     });
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true, workerData: byte },
  );
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = (await once(worker, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, byte };
}

describe('a warmed connection', () => {
  it('sends the first byte in the tick of subscribe', async () => {
    const { url, byte } = await venueInThread();
    const venue = client(url);
    warm(venue, 1);
    await expect.poll(() => Atomics.load(byte, 1)).toBe(1);
    await sleep(100);
    const replies: Reply[] = [];
    venue.exchange(order).subscribe((reply) => replies.push(reply));
    // This thread blocks in the tick of `subscribe`: only bytes that were already sent can arrive.
    expect(Atomics.wait(byte, 0, 0, 10_000)).not.toBe('timed-out');
    await expect.poll(() => replies.map(({ body }) => body)).toEqual(['{}']);
  });

  it('is necessary to send the first byte in the tick of subscribe', async () => {
    const { url, byte } = await venueInThread();
    const venue = client(url);
    const reply = get(venue, order);
    expect(Atomics.wait(byte, 0, 0, 200)).toBe('timed-out');
    expect((await reply).body).toBe('{}');
  });

  it('is used for one exchange', async () => {
    const server = await rawServer((socket) => socket.on('data', () => socket.write(http('200 OK', '[]'))));
    const venue = client(server.url);
    warm(venue, 1);
    await expect.poll(() => server.connections()).toBe(1);
    await sleep(50);
    await get(venue, order);
    expect(server.connections()).toBe(1);
    expect(server.received()).toContain('connection: close');
    await expect.poll(() => [...server.sockets].every((socket) => socket.destroyed)).toBe(true);
    await get(venue, order);
    expect(server.connections()).toBe(2);
  });

  it.each([
    ['closed by the venue', (socket: Socket) => socket.end()],
    ['reset by the venue', (socket: Socket) => socket.resetAndDestroy()],
    ['answered before a request was sent', (socket: Socket) => socket.write(http('200 OK', '["poison"]'))],
  ])('is dropped if it is %s', async (_, spoil) => {
    const server = await rawServer((socket) => {
      if (server.connections() > 1) socket.on('data', () => socket.write(http('200 OK', '[]')));
      else setTimeout(spoil, 20, socket);
    });
    const venue = client(server.url);
    warm(venue, 1);
    await expect.poll(() => server.connections()).toBe(1);
    await sleep(100);
    expect((await get(venue, order)).body).toBe('[]');
    expect(server.connections()).toBe(2);
  });

  it('is opened as often as requested, up to four times', async () => {
    const server = await rawServer(() => undefined);
    const venue = client(server.url);
    warm(venue, 2);
    warm(venue, 2);
    await expect.poll(() => server.connections()).toBe(2);
    warm(venue, 100);
    await expect.poll(() => server.connections()).toBe(4);
    await sleep(50);
    expect([server.connections(), server.received()]).toEqual([4, '']);
  });
});
