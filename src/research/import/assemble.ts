import { OperatorError } from '../../core/errors.ts';
import { instant, isoOf } from '../../core/time.ts';
import { columnNames, faultIn } from '../tape/tape.ts';
import type { Columns } from '../tape/tape.ts';
import type { Rows } from './rows.ts';

/** The rows of one or more files, combined into columns in chronological order, without duplicates. */
export interface Assembled {
  readonly columns: Columns;
  readonly barMs: number;
  /** Files whose rows were newest first. */
  readonly turnedRound: readonly string[];
  /** Unsorted files, with the number of rows that were out of order. */
  readonly sorted: readonly { readonly name: string; readonly rows: number }[];
  readonly duplicates: Duplicates;
}

export interface Duplicates {
  /** Dropped duplicate rows. */
  readonly identical: number;
  /** Rows with the same time as another row but different figures. One of them was kept. */
  readonly conflicting: number;
}

export type Keep = 'first' | 'last';

export interface AssembleOptions {
  readonly of: 'bars' | 'trades';
  /** Length of a bar, ms, if known. */
  readonly barMs: number | undefined;
  /** Which of two bars with the same time to keep. Default: conflicting bars are refused. */
  readonly keep: Keep | undefined;
  /** Whether to sort unsorted files; otherwise they are refused. */
  readonly sort: boolean;
}

/** Combines the rows of files. @throws OperatorError (`data`) with file and line of a row that a tape cannot contain. */
export function assemble(parts: readonly Rows[], options: AssembleOptions): Assembled {
  const turnedRound: string[] = [];
  const sorted: { readonly name: string; readonly rows: number }[] = [];
  const inOrder = parts.map((part) => {
    const order = orderOf(part);
    if (order.fault !== undefined && !options.sort) throw new OperatorError('data', order.fault);
    if (order.fault !== undefined) sorted.push({ name: part.name, rows: order.strays });
    if (!order.isNewestFirst) return part;
    turnedRound.push(part.name);
    return reversed(part);
  });
  const joined = join(
    inOrder
      .filter(({ lines }) => lines.length > 0)
      .toSorted((a, b) => (a.columns.times[0] ?? 0) - (b.columns.times[0] ?? 0)),
  );
  if (options.of === 'trades') refuseOverlaps(parts);
  if (joined.columns.times.length === 0)
    throw new OperatorError('data', `${parts.map(({ name }) => name).join(', ')}: no rows with prices`);
  const ordered = options.of === 'bars' || options.sort ? inTimeOrder(joined) : joined;
  const { rows, duplicates } =
    options.of === 'bars'
      ? withoutDuplicates(ordered, options.keep)
      : { rows: ordered, duplicates: { identical: 0, conflicting: 0 } };
  const barMs = options.of === 'trades' ? 0 : (options.barMs ?? usualGap(rows));
  const fault = faultIn(rows.columns, barMs);
  if (fault !== undefined) throw new OperatorError('data', `${rows.placeOf(fault.row)}: ${fault.why}`);
  return { columns: rows.columns, barMs, turnedRound, sorted, duplicates };
}

/** Rejects overlapping files, because a trade in two files would count twice, and cannot be distinguished from two equal trades. */
function refuseOverlaps(parts: readonly Rows[]): void {
  const spans = parts
    .filter(({ lines }) => lines.length > 0)
    .map(({ name, columns: { times }, lines }) => {
      const span = { name, first: Infinity, line: 0, last: -Infinity };
      for (const [row, at] of times.entries()) {
        if (at < span.first) [span.first, span.line] = [at, lines[row] ?? 0];
        if (at > span.last) span.last = at;
      }
      return span;
    })
    .toSorted((a, b) => a.first - b.first || a.last - b.last);
  for (const [n, { name, first, line }] of spans.entries()) {
    const before = spans[n - 1];
    if (before !== undefined && first < before.last)
      throw new OperatorError(
        'data',
        `${name}:${line}: its time ${timeText(first)} is before the last trade of ${before.name}, ${timeText(before.last)}, so overlapping trades would count twice; name files that do not overlap`,
      );
  }
}

