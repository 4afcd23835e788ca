import { OperatorError } from '../../core/errors.ts';
import { instant, isoOf } from '../../core/time.ts';
import { columnNames, columnsBy, faultIn } from '../tape/tape.ts';
import type { Columns } from '../tape/tape.ts';
import type { Rows } from './rows.ts';

/** The rows of one or more files, combined into columns in chronological order, without duplicates. */
export interface Assembled {
  readonly columns: Columns;
  readonly barMs: number;
  /** Which files were reversed or sorted. */
  readonly notes: readonly string[];
  readonly duplicates: Duplicates;
}

export interface Duplicates {
  /** Dropped duplicate rows. */
  readonly identical: number;
  /** Rows with the same time as another row but different figures. One of them was kept. */
  readonly conflicting: number;
}

export type Keep = 'first' | 'last';

interface AssembleOptions {
  readonly of: 'bars' | 'trades';
  readonly barMs: number | undefined;
  /** Which of two bars with the same time to keep. Default: conflicting bars are refused. */
  readonly keep: Keep | undefined;
  /** Whether to sort unsorted files, which are otherwise refused. */
  readonly sort: boolean;
}

/** Rows of files, with the place of each. */
interface Placed {
  readonly columns: Columns;
  readonly lines: Float64Array;
  /** Number of the file of each row. */
  readonly files: Float64Array;
  readonly names: readonly string[];
}

const placeOf = ({ names, files, lines }: Placed, row: number): string =>
  `${names[files[row] ?? 0] ?? ''}:${lines[row] ?? 0}`;

/** Combines the rows of files. @throws OperatorError (`data`) with file and line of a row that a tape cannot contain. */
export function assemble(
  parts: readonly Rows[],
  { of, barMs: given, keep, sort }: AssembleOptions,
): Assembled {
  const names = parts.map(({ name }) => name);
  const notes: string[] = [];
  const inOrder = parts.map(({ name, columns, lines }, file): Placed => {
    const part = { columns, lines, files: new Float64Array(lines.length).fill(file), names };
    const { isNewestFirst, stray, strays } = orderOf(columns.times);
    if (stray !== undefined && !sort) throw new OperatorError('data', strayText(part, stray, isNewestFirst));
    if (isNewestFirst) notes.push(`${name}: newest first: reversed`);
    if (stray !== undefined) notes.push(`${name}: unsorted: sorted now; ${strays} rows were out of order`);
    const rows = isNewestFirst ? picked(part, Uint32Array.from(lines, (_, row) => lines.length - 1 - row)) : part; // prettier-ignore
    return stray === undefined ? rows : inTimeOrder(rows);
  });
  const chronological = inOrder
    .filter(({ lines }) => lines.length > 0)
    .toSorted((a, b) => firstOf(a) - firstOf(b) || lastOf(a) - lastOf(b));
  if (of === 'trades') refuseOverlaps(chronological);
  const [only, ...others] = chronological;
  if (only === undefined) throw new OperatorError('data', `${names.join(', ')}: no rows with prices`);
  // Bars of several files may overlap, such as those of a month and of the day after it.
  const joined = others.length === 0 ? only : inTimeOrder(join(chronological));
  const { rows, duplicates } =
    of === 'bars'
      ? withoutDuplicates(joined, keep)
      : { rows: joined, duplicates: { identical: 0, conflicting: 0 } };
  const barMs = of === 'trades' ? 0 : (given ?? usualGap(rows));
  const fault = faultIn(rows.columns, barMs);
  if (fault !== undefined) throw new OperatorError('data', `${placeOf(rows, fault.row)}: ${fault.why}`);
  return { columns: rows.columns, barMs, notes, duplicates };
}

const firstOf = ({ columns }: Placed): number => columns.times[0] ?? 0;
const lastOf = ({ columns }: Placed): number => columns.times.at(-1) ?? 0;

/** Rejects overlapping files, because a trade in two files would count twice, and cannot be distinguished from two equal trades. */
function refuseOverlaps(parts: readonly Placed[]): void {
  for (const [n, part] of parts.entries()) {
    const before = parts[n - 1];
    if (before !== undefined && firstOf(part) < lastOf(before))
      throw new OperatorError(
        'data',
        `${placeOf(part, 0)}: its time ${timeText(firstOf(part))} is before the last trade of ${before.names[before.files[0] ?? 0] ?? ''}, ${timeText(lastOf(before))}, so overlapping trades would count twice; name files that do not overlap`,
      );
  }
}

