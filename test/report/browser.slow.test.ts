import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HOUR_MS, after } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportHtml } from '../../src/report/html/html.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { START, aBench, aStrategy, aTwap } from '../engine/harness.ts';
import { BROWSER, aBrowser, whyNoBrowser } from './browser.ts';

const why = BROWSER === undefined ? ` (skipped: ${whyNoBrowser})` : '';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-browser-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Opens a file in a headless browser; returns its output and its console messages. */
async function opened(
  file: string,
  ...options: readonly string[]
): Promise<{ readonly out: string; readonly console: readonly string[] }> {
  const child = spawn(
    BROWSER ?? '',
    [
      '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--enable-logging=stderr', '--window-size=1100,2400',
      `--user-data-dir=${join(folder, 'profile')}`, ...options, `file://${join(folder, file)}`,
    ], // prettier-ignore
    { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 },
  );
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const code = await new Promise((resolve) => {
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`the browser ended with ${String(code)}: ${err}`);
  return { out, console: err.split('\n').filter((line) => line.includes('CONSOLE')) };
}

/** Width and height of a PNG. */
const sizeOf = (file: string): readonly [number, number] => {
  const bytes = readFileSync(join(folder, file));
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
};

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
    writeFileSync(join(folder, 'report.html'), html);
  });

  it('opens completely and without console messages', async () => {
    const { out, console } = await opened('report.html', '--dump-dom');
    expect(console).toEqual([]);
    for (const element of ['<svg ', '<table>', '<section ', '<th scope="row">'])
      expect(out.split(element).length).toBe(html.split(element).length);
    // Without console messages of a broken page, an empty console would prove nothing.
    writeFileSync(join(folder, 'bad.html'), html.replace('</main>', '<script>alert(1)</script></main>'));
    const bad = await opened('bad.html', '--dump-dom');
    expect(bad.console.join('\n')).toContain('Content Security Policy');
  });

  it('makes no requests, and no text overflows or overlaps at any width', async () => {
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

  it('is rendered in light and in dark mode, and can be printed', async () => {
    await opened('report.html', `--screenshot=${join(folder, 'light.png')}`);
    const dark = '--blink-settings=preferredColorScheme=0';
    await opened('report.html', '--force-dark-mode', dark, `--screenshot=${join(folder, 'dark.png')}`);
    expect([sizeOf('light.png'), sizeOf('dark.png')]).toEqual([[1100, 2400], [1100, 2400]]); // prettier-ignore
    const [light, night] = ['light.png', 'dark.png'].map((file) => readFileSync(join(folder, file)));
    expect(light?.length).toBeGreaterThan(50_000);
    expect(night?.equals(light ?? Buffer.alloc(0))).toBe(false);
    await opened('report.html', `--print-to-pdf=${join(folder, 'report.pdf')}`);
    expect(readFileSync(join(folder, 'report.pdf')).subarray(0, 5).toString()).toBe('%PDF-');
    expect(statSync(join(folder, 'report.pdf')).size).toBeGreaterThan(20_000);
  });
});
