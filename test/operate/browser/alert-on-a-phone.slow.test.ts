import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { receiver } from '../../app/notify/receiver.ts';
import type { Receiver } from '../../app/notify/receiver.ts';
import { aFolder } from '../../support/folder.ts';
import { aDesk } from '../../system/support/desk.ts';
import type { DeskFolder } from '../../system/support/desk.ts';
import { twapOf } from '../../system/support/drill.ts';
import { ROOT } from '../../system/support/program.ts';
import type { Program } from '../../system/support/program.ts';
import { until } from '../../system/support/until.ts';
import { aVenueProcess, playFaults } from '../../system/support/venue.ts';
import { aBrowser, accessProblems, noBrowser, openPage, sizes } from './dashboard-page.ts';
import { linkOf as signInOf } from './paper-desk.ts';

interface Told {
  readonly kind: string;
  readonly link: string;
}

interface OnAPhone {
  readonly desk: DeskFolder;
  readonly daemon: Program;
  readonly page: Page;
  readonly problems: readonly string[];
  /** Opens the link of the first message about an alert; the page must show both texts. */
  readonly shows: (kind: string, says: RegExp, does: RegExp) => Promise<void>;
}

/** The link of the first message about an alert. */
async function linkOf(hook: Receiver, kind: string): Promise<string> {
  const found = (): string | undefined =>
    hook.posts.map(({ body }) => JSON.parse(body) as Told).find((told) => told.kind === kind)?.link;
  await until(
    () => found() !== undefined,
    () => `no message about ${kind}`,
  );
  return found() ?? '';
}

describe.skipIf(noBrowser !== undefined)(`the alert page on a phone ${noBrowser ?? ''}`, () => {
  const browser = aBrowser();

  /** A desk whose alerts go to a webhook, and its dashboard on a phone. */
  async function aDeskOnAPhone(over: Parameters<typeof aDesk>[0]): Promise<OnAPhone> {
    const hook = await receiver();
    const url_file = join(aFolder({ hook: `${hook.url}/hook` }), 'hook');
    const channel = { name: 'hook', severity: 'info', type: 'webhook', format: 'json', url_file };
    const notify = { dashboard: 'https://desk.example', channels: [channel] };
    const desk = aDesk({
      ...over,
      config: { ...over.config, operate: { listen: '127.0.0.1:0', notify } },
    });
    const daemon = desk.run('--json');
    // The port is chosen at the start, so the host in a link is replaced by that of this desk.
    const url = String((await daemon.event('ready'))['operate_url']).replace('127.0.0.1', 'localhost');
    const { page, problems } = await openPage(browser(), sizes.phone);
    await page.goto(await signInOf(desk));
    await page.getByRole('button', { name: 'Halt', exact: true }).waitFor();
    const shows = async (kind: string, says: RegExp, does: RegExp): Promise<void> => {
      await page.goto((await linkOf(hook, kind)).replace('https://desk.example', url));
      const alert = page.getByRole('region', { name: 'The alert of the message' });
      await alert.getByText(says).waitFor();
      await alert.getByText(does).waitFor();
      expect(await alert.textContent()).not.toContain('`');
      if (process.env['SHOTS'] !== undefined) await page.screenshot({ path: join(process.env['SHOTS'], `${kind}.png`) }); // prettier-ignore
      expect(await accessProblems(page)).toStrictEqual([]);
    };
    return { desk, daemon, page, problems, shows };
  }

  it('shows the alert of the opened link with its cause, its records and the next step', async () => {
    const venue = await aVenueProcess([], aFolder());
    const { desk, page, problems, shows } = await aDeskOnAPhone({
      venue,
      strategies: [twapOf({ id: 'small', slices: 2, everyMs: 1_000 })],
      config: { controls: { max_order_notional: { amount: '1', currency: 'usd' } } },
    });

    await shows('limit_refused', /a limit refused an order/u, /A wrong unit or an extra zero/u);
    await page.getByRole('link', { name: 'What happened around it' }).click();
    await page
      .getByText(/max_order_notional/u)
      .first()
      .waitFor();

    await shows('parent_short', /ended without trading its whole total/u, /To trade the rest/u);
    await page.getByRole('link', { name: /^What small did/u }).click();
    await page.getByText('What small did, and why').waitFor();

    await desk.command('halt', '--why', 'the drill', '--config', 'desk.yaml');
    await shows('halted', /requests no quote and sends no order/u, /Re-arm the desk on the Now screen/u);
    await page.getByRole('button', { name: 'Re-arm' }).waitFor();

    await venue.program.kill();
    expect(problems.filter((problem) => !problem.includes('Failed to load resource'))).toStrictEqual([]);
  }, 120_000);

  it('links to the order with an unknown outcome and shows a venue that does not respond', async () => {
    const venue = await aVenueProcess([], aFolder());
    const { daemon, page, problems, shows } = await aDeskOnAPhone({
      venue,
      strategies: [twapOf({ id: 'btc', slices: 60, everyMs: 2_000 })],
      config: { venue: { order_timeout: 'PT4S' }, in_doubt: { booking_margin: 'PT2S' } },
    });
    await daemon.event('fill');
    await playFaults(venue, join(ROOT, 'config/faults/fills-and-never-answers.yaml'));

    await shows('doubt_open', /the outcome of an order is unknown/u, /No action is needed/u);
    await page.getByRole('link', { name: 'Open the doubt' }).click();
    await page.getByRole('heading', { name: /unknown outcome|Nothing is in doubt/u }).waitFor();

    await venue.program.kill();
    await shows('venue_unreachable', /venue has not responded/u, /Check the venue's status/u);
    await page.getByRole('link', { name: 'What happened around it' }).click();
    await page
      .getByText(/no answer|timeout|ECONNREFUSED|connect/u)
      .first()
      .waitFor();

    expect(problems.filter((problem) => !problem.includes('Failed to load resource'))).toStrictEqual([]);
  }, 180_000);
});
