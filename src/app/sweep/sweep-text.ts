import { shades } from '../../research/sweep/heat-map.ts';
import type { HeatMap } from '../../research/sweep/heat-map.ts';
import { figureNames, sweepFigures } from '../../research/sweep/sweep-figures.ts';
import type { FigureName } from '../../research/sweep/sweep-figures.ts';
import type { Window } from '../../research/sweep/walk-forward.ts';
import { isoOf } from '../../core/time.ts';
import { countOf } from '../../core/text/count-of.ts';
import { withSeparators } from '../../core/text/with-separators.ts';
import { csvRow } from '../../journal/export.ts';
import { table } from '../cli/summary.ts';
import { errorIn, figuresIn, sweepNotes } from './sweep-result.ts';
import type { SweepResult } from './sweep-result.ts';
import type { SweepOutcome } from './sweep-run.ts';

/** Figures that the table shows in addition to the ranking figure and the risk. */
const SHOWN: readonly FigureName[] = ['execution_bps', 'cost_bps', 'fills', 'untraded', 'turnover_usd', 'value_usd']; // prettier-ignore

/** Returns the results of a sweep as text. @param top largest number of settings to list. */
export function sweepWords(result: SweepResult, top: number): readonly string[] {
  const { by, cost, risk, order, front, folds, map } = result;
  return [
    ...(folds === undefined
      ? [
          `ranked by ${by} (${sweepFigures[by].better} is better: ${sweepFigures[by].says}), each ± its standard error`,
          ...settingTable(result, order.slice(0, top)),
          ...(order.length > top ? [`… and ${order.length - top} more: --top, or results.csv of --out`] : []),
          ...leftOut(result),
          '',
          `efficient frontier of ${cost} against ${risk} (${sweepFigures[risk].says}): ${front.length === 0 ? 'no setting has both figures' : `${countOf(front.length, 'setting')} that no other setting beats in both`}`,
          ...(front.length === 0 ? [] : settingTable(result, front.slice(0, top))),
        ]
      : forwardLines(result)),
    ...(map === undefined ? [] : ['', ...mapLines(map)]),
    '',
    ...sweepNotes(result),
  ];
}

function settingTable(result: SweepResult, indices: readonly number[]): readonly string[] {
  const { fields, settings, outcomes, by, risk, front } = result;
  const names = [...new Set([by, risk, ...SHOWN])];
  const best = new Set(front);
  const rows = indices.map((index) => {
    const figures = figuresIn(outcomes[0]?.[index]);
    return [
      `${index + 1}${best.has(index) ? '*' : ''}`,
      ...(settings[index] ?? []),
      ...names.map((name) => withError(outcomes[0]?.[index], name, short(figures?.[name]))),
    ];
  });
  return table([['#', ...fields, ...names], ...rows]);
}

/** Adds the standard error to a figure that has one. */
function withError(outcome: SweepOutcome | undefined, name: FigureName, shown: string): string {
  const error = errorIn(outcome, name);
  return error === undefined || shown === '' ? shown : `${shown} ± ${short(error.toFixed(6))}`;
}

/** Returns a line about the settings that have no ranking figure, so that they are not silently dropped. */
function leftOut({ settings, order, idle, outcomes, by }: SweepResult): readonly string[] {
  const without = settings.length - order.length - idle.length;
  if (without === 0) return [];
  const refused = outcomes[0]?.find((one) => one !== undefined && 'refused' in one);
  const why = refused !== undefined && 'refused' in refused ? `; first refusal: ${refused.refused}` : '';
  return [`${without} settings have no ${by}${why}`];
}

const day = ({ from, until }: Window): string =>
  `${isoOf(from).slice(0, 16)} to ${isoOf(until).slice(0, 16)}`;

function forwardLines({ by, settings, fields, outcomes, folds = [] }: SweepResult): readonly string[] {
  const number = (value: number | undefined): string =>
    value === undefined ? '' : withSeparators(value.toFixed(2));
  const shown = (window: number, chosen: number | undefined, value: number | undefined): string =>
    withError(chosen === undefined ? undefined : outcomes[window]?.[chosen], by, number(value));
  const rows = folds.map(({ train, test, chosen, trained, tested, rank, of, median, best }, k) => [
    day(train),
    day(test),
    chosen === undefined ? 'none' : (settings[chosen] ?? []).join(' '),
    shown(k, chosen, trained),
    shown(k + 1, chosen, tested),
    rank === undefined ? '' : `${rank} of ${of}`,
    number(median),
    number(best),
  ]);
  const ahead = folds.filter(({ rank, of }) => rank !== undefined && rank <= of / 2).length;
  return [
    `selected by ${by} in one window, evaluated in the next`,
    ...table([
      ['chosen in', 'judged in', fields.join(' '), 'then', 'judged', 'place', 'median', 'best'],
      ...rows,
    ]),
    `in ${ahead} of ${folds.length} windows the selected setting was in the better half; median and best cover all settings of the window`,
  ];
}

const SHADES = '█▓▒░·';

/** Returns a heat map as text; dark is good. */
export function mapLines(map: HeatMap): readonly string[] {
  const { down, across, cells, figure, over } = map;
  const shade = shades(map);
  const cell = (value: number | undefined, row: number, column: number): string => {
    const bad = shade[row]?.[column];
    if (value === undefined || bad === undefined) return '-';
    return `${SHADES[Math.min(SHADES.length - 1, Math.floor(bad * SHADES.length))] ?? ''} ${withSeparators(value.toFixed(2))}`;
  };
  return [
    `${figure}: ${down.field} down, ${across.field} across${over.length === 0 ? '' : `, the best over ${over.join(', ')}`} (dark is good)`,
    ...table([
      ['', ...across.values],
      ...cells.map((row, i) => [down.values[i] ?? '', ...row.map((value, j) => cell(value, i, j))]),
    ]),
  ];
}

/** Shortens a figure to two decimals, or to four if it is below 1; the files contain all decimals. */
function short(value: string | undefined): string {
  if (value === undefined) return '';
  const shown = /\.\d{3,}$/u.test(value) ? Number(value).toFixed(Math.abs(Number(value)) < 1 ? 4 : 2) : value;
  return withSeparators(shown);
}

/** Returns `results.csv`, with one line for each setting and window. */
export function sweepCsv({ fields, settings, windows, outcomes, front, by }: SweepResult): string {
  const best = new Set(front);
  const head = ['setting', 'from', 'until', ...fields, ...figureNames, `${by}_error`, 'on_front', 'control', 'refused', 'journal']; // prettier-ignore
  const rows = settings.flatMap((setting, index) =>
    windows.map((window, k) => {
      const outcome = outcomes[k]?.[index];
      const figures = figuresIn(outcome);
      const ended = outcome !== undefined && 'figures' in outcome ? outcome : undefined;
      return [
        index + 1,
        isoOf(window.from),
        isoOf(window.until),
        ...setting,
        ...figureNames.map((name) => figures?.[name]),
        errorIn(outcome, by)?.toFixed(6),
        ended === undefined ? undefined : String(best.has(index)),
        ended?.control,
        outcome !== undefined && 'refused' in outcome ? outcome.refused : undefined,
        ended?.head,
      ];
    }),
  );
  return [head, ...rows].map((row) => csvRow(row)).join('');
}
