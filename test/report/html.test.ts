import { describe, expect, it } from 'vitest';
import { figuresOf } from '../../src/report/figures/figures.ts';
import type { ReportInput } from '../../src/report/figures/figures.ts';
import { reportHtml } from '../../src/report/html/html.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { grouped, markup, percent, priced, valued } from '../../src/report/html/markup.ts';
import { chart, ticks } from '../../src/report/html/svg.ts';
import { MINUTE, aFill, aLife, aQuote, aSlice, aStart, aWake, anEnd, anIntent, idOf, minutes, records, wanted } from './records.ts'; // prettier-ignore

const EVIL = '<script>alert(1)</script>\u202e"\'>&amp;';

/** A report with every kind of content, in which each name can be chosen. */
function page(input: Partial<ReportInput> = {}, name = 'buyer'): string {
  const life = aLife('twap', { total_quantity: { amount: '3', currency: 'btc' } }, name);
  const story = records(
    [0, aStart()],
    [0, life],
    [0, aWake({ strategy: name, intents: [wanted()] })],
    [0, anIntent({ strategy: name })],
    [5, aQuote(idOf('p', 0))],
    [10, aFill(10, { strategy: name, price: '100.25', amount: '100.25', fees: '0.1' })],
    [10, anEnd(idOf('p', 0), 'filled')],
    [10, aSlice({ strategy: name })],
    [MINUTE, aWake({ strategy: name, intents: [wanted({ slice: 1, decision_price: '101' })] })],
    [MINUTE, anIntent({ strategy: name, slice: 1, reference_price: '101' })],
    [MINUTE + 5, anEnd(idOf('p', 1), 'discarded', 'collar')],
    [2 * MINUTE, aSlice({ strategy: name, slice: 1, result: 'skipped', reason: 'collar', detail: name, filled: '0', filled_amount: '0' })], // prettier-ignore
    [2 * MINUTE, aWake({ strategy: name, intents: [wanted({ slice: 2, decision_price: '102' })] })],
    [2 * MINUTE, anIntent({ strategy: name, slice: 2, reference_price: '102' })],
    [2 * MINUTE + 10, aFill(2 * MINUTE + 10, { strategy: name, slice: 2, price: '101.5', amount: '101.5' })],
    [2 * MINUTE + 10, anEnd(idOf('p', 2), 'filled')],
    [2 * MINUTE + 10, aSlice({ strategy: name, slice: 2 })],
  );
  const figures = figuresOf(story, {
    version: '1.2.3',
    prices: [minutes('btcusd', [100, 101, 102, 103])],
    ...input,
  });
  return reportHtml(reportOf(figures), figures);
}

/** Elements without an end tag. */
const VOID = new Set(['meta', 'line', 'rect', 'path', 'circle']);

