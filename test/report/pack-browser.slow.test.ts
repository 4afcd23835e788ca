import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { look } from '../app/support/look.ts';
import { anAuditedDesk } from '../docs/audited-desk.ts';
import { BROWSER, aBrowser, whyNoBrowser } from './browser.ts';

const why = BROWSER === undefined ? ` (skipped: ${whyNoBrowser})` : '';
const browser = aBrowser();

describe.skipIf(BROWSER === undefined)(`pages for an auditor in a browser${why}`, () => {
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tranche-browser-'));
    anAuditedDesk(folder);
    const journal = join(folder, 'desk.db');
    const day = ['day', '2026-12-24', '--journal', journal, '--zone', 'UTC', '--html', 'day.html'];
    await look(folder, ['best-execution', journal, '--out', '.']);
    await look(folder, day);
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(['best-execution.html', 'day.html'])(
    '%s makes no requests and does not overflow at any width',
    async (file) => {
      const html = readFileSync(join(folder, file), 'utf8');
      for (const width of [1_400, 1_100, 800, 390, 320])
        expect([width, await browser.look(html, width)]).toEqual([width, { console: [], asked: [], over: [] }]); // prettier-ignore
      expect(await browser.look(html, 1_100, 'dark')).toEqual({ console: [], asked: [], over: [] });
    },
  );
});