interface RowOrder {
  readonly isNewestFirst: boolean;
  /** Why the rows are out of order; `undefined` if they are in order. */
  readonly fault: string | undefined;
  /** Rows that contradict the order of the rest. */
  readonly strays: number;
}

/** Returns whether times descend, and the first row that contradicts the order of the rest. */
function orderOf({ name, columns: { times }, lines }: Rows): RowOrder {
  let [rises, falls, risesAt, fallsAt] = [0, 0, 0, 0];
  for (let row = 1; row < times.length; row++) {
    const step = (times[row] ?? 0) - (times[row - 1] ?? 0);
    if (step > 0) {
      rises += 1;
      if (rises === 1) risesAt = row;
    } else if (step < 0) {
      falls += 1;
      if (falls === 1) fallsAt = row;
    }
  }
  const isNewestFirst = falls > rises;
  if (rises === 0 || falls === 0) return { isNewestFirst, fault: undefined, strays: 0 };
  const row = isNewestFirst ? risesAt : fallsAt;
  const [at, last] = [times[row] ?? 0, times[row - 1] ?? 0].map((ms) => timeText(ms));
  const [way, rest] = isNewestFirst ? ['after', 'newest first'] : ['before', 'oldest first'];
  return {
    isNewestFirst,
    fault: `${name}:${lines[row] ?? 0}: its time ${at} is ${way} the time of the previous row, ${last}, and the file is ${rest}: check why, then correct the file or add --sort`,
    strays: Math.min(rises, falls),
  };
}

const timeText = (ms: number): string => (ms < 253_402_300_800_000 ? isoOf(instant(ms)) : `${ms} ms`);

function reversed(part: Rows): Rows {
  // The columns of trades are one array under several names, so each array is reversed only once.
  const arrays = new Set([part.lines, ...columnNames.map((name) => part.columns[name])]);
  for (const array of arrays) array.reverse();
  return part;
}

interface Joined {
  readonly columns: Columns;
  readonly placeOf: (row: number) => string;
  readonly lines: Uint32Array;
  /** Index of the file of each row; `undefined` when there is only one file. */
  readonly files: Uint16Array | undefined;
  readonly names: readonly string[];
}

function placing(
  names: readonly string[],
  lines: Uint32Array,
  files: Uint16Array | undefined,
): Joined['placeOf'] {
  return (row) => `${names[files?.[row] ?? 0] ?? ''}:${lines[row] ?? 0}`;
}

function join(parts: readonly Rows[]): Joined {
  const names = parts.map(({ name }) => name);
  const [only] = parts;
  if (only !== undefined && parts.length === 1)
    return {
      columns: only.columns,
      lines: only.lines,
      files: undefined,
      names,
      placeOf: placing(names, only.lines, undefined),
    };
  const rows = parts.reduce((sum, { lines }) => sum + lines.length, 0);
  const glue = (pick: (columns: Columns) => Float64Array): Float64Array => {
    const whole = new Float64Array(rows);
    let at = 0;
    for (const { columns } of parts) {
      whole.set(pick(columns), at);
      at += pick(columns).length;
    }
    return whole;
  };
  const lines = new Uint32Array(rows);
  const files = new Uint16Array(rows);
  let at = 0;
  for (const [file, part] of parts.entries()) {
    lines.set(part.lines, at);
    files.fill(file, at, at + part.lines.length);
    at += part.lines.length;
  }
  const close = glue((columns) => columns.close);
  const isTrades = parts.every(({ columns }) => columns.open === columns.close);
  const bars = isTrades
    ? { open: close, high: close, low: close }
    : {
        open: glue((columns) => columns.open),
        high: glue((columns) => columns.high),
        low: glue((columns) => columns.low),
      };
  const columns = { times: glue((each) => each.times), ...bars, close, volume: glue((each) => each.volume) };
  return { columns, lines, files, names, placeOf: placing(names, lines, files) };
}