describe('a report in HTML', () => {
  const plain = page();

  it('is one well-formed document: every element is closed where it was opened', () => {
    const open: string[] = [];
    const wrong: string[] = [];
    for (const [, slash, name = '', self] of plain.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*?(\/?)>/giu)) {
      if (slash === '/' && open.pop() !== name) wrong.push(name);
      if (slash !== '/' && self !== '/' && !VOID.has(name)) open.push(name);
    }
    expect([open, wrong]).toEqual([[], []]);
    expect(plain.startsWith('<!doctype html>')).toBe(true);
    const ids = [...plain.matchAll(/ id="([^"]+)"/gu)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(5);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('needs no other resources, and runs no scripts', () => {
    expect(plain).not.toMatch(
      /<script|<link|<img|<iframe|\bsrc=|\bhref=|https?:|url\(|@import|\bon[a-z]+=/iu,
    );
    expect(plain).toContain("default-src 'none'; style-src 'unsafe-inline'");
    expect(plain).toContain('prefers-color-scheme: dark');
    expect(plain).toContain('@media print');
  });

  it('shows markup in foreign text as plain text', () => {
    const html = page({ assumptions: [EVIL], told: [EVIL] }, EVIL);
    expect(html).not.toContain('<script');
    expect(html).not.toContain('\u202e');
    expect(html).not.toContain(`"'>&amp;`);
    // In tables, captions, descriptions of charts, assumptions and warnings.
    expect(
      html.split('&#60;script&#62;alert(1)&#60;/script&#62;\u{FFFD}&#34;&#39;&#62;&#38;amp;').length,
    ).toBeGreaterThan(8);
    expect(html.match(/<(?!\/)[a-z]/giu)?.length).toBe((plain.match(/<(?!\/)[a-z]/giu)?.length ?? 0) + 2);
  });

  it('shows each setting of a strategy on its own line', () => {
    const [, told] = /<pre>([^<]+)<\/pre>/u.exec(page({}, 'buyer\nside: sell')) ?? [];
    expect(told?.split('\n')).toEqual([
      'id: &#34;buyer\\nside: sell&#34;',
      'kind: twap',
      'total_quantity: {&#34;amount&#34;:&#34;3&#34;,&#34;currency&#34;:&#34;btc&#34;}',
    ]);
  });

  it('is accessible: charts have descriptions, and tables have captions and headers', () => {
    const charts = [...plain.matchAll(/<svg [^>]*role="img" aria-labelledby="(\S+) (\S+)"/gu)];
    expect(charts.length).toBeGreaterThanOrEqual(3);
    for (const [, title = '', says = ''] of charts) {
      expect(plain).toMatch(new RegExp(`<title id="${title}">[^<]+</title>`, 'u'));
      expect(plain).toMatch(new RegExp(`<desc id="${says}">[^<]+</desc>`, 'u'));
    }
    const tables = plain.split('<table>').slice(1);
    expect(tables.length).toBeGreaterThan(6);
    for (const table of tables)
      expect(table).toMatch(/<caption>[\s\S]+<th scope="col"[\s\S]+<th scope="row">/u);
    expect(plain).toContain('<html lang="en">');
  });

  it('shows the sign convention, the costs and the warnings', () => {
    // 0.25 + (-0.5 + 2) of 100 and 100: slippage against arrival; the last third is judged by the last price.
    expect(plain).toContain('A positive cost is bad for the desk');
    expect(plain).toContain('<dt>Slippage against arrival</dt><dd><span class="bad">87.50</span>');
    expect(plain).toContain('1 of 1 parents are still running');
    expect(plain).toContain('<td class="n">collar</td>'.replace(' class="n"', ' class=""'));
    expect(plain).toContain('Generated by Tranche 1.2.3');
  });

  it('shows amounts that were traded and paid in a coin, and the currency of each shortfall', () => {
    const traded = (at: number, pair: string, fill: Parameters<typeof aFill>[1]) =>
      [
        [at, aWake({ intents: [wanted({ parent: pair, leg: pair, pair, decision_price: '0.05' })] })],
        [at, anIntent({ parent: pair, pair, reference_price: '0.05' })],
        [at + 10, aFill(at + 10, { parent: pair, pair, price: '0.0503', amount: '0.0503', ...fill })],
        [at + 10, anEnd(idOf(pair, 0), 'filled')],
        [at + 10, aSlice({ parent: pair, leg: pair })],
      ] as const;
    const figures = figuresOf(
      records(
        ...traded(0, 'ethbtc', { base: 'eth', quote: 'btc', fees: '0.000005' }),
        ...traded(MINUTE, 'xusd', { base: 'x', quote: 'usd' }),
      ),
      { version: 't' },
    );
    const html = reportHtml(reportOf(figures), figures);
    expect(html).toContain('<dt>Traded</dt><dd>0.0503 <small>btc</small>');
    expect(html).toContain('<dt>Fees</dt><dd>0.00000500 <small>btc</small>');
    expect(html).toContain('<dt>Implementation shortfall, btc</dt>');
    expect(html).toContain('<td class="n">0.00030500</td>');
  });

  it('states that no parent started if the journal is empty', () => {
    const figures = figuresOf([], { version: 't' });
    const empty = reportHtml(reportOf(figures), figures);
    expect(empty).toContain('No parent started in this period');
    expect(empty).not.toContain('<svg');
    expect(empty).not.toMatch(/undefined|NaN|Infinity/u);
    expect(plain).not.toMatch(/undefined|NaN|Infinity/u);
  });
});

