import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HOUR_MS, after } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportHtml } from '../../src/report/html/html.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { START, aBench, aStrategy, aTwap } from '../engine/harness.ts';
import { BROWSER, aBrowser, whyNoBrowser } from './browser.ts';

const why = BROWSER === undefined ? ` (skipped: ${whyNoBrowser})` : '';

describe.skipIf(BROWSER === undefined)(`a report in a browser${why}`, () => {
  let html = '';
  beforeAll(() => {
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

  it('opens without console messages or requests, and no text overflows or overlaps at any width, light or dark', async () => {
    const browser = aBrowser();
    onTestFinished(browser.close);
    // The returns of a good year are the longest text of a card.
    const long = html.replace(/(<dl class="cards">.*?<small>)[^<]*/su, '$1bought and held 12,911.27\u00A0%');
    expect(long).not.toBe(html);
    for (const width of [1_400, 1_100, 800, 390, 320])
      expect([width, await browser.look(long, width)]).toEqual([width, { console: [], asked: [], over: [] }]);
    expect(await browser.look(html, 1_100, 'dark')).toEqual({ console: [], asked: [], over: [] });
    // A check that never reports anything would prove nothing.
    const open = html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/u, '');
    const bad = open.replace('</main>', '<img src="http://127.0.0.1:9/pixel.png"><script>console.error("x")</script><div style="width:3000px">x</div></main>'); // prettier-ignore
    const told = await browser.look(bad, 1_100);
    expect(told.asked).toEqual(['http://127.0.0.1:9/pixel.png']);
    expect(told.console.join('')).toContain('"x"');
    expect(told.over.join('')).toContain('the page is 30');
    const moved = html.replace(/(<text class="tick" x=")\d+(" y="[\d.]+" text-anchor="end">)/u, '$1-60$2');
    expect((await browser.look(moved, 1_100)).over.join('')).toContain('reaches over the edge');
    // The page's own policy blocks resources that it does not contain.
    const stopped = html.replace('</main>', '<img src="http://127.0.0.1:9/pixel.png"></main>');
    expect((await browser.look(stopped, 1_100)).console.join('')).toContain('Content Security Policy');
  });
});
