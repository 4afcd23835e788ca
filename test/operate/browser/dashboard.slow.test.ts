import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSyntheticDesk } from '../dashboard/synthetic-desk.ts';
import type { SyntheticDesk } from '../dashboard/synthetic-desk.ts';
import { hostileAnswers, hostileRecords } from '../dashboard/hostile-answers.ts';
import { syntheticAnswers } from '../dashboard/synthetic-answers.ts';
import {
  accessProblems,
  builtDashboard,
  noBrowser,
  openPage,
  sizes,
  startBrowser,
} from './dashboard-page.ts';

const screens = ['now', 'slices', 'why', 'approvals', 'limits', 'doubts', 'plan', 'cost', 'record', 'people']; // prettier-ignore
const SCRIPT = '"><img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>';
/** Hostile text of a venue, a strategy or a person: script, a character that reverses the rest of its line, a very long word. */
const HOSTILE = `${SCRIPT}\u202E${'W'.repeat(10_000)}`;

describe.skipIf(noBrowser !== undefined)(`the dashboard in a browser ${noBrowser ?? ''}`, () => {
  let browser: Browser;
  let built: Awaited<ReturnType<typeof builtDashboard>>;
  beforeAll(async () => {
    [browser, built] = await Promise.all([startBrowser(), builtDashboard()]);
  });
  afterAll(async () => {
    await browser.close();
    built.remove();
  });

  const withDesk = async (
    answers: ReadonlyMap<string, unknown>,
    work: (desk: SyntheticDesk) => Promise<void>,
  ): Promise<void> => {
    const desk = await startSyntheticDesk(built.folder, answers);
    try {
      await work(desk);
    } finally {
      await desk.close();
    }
  };
  const show = async (page: Page, desk: SyntheticDesk, screen: string): Promise<void> => {
    await page.goto(`${desk.url}/#/${screen}`);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    await expect.poll(async () => await page.locator('main').textContent()).not.toMatch(/Reading|Asking/u);
  };

  it.each(['wide', 'dark', 'phone'] as const)(
    'shows every screen without errors or accessibility problems: %s',
    async (size) => {
      await withDesk(syntheticAnswers(30), async (desk) => {
        const { page, problems } = await openPage(browser, sizes[size]);
        const found: string[] = [];
        for (const screen of screens) {
          await show(page, desk, screen);
          found.push(...(await accessProblems(page)).map((problem) => `${screen}: ${problem}`));
          // No screen is wider than the window: scrolling sideways would hide the halt button.
          const isWider = await page.evaluate<boolean>(`document.documentElement.scrollWidth > innerWidth`);
          if (isWider) found.push(`${screen}: wider than the window`);
        }

        expect(found).toStrictEqual([]);
        expect(problems).toStrictEqual([]);
        await page.context().close();
      });
    },
    120_000,
  );

  it.each(['wide', 'phone'] as const)(
    'shows hostile texts as plain text, without overflow: %s',
    async (size) => {
      await withDesk(syntheticAnswers(3, HOSTILE), async (desk) => {
        const { page, problems } = await openPage(browser, sizes[size]);
        const found: string[] = [];
        for (const screen of screens) {
          await show(page, desk, screen);
          if (screen === 'record')
            desk.record({ kind: 'control', by: HOSTILE, why: HOSTILE, state: 'active' });
          await page.getByText(SCRIPT, { exact: false }).first().waitFor({ state: 'attached' });
          const made = await page.evaluate<number>(
            `document.querySelectorAll('main img, main script, header img, nav img, svg[onload]').length`,
          );
          if (made > 0) found.push(`${screen}: made elements of text`);
          const wide = await page.evaluate<boolean>(
            `document.documentElement.scrollWidth > innerWidth || document.querySelector('main').scrollWidth > document.querySelector('main').clientWidth`,
          );
          if (wide) found.push(`${screen}: wider than the window`);
          if ((await page.locator('body').innerText()).includes('\u202E'))
            found.push(`${screen}: text that is turned around`);
        }

        expect(found).toStrictEqual([]);
        expect(problems).toStrictEqual([]);
        await page.context().close();
      });
    },
    60_000,
  );

  it.each([SCRIPT, 'javascript:alert(4)', '__proto__'])(
    'renders a hostile text in any field of any answer or record as plain text: %s',
    async (text) => {
      const { answers, fields } = hostileAnswers(text);
      expect(fields.length).toBeGreaterThan(150);
      const admin = { ...(answers.get('me') as object), role: 'admin' };
      await withDesk(new Map([...answers, ['me', admin]]), async (desk) => {
        const { page, problems } = await openPage(browser, sizes.wide);
        const found: string[] = [];
        for (const screen of screens) {
          await page.goto(`${desk.url}/#/${screen}`);
          await page.locator('main h1').first().waitFor({ state: 'attached' });
          for (const body of hostileRecords(text)) desk.record(body);
          await page.getByText(text, { exact: false }).first().waitFor({ state: 'attached' });
          for (const button of await page.locator('main tr button.link[aria-expanded]').all())
            await button.click();
          const made = await page.evaluate<number>(
            `document.querySelectorAll('main img, main script, header img, nav img, svg[onload], [href^="javascript:" i]').length`,
          );
          if (made > 0) found.push(`${screen}: made elements of text`);
        }

        expect(found).toStrictEqual([]);
        expect(problems).toStrictEqual([]);
        await page.context().close();
      });
    },
    120_000,
  );

  it('wraps long reasons and times on a phone instead of truncating them', async () => {
    const long = `: ${'the reference price is older than reference.max_age '.repeat(3)}`;
    await withDesk(syntheticAnswers(3, long), async (desk) => {
      const { page } = await openPage(browser, sizes.phone);
      for (const screen of ['why', 'plan', 'limits', 'cost']) {
        await show(page, desk, screen);
        const cut = await page.evaluate<readonly string[]>(
          `[...document.querySelectorAll('.wraps td.wide, td.time')].filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight).map((one) => one.textContent)`,
        );
        expect([screen, cut]).toStrictEqual([screen, []]);
        expect(await page.locator('.wraps td.wide').count()).toBeGreaterThan(0);
      }
      await page.context().close();
    });
  });

  it('shows every record after the event stream was dropped, refused or incomplete', async () => {
    await withDesk(syntheticAnswers(3), async (desk) => {
      const { page } = await openPage(browser, sizes.wide);
      await show(page, desk, 'record');
      await page.getByText('live', { exact: false }).first().waitFor();
      const write = (count: number): void => {
        for (let n = 0; n < count; n += 1) desk.record({ kind: 'shown', fills: {}, note: `row ${n}` });
      };
      write(5);
      await page.locator('tbody tr').nth(4).waitFor();
      desk.drop();
      await page.getByText('Connection lost').waitFor();
      write(7);
      desk.accept();
      await page.getByText('Connection lost').waitFor({ state: 'detached' });
      // A record that is written but never sent: the next one shows the gap, and the page reads it again.
      desk.record({ kind: 'shown', fills: {}, note: 'a row that got lost' }, false);
      write(1);
      await page.locator('tbody tr').nth(13).waitFor();
      const numbers = await page.locator('tbody tr td:first-child').allTextContents();

      expect(numbers.map(Number)).toStrictEqual([14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
      await page.context().close();
    });
  });

  it('shows that it is loading, not an empty list, until the desk has answered', async () => {
    await withDesk(syntheticAnswers(3), async (desk) => {
      const { page, problems } = await openPage(browser, sizes.wide);
      const answered = Promise.withResolvers<void>();
      await page.route(
        (url) => url.pathname === '/api/v1/slices',
        async (route) => {
          await answered.promise;
          await route.continue();
        },
      );
      await page.goto(`${desk.url}/#/slices`);
      const main = page.locator('main');
      await main.getByText('Reading…').waitFor();
      expect(await main.textContent()).not.toMatch(/No slice has started|0 filled/u);
      answered.resolve();
      await main.getByText('filled', { exact: true }).first().waitFor();

      expect(problems).toStrictEqual([]);
      await page.context().close();
    });
  });

  it('sends one halt request after one confirmation', async () => {
    await withDesk(syntheticAnswers(3), async (desk) => {
      const { page } = await openPage(browser, sizes.phone);
      await show(page, desk, 'now');
      await page.getByRole('button', { name: 'Halt' }).click();
      expect(desk.commands).toStrictEqual([]);
      await page.getByLabel('Reason').fill('prices look wrong');
      await page.getByRole('button', { name: 'Halt now' }).click();
      await page.getByRole('button', { name: 'Halted' }).waitFor();
      // The author and reason of the new state, not of the previous one.
      await page.getByRole('heading', { name: /^Halted by \S+\. No order leaves\.$/u }).waitFor();
      await page.getByText('Reason: prices look wrong').waitFor();

      expect(desk.commands).toStrictEqual([{ path: 'halt', body: { why: 'prices look wrong' } }]);
      await page.context().close();
    });
  });

  it('can be used with the keyboard alone, and Escape cancels a halt', async () => {
    await withDesk(syntheticAnswers(3), async (desk) => {
      const { page } = await openPage(browser, sizes.wide);
      await show(page, desk, 'now');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(await page.evaluate<string>('document.activeElement.id')).toBe('main');
      await page.keyboard.press('g');
      await page.keyboard.press('l');
      await page.getByRole('heading', { name: 'Limits', exact: true }).waitFor({ state: 'attached' });
      await page.keyboard.press('h');
      await page.keyboard.press('h');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });

      expect(desk.commands).toStrictEqual([]);
      await page.context().close();
    });
  });

  it('shows a viewer no commands', async () => {
    const answers = syntheticAnswers(3);
    answers.set('me', { ...(answers.get('me') as object), role: 'viewer' });
    await withDesk(answers, async (desk) => {
      const { page } = await openPage(browser, sizes.wide);
      await show(page, desk, 'now');

      expect(await page.getByRole('button', { name: 'Halt' }).isDisabled()).toBe(true);
      expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
      await page.context().close();
    });
  });

  it('does not shift its layout while data arrives', async () => {
    await withDesk(syntheticAnswers(30), async (desk) => {
      const { page } = await openPage(browser, sizes.wide);
      await show(page, desk, 'now');
      await page.waitForTimeout(500);
      await page.evaluate(`
        globalThis.shifted = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) globalThis.shifted += entry.value;
        }).observe({ type: 'layout-shift' });
      `);
      for (let n = 0; n < 20; n += 1) {
        desk.record({ kind: 'slice', strategy: `btc-twap-${n}`, result: 'filled', filled: '0.05' });
        await page.waitForTimeout(25);
      }
      await page.waitForTimeout(1_500);

      expect(await page.evaluate<number>('globalThis.shifted')).toBeLessThan(0.01);
      await page.context().close();
    });
  });
});
