import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';
import { ROOT } from '../../system/support/program.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executable = [process.env['CHROMIUM_PATH'] ?? '', ...CHROMIUM].find((path) => existsSync(path));

/** Why the tests in a browser cannot run here; `undefined` if they can. */
export const noBrowser = executable === undefined ? 'Chromium is not installed' : undefined;

/** Starts the browser of the system, which needs no network beyond loopback. */
export async function startBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: executable ?? '',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}

export const sizes = {
  wide: { viewport: { width: 1440, height: 900 } },
  dark: { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  phone: {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  },
} as const satisfies Readonly<Record<string, BrowserContextOptions>>;

/** Opens a page, closed with the test. `problems`: errors of the console and of scripts, and refusals by the policy of the page. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions,
): Promise<{ readonly page: Page; readonly problems: string[] }> {
  const context = await browser.newContext(options);
  onTestFinished(async () => {
    await context.close();
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`script: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, problems };
}

/** A browser for all tests of a `describe`, which the daemon or the test serves the built dashboard of `folder`. */
export function aBrowser(folder = join(ROOT, 'dist/dashboard')): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    [browser] = await Promise.all([startBrowser(), buildDashboard(folder)]);
  });
  afterAll(async () => {
    await browser?.close();
  });
  return () => {
    if (browser === undefined) throw new Error('the browser has not started');
    return browser;
  };
}

/** The screens of the dashboard, by the names in their addresses. */
export const screens = [
  'now',
  'slices',
  'why',
  'approvals',
  'limits',
  'doubts',
  'plan',
  'cost',
  'record',
  'people',
];

/** Waits until the page shows a screen and has read what it shows. */
export async function shown(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  await expect
    .poll(async () => await page.locator('main').textContent())
    .not.toMatch(/Reading|Asking|Not read/u);
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The problems that axe finds on the page: each rule with the first elements that break it. */
export async function accessProblems(page: Page): Promise<readonly string[]> {
  // Uses the debugger, because the policy of the page allows only its own scripts.
  await page.evaluate(axe);
  const violations = await page.evaluate<
    readonly {
      readonly id: string;
      readonly help: string;
      readonly nodes: readonly { readonly html: string }[];
    }[]
  >(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`);
  return violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes
        .slice(0, 2)
        .map(({ html }) => html.slice(0, 160))
        .join(' | ')}`,
  );
}
