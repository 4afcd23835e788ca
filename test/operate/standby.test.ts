import { describe, expect, it } from 'vitest';
import { monotonic } from '../../src/core/time.ts';
import { standbyMetrics } from '../../src/operate/standby.ts';
import { ask } from '../support/http.ts';
import { operating } from '../support/operate.ts';

const TOKEN = 'canary-standby-5c1e0d';
const OWNER = { owner: 'process 7 on north, files at /var/main', address: 'https://north.example:8321' };

const aStandby = async (trouble: readonly string[] = []): Promise<string> => {
  const { url } = await operating({
    metrics: standbyMetrics({ desk: 'main', mode: 'live' }),
    ready: () => trouble,
    standby: {
      desk: 'main',
      owner: () => OWNER,
      bearers: [{ name: 'ann', role: 'viewer', token: { reveal: () => TOKEN } }],
      now: () => monotonic(0),
    },
  });
  return url;
};

describe('a standby', () => {
  it('is ready to take over, names the owner, and exposes one metric', async () => {
    const url = await aStandby();
    const reason = `this process is a standby of desk main; the owner is ${OWNER.owner}, whose API is at ${OWNER.address}`;
    expect(await ask(`${url}/readyz`)).toMatchObject({
      status: 200,
      body: { status: 'standby', reasons: [reason] },
    });
    expect((await ask(`${url}/metrics`)).text).toContain('tranche_standby{desk="main",mode="live"} 1');
  });

  it('is not ready while it cannot read the lease', async () => {
    const { status, text } = await ask(`${await aStandby(['the database does not respond'])}/readyz`);
    expect([status, text]).toEqual([503, expect.stringContaining('the database does not respond')]);
  });

  it.each([
    ['GET', '/api/v1/status'],
    ['POST', '/api/v1/halt'],
    ['GET', '/'],
  ])('answers %s %s with the address of the owner', async (method, path) => {
    const url = await aStandby();
    expect(await ask(`${url}${path}`, { method })).toMatchObject({ status: 401 });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const body = { standby: true, desk: 'main', ...OWNER };
    expect(await ask(`${url}${path}`, { method, headers })).toMatchObject({ status: 503, body });
  });
});
