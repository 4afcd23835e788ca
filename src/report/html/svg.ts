import { instant, isoOf } from '../../core/time.ts';
import { costClass, markup, NOTABLE_BPS } from './markup.ts';
import type { Markup, Piece } from './markup.ts';

/** A point of a chart: Unix ms or a count, and a value, never as money. */
export type Point = readonly [x: number, y: number];

export interface Line {
  readonly name: string;
  /** Number of a colour in the style sheet. */
  readonly colour: 1 | 2 | 3 | 4 | 5;
  readonly points: readonly Point[];
  /** `step`: constant until the next point. `area`: filled down to zero. */
  readonly shape?: 'line' | 'step' | 'area' | 'dashes' | undefined;
}

export interface Marks {
  readonly name: string;
  readonly colour: 1 | 2 | 3 | 4 | 5;
  readonly shape: 'up' | 'down' | 'ring';
  readonly points: readonly Point[];
}

export interface Chart {
  /** Unique in the document: prefix of the ids of its descriptions. */
  readonly id: string;
  readonly title: string;
  /** Description for readers who cannot see the chart. */
  readonly says: string;
  readonly lines?: readonly Line[] | undefined;
  readonly marks?: readonly Marks[] | undefined;
  /** Target range of the values. */
  readonly band?: { readonly name: string; readonly low: number; readonly high: number } | undefined;
  /** Instead of lines: one bar each, from zero. */
  readonly bars?: readonly Point[] | undefined;
  /** `time`: Unix ms. `count`: whole numbers. */
  readonly x: 'time' | 'count';
  /** Formats a value at the axis; `step` is the distance between two of them. */
  readonly value: (value: number, step?: number) => string;
  readonly height?: number | undefined;
  /** One of several charts side by side. */
  readonly isSmall?: boolean | undefined;
  /** The axis includes zero. */
  readonly zero?: boolean | undefined;
  /** Logarithmic axis; ignored if a value is not above zero. */
  readonly isLog?: boolean | undefined;
  /** Label of the horizontal axis. */
  readonly across?: string | undefined;
}

const WIDTH = 880;
const SMALL_WIDTH = 520;
/** Width of a wide chart on a phone. */
const NARROW_WIDTH = 440;
/** Width of the time at a tick. */
const TICK_WIDTH = 100;
const LEFT = 74;
const RIGHT = 14;
const TOP = 10;
const BOTTOM = 30;

/** A chart as inline SVG with its caption and legend: no script, no picture from elsewhere, colours of the style sheet. */
export function chart(given: Chart): Markup {
  const { title, lines = [], marks = [], bars = [], across } = given;
  const all = [...lines.flatMap(({ points }) => points), ...marks.flatMap(({ points }) => points), ...bars];
  if (all.length === 0) return markup``;
  return markup`<figure class="${given.isSmall === true ? 'small' : 'wide'}">
    <figcaption>${title}${across === undefined ? '' : markup`<small>${across}</small>`}</figcaption>
    ${given.isSmall === true ? drawn({ ...given, width: SMALL_WIDTH }, all, '') : [drawn({ ...given, width: WIDTH }, all, 'wide'), drawn({ ...given, id: `${given.id}n`, width: NARROW_WIDTH }, all, 'narrow')]}
    ${legend(given)}
  </figure>`;
}

function drawn(given: Drawing, all: readonly Point[], kind: string): Markup {
  const { id, title, says, width, lines = [], marks = [], bars = [], band, height = 240 } = given;
  const frame = frameOf(given, all);
  const { x, y } = frame;
  const zero = y(0);
  const wide = bars.length === 0 ? 0 : Math.min(40, (0.8 * (width - LEFT - RIGHT)) / bars.length);
  return markup`<svg class="${kind}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-t ${id}-d">
      <title id="${id}-t">${title}</title>
      <desc id="${id}-d">${says}</desc>
      ${axes(frame, given)}
      ${band === undefined ? '' : markup`<rect class="band" x="${LEFT}" y="${one(y(band.high))}" width="${width - LEFT - RIGHT}" height="${one(Math.max(1, y(band.low) - y(band.high)))}" />`}
      ${bars.map(([at, value]) => markup`<rect class="bar ${costClass(value)}" x="${one(x(at) - wide / 2)}" y="${one(Math.min(zero, y(value)))}" width="${one(wide)}" height="${one(Math.max(0.5, Math.abs(y(value) - zero)))}" />`)}
      ${lines.map((line) => path(line, frame))}
      ${marks.map((each) => symbols(each, frame, given))}
    </svg>`;
}

