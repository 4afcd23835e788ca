import { markup, table } from './markup.ts';
import type { Markup } from './markup.ts';
import type { Report } from '../json/schema.ts';
import { bootstrapFigures } from '../json/schema-bootstrap.ts';
import type { BootstrapFacts } from '../json/schema-bootstrap.ts';

type Figure = BootstrapFacts['figures'][number];

const ROW = 34;
const LEFT = 190;
const WIDE = 530;

/** Confidence intervals of a backtest over resampled history; empty without a bootstrap. */
export function bootstrapSection({ bootstrap }: Report): Markup {
  if (bootstrap === undefined) return markup``;
  const { figures, notes, level, resamples, anchoring } = bootstrap;
  const percent = `${Number((level * 100).toFixed(3))} %`;
  return markup`<section aria-label="Confidence intervals"><h2>Confidence intervals</h2>
${whiskers(figures.filter(({ figure }) => figure.endsWith('_bps')))}
${table({
  caption: `Over ${resamples} resamples of history`,
  note: 'Positive costs are bad. History: the figure of the original history. Below it: the share of resamples with a lower figure, ties counted by half',
  head: ['Figure', '#History', '#Below it', '#Mean', '#Median', '#Standard error', '#5 %', '#95 %', `#${percent} from`, '#to'],
  rows: figures.map((one) => [
    nameOf(one),
    shown(one.history),
    one.history_rank === undefined ? '–' : `${(100 * one.history_rank).toFixed(0)} %`,
    ...[one.mean, one.median, one.standard_error, one.p5, one.p95, one.low, one.high].map(shown),
  ]),
})}
${anchoring === undefined ? '' : anchoringTable(anchoring)}
<ul class="plain">${notes.map((line) => markup`<li>${line}</li>`)}</ul></section>`;
} // prettier-ignore

/** How it affects the figures whether blocks keep their time of day. */
const anchoringTable = ({ resamples, figures }: NonNullable<BootstrapFacts['anchoring']>): Markup =>
  table({
    caption: 'Effect of keeping the time of day',
    note: `The first ${resamples} resamples, drawn with the same random numbers, once with blocks that keep their time of day and once with blocks that begin at any time`,
    head: ['Figure', '#Median, kept', '#any', '#5 %, kept', '#any', '#95 %, kept', '#any'],
    rows: figures.map((one) => [
      nameOf(one),
      ...(['median', 'p5', 'p95'] as const).flatMap((of) => [
        shown(one.anchored[of]),
        shown(one.unanchored[of]),
      ]),
    ]),
  });

const nameOf = ({ figure }: Pick<Figure, 'figure'>): string =>
  bootstrapFigures[figure] + (figure.endsWith('_bps') ? ', bps' : '');

function shown(value: number | undefined): string {
  if (value === undefined) return '–';
  const decimals = value !== 0 && Math.abs(value) < 1 ? 4 : 2;
  const digits = Math.abs(value)
    .toFixed(decimals)
    .replaceAll(/\B(?=(?:\d{3})+(?:\.|$))(?<!\.\d*)/gu, ',');
  return value < 0 ? `\u2212${digits}` : digits;
}

/** 5 % to 95 % as a line, the middle half as a bar, the median as a stroke, the actual history as a ring. */
function whiskers(figures: readonly Figure[]): Markup {
  if (figures.length === 0) return markup``;
  const ends = figures.flatMap(({ p5, p95, history }) => [p5, p95, history ?? 0, 0]);
  const low = ends.reduce((a, b) => Math.min(a, b));
  const reach = Math.max(ends.reduce((a, b) => Math.max(a, b)) - low, 0.01);
  const x = (value: number): number => Math.round(10 * (LEFT + ((value - low) / reach) * WIDE)) / 10;
  const title = 'Costs over resamples, basis points';
  const says = figures.map((one) => `${nameOf(one)}: 5 % ${one.p5.toFixed(2)}, median ${one.median.toFixed(2)}, 95 % ${one.p95.toFixed(2)}, history ${one.history?.toFixed(2) ?? 'unknown'}`).join('; '); // prettier-ignore
  const height = figures.length * ROW + 12;
  return markup`<figure><figcaption>${title} <small>line: 5 % to 95 %; bar: middle half; stroke: median; ring: history</small></figcaption>
<svg viewBox="0 0 880 ${height}" role="img" aria-labelledby="boot-t boot-d"><title id="boot-t">${title}</title><desc id="boot-d">${says}</desc>
<line class="grid zero" x1="${x(0)}" x2="${x(0)}" y1="2" y2="${height - 4}" />
${figures.map((one, i) => {
  const y = i * ROW + 20;
  return markup`<text class="tick" x="${LEFT - 14}" y="${y + 4}" text-anchor="end">${bootstrapFigures[one.figure]}</text><g class="c1"><line x1="${x(one.p5)}" x2="${x(one.p95)}" y1="${y}" y2="${y}" stroke="currentColor" stroke-width="1.6" /><rect x="${x(one.p25)}" y="${y - 7}" width="${Math.max(0.5, x(one.p75) - x(one.p25))}" height="14" rx="2" fill="currentColor" fill-opacity="0.25" /><line x1="${x(one.median)}" x2="${x(one.median)}" y1="${y - 9}" y2="${y + 9}" stroke="currentColor" stroke-width="2.2" /></g>${one.history === undefined ? '' : markup`<circle class="ring c2" cx="${x(one.history)}" cy="${y}" r="5" />`}<text class="tick" x="${Math.max(x(one.p95), x(one.history ?? one.p95)) + 10}" y="${y + 4}">${one.p5.toFixed(1).replace('-', '\u2212')} to ${one.p95.toFixed(1).replace('-', '\u2212')}</text>`;
})}
</svg></figure>`;
}
