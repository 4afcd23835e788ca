import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { endRaw } from '../../src/simulator/http/deliver.ts';
import { refused } from '../../src/simulator/exchange/refuse.ts';
import { routes } from '../../src/simulator/http/routes.ts';
import { aVenue } from './client.ts';
import { fuzz } from './fuzzing.ts';
import { RawClient, rawRequest } from './raw.ts';
import type { RawAnswer } from './raw.ts';

const QUOTE = '{"pair":"btcusd","side":"buy","quantity":1}';
const JSON_TYPE = 'content-type: application/json';
const quiet = { limits: { enforced: false } } as const;

const errorOf = (answer: RawAnswer | undefined): string => {
  const { error } = JSON.parse(answer?.body ?? '{}') as { error?: string };
  return `${answer?.status ?? 'nothing'} ${error ?? ''}`;
};

describe('the venue', () => {
  const ask = async (
    line: string,
    { body, headers = [JSON_TYPE] }: { body?: string; headers?: string[] } = {},
  ) => {
    await using venue = await aVenue(quiet);
    using client = new RawClient(venue.baseUrl);
    return errorOf(await client.send(rawRequest(line, { token: venue.tokens[0] ?? '', body, headers })));
  };

  it.each([
    [
      'a number as text',
      QUOTE.replace(':1}', ':"1"}'),
      '400 invalid request: quantity must be a JSON number',
    ],
    [
      'a side in capitals',
      QUOTE.replace('buy', 'BUY'),
      '400 invalid request: side Invalid option: expected one of "buy"|"sell"',
    ],
    ['an unknown field', QUOTE.replace('{', '{"colour":1,'), '400 invalid request: unknown field "colour"'],
    [
      'text where a number belongs',
      QUOTE.replace('"btcusd"', '5'),
      '400 invalid request: pair must be a JSON string',
    ],
    ['a body that is a list', `[${QUOTE}]`, '400 invalid request: the body is not a JSON object'],
    ['a truncated body', QUOTE.slice(0, 20), '400 invalid request: the body is not JSON'],
  ])('refuses %s', async (_, body, error) => {
    expect(await ask('POST /v1/quote', { body })).toBe(error);
  });

  it.each([
    [
      'a form body',
      'POST /v1/quote',
      'pair=btcusd',
      ['content-type: application/x-www-form-urlencoded'],
      '415 only application/json is accepted',
    ],
    ['a body without a content type', 'POST /v1/quote', QUOTE, [], '415 only application/json is accepted'],
    [
      'a request for HTML',
      'GET /v1/currency',
      undefined,
      ['accept: text/html'],
      '406 only JSON responses are available',
    ],
    [
      'a body with GET',
      'GET /v1/currency',
      '{}',
      [JSON_TYPE],
      '400 invalid request: a GET request takes no body',
    ],
    [
      'an unknown parameter',
      'GET /v1/currency?colour=red',
      undefined,
      [],
      '400 invalid request: unknown parameter "colour"',
    ],
    ['a method that the path does not have', 'PUT /v1/quote', QUOTE, [JSON_TYPE], '405 method not allowed'],
    ['an unknown path', 'GET /v1/nowhere', undefined, ['accept: text/html'], '404 not found'],
    ['a path that cannot be decoded', 'GET /v1/orders/%E0%A4%A', undefined, [], '404 not found'],
    [
      'a URL that is too long',
      `GET /v1/orders/${'9'.repeat(5_000)}`,
      undefined,
      [],
      '414 the URL is too long',
    ],
    [
      'an unknown expectation',
      'POST /v1/quote',
      QUOTE,
      [JSON_TYPE, 'expect: the-best'],
      '417 only the expectation 100-continue is supported',
    ],
  ])('refuses %s', async (_, line, body, headers, error) => {
    expect(await ask(line, { headers, ...(body === undefined ? {} : { body }) })).toContain(error);
  });

  it('refuses a body that is not UTF-8', async () => {
    await using venue = await aVenue(quiet);
    using client = new RawClient(venue.baseUrl);
    const request = rawRequest('POST /v1/quote', {
      token: venue.tokens[0] ?? '',
      body: QUOTE,
      headers: [JSON_TYPE],
    });
    const bytes = Buffer.from(request);
    bytes[request.indexOf('btcusd')] = 0xff;
    expect(errorOf(await client.send(bytes))).toBe('400 invalid request: the body is not UTF-8');
  });

  it('lists the methods of a path in the allow header', async () => {
    await using venue = await aVenue(quiet);
    using client = new RawClient(venue.baseUrl);
    const answer = await client.send(rawRequest('PUT /v1/orders/open', { token: venue.tokens[0] ?? '' }));
    expect(answer?.headers.get('allow')).toContain('DELETE');
  });

  it('answers a body of 10 MB with 413, reads it to the end, and keeps the connection open', async () => {
    await using venue = await aVenue(quiet);
    using client = new RawClient(venue.baseUrl);
    const token = venue.tokens[0] ?? '';
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
    await using venue = await aVenue(quiet);
    using client = new RawClient(venue.baseUrl);
    const answer = await client.send(
      rawRequest('POST /v1/quote', { token: venue.tokens[0] ?? '', headers: [header] }),
    );
    expect(answer?.status).toBe(status);
    expect(errorOf(answer)).toMatch(/^4\d\d \w/u);
    expect((await venue.get('/v1/currency')).status).toBe(200);
  });

  it.each([
    'GARBAGE',
    '\u0016\u0003\u0001',
    'GET / HTTP/9.9',
    'CONNECT venue:80 HTTP/1.1\r\nhost: venue',
    'GET',
  ])('survives %j instead of a request', async (line) => {
    await using venue = await aVenue(quiet);
    using client = new RawClient(venue.baseUrl);
    expect(errorOf(await client.send(`${line}\r\n\r\n`))).toMatch(/^(?:400|405|505) \w/u);
    expect((await venue.get('/v1/currency')).status).toBe(200);
  });

  const UPGRADE = 'connection: Upgrade';
  const WEBSOCKET = ['upgrade: websocket', 'sec-websocket-version: 13'];
  it.each([
    ['an offer of HTTP/2', '/v1/currency', ['upgrade: h2c', 'http2-settings: AAMAAABk'], 200],
    ['a WebSocket at a REST path', '/v1/currency', WEBSOCKET, 200],
    ['a WebSocket at an unknown path', '/ws/2', WEBSOCKET, 404],
    ['a WebSocket without its key', '/ws', WEBSOCKET, 400],
  ])('answers %s in JSON', async (_, path, headers, status) => {
    await using venue = await aVenue(quiet);
    using client = new RawClient(venue.baseUrl);
    const token = venue.tokens[0] ?? '';
    const answer = await client.send(rawRequest(`GET ${path}`, { token, headers: [UPGRADE, ...headers] }));
    expect(answer?.status).toBe(status);
    expect(answer?.headers.get('content-type')).toContain('application/json');
  });

  it('refuses a request without a host header', async () => {
    await using venue = await aVenue(quiet);
    using client = new RawClient(venue.baseUrl);
    const request = rawRequest('GET /v1/currency', { token: venue.tokens[0] ?? '' });
    expect(errorOf(await client.send(request.replace('host: venue\r\n', '')))).toBe(
      '400 invalid request: no header Host',
    );
  });

  it('survives a client that disconnects while a refusal is written to the raw socket', () => {
    const socket = new PassThrough();
    endRaw(socket, refused.method());
    expect(() => socket.emit('error', new Error('ECONNRESET'))).not.toThrow();
    expect(socket.destroyed).toBe(true);
  });

  it('survives connections that are reset right after a CONNECT request', async () => {
    await using venue = await aVenue(quiet);
    const port = Number(new URL(venue.baseUrl).port);
    for (let count = 0; count < 30; count++) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      await new Promise((resolve) =>
        socket.write('CONNECT venue:80 HTTP/1.1\r\nhost: venue\r\n\r\n', resolve),
      );
      socket.resetAndDestroy();
    }
    expect((await venue.get('/v1/currency')).status).toBe(200);
  });

  it('refuses hostile requests to every route with an error in JSON and leaves the ledger unchanged', async () => {
    await using venue = await aVenue({ ...quiet, pts: { defaultMode: 'Enabled' } });
    const { problems, statuses } = await fuzz(venue, { seed: 'unit', count: 4_000 });
    expect(problems).toEqual([]);
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 405, 415, 422]));
  });
});