/** A chart with the width at which it is drawn. */
type Drawing = Chart & { readonly width: number };

interface Frame {
  readonly x: (at: number) => number;
  readonly y: (value: number) => number;
  readonly from: number;
  readonly to: number;
  /** Values with a horizontal line. */
  readonly levels: readonly number[];
}

function frameOf(given: Drawing, all: readonly Point[]): Frame {
  const { band, bars = [], zero = false, height = 240 } = given;
  const width = given.width;
  let [from, to] = extent(all.map(([at]) => at));
  const values = all.map(([, value]) => value);
  if (band !== undefined) values.push(band.low, band.high);
  if (zero || bars.length > 0) values.push(0);
  let [low, high] = extent(values);
  if (to === from) [from, to] = [from - 1, to + 1];
  if (bars.length > 0) [from, to] = [from - 0.6, to + 0.6];
  if (given.isLog === true && low > 0)
    return { from, to, ...logarithmic(low, high, height), x: across(from, to, width) };
  const pad = high === low ? Math.max(Math.abs(high) * 0.001, 1e-9) : (high - low) * 0.06;
  // If no value is below zero, as with a price, the axis does not go below zero either.
  low = low >= 0 && (zero || low < pad) ? 0 : low - pad;
  high += zero && high === 0 ? 0 : pad;
  return {
    from,
    to,
    levels: ticks(low, high, 5),
    x: across(from, to, width),
    y: (value) => TOP + ((high - value) / (high - low)) * (height - TOP - BOTTOM),
  };
}

const across =
  (from: number, to: number, width: number): Frame['x'] =>
  (at) =>
    LEFT + ((at - from) / (to - from)) * (width - LEFT - RIGHT);

/** Beyond this ratio, levels roughly double. */
const LOG_LEVELS_FROM = 5;

function logarithmic(lowest: number, highest: number, height: number): Pick<Frame, 'levels' | 'y'> {
  const pad = Math.max((highest / lowest) ** 0.06, 1.001);
  const [low, high] = [lowest / pad, highest * pad];
  const span = Math.log(high / low);
  const powers = Array.from(
    { length: Math.ceil(Math.log10(high / low)) + 1 },
    (_, i) => 10 ** (Math.floor(Math.log10(low)) + i),
  );
  const few = high / low > 300 ? [1] : high / low > 30 ? [1, 3] : [1, 2, 5];
  const levels = powers
    .flatMap((power) => few.map((by) => by * power))
    .filter((level) => level >= low && level <= high);
  return {
    levels: high / low > LOG_LEVELS_FROM ? levels : ticks(low, high, 5),
    y: (value) => TOP + (Math.log(high / value) / span) * (height - TOP - BOTTOM),
  };
}

