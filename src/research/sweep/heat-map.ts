import { placeOf } from './edges.ts';
import { badness, sweepFigures } from './sweep-figures.ts';
import type { FigureName, SweepFigures } from './sweep-figures.ts';
import type { Setting } from './vary.ts';

/** One figure over two fields. */
export interface HeatMap {
  readonly figure: FigureName;
  readonly down: Axis;
  readonly across: Axis;
  /** Rows follow `down`, columns `across`; `undefined` if no setting has the figure. */
  readonly cells: readonly (readonly (number | undefined)[])[];
  /** Additional varied fields. Each cell shows the best figure over their values. */
  readonly over: readonly string[];
}

export interface Axis {
  readonly field: string;
  readonly values: readonly string[];
}

/** Maximum number of values per axis, so that the map stays legible. */
const AXIS_MAX = 40;

/**
 * Returns the map of the first two fields with at least two values; `undefined` if there are no such fields, or if they
 * have too many values.
 */
export function heatMapOf(
  fields: readonly string[],
  settings: readonly Setting[],
  figures: readonly (SweepFigures | undefined)[],
  figure: FigureName,
): HeatMap | undefined {
  const axes = fields.map((field, i) => ({
    field,
    i,
    values: valuesOf(settings.map((one) => one[i] ?? '')),
  }));
  const wide = axes.filter(({ values }) => values.length > 1);
  const [down, across] = wide;
  if (down === undefined || across === undefined) return undefined;
  if (down.values.length > AXIS_MAX || across.values.length > AXIS_MAX) return undefined;
  const sign = sweepFigures[figure].better === 'less' ? 1 : -1;
  const best = new Map<string, number>();
  settings.forEach((setting, index) => {
    const bad = badness(figures[index], figure);
    if (bad === undefined) return;
    const key = `${setting[down.i]}\n${setting[across.i]}`;
    best.set(key, Math.min(best.get(key) ?? Number.POSITIVE_INFINITY, bad));
  });
  const cell = (row: string, column: string): number | undefined => {
    const bad = best.get(`${row}\n${column}`);
    return bad === undefined ? undefined : sign * bad;
  };
  return {
    figure,
    down: { field: down.field, values: down.values },
    across: { field: across.field, values: across.values },
    cells: down.values.map((row) => across.values.map((column) => cell(row, column))),
    over: wide.slice(2).map(({ field }) => field),
  };
}

/** Returns the distinct values: numbers, durations and times by size, others in order of appearance. */
const valuesOf = (all: readonly string[]): readonly string[] =>
  [...new Set(all)].toSorted((a, b) => (placeOf(a) ?? 0) - (placeOf(b) ?? 0));

/** Returns the shade of each cell, from 0 for the best cell to 1 for the worst; `undefined` for empty cells. */
export function shades({ cells, figure }: HeatMap): readonly (readonly (number | undefined)[])[] {
  const sign = sweepFigures[figure].better === 'less' ? 1 : -1;
  const known = cells.flat().flatMap((cell) => (cell === undefined ? [] : [sign * cell]));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return cells.map((row) =>
    row.map((cell) => (cell === undefined ? undefined : high > low ? (sign * cell - low) / (high - low) : 0)),
  );
}
