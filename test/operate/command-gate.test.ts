import { describe, expect, it } from 'vitest';
import { MINUTE_MS, after } from '../../src/core/time.ts';
import { deskApi } from '../../src/app/desk-api/desk-api.ts';
import { commandGate } from '../../src/operate/api/command-gate.ts';
import type { CommandGate } from '../../src/operate/api/command-gate.ts';
import { apiRoutes } from '../../src/operate/api/routes.ts';
import type { Caller } from '../../src/operate/access.ts';
import { START, aBench, aTwap } from '../engine/harness.ts';
import type { Bench } from '../engine/harness.ts';

async function gated(): Promise<{ readonly gate: CommandGate; readonly bench: Bench }> {
  const bench = aBench({ strategies: [aTwap('t', { slices: 4, duration: 'PT20M' })] });
  bench.start();
  bench.clock.run(after(START, MINUTE_MS));
  const desk = deskApi(bench.desk, (command) => {
    bench.operator$.next(command);
  });
  const gate = await commandGate({ desk, bearers: [{ name: 'ops' }], isPerson: (name) => name === 'ann' });
  return { gate, bench };
}

const trader: Caller = { name: 'trader', kind: 'machine', role: 'admin', via: 'token' };
const ann: Caller = { name: 'ann', kind: 'person', role: 'operator', via: 'session' };

describe('a command that arrives without the HTTP server', () => {
  it('is executed and recorded with the name of the person', async () => {
    const { gate, bench } = await gated();
    const { status } = await gate({
      path: '/api/v1/pause',
      body: '{"why":"w","by":"cli:bob"}',
      caller: trader,
    });
    expect(status).toBe(200);
    const record = [...bench.journal.read()]
      .map(({ body }) => body)
      .findLast(({ kind }) => kind === 'control');
    expect(record).toMatchObject({ state: 'paused', by: 'trader (cli:bob)', token: { name: 'trader', kind: 'machine' } }); // prettier-ignore
  });

  it('requires the role of its route, for every command', async () => {
    const { gate } = await gated();
    const posts = Object.entries(apiRoutes).filter(([, { method }]) => method === 'POST');
    expect(posts.length).toBeGreaterThan(10);
    for (const [path] of posts) {
      const { status, body } = await gate({ path, body: '{"why":"w"}', caller: { ...ann, role: 'viewer' } });
      expect([path, status, body]).toEqual([
        path,
        403,
        expect.stringMatching(/requires the (?:operator|approver|admin|viewer) role/u),
      ]);
    }
  });

  it('is refused if a person signs it with the name of another person', async () => {
    const { gate } = await gated();
    const { status } = await gate({ path: '/api/v1/pause', body: '{"why":"w","by":"bob"}', caller: ann });
    expect(status).toBe(403);
  });

  it('is refused if its path or its body is invalid', async () => {
    const { gate } = await gated();
    expect(await gate({ path: '/api/v1/people/invite', body: '{}', caller: trader })).toMatchObject({
      status: 404,
    });
    expect(await gate({ path: '/api/v1/pause', body: '{"wy":"w"}', caller: trader })).toMatchObject({
      status: 400,
    });
    expect(await gate({ path: '/api/v1/pause', body: 'no', caller: trader })).toMatchObject({ status: 400 });
  });
});
