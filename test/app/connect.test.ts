import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../src/app/connect/connect.ts';
import { exitOf, findingLines } from '../../src/app/connect/finding.ts';
import type { Finding } from '../../src/app/connect/finding.ts';
import { instant } from '../../src/core/time.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { receiver } from './notify/receiver.ts';
import { aRunIo } from '../support/run-io.ts';
import { aFolder, put } from '../support/folder.ts';
import { appendNow } from '../journal/records.ts';
import { httpServer } from '../venue/servers.ts';
import { aLiveText, aTwapText } from './support/texts.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder({ token: 'a-token-of-the-desk', 'strategies/a.yaml': aTwapText(), 'var/none': '' });
});

type Answer = readonly [status: number, body: string, headers?: Record<string, string>];

/** A venue that answers these paths, and all others with 404; it keeps the requests. */
async function aVenue(answers: Readonly<Record<string, Answer>>): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const url = await httpServer(({ method, url: path = '' }, response) => {
    asked.push(`${method} ${path}`);
    const route = path.startsWith('/v1/orders/') ? '/v1/orders/:id' : path;
    const [status, body, headers = {}] = answers[route] ?? [404, '{"error":"not found"}'];
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  return { url, asked };
}

const config = (url = NOBODY, more = ''): string =>
  aLiveText(
    `base_url: "${url}", token_file: ./token${more}`,
    `journal: "sqlite:${join(folder, 'var/live.db')}"\noperate: false\nstrategies: ./strategies\n`,
  );
/** A reserved port at which no process listens. */
const NOBODY = 'http://127.0.0.1:1';

interface Examined {
  readonly code: number;
  readonly findings: readonly Finding[];
  of(this: void, check: string): readonly Finding[];
}

async function examine(text: string, options: { env?: Record<string, string> } = {}): Promise<Examined> {
  put(folder, { 'desk.yaml': text });
  const io = aRunIo({ cwd: folder, env: options.env ?? {}, now: instant(Date.now()) });
  const code = await connect({ config: 'desk.yaml', json: true }, io);
  const { findings } = JSON.parse(io.printed.out) as { findings: readonly Finding[] };
  return { code, findings, of: (check) => findings.filter((each) => each.check === check) };
}

const saying = (text: string): string => expect.stringContaining(text) as string;
const CURRENCIES: Answer = [200, '[]'];

describe('tranche validate --connect', () => {
  it('reports no failure for a correct setup, and sends only GET requests to the venue', async () => {
    const { url, asked } = await aVenue({
      '/v1/currency': CURRENCIES,
      '/v1/approval-rules': [403, '{"error":"not allowed"}'],
      '/v1/whitelisted-addresses': [403, '{"error":"not allowed"}'],
      '/v1/orders/:id': [404, '{"error":"order not found"}'],
    });
    const { code, findings } = await examine(config(url, ', capabilities: { order_lookup: true }'));
    const bad = findings.filter(({ verdict, check }) => verdict !== 'ok' && check !== 'flush');
    expect(bad).toMatchObject([{ check: 'channels', says: saying('nobody is notified') }]);
    expect(code).toBe(0);
    expect(new Set(asked.map((each) => each.split(' ')[0]))).toEqual(new Set(['GET']));
  });

  it.each([
    ['rejects the token', { '/v1/currency': [401, '{"error":"no"}'] }, 'token', 78],
    ['is down', { '/v1/currency': [503, '{"error":"later"}'] }, 'venue', 69],
    ['lacks a route that the config requires', { '/v1/currency': CURRENCIES }, 'capability', 78],
    [
      'has a different time',
      { '/v1/currency': [200, '[]', { date: 'Thu, 01 Jan 2015 00:00:00 GMT' }] },
      'clock',
      75,
    ],
  ] as const)('fails if the venue %s', async (_, answers, check, exit) => {
    const { url } = await aVenue(answers);
    const more = check === 'capability' ? ', capabilities: { balances: true }' : '';
    const { code, of } = await examine(config(url, more));
    const failed = { verdict: 'fail', fix: expect.any(String) as string };
    expect(of(check)).toContainEqual(expect.objectContaining(failed));
    expect(code).toBe(exit);
  });

  it('fails with 69 if the venue cannot be reached', async () => {
    const { code, of } = await examine(config());
    expect(of('venue')).toMatchObject([{ verdict: 'fail', where: NOBODY }]);
    expect(code).toBe(69);
  });

  it('warns about a token that can read the approval rules for withdrawals', async () => {
    const { url } = await aVenue({ '/v1/currency': CURRENCIES, '/v1/approval-rules': [200, '[]'] });
    const { code, of } = await examine(config(url));
    expect(of('token_rights')).toMatchObject([{ verdict: 'warn' }]);
    expect(code).toBe(0);
  });

  it('skips the check of token rights if the venue has no route for it, and warns about an unknown lookup', async () => {
    const { url } = await aVenue({ '/v1/currency': CURRENCIES });
    const { of } = await examine(config(url, ', capabilities: { order_lookup: true }'));
    expect(of('token_rights')).toMatchObject([{ verdict: 'skipped' }]);
    expect(of('capability')).toContainEqual(expect.objectContaining({ verdict: 'warn' }));
  });

  it.skipIf(process.platform === 'win32')(
    'fails if other users can change a strategy or read the token',
    async () => {
      chmodSync(join(folder, 'strategies/a.yaml'), 0o666);
      const { code, of } = await examine(config());
      expect([code, of('rights')]).toMatchObject([78, [{ verdict: 'fail', says: saying('a.yaml') }]]);
      chmodSync(join(folder, 'token'), 0o644);
      expect((await examine(config())).of('config')).toMatchObject([
        { verdict: 'fail', says: saying('chmod 600') },
      ]);
    },
  );

  it('fails if a limit prevents a strategy from ever trading', async () => {
    put(folder, { 'strategies/a.yaml': aTwapText().replace('"1.5"', '"96"') });
    const { code, of } = await examine(config());
    expect(of('limits')).toMatchObject([{ verdict: 'fail' }]);
    expect(code).toBe(78);
  });

  it('fails if environment variables could expose the token', async () => {
    const { of } = await examine(config(), { env: { NODE_OPTIONS: '--inspect' } });
    expect(of('environment')).toMatchObject([{ verdict: 'fail' }]);
  });

  it('checks the notification channels, and sends nothing', async () => {
    const hook = await receiver();
    put(folder, { pager: 'not a program', hook: `${hook.url}/a-secret-path` });
    const channels = `[{ name: ops, type: webhook, format: json, url_file: hook }, { name: pager, type: command, run: [./pager] }]`;
    const text = config().replace(
      'operate: false',
      `operate: { listen: "127.0.0.1:0", notify: { channels: ${channels} } }`,
    );
    const { of, findings } = await examine(text);
    expect(of('channels')).toMatchObject([
      { verdict: 'ok', says: 'operate.notify ops: 127.0.0.1 can be resolved' },
      {
        verdict: 'warn',
        says: saying('operate.notify pager: its program does not exist or is not executable'),
      },
    ]);
    expect([hook.posts, JSON.stringify(findings).includes('a-secret-path')]).toEqual([[], false]);
  });

  it('reports that the last process died and that the desk is halted', async () => {
    const journal = openJournal(`sqlite:${join(folder, 'var/live.db')}`);
    const facts = { version: '0.1.0', mode: 'live', desk: 'main', config_hash: 'x', account: 'a' } as const;
    const halted = { kind: 'control', state: 'halted', by: 'ann', why: 'a drill' } as const;
    appendNow(journal, [{ kind: 'started', ...facts }, halted], instant(1_000));
    journal.close();
    const { of } = await examine(config());
    expect(of('chain')).toMatchObject([{ verdict: 'ok', says: 'the chain of 2 records holds' }]);
    expect(of('last_start')).toMatchObject([{ verdict: 'warn', says: saying('died') }]);
    expect(of('halted')).toMatchObject([{ verdict: 'warn', says: 'the desk is halted: a drill' }]);
  });

  it('fails with 65 if the journal is damaged', async () => {
    put(folder, { 'var/live.db': 'no journal at all' });
    const { code, of } = await examine(config());
    expect(of('chain')).toMatchObject([{ verdict: 'fail' }]);
    expect(code).toBe(65);
  });
});

describe('its findings', () => {
  const ok: Finding = { check: 'a', verdict: 'ok', says: 'fine', fix: 'nothing' };
  const failed = { check: 'bb', verdict: 'fail', says: 'no', where: 'here', fix: 'do it' } as const;
  const fail = (exit?: Finding['exit']): Finding => ({ ...failed, exit });

  it('determine the exit code by the most urgent failure', () => {
    expect(exitOf([ok, { ...ok, verdict: 'warn' }])).toBe(0);
    expect(exitOf([fail('again'), fail('unavailable'), ok])).toBe(69);
    expect(exitOf([fail('unavailable'), fail()])).toBe(78);
    expect(exitOf([fail(), fail('data')])).toBe(65);
  });

  it('are printed one per line, failures with location and correction', () => {
    expect(findingLines([ok, fail()])).toEqual(['ok    a   fine', 'FAIL  bb  no', '      where: here', '      fix:   do it', '2 checks: 1 failed']); // prettier-ignore
  });
});