/** Smallest and largest, because a chart may have more points than a call has arguments. */
function extent(values: readonly number[]): [low: number, high: number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

function axes({ x, y, from, to, levels }: Frame, given: Drawing): Piece {
  const { x: kind, value, height = 240 } = given;
  const right = given.width - RIGHT;
  const step = (levels[1] ?? 0) - (levels[0] ?? 0);
  const most = Math.floor((right - LEFT) / TICK_WIDTH);
  const times = kind === 'time' ? timeTicks(from, to, most) : ticks(from, to, most).filter(Number.isInteger);
  const label = kind === 'time' ? timeLabel(from, to) : String;
  const end = height - BOTTOM;
  const anchor = (at: number): string => (x(at) > right - TICK_WIDTH / 4 ? 'end' : 'middle');
  return [
    levels.map(
      (at) =>
        markup`<line class="${at === 0 ? 'grid zero' : 'grid'}" x1="${LEFT}" x2="${right}" y1="${one(y(at))}" y2="${one(y(at))}" /><text class="tick" x="${LEFT - 8}" y="${one(y(at) + 4)}" text-anchor="end">${value(at, step)}</text>`,
    ),
    times.map(
      (at) =>
        markup`<line class="grid" x1="${one(x(at))}" x2="${one(x(at))}" y1="${end}" y2="${end + 4}" /><text class="tick" x="${one(x(at))}" y="${end + 18}" text-anchor="${anchor(at)}">${label(at)}</text>`,
    ),
  ];
}

function path({ shape = 'line', colour, points }: Line, { x, y }: Frame): Markup {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return markup``;
  let d = `M${one(x(first[0]))} ${one(y(first[1]))}`;
  for (const [at, value] of thinned(points.slice(1), x))
    d += shape === 'step' ? `H${one(x(at))}V${one(y(value))}` : `L${one(x(at))} ${one(y(value))}`;
  if (shape !== 'area') return markup`<path class="line c${colour} ${shape}" d="${d}" />`;
  const floor = one(y(0));
  return markup`<path class="area c${colour}" d="${d}V${floor}H${one(x(first[0]))}Z" /><path class="line c${colour}" d="${d}" />`;
}

/** The visible points of each column of the picture, two units wide: the first, the lowest, the highest, the last. */
function thinned(points: readonly Point[], x: (at: number) => number): readonly Point[] {
  if (points.length <= WIDTH) return points;
  const seen: Point[] = [];
  for (const all of Map.groupBy(points, ([at]) => Math.round(x(at) / 2)).values()) {
    const [first, last] = [all[0], all.at(-1)];
    if (first === undefined || last === undefined) continue;
    const lowest = all.reduce((a, b) => (b[1] < a[1] ? b : a));
    const highest = all.reduce((a, b) => (b[1] > a[1] ? b : a));
    const ofColumn = new Set([first, lowest, highest, last]);
    seen.push(...[...ofColumn].toSorted((a, b) => a[0] - b[0]));
  }
  return seen;
}

/**
 * With more marks than this, they would hide the line: those that point up are then drawn at the bottom, those that
 * point down at the top.
 */
const MARKS_ON_LINE_MAX = 60;
const isAside = ({ shape }: Marks, all: readonly Marks[]): boolean =>
  shape !== 'ring' && all.reduce((sum, { points }) => sum + points.length, 0) > MARKS_ON_LINE_MAX;

/** All marks of one kind in one path, so that a thousand take only a few kilobytes. */
function symbols(one: Marks, { x, y }: Frame, { marks = [], height = 240 }: Chart): Markup {
  const { shape, colour, points } = one;
  const reach = points.length > 300 ? 2.5 : points.length > MARKS_ON_LINE_MAX ? 3.5 : 5;
  const aside = shape === 'up' ? height - BOTTOM - 4 : TOP + 4;
  const isBeside = isAside(one, marks);
  const at = points.map(([when, value]): Point => [x(when), isBeside ? aside : y(value)]);
  return symbol(shape, colour, { at, reach });
}

function symbol(
  shape: Marks['shape'],
  colour: number,
  { at, reach }: { readonly at: readonly Point[]; readonly reach: number },
): Markup {
  const round = shape === 'ring';
  const wide = 2 * reach;
  const tip = shape === 'up' ? -1.2 * reach : 1.2 * reach;
  const d = at.map(([x, y]) =>
    round
      ? `M${one(x - reach)} ${one(y)}a${reach} ${reach} 0 1 0 ${wide} 0a${reach} ${reach} 0 1 0 ${-wide} 0`
      : `M${one(x)} ${one(y + tip)}l${reach} ${one(-1.5 * tip)}h${-wide}z`,
  );
  return markup`<path class="${round ? 'ring' : 'mark'}${reach < 4 ? ' many' : ''} c${colour}" d="${d.join('')}" />`;
}

const BAR_KINDS = [
  { kind: 'bad', name: `cost above ${NOTABLE_BPS} bps` },
  { kind: 'small', name: `within ${NOTABLE_BPS} bps` },
  { kind: 'good', name: `gain above ${NOTABLE_BPS} bps` },
] as const;

function legend({ lines = [], marks = [], band, bars = [], isSmall }: Chart): Markup {
  const entries = [
    ...lines.map(({ name, colour, shape }) => ({ name, mark: markup`<line class="line c${colour} ${shape === 'dashes' ? shape : ''}" x1="1" x2="21" y1="7" y2="7" />` })), // prettier-ignore
    ...marks.map((each) => ({
      name: isAside(each, marks)
        ? `${each.name} (${each.shape === 'up' ? 'at the foot' : 'at the head'})`
        : each.name,
      mark: symbol(each.shape, each.colour, { at: [[11, 7]], reach: each.shape === 'ring' ? 4 : 5 }),
    })),
    ...(band === undefined ? [] : [{ name: band.name, mark: markup`<rect class="band" x="1" y="2" width="20" height="10" />` }]), // prettier-ignore
    ...BAR_KINDS.filter(() => isSmall !== true)
      .filter(({ kind }) => bars.some(([, value]) => value !== 0 && costClass(value) === kind))
      .map(({ kind, name }) => ({
        name,
        mark: markup`<rect class="bar ${kind}" x="5" y="2" width="12" height="10" />`,
      })),
  ];
  if (entries.length === 0) return markup``;
  return markup`<ul class="legend" aria-hidden="true">
    ${entries.map(({ name, mark }) => markup`<li><svg viewBox="0 0 22 14" width="22" height="14">${mark}</svg>${name}</li>`)}
  </ul>`;
}

/** One decimal, because a tenth of a unit is not visible. */
export const one = (value: number): number => Math.round(value * 10) / 10;

/** About `count` round values (1, 2 or 5 times a power of ten apart) between two values. */
export function ticks(low: number, high: number, count: number): readonly number[] {
  const rough = (high - low) / count;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((by) => by * power).find((each) => each >= rough) ?? rough;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800].map((each) => each * SECOND);
const LONG_STEPS = [1, 2, 3, 6, 12, 24, 48, 120, 240].map((each) => each * HOUR);

/** At most about `most` round times (UTC) between two instants; starts of months and years for long periods. */
function timeTicks(from: number, to: number, most: number): readonly number[] {
  const step = [...STEPS, ...LONG_STEPS].find((each) => (to - from) / each <= most);
  if (step !== undefined)
    return Array.from({ length: 10 }, (_, i) => (Math.ceil(from / step) + i) * step).filter((at) => at <= to);
  const months =
    [1, 2, 3, 6, 12, 24, 60, 120].find((each) => (to - from) / (each * 30.4 * DAY) <= most) ?? 240;
  const start = new Date(from);
  const all: number[] = [];
  for (let month = 0; all.length < 10; month += months) {
    const first = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months;
    const at = Date.UTC(1970, first + month - 1970 * 12);
    if (at > to) break;
    if (at >= from) all.push(at);
  }
  return all;
}

function timeLabel(from: number, to: number): (at: number) => string {
  const [start, end] = to - from > 12 * 30 * DAY ? [0, 7] : to - from > 4 * DAY ? [5, 10] : to - from > 10 * 60 * SECOND ? [11, 16] : [11, 19]; // prettier-ignore
  return (at) => {
    const iso = isoOf(instant(at));
    // The start of a day shows its date instead of midnight.
    return end > 11 && at % DAY === 0 ? iso.slice(5, 10) : iso.slice(start, end);
  };
}
