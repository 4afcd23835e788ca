import { add, approximate, fraction, NO_MONEY, price } from '../core/money.ts';
import type { Money } from '../core/money.ts';
import type { Figures, Group } from './figures.ts';
import { grouped, markup } from './markup.ts';
import type { Markup } from './markup.ts';
import type { Report } from './schema.ts';
import type { SliceFigures } from './shortfall.ts';
import { chart } from './svg.ts';
import type { Marks, Point } from './svg.ts';

/** What the charts of a report show. Each has a description in words, and a table near it has its figures. */

const LINE_POINTS = 800;
const MARKS_MAX = 1_500;
const BARS_MAX = 120;
/** A price chart reaches so far beyond what was traded, as a share of it. */
const MARGIN = 0.04;

const short = (value: number): string => {
  const size = Math.abs(value);
  const text = size >= 1e6 ? `${grouped(String(value / 1e6), 2)} M` : grouped(value.toFixed(8), size >= 1_000 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 6); // prettier-ignore
  return text;
};
const bps = (value: number): string => value.toFixed(Math.abs(value) < 10 ? 1 : 0).replace('-', '\u2212');
const percents = (value: number): string =>
  `${(100 * value).toFixed(Math.abs(value) < 0.1 ? 1 : 0).replace('-', '\u2212')} %`;

/** The parts of the shortfall as horizontal bars from zero, in basis points. */
export function costChart({ quote, costs }: Report['totals'][number], id: string): Markup {
  const { bps: parts } = costs;
  if (parts === undefined) return markup``;
  const names = ['delay', 'trading', 'opportunity', 'fees', 'total'] as const;
  const values = names.map((name) => Number(parts[name]));
  const reach = Math.max(0.01, ...values.map(Math.abs));
  const [left, right] = [values.some((v) => v < 0) ? reach : 0, values.some((v) => v > 0) ? reach : 0];
  const x = (value: number): number =>
    Math.round(10 * (150 + ((value + left) / Math.max(left + right, 0.01)) * 600)) / 10;
  const title = `Implementation shortfall in basis points, ${quote}`;
  const says = names
    .map((name, i) => `${name === 'total' ? 'in all' : name} ${values[i]?.toFixed(2) ?? ''}`)
    .join(', ');
  return markup`<figure><figcaption>${title}</figcaption>
<svg viewBox="0 0 880 ${names.length * 30 + 10}" role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${says}</desc>
${names.map((name, i) => {
  const value = values[i] ?? 0;
  const [y, from, to] = [i * 30 + 6, Math.min(x(0), x(value)), Math.max(x(0), x(value))];
  return markup`<text class="tick" x="140" y="${y + 14}" text-anchor="end">${name === 'total' ? 'shortfall' : name}</text><rect class="bar ${value > 0 ? 'bad' : 'good'}" x="${from}" y="${y}" width="${Math.max(0.5, to - from)}" height="20" rx="2" /><text class="tick" x="${to + 8}" y="${y + 14}">${value.toFixed(2).replace('-', '\u2212')}</text>`;
})}
<line class="grid zero" x1="${x(0)}" x2="${x(0)}" y1="2" y2="${names.length * 30 + 4}" /></svg></figure>`;
}

/** Cost of each slice in the order of time, basis points of its value at arrival; more than fit are drawn together. */
export function sliceCharts({ strategy, pair, side, parents }: Group, id: string): Markup {
  const slices = parents
    .flatMap((parent) => parent.slices)
    .filter(({ cost, paper }) => cost !== undefined && paper?.isZero() === false)
    .toSorted((a, b) => a.facts.at - b.facts.at);
  if (slices.length < 2) return markup``;
  const each = Math.ceil(slices.length / BARS_MAX);
  const bars = Array.from({ length: Math.ceil(slices.length / each) }, (_, i): Point => [i + 1, bpsOfSlices(slices.slice(i * each, (i + 1) * each))]); // prettier-ignore
  const worst = bars.reduce((a, b) => (b[1] > a[1] ? b : a));
  const best = bars.reduce((a, b) => (b[1] < a[1] ? b : a));
  return chart({
    id,
    title: `Cost by slice: ${strategy}, ${side} ${pair}, basis points against arrival`,
    says: `${slices.length} slices${each > 1 ? `, ${each} to a bar` : ''}; most ${worst[1].toFixed(2)} at ${worst[0]}, least ${best[1].toFixed(2)} at ${best[0]}`,
    bars,
    x: 'count',
    value: bps,
    height: 200,
    across: each > 1 ? `bars of ${each} slices, in the order of time` : 'slices, in the order of time',
  });
}

