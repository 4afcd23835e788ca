import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OperateOptions } from '../../src/operate/server.ts';
import { ownLoopback } from '../simulator/loopback.ts';
import { ask } from '../support/http.ts';
import { operating } from '../support/operate.ts';

const serve = async (options: Partial<OperateOptions> = {}): Promise<string> =>
  (await operating(options)).url;

describe('the operate server', () => {
  it('serves the metrics in the text format of Prometheus', async () => {
    const { status, headers, text } = await ask(`${await serve()}/metrics`);
    expect([status, headers['content-type']]).toEqual([
      200,
      expect.stringContaining('text/plain; version=0.0.4'),
    ]);
    expect(text).toContain('tranche_build_info{version="1",mode="paper"');
  });

  it('answers /readyz with 503 and the reasons until no reason is left, and /healthz in any case', async () => {
    const reasons = ['balances are not known yet'];
    const url = await serve({ ready: () => reasons });
    expect(await ask(`${url}/healthz`)).toMatchObject({
      status: 200,
      body: { status: 'alive', version: '1' },
    });
    const body = { status: 'not ready', reasons: ['balances are not known yet'] };
    expect(await ask(`${url}/readyz`)).toMatchObject({ status: 503, body });
    reasons.length = 0;
    expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200 });
  });

  it('escapes characters in JSON that reverse text', async () => {
    const { text, body } = await ask(`${await serve({ ready: () => ['a\u202Eb'] })}/readyz`);
    expect([text.includes('a\\u202eb'), body['reasons']]).toEqual([true, ['a\u202Eb']]);
  });

  it('accepts only loopback names with the right port as Host', async () => {
    const url = await serve({ hosts: ['Tranche.internal:9000'] });
    const { port } = new URL(url);
    const hosts = {
      [`localhost:${port}`]: 200,
      [`[::1]:${port}`]: 200,
      [`LOCALHOST:${port}`]: 200,
      'tranche.internal:9000': 200,
      localhost: 421,
      'localhost:1': 421,
      [`evil.example:${port}`]: 421,
    };
    for (const [host, status] of Object.entries(hosts))
      expect([host, (await ask(`${url}/metrics`, { headers: { host } })).status]).toEqual([host, status]);
    const unknown = await ask(`${url}/nowhere`, { headers: { host: 'evil.example' } });
    expect([unknown.status, unknown.text.includes('nowhere')]).toEqual([421, false]);
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

  it('refuses other methods, and answers an unknown path in JSON', async () => {
    const url = await serve();
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'])
      expect(await ask(`${url}/metrics?x=1`, { method })).toMatchObject({
        status: 405,
        headers: { allow: 'GET' },
      });
    const unknown = await ask(`${url}/dashboard`);
    expect(unknown).toMatchObject({ status: 404, body: { error: expect.any(String) as string } });
  });

  it('does not reveal the text of an internal error', async () => {
    const ready = (): never => {
      throw new Error('password=hunter2');
    };
    const { status, text } = await ask(`${await serve({ ready })}/readyz`);
    expect([status, text.includes('hunter2')]).toEqual([500, false]);
  });

  it('reports that the port is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => {
      other.close();
    });
    const { port } = other.address() as AddressInfo;
    await expect(serve({ listen: `127.0.0.1:${port}` })).rejects.toMatchObject({
      exit: 'unavailable',
      message: expect.stringContaining('the port is in use') as string,
    });
  });

  it('frees its port when it is closed while a client is connected', async () => {
    const first = await operating({ listen: `${ownLoopback()}:0` });
    await (await fetch(`${first.url}/healthz`)).text();
    await first.close();
    expect(await serve({ listen: new URL(first.url).host })).toBe(first.url);
  });
});
