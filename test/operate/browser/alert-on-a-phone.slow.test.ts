import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';
import { receiver } from '../../app/notify/receiver.ts';
import type { Receiver } from '../../app/notify/receiver.ts';
import { aDesk, aFolder } from '../../system/support/desk.ts';
import { twapOf } from '../../system/support/drill.ts';
import { ROOT } from '../../system/support/program.ts';
import { until } from '../../system/support/until.ts';
import { aVenueProcess } from '../../system/support/venue.ts';
import { accessProblems, noBrowser, openPage, sizes, startBrowser } from './dashboard-page.ts';

interface Told {
  readonly notices: readonly { readonly kind: string; readonly link?: string }[];
}

/** The link of the first message about an alert. */
async function linkOf(hook: Receiver, kind: string): Promise<string> {
  const found = (): string | undefined =>
    hook.posts
      .flatMap(({ body }) => (JSON.parse(body) as Told).notices)
      .find((notice) => notice.kind === kind)?.link;
  await until(
    () => found() !== undefined,
    () => `no message about ${kind}`,
  );
  return found() ?? '';
}

describe.skipIf(noBrowser !== undefined)(`an alert on a phone ${noBrowser ?? ''}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    [browser] = await Promise.all([startBrowser(), buildDashboard(join(ROOT, 'dist/dashboard'))]);
  });
  afterAll(async () => {
    await browser.close();
  });

  it('leads from the link of its message to what happened, the cause, and what to do', async () => {
    const cwd = aFolder();
    const venue = await aVenueProcess([], cwd);
    const hook = await receiver();
    writeFileSync(join(cwd, 'hook'), `${hook.url}/hook`, { mode: 0o600 });
    const desk = aDesk({
      venue,
      strategies: [twapOf({ id: 'small', slices: 2, everyMs: 1_000 })],
      config: {
        controls: { max_order_notional: { amount: '1', currency: 'usd' } },
        operate: {
          listen: '127.0.0.1:0',
          notify: {
            dashboard: 'https://desk.example',
            window: 'PT1S',
            channels: [
              {
                name: 'hook',
                severity: 'info',
                topics: ['alerts'],
                webhook: { format: 'json', url_file: join(cwd, 'hook') },
              },
            ],
          },
        },
      },
    });
    const daemon = desk.run('--json');
    onTestFinished(async () => {
      await daemon.kill();
      await venue.program.kill();
    });
    // The port is any that is free: the host of a link is the one of this desk.
    const url = String((await daemon.event('ready'))['operate_url']).replace('127.0.0.1', 'localhost');
    const { stdout } = await desk.command('sign-in', '--config', 'desk.yaml', '--json');
    const { page, problems } = await openPage(browser, sizes.phone);
    await page.goto(String((JSON.parse(stdout) as { link: unknown }).link));
    await page.getByRole('button', { name: 'Halt', exact: true }).waitFor();

    const shows = async (kind: string, says: RegExp, does: RegExp): Promise<Page> => {
      await page.goto((await linkOf(hook, kind)).replace('https://desk.example', url));
      const alert = page.getByRole('region', { name: 'The alert of the message' });
      await alert.getByText(says).waitFor();
      await alert.getByText(does).waitFor();
      expect(await alert.textContent()).not.toContain('`');
      if (process.env['SHOTS'] !== undefined) await page.screenshot({ path: join(process.env['SHOTS'], `${kind}.png`) }); // prettier-ignore
      expect(await accessProblems(page)).toStrictEqual([]);
      return page;
    };

    await shows('limit_refused', /a limit refused an order/u, /a wrong unit or an extra zero/u);
    await page.getByRole('link', { name: 'What happened around it' }).click();
    await page
      .getByText(/max_order_notional/u)
      .first()
      .waitFor();

    await shows('parent_short', /did not trade its whole total/u, /To trade the rest/u);
    await page.getByRole('link', { name: /^What small did/u }).click();
    await page.getByText('What small did, and why').waitFor();

    await desk.command('halt', '--why', 'the drill', '--config', 'desk.yaml');
    await shows('halted', /requests no quote and sends no order/u, /Re-arm with/u);
    await page.getByRole('button', { name: 'Re-arm' }).waitFor();

    expect(problems.filter((problem) => !problem.includes('Failed to load resource'))).toStrictEqual([]);
    await page.context().close();
  }, 35_000);
});
