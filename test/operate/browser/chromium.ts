import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const executable = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium'].find(
  (path) => path !== undefined && existsSync(path),
);

/** Why the tests in a browser cannot run here; `undefined` when they can. */
export const noBrowser =
  executable === undefined
    ? '(skipped: there is no Chromium at CHROMIUM_PATH or /usr/bin/chromium)'
    : undefined;

/** Starts the browser of the system, without a window. */
export async function startBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: executable ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}
