import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { addAuthenticator } from './authenticator.ts';
import { noBrowser, startBrowser } from './chromium.ts';
import { aFolder } from '../../system/support/desk.ts';
import { Program, ROOT } from '../../system/support/program.ts';
import { aPaperDesk } from './paper-desk.ts';

/** What the page of the desk does: it asks for options, has the device sign, and sends what it signed. */
const CEREMONY = `async ({ does, invitation }) => {
  const post = async (path, body) => {
    const headers = { 'content-type': 'application/json', 'x-tranche': '1' };
    const answer = await fetch('/api/v1/' + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  const asked = await post(does === 'enrol' ? 'enrol/options' : 'sign-in/passkey/options', does === 'enrol' ? { invitation } : {});
  if (asked.status !== 200) return asked;
  const { id, options } = asked.body;
  const credential = does === 'enrol'
    ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  return await post(does === 'enrol' ? 'enrol' : 'sign-in/passkey', { id, response: credential.toJSON() });
}`;

interface Told {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const prove = async (page: Page, asked: object): Promise<Told> =>
  await page.evaluate<Told>(`(${CEREMONY})(${JSON.stringify(asked)})`);
const me = async (page: Page): Promise<Told> =>
  await page.evaluate<Told>(
    `fetch('/api/v1/me').then(async (answer) => ({ status: answer.status, body: await answer.json() }))`,
  );

describe.skipIf(noBrowser !== undefined)(`signing in with a browser ${noBrowser ?? ''}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });

  it('works by a link of the machine, once, and by a passkey that an invitation let one enrol', async () => {
    const desk = await aPaperDesk();
    const link = await desk.link();
    const secret = new URL(link).searchParams.get('link');
    const first = await (await browser.newContext()).newPage();
    await first.goto(desk.url);
    const enter = `fetch('/api/v1/sign-in/link', { method: 'POST', headers: { 'content-type': 'application/json', 'x-tranche': '1' }, body: '{"link":"${secret}"}' }).then((answer) => answer.status)`;
    expect(await first.evaluate(enter)).toBe(200);
    expect(await me(first)).toMatchObject({
      status: 200,
      body: { name: 'local', via: 'session', desk: 'main' },
    });
    // No script sees the cookie, and the link is used up.
    expect(await first.evaluate('document.cookie')).toBe('');
    expect(await first.evaluate(enter)).toBe(401);

    const invitation = new URL(await desk.invite('ann', 'approver')).searchParams.get('invitation');
    const second = await (await browser.newContext()).newPage();
    await second.goto(desk.url);
    await addAuthenticator(second);
    expect(await prove(second, { does: 'enrol', invitation })).toMatchObject({
      status: 200,
      body: { name: 'ann', role: 'approver', kind: 'person' },
    });
    expect(await prove(second, { does: 'enrol', invitation })).toMatchObject({ status: 401 });

    await second.context().clearCookies();
    expect(await me(second)).toMatchObject({ status: 401 });
    expect(await prove(second, { does: 'sign_in' })).toMatchObject({ status: 200, body: { name: 'ann' } });
    expect(await me(second)).toMatchObject({ status: 200, body: { name: 'ann', role: 'approver' } });

    const listed = await desk.command('people');
    expect(listed.stdout).toMatch(/^ann +approver +active +1 passkey +invited by local \(cli:.+\)\n$/u);
    expect((await desk.command('people', 'remove', 'ann', '--why', 'left')).code).toBe(0);
    expect(await me(second)).toMatchObject({ status: 401 });
    expect(await prove(second, { does: 'sign_in' })).toMatchObject({ status: 401 });

    await desk.stop();
    expect(desk.program.stderr).toBe('');
    // Whoever reads what the desk said finds nothing to get in with.
    for (const said of [desk.program.stdout, desk.program.stderr]) {
      expect(said).not.toContain(secret);
      expect(said).not.toContain(invitation);
    }
  }, 120_000);
});

describe('the start of a desk', () => {
  it('prints a link that signs in to a terminal, and to a terminal alone', async () => {
    const command = `${process.execPath} ${ROOT}/bin/tranche.js run --no-closing-read --config ${ROOT}/config/paper.yaml`;
    const started = (program: string, args: readonly string[]): Program => {
      const cwd = aFolder();
      const env = { PATH: process.env['PATH'] ?? '', TERM: 'xterm', NO_COLOR: '1' };
      const desk = new Program(spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
      onTestFinished(async () => {
        // The desk itself: a signal to the terminal does not reach it.
        const [file = ''] = globSync(join(cwd, 'var/paper/*.control'));
        process.kill((JSON.parse(readFileSync(file, 'utf8')) as { readonly pid: number }).pid, 'SIGTERM');
        await desk.ended();
      });
      return desk;
    };
    const seen = started('script', ['-qfec', command, '/dev/null']);
    const kept = started('sh', ['-c', `exec ${command}`]);
    await seen.said(/works once/u);
    await kept.said('open     the link that tranche sign-in prints');
    expect(kept.stdout + kept.stderr).not.toContain('link=');
    const link = /http:\/\/localhost:\d+\/sign-in\?link=(?<secret>[\w-]{43})/u.exec(seen.stdout);
    const [url = ''] = link ?? [];
    const { origin } = new URL(url);
    const answer = await fetch(`${origin}/api/v1/sign-in/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tranche': '1', origin },
      body: JSON.stringify({ link: link?.groups?.['secret'] }),
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { name: 'local', mode: 'paper' }]);
  }, 120_000);
});
