import { approximate } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import { fixed } from '../figures/digits.ts';
import type { SliceFacts } from '../figures/facts.ts';
import type { Figures, Group } from '../figures/figures.ts';
import { costClass, grouped, markup } from './markup.ts';
import type { Markup } from './markup.ts';
import type { Report } from '../json/schema.ts';
import type { ParentFigures } from '../figures/shortfall.ts';
import { chart, one } from './svg.ts';
import type { Marks, Point } from './svg.ts';

/** The charts of a report. Each chart has a text description, and a table near it contains its figures. */

/** Maximum number of groups (strategy, pair and side) whose slices are drawn. */
const GROUPS_MAX = 12;
const LINE_POINTS = 800;
const MARKS_MAX = 1_000;
const BARS_MAX = 120;
/** Margin of a price chart before and after the trading, as a share of its duration. */
const MARGIN = 0.04;

/** Decimals needed to distinguish values that are `step` apart. */
const decimalsOf = (step: number): number => Math.min(8, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));

/** An amount or a price: on an axis with the decimals of its step, in text with a few significant digits. */
export const short = (value: number, step?: number): string => {
  const reach = Math.abs(value);
  if (step !== undefined && step > 0) {
    if (step >= 1e5) return `${grouped(String(value / 1e6), decimalsOf(step / 1e6))} M`;
    return grouped(value.toFixed(8), decimalsOf(step));
  }
  if (reach >= 1e6) return `${grouped(String(value / 1e6), 2)} M`;
  return grouped(
    value.toFixed(8),
    reach >= 1_000 || reach === 0 ? 0 : reach >= 10 ? 1 : reach >= 0.1 ? 2 : 6,
  );
};
const bps = (value: number, step = 0.1): string => grouped(value.toFixed(8), decimalsOf(step));
export const percents = (value: number, step?: number): string =>
  `${fixed(100 * value, step === undefined ? (Math.abs(value) < 0.1 ? 1 : 0) : decimalsOf(100 * step)).replace('-', '\u2212')} %`;

const PARTS = [
  { part: 'delay', name: 'delay' },
  { part: 'trading', name: 'trading' },
  { part: 'timing', name: 'of it timing' },
  { part: 'execution', name: 'of it execution' },
  { part: 'opportunity', name: 'opportunity' },
  { part: 'fees', name: 'fees' },
  { part: 'total', name: 'shortfall' },
] as const;
const ROW = 28;

/** The parts of the shortfall as horizontal bars from zero, in basis points. */
export function costChart({ quote, costs }: Report['totals'][number], id: string): Markup {
  const { bps: parts } = costs;
  if (parts === undefined) return markup``;
  const rows = PARTS.map(({ part, name }) => ({ name, value: Number(parts[part]) }));
  const lowest = Math.min(0, ...rows.map(({ value }) => value));
  const highest = Math.max(0, ...rows.map(({ value }) => value));
  const span = Math.max(highest - lowest, 0.01);
  // Space for the label beyond the end of the bar, on its side.
  const [left, right] = [lowest < 0 ? 240 : 130, highest > 0 ? 550 : 560];
  const x = (value: number): number => one(left + ((value - lowest) / span) * (right - left));
  const title = `Implementation shortfall in basis points, ${quote}`;
  const says = rows.map(({ name, value }) => `${name} ${value.toFixed(2)}`).join(', ');
  return markup`<figure class="small cost"><figcaption>${title}</figcaption>
<svg viewBox="0 0 620 ${rows.length * ROW + 10}" role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${says}</desc>
${rows.map(({ name, value }, i) => {
  const [y, from, to] = [i * ROW + 5, Math.min(x(0), x(value)), Math.max(x(0), x(value))];
  const figure = value < 0 ? markup`x="${from - 8}" text-anchor="end"` : markup`x="${to + 8}"`;
  return markup`<text class="tick" x="120" y="${y + 14}" text-anchor="end">${name}</text><rect class="bar ${costClass(value)}${name.startsWith('of it') ? ' part' : ''}" x="${from}" y="${y}" width="${one(to - from)}" height="19" rx="2" /><text class="tick" ${figure} y="${y + 14}">${bps(value, 0.01)}</text>`;
})}
<line class="grid zero" x1="${x(0)}" x2="${x(0)}" y1="2" y2="${rows.length * ROW + 4}" /></svg></figure>`;
}

/** Side by side if there are more than two charts. */
export const several = (charts: readonly Markup[]): Markup => {
  const drawn = charts.filter(({ text }) => text !== '');
  return drawn.length > 2 ? markup`<div class="several">${drawn}</div>` : markup`${drawn}`;
};

/** Cost of each slice in chronological order. If prices moved in between, also the cost of the quotes alone. */
export function costsBySlice(groups: readonly Group[]): Markup {
  const drawn = new Set(
    groups.toSorted((a, b) => b.row.fills.fills - a.row.fills.fills).slice(0, GROUPS_MAX),
  );
  const shown = groups.filter((group) => drawn.has(group));
  const isSmall = shown.length > 2;
  const charts = shown.flatMap((group, i) => sliceCharts(group, `s${i}`, isSmall));
  const left = groups.length - shown.length;
  return markup`${isSmall ? several(charts) : charts}${left === 0 ? '' : markup`<p class="soft">${left} more with fewer fills are in report.json.</p>`}`;
}

/** A cost and the value that its basis points refer to, as numbers for drawing. Exact values are in `report.json`. */
type Cost = readonly [cost: number, of: number];
const costOf = (cost: Money, of: Money): Cost => [approximate(cost), approximate(of)];

