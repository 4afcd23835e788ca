import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';
import { noPostgres } from '../../journal/postgres-server.ts';
import { aFolder } from '../../system/support/desk.ts';
import { aFleet } from '../../system/support/fleet.ts';
import { ROOT } from '../../system/support/program.ts';
import { accessProblems, noBrowser, openPage, sizes, startBrowser } from './dashboard-page.ts';
import { aPaperDesk } from './paper-desk.ts';
import type { PaperDesk } from './paper-desk.ts';

const TOKEN = 'canary-fleet-viewer-77e1c2d9';

/** A paper desk with one small strategy, and its part of `operate`. */
async function aDeskOf(
  name: string,
  operateOf: (token: string) => Readonly<Record<string, unknown>>,
): Promise<PaperDesk> {
  const folder = aFolder();
  const token = join(folder, 'token');
  writeFileSync(token, TOKEN);
  chmodSync(token, 0o600);
  mkdirSync(join(folder, 'strategies'));
  const strategy = { id: `${name}-twap`, kind: 'twap', pair: 'btcusd', side: 'buy', total_quantity: { amount: '0.06', currency: 'btc' }, duration: 'PT60S', slices: 60 }; // prettier-ignore
  writeFileSync(join(folder, 'strategies', 'twap.yaml'), JSON.stringify(strategy));
  const config = {
    desk: name,
    mode: 'paper',
    venue: {
      capabilities: { balances: true, pairs: true, order_lookup: true, ticker: true, account_feed: true },
      sell_path: '/v1/orders/sell',
      simulated: {
        seed: 7,
        accounts: [{ name, balances: { usd: '5000000', btc: '31' } }],
        pairs: { btcusd: { start_price: '60000' } },
      },
    },
    controls: {
      max_order_notional: { amount: '250000', currency: 'usd' },
      max_day_notional: { amount: '5000000', currency: 'usd' },
      collar_bps: 100,
      pairs: ['btcusd'],
      sides: ['buy'],
    },
    in_doubt: { booking_margin: 'PT2S' },
    journal: `sqlite:${join(folder, 'desk.db')}`,
    strategies: './strategies',
    operate: { listen: '127.0.0.1:0', ...operateOf(token) },
  };
  writeFileSync(join(folder, 'desk.yaml'), JSON.stringify(config));
  return await aPaperDesk(join(folder, 'desk.yaml'));
}

describe.skipIf(noBrowser !== undefined)(`the fleet screen of the dashboard ${noBrowser ?? ''}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    // The daemon serves this folder.
    [browser] = await Promise.all([startBrowser(), buildDashboard(join(ROOT, 'dist/dashboard'))]);
  });
  afterAll(async () => {
    await browser.close();
  });

  it('shows each desk separately and marks a silent desk, with its last answer, without a reload', async () => {
    const london = await aDeskOf('london', (file) => ({
      tokens: [{ name: 'fleet', role: 'viewer', kind: 'program', token_file: file }],
    }));
    const zurich = await aDeskOf('zurich', (file) => ({
      fleet: [{ name: 'london', url: london.url.replace('localhost', '127.0.0.1'), token_file: file }],
    }));
    const { page, problems } = await openPage(browser, sizes.wide);
    await page.goto(await zurich.link());
    await page.getByRole('button', { name: 'Halt', exact: true }).waitFor();
    await page.goto(`${zurich.url}/#/fleet`);
    await page.getByRole('heading', { name: 'No desk needs you.' }).waitFor();
    const paper = page.getByRole('region', { name: 'Paper and dry run: no money' });
    const row = (name: string) => paper.locator('tbody tr', { hasText: name });
    for (const name of ['london', 'zurich'])
      expect(await row(name).textContent()).toMatch(new RegExp(`^${name}.*paperactive`, 'u'));
    // No desk is live here, and no figure is a sum over two desks.
    expect(await page.getByRole('region', { name: 'Live' }).count()).toBe(0);
    expect(await paper.locator('tbody tr').count()).toBe(2);
    expect(await accessProblems(page)).toStrictEqual([]);

    await page.evaluate('globalThis.isSamePage = true');
    await london.program.kill();
    await page.getByRole('heading', { name: '1 desk needs you.' }).waitFor();
    await expect
      .poll(async () => await row('london').textContent(), { timeout: 30_000 })
      .toMatch(/^londonpaperno answer.*last heard \d+ s ago/u);
    expect(await row('zurich').textContent()).toContain('active');
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
    expect(await accessProblems(page)).toStrictEqual([]);

    expect(problems).toStrictEqual([]);
    await page.context().close();
    await zurich.stop();
  }, 120_000);

  it.skipIf(noPostgres() !== undefined)(
    'shows the desks of the store of a daemon with totals and links',
    async () => {
      const fleet = await aFleet(['a', 'b']);
      const file = join(aFolder(), 'fleet.yaml');
      writeFileSync(file, JSON.stringify({ listen: '127.0.0.1:0', groups: { night: ['b'] } }));
      const daemon = fleet.daemon('one', { settings: file });
      await fleet.tradesAt(['a', 'b'], daemon);
      const { page, problems } = await openPage(browser, sizes.wide);
      await page.goto(await fleet.link('one'));
      const live = page.getByRole('region', { name: 'Live' });
      const row = (name: string) => live.locator('tbody tr', { hasText: new RegExp(`^${name}`, 'u') });
      await expect
        .poll(async () => await row('b').textContent(), { timeout: 30_000 })
        .toMatch(/^bnight.*live.*active/u);
      expect(await row('a').getByRole('link', { name: 'a' }).getAttribute('href')).toMatch(
        /^http:\/\/127\.0\.0\.1:\d+$/u,
      );
      expect(await live.getByText(/^live: 2 desks, 2 ready/u).count()).toBe(1);
      const firm = page.getByRole('region', { name: 'Firm limits' });
      await firm.getByText('The firm has no limits.').waitFor();
      await fleet.command(
        'limits',
        '--max-day-notional',
        '50000000 USD',
        '--max-position',
        'btc=25',
        '--why',
        '<b>committee</b>',
        '--by',
        'ann',
      );
      await expect
        .poll(async () => await firm.locator('tbody tr').allTextContents(), { timeout: 30_000 })
        .toMatchObject([
          expect.stringMatching(/^live.*usd.*50,000,000.*ann: <b>committee<\/b> 20\d\d-/u),
          expect.stringMatching(/^live.*btc.*25.*ann/u),
        ]);
      // The page of a fleet has no controls of a single desk, such as the halt button.
      expect(await page.getByRole('button', { name: 'Halt', exact: true }).count()).toBe(0);
      expect(await page.getByRole('navigation').getByRole('link').count()).toBe(1);
      expect(await fleet.ask('b', 'halt', '--why', 'look', '--by', 'ann')).toMatchObject({ code: 0 });
      await page.getByRole('heading', { name: '1 desk needs you.' }).waitFor();
      expect(await row('b').textContent()).toContain('halted');
      expect(await accessProblems(page)).toStrictEqual([]);
      await page.reload();
      await row('b').waitFor();
      expect(problems).toStrictEqual([]);
      await page.context().close();
      daemon.signal('SIGTERM');
      await daemon.ended();
    },
    120_000,
  );
});
