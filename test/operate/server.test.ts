import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/core/errors.ts';
import { instant } from '../../src/core/time.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import { parseListen } from '../../src/operate/listen.ts';
import { startOperate } from '../../src/operate/server.ts';
import type { OperateOptions } from '../../src/operate/server.ts';
import { ownLoopback } from '../simulator/loopback.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(options: Partial<OperateOptions> = {}): Promise<string> {
  const metrics = createMetrics({ version: '1.2.3', mode: 'paper', desk: 'main', now: () => instant(0) });
  const operate = await startOperate({
    listen: '127.0.0.1:0',
    version: '1.2.3',
    metrics,
    ready: () => [],
    ...options,
  });
  closers.push(
    async () => await operate.close(),
    () => {
      metrics.close();
    },
  );
  return operate.url;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly allow: string | undefined;
  readonly body: string;
}

/** `fetch` does not let a caller choose the Host header, so this is the plain client. */
const ask = async (
  url: string,
  { method = 'GET', host }: { method?: string; host?: string } = {},
): Promise<Answer> =>
  await new Promise((resolve, reject) => {
    const headers = host === undefined ? {} : { host };
    const exchange = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          allow: response.headers.allow,
          body: Buffer.concat(chunks).toString(),
        });
      });
    });
    exchange.on('error', reject);
    exchange.end();
  });

describe('the operate server', () => {
  it('serves the metrics in the text format of Prometheus', async () => {
    const url = await serve();

    const { status, type, body } = await ask(`${url}/metrics`);

    expect(status).toBe(200);
    expect(type).toContain('text/plain; version=0.0.4');
    expect(body).toContain('tranche_build_info{version="1.2.3",mode="paper"');
  });

  it('answers /healthz with its version even if it is not ready', async () => {
    const url = await serve({ ready: () => ['the desk is halted'] });

    const { status, body } = await ask(`${url}/healthz`);

    expect(status).toBe(200);
    expect(JSON.parse(body)).toStrictEqual({ status: 'alive', version: '1.2.3' });
  });

  it('answers /readyz with 503 and the reasons until no reason is left', async () => {
    const reasons = ['balances are not known yet'];
    const url = await serve({ ready: () => reasons });

    const before = await ask(`${url}/readyz`);
    reasons.length = 0;
    const afterwards = await ask(`${url}/readyz`);

    expect(before.status).toBe(503);
    expect(JSON.parse(before.body)).toStrictEqual({
      status: 'not ready',
      reasons: ['balances are not known yet'],
    });
    expect(afterwards.status).toBe(200);
  });

  it('accepts only loopback names with the right port as Host', async () => {
    const url = await serve();
    const { port } = new URL(url);

    const statuses = await Promise.all(
      [
        `localhost:${port}`,
        `[::1]:${port}`,
        `LOCALHOST:${port}`,
        'localhost',
        'localhost:1',
        `evil.example:${port}`,
      ].map(async (host) => (await ask(`${url}/metrics`, { host })).status),
    );

    expect(statuses).toStrictEqual([200, 200, 200, 421, 421, 421]);
  });

  it('refuses two Host headers, and a full URL instead of a path', async () => {
    const { hostname, port, host } = new URL(await serve());
    const firstLineOf = async (text: string): Promise<string> =>
      await new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => socket.write(text));
        socket.once('error', reject).once('data', (data) => {
          socket.destroy();
          resolve(String(data).split('\r\n', 1)[0] ?? '');
        });
      });
    const asked = [
      `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\n\r\n`,
      `GET http://${host}/metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    ];
    expect(await Promise.all(asked.map(firstLineOf))).toEqual(Array(2).fill('HTTP/1.1 400 Bad Request'));
  });

  it('accepts a configured host name, too', async () => {
    const url = await serve({ hosts: ['Tranche.internal:9000'] });

    const { status } = await ask(`${url}/healthz`, { host: 'tranche.internal:9000' });

    expect(status).toBe(200);
  });

  it('checks the Host of an unknown path and does not repeat the path', async () => {
    const url = await serve();

    const { status, body } = await ask(`${url}/nowhere`, { host: 'evil.example' });

    expect(status).toBe(421);
    expect(body).not.toContain('nowhere');
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'])('refuses the method %s', async (method) => {
    const url = await serve();

    const { status, allow } = await ask(`${url}/metrics?x=1`, { method });

    expect(status).toBe(405);
    expect(allow).toBe('GET');
  });

  it('answers an unknown path in JSON', async () => {
    const url = await serve();

    const { status, type, body } = await ask(`${url}/dashboard`);

    expect(status).toBe(404);
    expect(type).toContain('application/json');
    expect(JSON.parse(body)).toHaveProperty('error');
  });

  it('does not reveal the text of an internal error', async () => {
    const url = await serve({
      ready: () => {
        throw new Error('password=hunter2');
      },
    });

    const { status, body } = await ask(`${url}/readyz`);

    expect(status).toBe(500);
    expect(body).not.toContain('hunter2');
  });

  it('reports that the port is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve);
    });
    closers.push(() => {
      other.close();
    });
    const { port } = other.address() as AddressInfo;

    const failure: unknown = await serve({ listen: `127.0.0.1:${port}` }).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(OperatorError);
    expect(failure).toMatchObject({ exit: 'unavailable' });
    expect(String(failure)).toContain('the port is in use');
  });

  it('frees its port when it is closed while a client is connected', async () => {
    const metrics = createMetrics({ version: '1', mode: 'paper', desk: 'main', now: () => instant(0) });
    closers.push(() => {
      metrics.close();
    });
    const options = { version: '1', metrics, ready: () => [] };
    const first = await startOperate({ ...options, listen: `${ownLoopback()}:0` });
    await (await fetch(`${first.url}/healthz`)).text();
    await first.close();

    const second = await startOperate({ ...options, listen: new URL(first.url).host });
    closers.push(async () => await second.close());

    expect(second.url).toBe(first.url);
  });
});

describe('parseListen', () => {
  it.each([
    ['127.0.0.1:8321', { host: '127.0.0.1', port: 8321 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['localhost:65535', { host: 'localhost', port: 65_535 }],
  ])('reads %s', (text, listen) => {
    expect(parseListen(text)).toStrictEqual(listen);
  });

  it.each(['8321', ':8321', '127.0.0.1', '127.0.0.1:65536', '::1:80', 'http://127.0.0.1:80', '127.0.0.1:x'])(
    'refuses %s as a setting',
    (text) => {
      expect(() => parseListen(text)).toThrow(OperatorError);
    },
  );
});