describe('a chart', () => {
  const shown = (given: Partial<Parameters<typeof chart>[0]>): string =>
    chart({ id: 'x', title: 't', says: 's', x: 'count', value: String, height: 240, ...given }).text.replace(
      /<svg class="narrow"[^]*?<\/svg>/u,
      '',
    );

  it('draws only the visible ones of many points, including the highest and the lowest', () => {
    const points = Array.from({ length: 20_000 }, (_, i): [number, number] => [i, i === 7_777 ? 900 : i === 12_345 ? 100 : 500 + (i % 7)]); // prettier-ignore
    const text = shown({ lines: [{ name: 'l', colour: 1, points }] });
    const path = / d="(M[^"]+)"/u.exec(text)?.[1] ?? '';
    const heights = [...path.matchAll(/[ML][\d.]+ ([\d.]+)/gu)].map(([, y]) => Number(y));
    expect(heights.length).toBeLessThan(2_000);
    expect(heights.length).toBeGreaterThan(700);
    // 848 high in all: 800 of it between both, 48 free at either end.
    const y = (value: number): number => 10 + ((948 - value) / 896) * 200;
    expect(Math.min(...heights)).toBeCloseTo(y(900), 1);
    expect(Math.max(...heights)).toBeCloseTo(y(100), 1);
  });

  it('draws bars from zero, with bad ones above and good ones below', () => {
    const text = shown({ bars: [[1, 100], [2, -50]] }); // prettier-ignore
    const bars = [...text.matchAll(/<rect class="bar (\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/gu)].slice(0, 2); // prettier-ignore
    const zero = Number(/class="grid zero" x1="74" x2="866" y1="([\d.]+)"/u.exec(text)?.[1]);
    const [up, down] = bars.map(([, kind, , y, , height]) => ({
      kind,
      y: Number(y),
      height: Number(height),
    }));
    expect([up?.kind, down?.kind]).toEqual(['bad', 'good']);
    expect((up?.y ?? 0) + (up?.height ?? 0)).toBeCloseTo(zero, 0);
    expect(down?.y).toBeCloseTo(zero, 1);
    expect(up?.height).toBeCloseTo(2 * (down?.height ?? 0), 0);
  });

  it('colours only costs and gains of more than ten basis points', () => {
    const text = shown({ bars: [[1, 10.1], [2, 10], [3, -10], [4, -10.1]] }); // prettier-ignore
    const kinds = [...text.matchAll(/<rect class="bar (\w+)" x="[\d.]+" y="[\d.]+" width="[\d.]+" height/gu)].map(([, kind]) => kind); // prettier-ignore
    expect(kinds.slice(0, 4)).toEqual(['bad', 'small', 'small', 'good']);
    expect(text).toContain('cost above 10 bps');
  });

  it('moves hundreds of marks away from the line, to the bottom and the top of the chart', () => {
    const at = (shape: 'up' | 'down', count: number): readonly number[] => {
      const points = Array.from({ length: count }, (_, i): readonly [number, number] => [i, 100 + (i % 50)]);
      const d = /class="mark[^"]*" d="([^"]+)"/u.exec(shown({ marks: [{ name: 'fills', colour: 4, shape, points }] }))?.[1]; // prettier-ignore
      return [...new Set((d ?? '').matchAll(/M[\d.]+ ([\d.]+)/gu).map(([, y]) => Number(y)))];
    };
    expect(at('up', 60).length).toBe(50);
    const [[foot, ...others], [head]] = [at('up', 672), at('down', 672)];
    expect(others).toEqual([]);
    expect((foot ?? 0) - (head ?? 0)).toBeGreaterThan(180);
  });

  it('places equal ratios at equal distances on a logarithmic axis, with round levels', () => {
    const text = shown({ isLog: true, lines: [{ name: 'l', colour: 1, points: [[0, 100], [1, 1_000], [2, 10_000]] }] }); // prettier-ignore
    const [a, b, c] = [...(/<path class="line[^"]*" d="([^"]+)"/u.exec(text)?.[1] ?? '').matchAll(/[ML][\d.]+ ([\d.]+)/gu)].map(([, y]) => Number(y)); // prettier-ignore
    expect((a ?? 0) - (b ?? 0)).toBeCloseTo((b ?? 0) - (c ?? 0), 0);
    const levels = [...text.matchAll(/text-anchor="end">(\d{3,})<\/text>/gu)].map(([, label]) => label);
    expect(levels).toEqual(['100', '300', '1000', '3000', '10000']);
  });

  it('draws nothing without data, and also draws a single point', () => {
    expect(shown({})).toBe('');
    expect(shown({ lines: [{ name: 'l', colour: 1, points: [[3, 7]] }] })).not.toMatch(/NaN|Infinity/u);
  });

  it.each<[number, number, readonly number[]]>([
    [0, 10, [0, 2, 4, 6, 8, 10]],
    [-0.3, 0.31, [-0.2, 0, 0.2]],
    [59_980, 60_020, [59_980, 59_990, 60_000, 60_010, 60_020]],
    [5, 5, [5]],
  ])('has round ticks from %d to %d', (low, high, expected) => {
    expect(ticks(low, high, 5)).toEqual(expected);
  });

  it('labels times by its length: minutes of a day, days of a month, months of years', () => {
    const at = Date.UTC(2026, 0, 1);
    const labels = (ms: number): readonly string[] => {
      const points: [number, number][] = [[at + 60_000, 1], [at + ms, 2]]; // prettier-ignore
      const text = shown({ x: 'time', lines: [{ name: 'l', colour: 1, points }] });
      return [...text.matchAll(/text-anchor="middle">([^<]+)</gu)].map(([, label = '']) => label);
    };
    expect(labels(4 * 3_600_000)).toContain('02:00');
    expect(labels(30 * 86_400_000)).toContain('01-07');
    expect(labels(3 * 365 * 86_400_000)).toEqual(['2026-07', '2027-01', '2027-07', '2028-01', '2028-07']);
    for (const days of [0.01, 0.2, 1, 3, 9, 50, 200, 1_000, 9_000]) {
      expect(labels(days * 86_400_000).length).toBeGreaterThanOrEqual(3);
      expect(labels(days * 86_400_000).length).toBeLessThanOrEqual(10);
    }
  });
});

describe('a formatted amount', () => {
  it.each([
    ['1234567.885', 2, '1,234,567.88'],
    ['-0.004', 2, '0.00'],
    ['-1234.5', 0, '\u22121,234'],
    ['999', 0, '999'],
    ['0.00000012', 8, '0.00000012'],
  ])('of %s with %i decimals is %s', (amount, decimals, expected) => {
    expect(grouped(amount, decimals)).toBe(expected);
  });

  it.each([
    ['60091.004', '60,091.00'],
    ['58.50219', '58.502'],
    ['3.7219', '3.7219'],
    ['0.28123456', '0.281235'],
    ['0.05', '0.050000'],
    ['0.000008912345', '0.0000089123'],
    ['0.000000009649', '0.0000000096490'],
    ['0', '0.000000'],
  ])('of the price %s is %s', (each, expected) => {
    expect(priced(each)).toBe(expected);
  });

  it.each([
    ['-0.0126635212937', '0.5404458187063', '\u22120.01266352'],
    ['0.00002388', '0.12', '0.00002388'],
    ['-0.42', '31.5', '\u22120.4200'],
    ['440.1137864', '328869.6162136', '440.11'],
    ['0', '0', '0.00'],
  ])('has as many decimals as the whole requires: %s of %s is %s', (amount, whole, expected) => {
    expect(valued(amount, whole)).toBe(expected);
  });

  it('has no minus sign if the percentage rounds to zero', () => {
    expect([percent(-0.00001), percent(-0.0001), percent(0)]).toEqual(['0.00\u00a0%', '\u22120.01\u00a0%', '0.00\u00a0%']); // prettier-ignore
  });

  it('is escaped like all text that is not markup', () => {
    expect(markup`<b>${'<'}${[1, markup`<i>`]}${undefined}</b>`.text).toBe('<b>&#60;1<i></b>');
  });
});
