import { describe, expect, it, onTestFinished } from 'vitest';
import { aSharedFolder } from '../../support/folder.ts';
import { startSyntheticDesk } from '../dashboard/synthetic-desk.ts';
import type { SyntheticDesk } from '../dashboard/synthetic-desk.ts';
import { hostileAnswers, hostileRecords } from '../dashboard/hostile-answers.ts';
import { syntheticAnswers } from '../dashboard/synthetic-answers.ts';
import { aBrowser, accessProblems, noBrowser, openPage, screens, shown, sizes } from './dashboard-page.ts';

const SCRIPT = '"><img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>';
/** Hostile text of a venue, a strategy or a person: script, a character that reverses the rest of its line, a very long word. */
const HOSTILE = `${SCRIPT}\u202E${'W'.repeat(10_000)}`;

describe.skipIf(noBrowser !== undefined)(`the dashboard in a browser ${noBrowser ?? ''}`, () => {
  const folder = aSharedFolder();
  const browser = aBrowser(folder);

  const aDesk = async (answers: ReadonlyMap<string, unknown>): Promise<SyntheticDesk> => {
    const desk = await startSyntheticDesk(folder, answers);
    onTestFinished(async () => {
      await desk.close();
    });
    return desk;
  };
  /** A desk with these answers, and its dashboard. */
  const opened = async (answers: ReadonlyMap<string, unknown>, size: keyof typeof sizes = 'wide') => {
    const desk = await aDesk(answers);
    const { page, problems } = await openPage(browser(), sizes[size]);
    const show = async (screen: string): Promise<void> => {
      await shown(page, `${desk.url}/#/${screen}`);
    };
    return { desk, page, problems, show };
  };
  const isWider = `document.documentElement.scrollWidth > innerWidth || document.querySelector('main').scrollWidth > document.querySelector('main').clientWidth`;
  const made = `document.querySelectorAll('main img, main script, header img, nav img, svg[onload], [href^="javascript:" i]').length`;

  it.each(['wide', 'dark', 'phone'] as const)(
    'shows every screen without errors or accessibility problems: %s',
    async (size) => {
      const { page, problems, show } = await opened(syntheticAnswers(30), size);
      const found: string[] = [];
      for (const screen of screens) {
        await show(screen);
        found.push(...(await accessProblems(page)).map((problem) => `${screen}: ${problem}`));
        // Scrolling sideways would hide the halt button.
        if (await page.evaluate<boolean>(isWider)) found.push(`${screen}: wider than the window`);
      }
      expect([found, problems]).toStrictEqual([[], []]);
    },
  );

  it.each(['wide', 'phone'] as const)(
    'shows hostile texts as plain text, without overflow: %s',
    async (size) => {
      const { desk, page, problems, show } = await opened(syntheticAnswers(3, HOSTILE), size);
      const found: string[] = [];
      for (const screen of screens) {
        await show(screen);
        if (screen === 'record') desk.record({ kind: 'control', by: HOSTILE, why: HOSTILE, state: 'active' });
        await page.getByText(SCRIPT, { exact: false }).first().waitFor({ state: 'attached' });
        if ((await page.evaluate<number>(made)) > 0) found.push(`${screen}: made elements of text`);
        if (await page.evaluate<boolean>(isWider)) found.push(`${screen}: wider than the window`);
        if ((await page.locator('body').innerText()).includes('\u202E'))
          found.push(`${screen}: text that is turned around`);
      }
      expect([found, problems]).toStrictEqual([[], []]);
    },
  );

  it.each([SCRIPT, 'javascript:alert(4)', '__proto__'])(
    'renders a hostile text in any field of any answer or record as plain text: %s',
    async (text) => {
      const { answers, fields } = hostileAnswers(text);
      expect(fields.length).toBeGreaterThan(150);
      const admin = { ...(answers.get('me') as object), role: 'admin' };
      const { desk, page, problems } = await opened(new Map([...answers, ['me', admin]]));
      const found: string[] = [];
      for (const screen of screens) {
        await page.goto(`${desk.url}/#/${screen}`);
        await page.locator('main h1').first().waitFor({ state: 'attached' });
        for (const body of hostileRecords(text)) desk.record(body);
        await page.getByText(text, { exact: false }).first().waitFor({ state: 'attached' });
        for (const button of await page.locator('main tr button.link[aria-expanded]').all())
          await button.click();
        if ((await page.evaluate<number>(made)) > 0) found.push(`${screen}: made elements of text`);
      }
      expect([found, problems]).toStrictEqual([[], []]);
    },
  );

  it('wraps long reasons and times on a phone instead of truncating them', async () => {
    const long = `: ${'the reference price is older than reference.max_age '.repeat(3)}`;
    const { page, show } = await opened(syntheticAnswers(3, long), 'phone');
    for (const screen of ['why', 'plan', 'limits', 'cost']) {
      await show(screen);
      const cut = await page.evaluate<readonly string[]>(
        `[...document.querySelectorAll('.wraps td.wide, td.time')].filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight).map((one) => one.textContent)`,
      );
      expect([screen, cut]).toStrictEqual([screen, []]);
      expect(await page.locator('.wraps td.wide').count()).toBeGreaterThan(0);
    }
  });

  it('shows every record after the event stream was dropped, refused or incomplete', async () => {
    const { desk, page, show } = await opened(syntheticAnswers(3));
    await show('record');
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
    expect(numbers.map(Number)).toStrictEqual(Array.from({ length: 14 }, (_, n) => 14 - n));
  });

  it('shows that it is loading, not an empty list, until the desk has answered', async () => {
    const { desk, page, problems } = await opened(syntheticAnswers(3));
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
  });

  it('sends one halt request after one confirmation', async () => {
    const { desk, page, show } = await opened(syntheticAnswers(3), 'phone');
    await show('now');
    await page.getByRole('button', { name: 'Halt' }).click();
    expect(desk.commands).toStrictEqual([]);
    await page.getByLabel('Reason').fill('prices look wrong');
    await page.getByRole('button', { name: 'Halt now' }).click();
    await page.getByRole('button', { name: 'Halted' }).waitFor();
    // The author and reason of the new state, not of the previous one.
    await page.getByRole('heading', { name: /^Halted by \S+\. No order leaves\.$/u }).waitFor();
    await page.getByText('Reason: prices look wrong').waitFor();
    expect(desk.commands).toStrictEqual([{ path: 'halt', body: { why: 'prices look wrong' } }]);
  });

  it('can be used with the keyboard alone, and Escape cancels a halt', async () => {
    const { desk, page, show } = await opened(syntheticAnswers(3));
    await show('now');
    for (const key of ['Tab', 'Enter']) await page.keyboard.press(key);
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('main');
    for (const key of ['g', 'l']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Limits', exact: true }).waitFor({ state: 'attached' });
    for (const key of ['h', 'h']) await page.keyboard.press(key);
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(desk.commands).toStrictEqual([]);
  });

  it('shows a viewer no commands', async () => {
    const answers = syntheticAnswers(3);
    answers.set('me', { ...(answers.get('me') as object), role: 'viewer' });
    const { page, show } = await opened(answers);
    await show('now');
    expect(await page.getByRole('button', { name: 'Halt' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  });

  it('does not shift its layout while data arrives', async () => {
    const { desk, page, show } = await opened(syntheticAnswers(30));
    await show('now');
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
  });
});
