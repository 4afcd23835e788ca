import { describe, expect, it } from 'vitest';
import { aBench, aTwap } from '../engine/harness.ts';
import { served } from '../app/api/served.ts';
import { ask as asked } from '../support/http.ts';
import { tokenOf } from '../support/operate.ts';

const STRANGER = '198.51.100.7';
const ANN = '203.0.113.5';

/** A desk behind proxies, and its answers to tokens of a sender that the header names. */
async function behind(proxies: readonly string[]) {
  const { url } = await served(aBench({ strategies: [aTwap()] }), {}, { proxies });
  const ask = async (token: string, forwarded = '', path = '/api/v1/status'): Promise<number> => {
    const authorization = token === '' ? '' : `Bearer ${token}`;
    return (await asked(`${url}${path}`, { headers: { authorization, 'x-forwarded-for': forwarded } }))
      .status;
  };
  const guess = async (forwarded: (n: number) => string): Promise<readonly number[]> => {
    const answers: number[] = [];
    for (let n = 0; n < 12; n++) answers.push(await ask(`wrong-${n}`, forwarded(n)));
    return answers;
  };
  return { ask, guess };
}

describe('a desk behind a proxy of operate.proxies', () => {
  it.each([
    ['', (): string => STRANGER],
    [', by the address that the proxy adds', (n: number): string => `10.0.0.${n}, ${STRANGER}`],
  ])('blocks only the senders of wrong tokens behind the proxy%s', async (_, from) => {
    const { ask, guess } = await behind(['127.0.0.1']);
    expect(await guess(from)).toContain(429);
    expect(await ask(tokenOf('operator'), STRANGER)).toBe(429);
    expect(await ask(tokenOf('operator'), `${STRANGER}, ${ANN}`)).toBe(200);
    expect(await ask(tokenOf('approver'))).toBe(200);
  });

  it('does not treat requests through the proxy as requests of this machine', async () => {
    const { ask } = await behind(['127.0.0.1']);
    expect(await ask('', STRANGER, '/metrics')).toBe(401);
    expect(await ask('', '', '/metrics')).toBe(200);
    expect(await ask(tokenOf('viewer'), ANN, '/metrics')).toBe(200);
    expect(await ask('', STRANGER, '/healthz')).toBe(200);
  });
});

describe('a desk without operate.proxies, or behind another proxy', () => {
  it.each([[[]], [['192.0.2.1']]])('ignores a forwarded address: %j', async (proxies) => {
    const { ask, guess } = await behind(proxies);
    expect(await guess((n) => `10.0.0.${n}`)).toContain(429);
    expect(await ask(tokenOf('operator'), ANN)).toBe(429);
  });
});