/** Sorts rows by time, because files may overlap (a month and the day after it), and their bars are merged. */
function inTimeOrder(joined: Joined): Joined {
  const { times } = joined.columns;
  let isSorted = true;
  for (let row = 1; row < times.length && isSorted; row++)
    isSorted = (times[row] ?? 0) >= (times[row - 1] ?? 0);
  if (isSorted) return joined;
  const order = Uint32Array.from({ length: times.length }, (_, row) => row);
  // Rows with the same time keep their order.
  order.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0));
  return picked(joined, order);
}

function picked(joined: Joined, order: Uint32Array): Joined {
  const pick = (from: Float64Array): Float64Array => {
    const to = new Float64Array(order.length);
    for (let row = 0; row < order.length; row++) to[row] = from[order[row] ?? 0] ?? Number.NaN;
    return to;
  };
  const { times, open, high, low, close, volume } = joined.columns;
  const columns = {
    times: pick(times),
    open: pick(open),
    high: pick(high),
    low: pick(low),
    close: pick(close),
    volume: pick(volume),
  };
  const lines = order.map((row) => joined.lines[row] ?? 0);
  const files =
    joined.files === undefined ? undefined : Uint16Array.from(order, (row) => joined.files?.[row] ?? 0);
  return { columns, lines, files, names: joined.names, placeOf: placing(joined.names, lines, files) };
}

function withoutDuplicates(
  joined: Joined,
  keep: Keep | undefined,
): { readonly rows: Joined; readonly duplicates: Duplicates } {
  const { times } = joined.columns;
  let [identical, conflicting] = [0, 0];
  const kept = new Uint32Array(times.length);
  let rows = 0;
  for (let row = 0; row < times.length; row++) {
    const before = kept[rows - 1] ?? -1;
    if (rows === 0 || times[row] !== times[before]) kept[rows++] = row;
    else if (isSame(joined.columns, before, row)) identical += 1;
    else {
      if (keep === undefined)
        throw new OperatorError(
          'data',
          `${joined.placeOf(row)}: its time ${timeText(times[row] ?? 0)} appears at ${joined.placeOf(before)} with other figures: correct the file, or add --keep first or --keep last`,
        );
      conflicting += 1;
      if (keep === 'last') kept[rows - 1] = row;
    }
  }
  const duplicates = { identical, conflicting };
  return { rows: rows === times.length ? joined : picked(joined, kept.subarray(0, rows)), duplicates };
}

const isSame = (columns: Columns, a: number, b: number): boolean =>
  columnNames.every((name) => Object.is(columns[name][a], columns[name][b]));

/** Gaps that are rarer than this may be damage. The length of a bar is the shortest gap that is not damage. */
const COMMON = 0.05;
const COMMON_MIN = 3;

/**
 * Returns the length of a bar, derived from the distances between rows: the usual distance, or a shorter one that is
 * common. A tape then rejects rows that are closer.
 */
function usualGap(joined: Joined): number {
  const { times } = joined.columns;
  if (times.length < 2)
    throw new OperatorError(
      'data',
      `${joined.placeOf(0)}: the length of a single bar is unknown: add --bar, such as --bar PT1M`,
    );
  const counts = new Map<number, number>();
  for (let row = 1; row < times.length; row++) {
    const gap = (times[row] ?? 0) - (times[row - 1] ?? 0);
    counts.set(gap, (counts.get(gap) ?? 0) + 1);
  }
  const gaps = [...counts].toSorted(([a, x], [b, y]) => y - x || a - b);
  const [usual] = gaps[0] ?? [0];
  const common = gaps
    .filter(([, count]) => count >= Math.max(COMMON_MIN, COMMON * (times.length - 1)))
    .map(([gap]) => gap);
  return Math.min(usual, ...common);
}
