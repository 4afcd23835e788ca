import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executable = CHROMIUM.find((path) => existsSync(path));

/** Why the tests in a browser cannot run here; `undefined` when they can. */
export const noBrowser = executable === undefined ? 'Chromium is not installed' : undefined;

/** Starts the browser of the system, without the network of the machine beyond loopback being needed. */
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

/** Opens a page. `problems`: every error of the console, of a script, and every refusal by the policy of the page. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions,
): Promise<{ readonly page: Page; readonly problems: string[] }> {
  const context = await browser.newContext(options);
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

/** Builds the dashboard into a folder of its own; `remove` takes it away. */
export async function builtDashboard(): Promise<{ readonly folder: string; readonly remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-dashboard-'));
  await buildDashboard(folder);
  return {
    folder,
    remove: () => {
      rmSync(folder, { recursive: true });
    },
  };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds on the page: rule, and the first elements that break it. */
export async function accessProblems(page: Page): Promise<readonly string[]> {
  // The debugger's own way in: the policy of the page allows no script but its own.
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
