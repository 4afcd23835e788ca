import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { aBench, aTwap } from '../engine/harness.ts';
import { served, tokenOf } from '../app/api/served.ts';

const statusOf = async (url: string, headers: Readonly<Record<string, string>>): Promise<number> =>
  await new Promise((resolve, reject) => {
    request(url, { headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });

const STRANGER = '198.51.100.7';
const ANN = '203.0.113.5';

/** A desk behind proxies, and its answers to tokens of a sender that the header names. */
async function behind(proxies: readonly string[]) {
  const { url } = await served(aBench({ strategies: [aTwap()] }), {}, { proxies });
  const ask = async (token: string, forwarded?: string): Promise<number> =>
    await statusOf(`${url}/api/v1/status`, {
      authorization: `Bearer ${token}`,
      ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
    });
  const guess = async (forwarded: (n: number) => string): Promise<readonly number[]> => {
    const answers: number[] = [];
    for (let n = 0; n < 12; n++) answers.push(await ask(`wrong-${n}`, forwarded(n)));
    return answers;
  };
  return { url, ask, guess };
}

describe('a desk behind a proxy of operate.proxies', () => {
  it('blocks only the senders of wrong tokens behind the proxy', async () => {
    const { ask, guess } = await behind(['127.0.0.1']);
    expect(await guess(() => STRANGER)).toContain(429);
    expect(await ask(tokenOf('operator'), STRANGER)).toBe(429);
    expect(await ask(tokenOf('operator'), ANN)).toBe(200);
    expect(await ask(tokenOf('approver'))).toBe(200);
  });

  it('uses the address that the proxy adds, not an address that a sender wrote before it', async () => {
    const { ask, guess } = await behind(['127.0.0.1']);
    expect(await guess((n) => `10.0.0.${n}, ${STRANGER}`)).toContain(429);
    expect(await ask(tokenOf('operator'), STRANGER)).toBe(429);
    expect(await ask(tokenOf('operator'), `${STRANGER}, ${ANN}`)).toBe(200);
  });

  it('does not treat requests through the proxy as requests of this machine', async () => {
    const { url } = await behind(['127.0.0.1']);
    for (const path of ['/metrics']) {
      expect([path, await statusOf(`${url}${path}`, { 'x-forwarded-for': STRANGER })]).toEqual([path, 401]);
      expect([path, await statusOf(`${url}${path}`, {})]).toEqual([path, 200]);
    }
    const viewer = { authorization: `Bearer ${tokenOf('viewer')}`, 'x-forwarded-for': ANN };
    expect(await statusOf(`${url}/metrics`, viewer)).toBe(200);
    expect(await statusOf(`${url}/healthz`, { 'x-forwarded-for': STRANGER })).toBe(200);
  });
});

describe('a desk without operate.proxies, or behind another proxy', () => {
  it.each([[[]], [['192.0.2.1']]])('ignores a forwarded address: %j', async (proxies) => {
    const { ask, guess } = await behind(proxies);
    expect(await guess((n) => `10.0.0.${n}`)).toContain(429);
    expect(await ask(tokenOf('operator'), ANN)).toBe(429);
  });
});
