import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAuthenticator } from './authenticator.ts';
import { noBrowser, startBrowser } from './chromium.ts';
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
