import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endRaw } from '../../src/simulator/http/deliver.ts';
import { refused } from '../../src/simulator/exchange/refuse.ts';
import { routes } from '../../src/simulator/http/routes.ts';
import { aVenue } from './client.ts';
import type { VenueUnderTest } from './client.ts';
import { fuzz } from './fuzzing.ts';
import { RawClient, rawRequest } from './raw.ts';
import type { RawAnswer } from './raw.ts';

const QUOTE = '{"pair":"btcusd","side":"buy","quantity":1}';
const FORM = 'content-type: application/x-www-form-urlencoded';
const JSON_TYPE = 'content-type: application/json';
const HTML = 'accept: text/html';
const quiet = { limits: { enforced: false } } as const;

let venue: VenueUnderTest;
let token = '';
beforeAll(async () => {
  venue = await aVenue(quiet);
  [token = ''] = venue.tokens;
});
afterEach(async () => {
  if ((await venue.get('/v1/currency')).status !== 200) throw new Error('the venue answers no more');
});
afterAll(async () => await venue.close());

const errorOf = (answer: RawAnswer | undefined): string => {
  const { error } = JSON.parse(answer?.body ?? '{}') as { error?: string };
  return `${answer?.status ?? 'nothing'} ${error ?? ''}`;
};
const send = async (bytes: string | Buffer): Promise<RawAnswer | undefined> => {
  using client = new RawClient(venue.baseUrl);
  return await client.send(bytes);
};
const ask = async (line: string, headers: readonly string[] = [], body?: string) =>
  await send(rawRequest(line, { token, headers, body }));

/** A venue that still answers other requests after each of these. */
describe('the venue', () => {
  it.each([
    ['POST /v1/quote', [FORM], '415 only application/json is accepted'],
    ['POST /v1/quote', [], '415 only application/json is accepted'],
    ['POST /v1/quote', [JSON_TYPE, 'expect: the-best'], '417 only the expectation 100-continue is supported'],
    ['PUT /v1/quote', [JSON_TYPE], '405 method not allowed'],
    ['GET /v1/currency', [HTML], '406 only JSON responses are available'],
    ['GET /v1/currency', [JSON_TYPE], '400 invalid request: a GET request takes no body'],
    ['GET /v1/currency?colour=red', [], '400 invalid request: unknown parameter "colour"'],
    ['GET /v1/nowhere', [HTML], '404 not found'],
    ['GET /v1/orders/%E0%A4%A', [], '404 not found'],
    [`GET /v1/orders/${'9'.repeat(5_000)}`, [], '414 the URL is too long'],
  ])('refuses %s with the headers %j', async (line, headers, error) => {
    const hasBody = !line.startsWith('GET') || headers.includes(JSON_TYPE);
    expect(errorOf(await ask(line, headers, hasBody ? QUOTE : undefined))).toContain(error);
  });

  it('refuses a body that is not UTF-8', async () => {
    const request = rawRequest('POST /v1/quote', { token, body: QUOTE, headers: [JSON_TYPE] });
    const bytes = Buffer.from(request);
    bytes[request.indexOf('btcusd')] = 0xff;
    expect(errorOf(await send(bytes))).toBe('400 invalid request: the body is not UTF-8');
  });

  it('lists the methods of a path in the allow header', async () => {
    expect((await ask('PUT /v1/orders/open'))?.headers.get('allow')).toContain('DELETE');
  });

  it('answers a body of 10 MB with 413, reads it to the end, and keeps the connection open', async () => {
    using client = new RawClient(venue.baseUrl);
    const body = `{"pair":"${'x'.repeat(10_000_000)}"}`;
    for (const { method, path } of routes.filter(({ body: takes }) => takes !== undefined)) {
      const line = `${method} ${path.replaceAll(/:\w+/gu, '1')}`;
      expect(errorOf(await client.send(rawRequest(line, { token, body, headers: [JSON_TYPE] })))).toBe(
        '413 the body is too large',
      );
    }
    expect((await client.send(rawRequest('GET /v1/currency', { token })))?.status).toBe(200);
  });

  it.each([
    ['a header of 20 kB', `x: ${'y'.repeat(20_000)}`, 431],
    ['two thousand headers', Array.from({ length: 2_000 }, (_, i) => `x-${i}: ${i}`).join('\r\n'), 431],
    ['a header without a name', ': nothing', 400],
    ['a body with two lengths', 'content-length: 5\r\ncontent-length: 6', 400],
    ['a body with a length and chunks', 'content-length: 5\r\ntransfer-encoding: chunked', 400],
    ['a length below zero', 'content-length: -5', 400],
  ])('answers %s with an error in JSON', async (_, header, status) => {
    const answer = await ask('POST /v1/quote', [header]);
    expect(answer?.status).toBe(status);
    expect(errorOf(answer)).toMatch(/^4\d\d \w/u);
  });

  it.each([
    'GARBAGE',
    '\u0016\u0003\u0001',
    'GET / HTTP/9.9',
    'CONNECT venue:80 HTTP/1.1\r\nhost: venue',
    'GET',
  ])('survives %j instead of a request', async (line) => {
    expect(errorOf(await send(`${line}\r\n\r\n`))).toMatch(/^(?:400|405|505) \w/u);
  });

  const WEBSOCKET = ['upgrade: websocket', 'sec-websocket-version: 13'];
  it.each([
    ['an offer of HTTP/2', '/v1/currency', ['upgrade: h2c', 'http2-settings: AAMAAABk'], 200],
    ['a WebSocket at a REST path', '/v1/currency', WEBSOCKET, 200],
    ['a WebSocket at an unknown path', '/ws/2', WEBSOCKET, 404],
    ['a WebSocket without its key', '/ws', WEBSOCKET, 400],
  ])('answers %s in JSON', async (_, path, headers, status) => {
    const answer = await ask(`GET ${path}`, ['connection: Upgrade', ...headers]);
    expect(answer?.status).toBe(status);
    expect(answer?.headers.get('content-type')).toContain('application/json');
  });

  it('refuses a request without a host header', async () => {
    const request = rawRequest('GET /v1/currency', { token }).replace('host: venue\r\n', '');
    expect(errorOf(await send(request))).toBe('400 invalid request: no header Host');
  });

  it('survives a client that disconnects while a refusal is written to the raw socket', () => {
    const socket = new PassThrough();
    endRaw(socket, refused.method());
    expect(() => socket.emit('error', new Error('ECONNRESET'))).not.toThrow();
    expect(socket.destroyed).toBe(true);
  });

  it('survives connections that are reset right after a CONNECT request', async () => {
    for (let count = 0; count < 30; count++) {
      const socket = connect(Number(new URL(venue.baseUrl).port), '127.0.0.1');
      await once(socket, 'connect');
      await new Promise((resolve) =>
        socket.write('CONNECT venue:80 HTTP/1.1\r\nhost: venue\r\n\r\n', resolve),
      );
      socket.resetAndDestroy();
    }
    expect((await venue.get('/v1/currency')).status).toBe(200);
  });

  it('refuses hostile requests to every route with an error in JSON and leaves the ledger unchanged', async () => {
    await using other = await aVenue({ ...quiet, pts: { defaultMode: 'Enabled' } });
    const { problems, statuses } = await fuzz(other, { seed: 'unit', count: 4_000 });
    expect(problems).toEqual([]);
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 405, 415, 422]));
  });
});
