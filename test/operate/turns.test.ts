import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { monotonic } from '../../src/core/time.ts';
import { ask } from '../support/http.ts';
import { operating } from '../support/operate.ts';
import { anIdentity } from '../venue/certificates.ts';

const AT_ONCE = 100;
/** Requests in the first bytes that are parsed, and one of another client. */
const PARSED_MAX = 9;

/** A desk whose metrics wait for `answer`, and a client that asked for them and sent `AT_ONCE` more requests behind that. */
async function flooded(isTls: boolean) {
  const seen = { parsed: 0, metrics: 0, ready: 0, answers: '' };
  const held = Promise.withResolvers<string>();
  const text = async (): Promise<string> => {
    seen.metrics += 1;
    return await held.promise;
  };
  const ready = (): readonly string[] => {
    seen.ready += 1;
    return [];
  };
  const { url } = await operating({
    metrics: { text, contentType: 'text/plain' },
    ready,
    ...(isTls ? { tls: { ...anIdentity(), clientCa: undefined } } : {}),
  });
  const { host, port } = new URL(url);
  const parsed = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.socket.localPort === Number(port)) seen.parsed += 1;
  };
  subscribe('http.server.request.start', parsed);
  const to = { port: Number(port), host: '127.0.0.1', rejectUnauthorized: false };
  const client: Socket = isTls ? connectTls(to) : connect(to);
  onTestFinished(() => {
    unsubscribe('http.server.request.start', parsed);
    client.destroy();
  });
  await once(client, isTls ? 'secureConnect' : 'connect');
  client.on('data', (bytes: Buffer) => (seen.answers += bytes.toString()));
  const asking = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
  client.write(`${asking('/metrics')}${asking('/readyz').repeat(AT_ONCE)}`);
  await expect.poll(() => seen.metrics).toBe(1);
  return { seen, client, url, answer: held.resolve };
}

describe('requests that a client sends without waiting for answers', () => {
  it.each([
    ['unencrypted', false],
    ['encrypted', true],
  ])('wait for the answer before them, most of them unread: %s', async (_, isTls) => {
    const { seen, url, answer } = await flooded(isTls);
    const other = isTls ? { status: 200 } : await ask(`${url}/healthz`);
    expect(other.status).toBe(200);
    const { parsed } = seen;
    expect(seen.ready).toBe(0);
    expect(parsed).toBeLessThanOrEqual(PARSED_MAX);
    answer('figures');
    const answered = (): number => seen.answers.split('HTTP/1.1 200 OK').length - 1;
    await expect.poll(answered).toBe(AT_ONCE + 1);
    expect(seen.answers.indexOf('figures')).toBeLessThan(seen.answers.indexOf('"ready"'));
    expect(seen.ready).toBe(AT_ONCE);
  });

  it('are dropped with their connection', async () => {
    const { seen, client, url, answer } = await flooded(false);
    client.destroy();
    await once(client, 'close');
    await ask(`${url}/healthz`);
    answer('figures');
    await ask(`${url}/healthz`);
    // Its socket is not read meanwhile: the first answer after that of the metrics finds nobody.
    expect(seen.ready).toBeLessThanOrEqual(1);
  });
});

describe('requests of many connections at once', () => {
  it('are answered a few in each turn of the event loop', async () => {
    let [inTurn, most, answered] = [0, 0, 0];
    const ready = (): readonly string[] => {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      inTurn += 1;
      most = Math.max(most, inTurn);
      return [];
    };
    const { url } = await operating({ ready });
    const { host, port } = new URL(url);
    const sockets = await Promise.all(
      Array.from({ length: 80 }, async () => {
        const socket = connect(Number(port), '127.0.0.1');
        onTestFinished(() => void socket.destroy());
        socket.on('data', () => (answered += 1));
        await once(socket, 'connect');
        return socket;
      }),
    );
    for (const socket of sockets) socket.write(`GET /readyz HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    await expect.poll(() => answered).toBe(80);
    expect(most).toBeLessThanOrEqual(4);
  });
});

describe('the text of the metrics', () => {
  it('is made at most once a second', async () => {
    const seen = { at: monotonic(0), made: 0 };
    const { url } = await operating({
      metrics: { text: async () => await Promise.resolve(`${++seen.made}`), contentType: 'text/plain' },
      standby: { desk: 'main', owner: () => ({ owner: 'b' }), bearers: [], now: () => seen.at },
    });
    const texts: string[] = [];
    for (const at of [0, 999, 1_000, 1_999, 2_000]) {
      seen.at = monotonic(at);
      texts.push((await ask(`${url}/metrics`)).text);
    }
    expect(texts).toEqual(['1', '1', '2', '2', '3']);
  });
});
