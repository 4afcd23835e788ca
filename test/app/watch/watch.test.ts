import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { watch } from '../../../src/app/commands/notify/watch.ts';
import type { WatchCommandOptions } from '../../../src/app/commands/notify/watch.ts';
import { OperatorError } from '../../../src/core/errors.ts';
import { receiver } from '../notify/receiver.ts';
import { until } from '../../system/support/until.ts';

interface FakeDesk {
  readonly url: string;
  readonly asked: string[];
  answers: Record<string, readonly [status: number, body: object, date?: string]>;
  close(): void;
}

const WELL: FakeDesk['answers'] = {
  '/healthz': [200, { status: 'alive' }],
  '/readyz': [200, { status: 'ready' }],
  '/api/v1/status': [200, { desk: 'main', mode: 'live', state: 'active', account_read_age_s: 3, last_record_age_s: 4, strategies: [] }],
  '/api/v1/chain': [200, { seq: 12 }],
}; // prettier-ignore

/** A server that answers like a desk. */
async function fakeDesk(port = 0): Promise<FakeDesk> {
  const made: FakeDesk = { url: '', asked: [], answers: WELL, close };
  const server = createServer((request, reply) => {
    made.asked.push(`${request.url} ${request.headers.authorization ?? ''}`);
    const [status, body, date] = made.answers[request.url ?? ''] ?? [404, {}];
    reply.writeHead(status, { 'content-type': 'application/json', ...(date === undefined ? {} : { date }) });
    reply.end(JSON.stringify(body));
  });
  function close(): void {
    server.close();
    server.closeAllConnections();
  }
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(close);
  return Object.assign(made, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-watch-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o600);
  }
  return folder;
}

interface Running {
  out: string;
  err: string;
  code: number | undefined;
  stop(): Promise<number>;
}

function begin(
  cwd: string,
  options: Partial<WatchCommandOptions>,
  env: Readonly<Record<string, string>> = {},
): Running {
  const listeners = new Set<(signal: string) => void>();
  const made: Running = { out: '', err: '', code: undefined, stop };
  const write = (to: 'out' | 'err') => ({ write: (text: string): unknown => (made[to] += text), isTTY: false, columns: 80 }); // prettier-ignore
  const ended = watch(
    { urls: [], ...options },
    {
      stdout: write('out'),
      stderr: write('err'),
      env,
      cwd,
      onSignal(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      forget: () => undefined,
    },
  );
  async function stop(): Promise<number> {
    for (const listener of listeners) listener('SIGTERM');
    return await ended;
  }
  onTestFinished(async () => {
    await stop().catch(() => undefined);
  });
  return made;
}

const once1 = async (
  cwd: string,
  options: Partial<WatchCommandOptions>,
): Promise<{ code: number; out: string }> => {
  const running = begin(cwd, { once: true, ...options });
  return { code: await running.stop(), out: running.out };
};

describe('tranche watch --once', () => {
  it('requests health, readiness, status and chain with the token and reports a healthy desk', async () => {
    const desk = await fakeDesk();
    const cwd = folderOf({ token: 'token-of-a-viewer-1' });
    expect(await once1(cwd, { urls: [`${desk.url}/`], tokenFile: 'token' })).toEqual({ code: 0, out: `${desk.url.slice(7)} is healthy\n` }); // prettier-ignore
    expect(desk.asked.map((line) => line.split(' ')[0])).toEqual(['/healthz', '/readyz', '/api/v1/status', '/api/v1/chain']); // prettier-ignore
    expect(desk.asked.every((line) => line.endsWith('Bearer token-of-a-viewer-1'))).toBe(true);
  });

  it('requests only health and readiness without a token, and its exit code depends on the problem', async () => {
    const desk = await fakeDesk();
    const cwd = folderOf({});
    desk.answers = { ...WELL, '/readyz': [503, { reasons: ['halted: lunch'] }] };
    expect(await once1(cwd, { urls: [desk.url] })).toMatchObject({ code: 75, out: expect.stringContaining('cannot trade: halted: lunch') as string }); // prettier-ignore
    expect(desk.asked).toHaveLength(2);
    desk.answers = { ...WELL, '/healthz': [200, {}, 'Tue, 01 Dec 2020 09:00:00 GMT'] };
    expect(await once1(cwd, { urls: [desk.url] })).toMatchObject({ code: 75, out: expect.stringContaining("behind the watchman's clock") as string }); // prettier-ignore
    desk.close();
    expect(await once1(cwd, { urls: [desk.url], json: true })).toMatchObject({ code: 69, out: expect.stringContaining('"kind":"silent"') as string }); // prettier-ignore
  });

  it.each([
    [{ urls: ['http://desk.example'] }, 'http:// is not encrypted'],
    [{ urls: [] }, 'name the desks'],
    [{ urls: ['https://a.example', 'https://a.example/'] }, 'two desks have the name a.example'],
    [{ urls: ['https://a.example'], tokenFile: 'nowhere' }, 'there is no such file'],
    [{ config: 'bad.yaml' }, 'did you mean "desks"'],
  ])('rejects %j', async (options, words) => {
    const cwd = folderOf({ 'bad.yaml': 'desk: []\n' });
    const failure = await once1(cwd, options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OperatorError);
    expect((failure as OperatorError).message).toContain(words);
  });
});

const CONFIG = (desk: string): string => `desks: [{ url: "${desk}", name: desk-1 }]
every: PT1S
silent_after: PT1S
notify:
  window: PT1S
  channels: [{ name: hook, webhook: { format: json, url: "\${HOOK}" } }]
  heartbeat: { url: "\${BEAT}", every: PT1S }
`;

interface Told {
  readonly key: string;
  readonly title: string;
}

describe('tranche watch', () => {
  it('reports once that a desk does not respond and once that it responds again, even across its own restart', async () => {
    const desk = await fakeDesk();
    const hook = await receiver();
    const cwd = folderOf({ 'watch.yaml': CONFIG(desk.url) });
    const env = { HOOK: `${hook.url}/hook`, BEAT: `${hook.url}/beat` };
    const options = { config: 'watch.yaml', state: join(cwd, 'watch.db') };
    const told = (): readonly Told[] =>
      hook.posts.filter(({ path }) => path === '/hook').map(({ body }) => JSON.parse(body) as Told);
    const first = begin(cwd, options, env);
    await until(
      () => desk.asked.length >= 2 && hook.posts.some(({ path }) => path === '/beat'),
      () => first.err,
    );
    expect(told()).toEqual([]);
    desk.close();
    await until(
      () => told().length === 1,
      () => first.out + first.err,
    );
    expect(told()[0]?.title).toBe('watchman (watch): critical: desk-1 does not respond');
    expect(await first.stop()).toBe(0);

    const second = begin(cwd, options, env);
    await until(
      () => second.err.includes('watching desk-1'),
      () => second.err,
    );
    const back = await fakeDesk(Number(new URL(desk.url).port));
    await until(
      () => told().length === 2,
      () => second.out + second.err,
    );
    expect(back.asked.length).toBeGreaterThan(0);
    expect(told()[1]?.title).toBe('watchman (watch): critical: desk-1 responds again');
    expect(await second.stop()).toBe(0);
    expect(told()).toHaveLength(2);
  });

  it('refuses a state file that another watchman uses', async () => {
    const desk = await fakeDesk();
    const cwd = folderOf({});
    const options = { urls: [desk.url], state: join(cwd, 'watch.db') };
    const first = begin(cwd, options);
    await until(
      () => first.err.includes('watching'),
      () => first.err,
    );
    await expect(begin(cwd, options).stop()).rejects.toThrow('in use by another process');
  });
});
