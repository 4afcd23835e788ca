import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { aDesk } from '../../system/support/desk.ts';
import { twapOf, watched } from '../../system/support/drill.ts';
import { aServedVenue } from '../../system/support/venue.ts';
import { aBrowser, accessProblems, noBrowser, openPage, screens, shown, sizes } from './dashboard-page.ts';
import { aPaperDesk, linkOf } from './paper-desk.ts';

const TOKEN = 'canary-dashboard-5c1d07e2';
describe.skipIf(noBrowser !== undefined)(`the dashboard of a running desk ${noBrowser ?? ''}`, () => {
  const browser = aBrowser();

  const signedIn = async (link: string): Promise<{ page: Page; problems: string[] }> => {
    const opened = await openPage(browser(), sizes.wide);
    await opened.page.goto(link);
    // The page of the sign-in continues to the first screen automatically.
    await opened.page.getByRole('button', { name: 'Halt', exact: true }).waitFor();
    return opened;
  };

  it('shows every screen without errors, filled slices and a halt that takes effect', async () => {
    const desk = await aPaperDesk();
    const { page, problems } = await signedIn(await desk.link());
    await page.goto(`${desk.url}/#/slices`);
    await page.locator('tbody .tag', { hasText: 'filled' }).nth(2).waitFor();
    const found: string[] = [];
    for (const screen of screens) {
      await shown(page, `${desk.url}/#/${screen}`);
      found.push(...(await accessProblems(page)).map((problem) => `${screen}: ${problem}`));
    }
    expect(found).toStrictEqual([]);

    await page.getByRole('button', { name: 'Halt', exact: true }).click();
    await page.getByLabel('Reason').fill('the drill');
    await page.getByRole('button', { name: 'Halt now' }).click();
    await page.getByRole('button', { name: 'Halted' }).waitFor();
    await page.goto(`${desk.url}/#/now`);
    await page.getByRole('heading', { name: /^Halted since .* No order leaves\.$/u }).waitFor();
    expect((await desk.command('status', '--json')).stdout).toMatch(/"state": ?"halted"/u);

    expect(problems).toStrictEqual([]);
    await desk.stop();
  }, 120_000);

  it('resolves a doubt with the evidence that a person enters', async () => {
    const seen = watched((order) => (order === 2 ? { delayMs: 100, destroy: 'before' } : undefined));
    const desk = aDesk({
      venue: await aServedVenue(TOKEN, {}, seen.hooks),
      strategies: [{ ...twapOf({ id: 'btc', slices: 3, everyMs: 1_000 }), catch_up: 'extend' }],
      // A person acts before the second read that proves absence.
      config: { in_doubt: { booking_margin: 'PT2S' } },
    });
    const daemon = desk.run('--json');
    const url = String((await daemon.event('ready'))['operate_url']).replace('127.0.0.1', 'localhost');
    const { page, problems } = await signedIn(await linkOf(desk));
    await page.goto(`${url}/#/doubts`);
    await page.getByRole('heading', { name: '1 order has an unknown outcome.' }).waitFor();
    await page.getByRole('button', { name: 'Resolve…' }).click();
    await page.getByLabel('Evidence').fill('the venue wrote that it never got the order');
    const confirm = page.getByRole('button', { name: 'Record it' });
    await confirm.click();
    // While the order may still trade, the desk refuses, states until when, and the form keeps its text.
    await page.getByText('may still trade').waitFor();
    await expect
      .poll(
        async () => {
          if (await confirm.isVisible()) await confirm.click({ timeout: 1_000 }).catch(() => undefined);
          return await page.locator('main h1').first().textContent();
        },
        { interval: 1_000, timeout: 60_000 },
      )
      .toMatch(/^Nothing is in doubt/u);
    await page.goto(`${url}/#/record?kind=resolved`);
    await page.getByText('the venue wrote that it never got the order').first().waitFor();

    // The browser logs each refusal of the desk.
    expect(problems.filter((problem) => !problem.includes('409 (Conflict)'))).toStrictEqual([]);
  }, 120_000);
});