/** Returns whether times descend, and the first of the `strays` rows that contradict the order of the rest. */
function orderOf(times: Float64Array) {
  let [rises, falls, risesAt, fallsAt] = [0, 0, 0, 0];
  for (let row = 1; row < times.length; row++) {
    const step = (times[row] ?? 0) - (times[row - 1] ?? 0);
    if (step > 0 && rises++ === 0) risesAt = row;
    if (step < 0 && falls++ === 0) fallsAt = row;
  }
  const isNewestFirst = falls > rises;
  const strays = Math.min(rises, falls);
  return { isNewestFirst, stray: strays === 0 ? undefined : isNewestFirst ? risesAt : fallsAt, strays };
}

function strayText(part: Placed, row: number, isNewestFirst: boolean): string {
  const [at, last] = [row, row - 1].map((each) => timeText(part.columns.times[each] ?? 0));
  const [way, rest] = isNewestFirst ? ['after', 'newest first'] : ['before', 'oldest first'];
  return `${placeOf(part, row)}: its time ${at} is ${way} the time of the previous row, ${last}, and the file is ${rest}: check why, then correct the file or add --sort`;
}

const timeText = (ms: number): string => (ms < 253_402_300_800_000 ? isoOf(instant(ms)) : `${ms} ms`);

/** Returns the rows of these numbers, in their order. */
function picked({ columns, lines, files, names }: Placed, order: Uint32Array): Placed {
  const pick = (values: Float64Array): Float64Array => {
    const to = new Float64Array(order.length);
    for (let row = 0; row < order.length; row++) to[row] = values[order[row] ?? 0] ?? Number.NaN;
    return to;
  };
  return { columns: columnsBy((name) => pick(columns[name])), lines: pick(lines), files: pick(files), names };
}

function join(parts: readonly Placed[]): Placed {
  const length = parts.reduce((sum, { lines }) => sum + lines.length, 0);
  const glued = (pick: (part: Placed) => Float64Array): Float64Array => {
    const whole = new Float64Array(length);
    let at = 0;
    for (const part of parts) {
      whole.set(pick(part), at);
      at += pick(part).length;
    }
    return whole;
  };
  const columns = columnsBy((name) => glued((part) => part.columns[name]));
  const [lines, files] = [glued((part) => part.lines), glued((part) => part.files)];
  return { columns, lines, files, names: parts[0]?.names ?? [] };
}

/** Sorts rows by time. Rows with the same time keep their order. */
function inTimeOrder(rows: Placed): Placed {
  const { times } = rows.columns;
  const order = Uint32Array.from(times, (_, row) => row);
  return picked(
    rows,
    order.toSorted((a, b) => (times[a] ?? 0) - (times[b] ?? 0)),
  );
}

function withoutDuplicates(
  rows: Placed,
  keep: Keep | undefined,
): { readonly rows: Placed; readonly duplicates: Duplicates } {
  const { columns } = rows;
  let [identical, conflicting, count] = [0, 0, 0];
  const kept = new Uint32Array(columns.times.length);
  for (let row = 0; row < kept.length; row++) {
    const before = kept[count - 1] ?? -1;
    if (count === 0 || columns.times[row] !== columns.times[before]) kept[count++] = row;
    else if (columnNames.every((name) => Object.is(columns[name][before], columns[name][row])))
      identical += 1;
    else {
      if (keep === undefined)
        throw new OperatorError('data', `${placeOf(rows, row)}: its time ${timeText(columns.times[row] ?? 0)} appears at ${placeOf(rows, before)} with other figures: correct the file, or add --keep first or --keep last`); // prettier-ignore
      conflicting += 1;
      if (keep === 'last') kept[count - 1] = row;
    }
  }
  const duplicates = { identical, conflicting };
  return { rows: count === kept.length ? rows : picked(rows, kept.subarray(0, count)), duplicates };
}

/** Gaps that are rarer than this may be damage. The length of a bar is the shortest gap that is not damage. */
const COMMON = 0.05;
const COMMON_MIN = 3;

/**
 * Returns the length of a bar, derived from the distances between rows: the usual distance, or a shorter one that is
 * common. A tape then rejects rows that are closer.
 */
function usualGap(rows: Placed): number {
  const { times } = rows.columns;
  if (times.length < 2)
    throw new OperatorError(
      'data',
      `${placeOf(rows, 0)}: the length of a single bar is unknown: add --bar, such as --bar PT1M`,
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