function sliceCharts({ row, parents }: Group, id: string, isSmall: boolean): readonly Markup[] {
  const slices = parents
    .flatMap((parent) => parent.slices)
    .toSorted((a, b) => a.facts.at - b.facts.at)
    .flatMap(({ traded, cost, paper, execution = cost, atDecision = paper }) =>
      traded.isZero() || !cost || !paper || !execution || !atDecision
        ? []
        : [
            {
              arrival: costOf(cost, paper),
              decision: costOf(execution, atDecision),
              isMoved: !paper.eq(atDecision),
            },
          ],
    );
  if (slices.length < 2) return [];
  const title = `Cost by slice: ${row.strategy}, ${row.side} ${row.pair}`;
  const ofArrival = slices.map(({ arrival }) => arrival);
  const ofDecision = slices.map(({ decision }) => decision);
  return [
    barsOf(ofArrival, { id, title, isSmall, against: 'against arrival' }),
    ...(slices.some(({ isMoved }) => isMoved)
      ? [barsOf(ofDecision, { id: `${id}e`, title: `${title}, execution alone`, isSmall, against: 'against the price at each decision' })]
      : []),
  ]; // prettier-ignore
}

interface Drawn {
  readonly id: string;
  readonly title: string;
  readonly isSmall: boolean;
  /** Benchmark of the cost. */
  readonly against: string;
}

/** Basis points; if there are more bars than fit, neighbours are combined. */
function barsOf(costs: readonly Cost[], { id, title, isSmall, against }: Drawn): Markup {
  const each = Math.ceil(costs.length / (isSmall ? BARS_MAX / 2 : BARS_MAX));
  const bars = Array.from({ length: Math.ceil(costs.length / each) }, (_, i): Point => {
    const own = costs.slice(i * each, (i + 1) * each);
    const [part, whole] = own.reduce(([cost, of], [a, b]): Cost => [cost + a, of + b], [0, 0]);
    return [i + 1, whole === 0 ? 0 : (10_000 * part) / whole];
  });
  const worst = bars.reduce((a, b) => (b[1] > a[1] ? b : a));
  const best = bars.reduce((a, b) => (b[1] < a[1] ? b : a));
  return chart({
    id,
    title,
    says: `${costs.length} slices${each > 1 ? `, ${each} to a bar` : ''}; highest ${worst[1].toFixed(2)} at ${worst[0]}, lowest ${best[1].toFixed(2)} at ${best[0]}`,
    bars,
    x: 'count',
    value: bps,
    height: isSmall ? 170 : 200,
    isSmall,
    across: `basis points ${against}; ${each > 1 ? `bars of ${each} slices` : 'slices'} in the order of time`,
  });
}

/** The price of a pair during its trading, with every fill and every slot without a trade. */
export function priceChart(
  pair: string,
  { parents, prices }: Figures,
  { id, isSmall }: { readonly id: string; readonly isSmall: boolean },
): Markup {
  const own = parents.filter(({ facts }) => facts.pair === pair);
  const fills = own.flatMap(({ facts }) => facts.fills.map(({ record }) => record));
  const slots = own.flatMap(untradedSlots);
  const times = [...own.flatMap(({ facts, endedAt }) => [facts.begunAt, endedAt]), ...fills.map(({ executed_at: at }) => at)]; // prettier-ignore
  if (times.length === 0) return markup``;
  const first = times.reduce<number>((a, b) => Math.min(a, b), Infinity);
  const last = times.reduce<number>((a, b) => Math.max(a, b), 0);
  const margin = Math.max(1_000, (last - first) * MARGIN);
  const points = prices.line(pair, { from: first - margin, to: last + margin, points: LINE_POINTS });
  const marksOf = (side: 'buy' | 'sell'): Point[] =>
    thinned(fills.filter((fill) => fill.side === side)).map((fill) => [fill.executed_at, Number(fill.price)]);
  const missed = thinned(slots).flatMap(({ at, intent: { decision_price: decided } }): Point[] => decided === undefined ? [] : [[at, Number(decided)]]); // prettier-ignore
  const marks: Marks[] = [
    { name: 'bought', colour: 4, shape: 'up', points: marksOf('buy') },
    { name: 'sold', colour: 2, shape: 'down', points: marksOf('sell') },
    { name: 'slice without a trade', colour: 5, shape: 'ring', points: missed },
  ];
  const lows = points.map(([, value]) => value);
  return chart({
    id,
    title: `${pair}: price and fills${fills.length > MARKS_MAX ? `, every ${Math.ceil(fills.length / MARKS_MAX)}th fill` : ''}`,
    says: `${fills.length} fills; the price lies between ${short(lows.reduce((a, b) => Math.min(a, b), Infinity))} and ${short(lows.reduce((a, b) => Math.max(a, b), 0))}; ${slots.length} slices did not trade`,
    lines: [
      { name: prices.tape(pair) === undefined ? 'reference price of the desk' : 'price', colour: 1, points },
    ],
    marks: marks.filter(({ points: all }) => all.length > 0),
    x: 'time',
    value: short,
    height: isSmall ? 220 : 280,
    isSmall,
  });
}

/** Slices that ended without a trade. */
function untradedSlots({ facts: { slices, fills } }: ParentFigures): readonly SliceFacts[] {
  if (fills.length > 0 && slices.size === 1) return [];
  const traded = new Set(fills.map(({ record }) => record.slice));
  return [...slices.values()].filter(({ slice, end }) => end !== undefined && !traded.has(slice));
}

function thinned<Item>(items: readonly Item[]): readonly Item[] {
  const step = Math.ceil(items.length / MARKS_MAX);
  return step <= 1 ? items : items.filter((_, i) => i % step === 0);
}
