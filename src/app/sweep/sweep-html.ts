import { shades } from '../../research/sweep/heat-map.ts';
import type { HeatMap } from '../../research/sweep/heat-map.ts';
import { sweepFigures } from '../../research/sweep/sweep-figures.ts';
import { isoOf } from '../../core/time.ts';
import { Markup, markup, table } from '../../report/html/markup.ts';
import { STYLE } from '../../report/html/style.ts';
import { figuresIn, sweepNotes } from './sweep-result.ts';
import type { SweepFacts, SweepResult } from './sweep-result.ts';
import { SHOWN } from './sweep-text.ts';
import { version } from '../version.ts';

/** Largest number of settings on the page; `results.csv` contains all of them. */
const LISTED = 200;
const CELL = { width: 76, height: 26 };
const MARGIN = { left: 110, top: 26 };

/** Returns the results of a sweep as one HTML file that needs no script and no network. */
export function sweepHtml(result: SweepResult, { input, named, seed }: SweepFacts): string {
  const { by, cost, risk, order, front, folds, map, settings } = result;
  const title = `Sweep of ${settings.length} settings`;
  return `${
    markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<h1>${title}</h1>
<p class="soft">${isoOf(input.from)} to ${isoOf(input.until)}, model ${named.name}, seed ${seed}, Tranche ${version}; prices of ${input.tapes.map(({ file }) => file).join(', ')}</p>
<section class="notes"><h2>Before you believe it</h2><ul>${sweepNotes(result).map((note) => markup`<li>${note}</li>`)}</ul></section>
${map === undefined ? '' : heatMap(map)}
${folds === undefined ? settingTable(result, order.slice(0, LISTED), `Best by ${by}`) : forward(result)}
${folds === undefined ? settingTable(result, front, `Efficient frontier of ${cost} against ${risk}: no other setting is better in both`) : ''}
</body>
</html>`.text
  }\n`;
}

function heatMap(map: HeatMap): Markup {
  const { down, across, cells, figure, over } = map;
  const shade = shades(map);
  const [width, height] = [
    MARGIN.left + across.values.length * CELL.width,
    MARGIN.top + down.values.length * CELL.height,
  ];
  const x = (column: number): number => MARGIN.left + column * CELL.width;
  const y = (row: number): number => MARGIN.top + row * CELL.height;
  const rest = over.length === 0 ? '' : `, the best over ${over.join(', ')}`;
  const says = `${figure} for each ${down.field} (down) and ${across.field} (across)${rest}: ${sweepFigures[figure].better} is better, stronger colours are better`;
  return markup`<figure><figcaption>${figure}: ${down.field} down, ${across.field} across${rest} <small>the stronger the colour, the better</small></figcaption>
<svg viewBox="0 0 ${width} ${height}" style="max-width: ${width}px" role="img" aria-labelledby="heat-d"><desc id="heat-d">${says}</desc>
${across.values.map((value, j) => markup`<text class="tick" x="${x(j) + CELL.width / 2}" y="${MARGIN.top - 8}" text-anchor="middle">${value}</text>`)}
${down.values.map((value, i) => markup`<text class="tick" x="${MARGIN.left - 8}" y="${y(i) + 17}" text-anchor="end">${value}</text>`)}
${cells.map((row, i) =>
  row.map((value, j) => {
    const bad = shade[i]?.[j];
    if (value === undefined || bad === undefined) return '';
    return markup`<rect x="${x(j)}" y="${y(i)}" width="${CELL.width - 1}" height="${CELL.height - 1}" fill="var(--c4)" fill-opacity="${Math.round(60 * (1 - bad)) / 100}" /><text style="font-size: 12px; fill: var(--text)" x="${x(j) + CELL.width / 2}" y="${y(i) + 17}" text-anchor="middle">${value.toFixed(2)}</text>`;
  }),
)}
</svg></figure>`;
}

function settingTable({ fields, settings, outcomes, by, risk }: SweepResult, indices: readonly number[], caption: string): Markup {
  const names = [...new Set([by, risk, ...SHOWN])];
  return table({
    caption,
    note: names.slice(0, 2).map((name) => `${name}: ${sweepFigures[name].says}`).join('; '),
    head: ['setting', ...fields, ...names.map((name) => `#${name}`)],
    rows: indices.map((index) => {
      const figures = figuresIn(outcomes[0]?.[index]);
      return [index + 1, ...(settings[index] ?? []), ...names.map((name) => figures?.[name])];
    }),
  });
} // prettier-ignore

function forward({ folds = [], by, fields, settings }: SweepResult): Markup {
  const number = (value: number | undefined): string | undefined => value?.toFixed(2);
  return table({
    caption: `Selected by ${by} in one window, evaluated in the next`,
    note: 'Median and best cover all settings in the evaluation window; the best is known only in hindsight.',
    head: [
      'chosen from',
      'judged from',
      'until',
      ...fields,
      '#then',
      '#judged',
      '#place',
      '#of',
      '#median',
      '#best',
    ],
    rows: folds.map(({ train, test, chosen, trained, tested, rank, of, median, best }) => [
      isoOf(train.from).slice(0, 16),
      isoOf(test.from).slice(0, 16),
      isoOf(test.until).slice(0, 16),
      ...(chosen === undefined ? fields.map(() => 'none') : (settings[chosen] ?? [])),
      number(trained),
      number(tested),
      rank,
      of,
      number(median),
      number(best),
    ]),
  });
}
