import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { monotonic } from '../../src/core/time.ts';
import { startOperate } from '../../src/operate/server.ts';
import { standbyMetrics } from '../../src/operate/standby.ts';

const OWNER = { owner: 'process 7 on north, files at /var/main', address: 'https://north.example:8321' };

async function aStandby(trouble: readonly string[] = []): Promise<string> {
  const server = await startOperate({
    listen: '127.0.0.1:0',
    version: '0',
    metrics: standbyMetrics({ desk: 'main', mode: 'live' }),
    ready: () => trouble,
    standby: {
      desk: 'main',
      owner: () => OWNER,
      bearers: [{ name: 'ann', role: 'viewer', token: { reveal: () => 'canary-standby-5c1e0d' } }],
      now: () => monotonic(0),
    },
  });
  onTestFinished(async () => {
    await server.close();
  });
  return server.url;
}

const asked = async (url: string, method: 'GET' | 'POST', token?: string) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { statusCode, body } = await request(url, { method, headers });
  return { status: statusCode, body: await body.text() };
};

describe('a standby', () => {
  it('is ready to take over, and names the owner', async () => {
    const { status, body } = await asked(`${await aStandby()}/readyz`, 'GET');
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({
      status: 'standby',
      reasons: [
        'this process is a standby of desk main; the owner is process 7 on north, files at /var/main, whose API is at https://north.example:8321',
      ],
    });
  });

  it('is not ready while it cannot read the lease', async () => {
    const { status, body } = await asked(
      `${await aStandby(['the database does not respond'])}/readyz`,
      'GET',
    );
    expect(status).toBe(503);
    expect(body).toContain('the database does not respond');
  });

  it('exposes one metric', async () => {
    const { body } = await asked(`${await aStandby()}/metrics`, 'GET');
    expect(body).toContain('tranche_standby{desk="main",mode="live"} 1');
  });

  it.each([
    ['GET', '/api/v1/status'],
    ['POST', '/api/v1/halt'],
    ['GET', '/'],
  ] as const)('answers %s %s with the address of the owner', async (method, path) => {
    const url = await aStandby();
    expect(await asked(`${url}${path}`, method)).toMatchObject({ status: 401 });
    const { status, body } = await asked(`${url}${path}`, method, 'canary-standby-5c1e0d');
    expect(status).toBe(503);
    expect(JSON.parse(body)).toMatchObject({ standby: true, desk: 'main', ...OWNER });
  });
});
