import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aFolder } from '../../system/support/desk.ts';
import { Program, ROOT } from '../../system/support/program.ts';
import { addAuthenticator } from './authenticator.ts';
import { aBrowser, noBrowser, openPage, sizes } from './dashboard-page.ts';
import { aPaperDesk } from './paper-desk.ts';

/** Waits until the page shows that `who` is signed in. */
const shownTo = async (page: Page, who: string): Promise<void> => {
  await page.locator('header, nav').getByText(who).first().waitFor();
};

describe.skipIf(noBrowser !== undefined)(`sign-in with a browser ${noBrowser ?? ''}`, () => {
  const browser = aBrowser();

  it('works once with a link of the machine, and with a passkey enrolled by an invitation', async () => {
    const desk = await aPaperDesk();
    const link = await desk.link();
    const { page: first } = await openPage(browser(), sizes.wide);
    await first.goto(link);
    await shownTo(first, 'local');
    // The secret has left the address, and no script sees the cookie.
    expect(first.url()).toBe(`${desk.url}/`);
    expect(await first.evaluate('document.cookie')).toBe('');
    const { page: late } = await openPage(browser(), sizes.wide);
    await late.goto(link);
    await late.getByRole('alert').getByText('tranche sign-in').waitFor();

    const invitation = await desk.invite('ann', 'approver');
    const { page: second, problems } = await openPage(browser(), sizes.phone);
    await addAuthenticator(second);
    await second.goto(invitation);
    await second.getByText('You are invited as approver').waitFor();
    await second.getByRole('button', { name: 'Make a passkey' }).click();
    await second.waitForURL(`${desk.url}/`);
    await second.getByRole('button', { name: 'Halt' }).first().waitFor();
    // The policy of the page refused no resource, and no script failed.
    expect(problems.filter((problem) => !/status of 40[14]/u.test(problem))).toStrictEqual([]);

    await second.context().clearCookies();
    await second.reload();
    await second.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await second.getByRole('button', { name: 'Halt' }).first().waitFor();
    const listed = await desk.command('people');
    expect(listed.stdout).toMatch(/^ann +approver +active +1 passkey +invited by local \(cli:.+\)\n$/u);

    expect((await desk.command('people', 'remove', 'ann', '--why', 'left')).code).toBe(0);
    await second.reload();
    await second.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await second.getByRole('alert').getByText('does not know this passkey').waitFor();

    await desk.stop();
    expect(desk.program.stderr).toBe('');
    // The output of the desk contains no secret that signs anyone in.
    for (const secret of [link, invitation].map((each) => each.slice(-43))) {
      expect(desk.program.stdout).not.toContain(secret);
    }
  }, 120_000);
});

describe('the start of a desk', () => {
  it('prints a sign-in link only to a terminal', async () => {
    const command = `${process.execPath} ${ROOT}/bin/tranche.js run --no-closing-read --config ${ROOT}/config/paper.yaml`;
    const started = (program: string, args: readonly string[]): Program => {
      const cwd = aFolder();
      const env = { PATH: process.env['PATH'] ?? '', TERM: 'xterm', NO_COLOR: '1' };
      const desk = new Program(spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
      onTestFinished(async () => {
        // Signals the desk itself: a signal to the terminal does not reach it.
        const [file = ''] = globSync(join(cwd, 'var/paper/*.control'));
        process.kill((JSON.parse(readFileSync(file, 'utf8')) as { readonly pid: number }).pid, 'SIGTERM');
        await desk.ended();
      });
      return desk;
    };
    const seen = started('script', ['-qfec', command, '/dev/null']);
    const kept = started('sh', ['-c', `exec ${command}`]);
    await seen.said(/works once/u);
    await kept.said(/open     the link that "[^"]*tranche sign-in" prints/u);
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