function bpsOfSlices(slices: readonly SliceFigures[]): number {
  const sum = (of: (slice: SliceFigures) => Money | undefined): Money =>
    slices.reduce((total, slice) => add(total, of(slice) ?? NO_MONEY), NO_MONEY);
  return (
    10_000 *
    approximate(
      fraction(
        sum(({ cost }) => cost),
        sum(({ paper }) => paper),
      ),
    )
  );
}

/** The price of a pair while it was traded, with every fill, and every slot of which nothing came. */
export function priceChart(pair: string, { parents, prices }: Figures, id: string): Markup {
  const own = parents.filter(({ facts }) => facts.pair === pair);
  const fills = own.flatMap(({ facts }) => facts.fills.map(({ record }) => record));
  const slots = own.flatMap(({ slices }) => slices.filter(({ traded, facts }) => traded.isZero() && facts.end !== undefined)); // prettier-ignore
  const times = [...own.flatMap(({ facts, endedAt }) => [facts.begunAt, endedAt]), ...fills.map(({ executed_at: at }) => at)]; // prettier-ignore
  if (times.length === 0) return markup``;
  const first = times.reduce<number>((a, b) => Math.min(a, b), Infinity);
  const last = times.reduce<number>((a, b) => Math.max(a, b), 0);
  const margin = Math.max(1_000, (last - first) * MARGIN);
  const points = prices.line(pair, { from: first - margin, to: last + margin, points: LINE_POINTS });
  const marksOf = (side: 'buy' | 'sell'): Point[] =>
    thinned(fills.filter((fill) => fill.side === side)).map((fill) => [
      fill.executed_at,
      approximate(price(fill.price)),
    ]);
  const missed = thinned(slots).flatMap(({ facts, decision }): Point[] => decision === undefined ? [] : [[facts.at, approximate(decision)]]); // prettier-ignore
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
    marks: marks.filter((one) => one.points.length > 0),
    x: 'time',
    value: short,
    height: 280,
  });
}

function thinned<Item>(items: readonly Item[]): readonly Item[] {
  const step = Math.ceil(items.length / MARKS_MAX);
  return step <= 1 ? items : items.filter((_, i) => i % step === 0);
}

/** Value, weights against their bands, and how far below its peak. */
export function portfolioCharts(portfolio: Report['portfolios'][number], id: string): Markup {
  const { course, cash, targets, drift_type: type, drift_threshold: threshold } = portfolio;
  if (course === undefined) return markup``;
  const { points } = course;
  const line = (of: (point: (typeof points)[number]) => number): Point[] =>
    points.map((point) => [Date.parse(point.at), of(point)]);
  const values = points.map(({ value }) => value);
  const currencies = [...new Set([...Object.keys(targets), cash])];
  const bandOf = (currency: string): { name: string; low: number; high: number } => {
    const target = Number(targets[currency] ?? 0);
    const away = Number(threshold) * (type === 'relative' && target > 0 ? target : 1);
    return { name: 'band', low: Math.max(0, target - away), high: target + away };
  };
  return markup`${chart({
    id: `${id}v`,
    title: `Value, ${cash}`,
    says: `From ${short(values[0] ?? 0)} to ${short(values.at(-1) ?? 0)}; return ${percents(course.return)}`,
    lines: [{ name: 'value', colour: 1, points: line(({ value }) => value) }],
    x: 'time',
    value: short,
  })}${currencies.map((currency, i) => {
    const weights = points.map(({ weights: all }) => all[currency] ?? 0);
    const band = bandOf(currency);
    return chart({
      id: `${id}w${i}`,
      title: `Weight of ${currency}`,
      says: `Target ${percents(Number(targets[currency] ?? 0))}, band ${percents(band.low)} to ${percents(band.high)}; between ${percents(weights.reduce((a, b) => Math.min(a, b), 1))} and ${percents(weights.reduce((a, b) => Math.max(a, b), 0))}`,
      lines: [
        { name: 'weight', colour: 1, points: line(({ weights: all }) => all[currency] ?? 0) },
        { name: 'target', colour: 5, shape: 'dashes', points: [points[0], points.at(-1)].flatMap((point): Point[] => point === undefined ? [] : [[Date.parse(point.at), Number(targets[currency] ?? 0)]]) },
      ],
      band,
      x: 'time',
      value: percents,
      height: 150,
    });
  })}${chart({
    id: `${id}d`,
    title: 'Below its peak',
    says: `Largest fall ${percents(course.drawdown)}`,
    lines: [{ name: 'drawdown', colour: 2, shape: 'area', points: line(({ drawdown }) => drawdown) }],
    x: 'time',
    value: percents,
    zero: true,
    height: 150,
  })}`; // prettier-ignore
}
