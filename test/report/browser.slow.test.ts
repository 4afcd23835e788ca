import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS, after } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportHtml } from '../../src/report/html/html.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { START, aBench, aStrategy, aTwap } from '../engine/harness.ts';
import { noBrowser, openPage, startBrowser } from '../operate/browser/dashboard-page.ts';
import { aFolder } from '../support/folder.ts';

/** What a page did when it was opened. */
interface Seen {
  /** Messages of its console, errors of its scripts, refusals of its policy. */
  readonly console: readonly string[];
  /** Addresses that it asked for besides itself. */
  readonly asked: readonly string[];
  /** What reaches over the edge of the page, of its card or of its chart, and words of charts that lie on each other. */
  readonly over: readonly string[];
}

/** Opens a page in a window of that width, in light or in dark. */
async function look(
  browser: Browser,
  html: string,
  width: number,
  colorScheme: 'light' | 'dark',
): Promise<Seen> {
  const file = join(aFolder(), 'report.html');
  writeFileSync(file, html);
  const { page, problems } = await openPage(browser, { viewport: { width, height: 900 }, colorScheme });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  const over = await page.evaluate<readonly string[]>(`(${LOOK})()`);
  await page.context().close();
  return { console: problems, asked: asked.slice(1), over };
}

/** Runs in the page. Tables and wide charts may be moved sideways inside their own frames; the page itself may not. */
const LOOK = `() => {
  const over = [];
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) over.push('the page is ' + document.documentElement.scrollWidth + ' wide');
  for (const card of document.querySelectorAll('.cards div'))
    if (card.scrollWidth > card.clientWidth) over.push('"' + card.textContent + '" reaches over the edge of its card');
  for (const svg of document.querySelectorAll('figure > svg')) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue; // drawn for another width
    const name = svg.querySelector('title')?.textContent ?? '';
    const words = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent, at: text.getBoundingClientRect() }));
    for (const [i, { text, at }] of words.entries()) {
      if (at.left < frame.left - 0.5 || at.right > frame.right + 0.5 || at.top < frame.top - 0.5 || at.bottom > frame.bottom + 0.5)
        over.push(name + ': "' + text + '" reaches over the edge');
      if (at.height < 7) over.push(name + ': "' + text + '" is too small to be read');
      for (const other of words.slice(i + 1))
        if (at.left < other.at.right && other.at.left < at.right && at.top + 2 < other.at.bottom && other.at.top + 2 < at.bottom)
          over.push(name + ': "' + text + '" lies on "' + other.text + '"');
    }
  }
  return over.slice(0, 20);
}`;

const why = noBrowser === undefined ? '' : ` (skipped: ${noBrowser})`;

describe.skipIf(noBrowser !== undefined)(`a report in a browser${why}`, () => {
  let html = '';
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
    const bench = aBench({
      strategies: [
        aTwap('buys', { slices: 6, duration: 'PT30M' }),
        aStrategy('halves', 'rebalance', {
          target_weights: { btc: '0.5', usd: '0.5' },
          drift_threshold: '0.02',
          valuation_tolerance: '1',
          schedule: { cron: '5 * * * *' },
        }),
      ],
    });
    bench.start();
    bench.clock.run(after(START, HOUR_MS));
    const figures = figuresOf(bench.records(), { version: 't' });
    html = reportHtml(reportOf(figures), figures);
  });

  afterAll(async () => {
    await browser.close();
  });

  it('opens without console messages or requests, and no text overflows or overlaps at any width, light or dark', async () => {
    // The returns of a good year are the longest text of a card.
    const long = html.replace(/(<dl class="cards">.*?<small>)[^<]*/su, '$1bought and held 12,911.27\u00A0%');
    expect(long).not.toBe(html);
    for (const width of [1_400, 1_100, 800, 390, 320])
      expect([width, await look(browser, long, width, 'light')]).toEqual([
        width,
        { console: [], asked: [], over: [] },
      ]);
    expect(await look(browser, html, 1_100, 'dark')).toEqual({ console: [], asked: [], over: [] });
    // A check that never reports anything would prove nothing.
    const open = html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/u, '');
    const bad = open.replace('</main>', '<img src="http://127.0.0.1:9/pixel.png"><script>console.error("x")</script><div style="width:3000px">x</div></main>'); // prettier-ignore
    const told = await look(browser, bad, 1_100, 'light');
    expect(told.asked).toEqual(['http://127.0.0.1:9/pixel.png']);
    expect(told.console.join('')).toContain('console: x');
    expect(told.over.join('')).toContain('the page is 30');
    const moved = html.replace(/(<text class="tick" x=")\d+(" y="[\d.]+" text-anchor="end">)/u, '$1-60$2');
    expect((await look(browser, moved, 1_100, 'light')).over.join('')).toContain('reaches over the edge');
    // The page's own policy blocks resources that it does not contain.
    const stopped = html.replace('</main>', '<img src="http://127.0.0.1:9/pixel.png"></main>');
    expect((await look(browser, stopped, 1_100, 'light')).console.join('')).toContain(
      'Content Security Policy',
    );
  });
});
