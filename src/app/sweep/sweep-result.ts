import { settingsOf } from '../../research/run/model.ts';
import { edgesOf } from '../../research/sweep/edges.ts';
import type { Edge } from '../../research/sweep/edges.ts';
import { standardError } from '../../research/sweep/standard-error.ts';
import { figureNames, isIdle, paretoFront, ranked, sweepFigures } from '../../research/sweep/sweep-figures.ts'; // prettier-ignore
import type { FigureName, Spreads, SweepFigures } from '../../research/sweep/sweep-figures.ts';
import { verdictOf } from './verdict.ts';
import type { Verdict } from './verdict.ts';
import { heatMapOf } from '../../research/sweep/heat-map.ts';
import type { HeatMap } from '../../research/sweep/heat-map.ts';
import type { Setting } from '../../research/sweep/vary.ts';
import { walkForward } from '../../research/sweep/walk-forward.ts';
import type { Fold, Window } from '../../research/sweep/walk-forward.ts';
import { knownAt } from '../../research/tape/tape.ts';
import { withSeparators } from '../../core/text/with-separators.ts';
import { isoOf } from '../../core/time.ts';
import type { BacktestInput } from '../research/backtest-input.ts';
import type { NamedModel } from '../config/model-file.ts';
import type { SweepOutcome } from './sweep-run.ts';
import { version } from '../version.ts';

/** All results of a sweep. */
export interface SweepResult {
  readonly fields: readonly string[];
  readonly settings: readonly Setting[];
  readonly windows: readonly Window[];
  /** For each window, the outcome of each setting; `undefined` if it was not run. */
  readonly outcomes: readonly (readonly (SweepOutcome | undefined)[])[];
  readonly by: FigureName;
  /** The figure plotted against risk: `by`, unless `by` is the risk or contains it. */
  readonly cost: FigureName;
  readonly risk: FigureName;
  /** Indices of settings in the only window, best first; empty for a walk-forward, which evaluates choices instead. */
  readonly order: readonly number[];
  readonly front: readonly number[];
  /** Settings whose two figures equal those of a setting in `front`, by that setting. They are not in `front` themselves. */
  readonly equal: ReadonlyMap<number, readonly number[]>;
  readonly edges: readonly Edge[];
  /** Settings that traded nothing in any window. They are listed separately, because none of them is better than another. */
  readonly idle: readonly number[];
  readonly map: HeatMap | undefined;
  /** What the figures say about the best setting; `undefined` if fewer than two can be compared. */
  readonly verdict: Verdict | undefined;
  readonly folds: readonly Fold[] | undefined;
  readonly asked: number;
  readonly repeated: number;
  readonly invalid: number;
  /** Additional runs in the folder, with other settings or windows on the same history. */
  readonly further: number;
}

export interface Swept extends Pick<
  SweepResult,
  'fields' | 'settings' | 'windows' | 'outcomes' | 'repeated' | 'invalid' | 'further'
> {
  /**
   * Default for portfolios: trading cost and tracking error combined in one figure, because cost alone is lowest if
   * nothing trades. Otherwise the default is the execution cost, in which moves of the market do not count; but all cost if a limit
   * price decides what trades.
   */
  readonly by: FigureName | undefined;
  /** Whether a strategy has a limit price. */
  readonly isLimited: boolean;
  /** Default: the tracking error for portfolios, otherwise the deviation of slice prices. */
  readonly risk: FigureName | undefined;
  readonly isForward: boolean;
}

export const figuresIn = (outcome: SweepOutcome | undefined): SweepFigures | undefined =>
  outcome !== undefined && 'figures' in outcome ? outcome.figures : undefined;

const spreadsIn = (outcome: SweepOutcome | undefined): Spreads =>
  outcome !== undefined && 'spreads' in outcome ? outcome.spreads : {};

/** Returns the standard error of a figure of a run, in its unit; `undefined` if one run has too few observations of it. */
export function errorIn(outcome: SweepOutcome | undefined, name: FigureName): number | undefined {
  const spread = spreadsIn(outcome)[name];
  return spread && standardError(spread);
}

export function sweepResultOf(swept: Swept): SweepResult {
  const { fields, settings, windows, outcomes, isForward, repeated, invalid, further } = swept;
  const figures = outcomes.map((window) => window.map(figuresIn));
  const all = isForward ? [] : (figures[0] ?? []);
  const isPortfolio = figures.flat().some((one) => one?.tracking_error !== undefined);
  const usual = isPortfolio ? 'cost_usd' : swept.isLimited ? 'cost_bps' : 'execution_bps';
  const by = swept.by ?? (isPortfolio ? 'portfolio_bps' : usual);
  const risk = swept.risk ?? (isPortfolio ? 'tracking_error' : 'risk_bps');
  // The default figure for portfolios already contains the risk.
  const cost = by === risk || by === 'portfolio_bps' ? usual : by;
  const order = ranked(all, by);
  const verdict = verdictOf({ figures: isForward ? figures.slice(1) : figures, spreads: outcomes[isForward ? 1 : 0]?.map((one) => spreadsIn(one)[by]) ?? [], by }); // prettier-ignore
  const front = paretoFront(all, [cost, risk]);
  return {
    fields,
    settings,
    windows,
    outcomes,
    by,
    cost,
    risk,
    order,
    front: front.flatMap(([first]) => first ?? []),
    equal: new Map(front.flatMap(([first, ...others]) => (first === undefined || others.length === 0 ? [] : [[first, others] as const]))), // prettier-ignore
    edges: edgesOf(fields, settings, verdict?.best ?? order[0]),
    idle: settings.flatMap((_, index) => (figures.every((window) => isIdle(window[index])) ? [index] : [])),
    map: isForward ? undefined : heatMapOf(fields, settings, all, by),
    verdict,
    folds: isForward ? walkForward(windows, figures, by) : undefined,
    asked: settings.length + repeated + invalid,
    repeated,
    invalid,
    further,
  };
}

/** Returns the caveats of a sweep, one or two sentences each. */
export function sweepNotes(result: SweepResult): readonly string[] {
  const { settings, idle, outcomes, verdict, folds, by, edges, equal, invalid, repeated, further } = result;
  const tried = settings.length;
  const done = outcomes.flat().filter((one) => one !== undefined).length;
  const wanted = settings.length * outcomes.length;
  const refused = outcomes.flat().filter((one) => one !== undefined && 'refused' in one).length;
  const stopped = outcomes
    .flat()
    .filter((one) => one !== undefined && 'control' in one && one.control !== 'active');
  const isSparse = outcomes.flat().some((one) => Number(figuresIn(one)?.untraded ?? 0) > 0);
  return [
    ...(verdict === undefined ? [] : [verdictWords(verdict, result)]),
    ...(done < wanted ? [`Incomplete: ${done} of ${wanted} runs have finished.`] : []),
    ...(invalid > 0 ? [`${invalid} settings were skipped: a desk would not start with them.`] : []),
    ...(repeated > 0 ? [`${repeated} draws repeated an earlier one and were skipped.`] : []),
    ...(refused > 0 ? [`${refused} runs did not start: the desk refused its strategies.`] : []),
    ...(stopped.length > 0 ? [`In ${stopped.length} runs a control halted or paused the desk: later slices were not traded.`] : []),
    ...(idle.length > 0 ? [`${idle.length} of ${tried} settings traded nothing. They are ranked separately: ${numbered(idle)}.`] : []),
    ...(isSparse && by !== 'cost_bps' ? ['Some settings did not trade their whole total: compare untraded as well.'] : []),
    ...edges.map(({ field, value, end }) => `The best setting lies at the edge of the grid: ${field} ${value} is the ${end} tried. A better one may lie beyond it: widen the range.`),
    ...(equal.size > 0 ? [`Equal in both figures of the efficient frontier, and listed once: ${[...equal].map(([first, others]) => `${first + 1} and ${numbered(others)}`).join('; ')}.`] : []),
    ...(folds === undefined && tried > 1 ? [`Overfitting: ${tried} settings were tried on the same history, so the best result is partly luck. Evaluate a choice on history other than the one it was made on: --walk-forward.`] : []),
    ...(further > 0 ? [`The folder contains ${further} more runs on this history, with other settings or windows. They were also tried, but are not counted here.`] : []),
    ...(folds === undefined ? [] : [`${tried} settings were tried in each window. Only the figures of the window after the choice show what to expect.`]),
  ]; // prettier-ignore
}

/** Lists settings by number, as in the tables. */
function numbered(indices: readonly number[]): string {
  const shown = indices.slice(0, IDLE_SHOWN).map((index) => index + 1);
  const more = indices.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
const IDLE_SHOWN = 20;

/** Returns what the figures support, in one or two sentences. */
function verdictWords({ best, equal, next, tied, compared, firsts, isSupported }: Verdict, result: SweepResult): string {
  const { by, settings, fields, outcomes, folds } = result;
  const plain = (value: number | undefined): string => value === undefined ? '?' : withSeparators(value.toFixed(Math.abs(value) < 1 ? 4 : 2));
  const [first] = outcomes;
  const value = folds === undefined ? ` (${by} ${plain(Number(figuresIn(first?.[best])?.[by]))} ± ${plain(errorIn(first?.[best], by))})` : '';
  const same = equal.length === 0 ? '' : ` and its equals ${numbered(equal)}`;
  const name = `setting ${best + 1}${same} (${fields.map((field, i) => `${field} ${settings[best]?.[i] ?? ''}`).join(', ')})${value}`;
  const luck = firsts && ` It was first in ${firsts.count} of ${firsts.of} windows; if all ${compared + 1} settings were equally good, luck alone would do this for one of them with a probability of ${firsts.chance < 0.001 ? 'less than 0.1' : (100 * firsts.chance).toFixed(1)} %.`;
  const gap = `${plain(next.by)} ± ${plain(next.error)} ${by.slice(by.lastIndexOf('_') + 1)} better than the next, setting ${next.index + 1}`;
  const fillsOf = (index: number): number => outcomes.reduce((all, window) => all + Number(figuresIn(window[index])?.fills ?? 0), 0);
  const fewest = [best, ...tied].reduce((one, other) => (fillsOf(other) < fillsOf(one) ? other : one));
  const few = tied.length === 0 ? '' : ` Of these, setting ${fewest + 1} has the fewest trades, ${withSeparators(String(fillsOf(fewest)))}.`;
  if (isSupported) return `Recommended: ${name}, ${gap}.${luck ?? ' It is better than every other setting on the same prices by more than chance explains (5 %).'}`;
  return `No setting is recommended: ${name} is ${gap}, and ${tied.length === compared ? 'none of the others differs' : `${tied.length} of the other ${compared} do not differ`} from it by more than chance explains: ${numbered(tied)}.${few}${luck ?? ''}`;
} // prettier-ignore

export interface SweepFacts {
  readonly input: BacktestInput;
  readonly named: NamedModel;
  readonly seed: string;
}

/** A run as `results.json` has it: standard errors instead of what they are computed from. */
function runOf(outcome: SweepOutcome | undefined): object {
  if (outcome === undefined) return { pending: true };
  if (!('spreads' in outcome)) return outcome;
  const { spreads: _, figures, ...rest } = outcome;
  const errors = new Map<string, number>();
  for (const name of figureNames) {
    const error = errorIn(outcome, name);
    if (error !== undefined) errors.set(name, Number(error.toPrecision(4)));
  }
  return { figures, standard_errors: Object.fromEntries(errors), ...rest };
}

/** Returns the plain data of `results.json`. */
export function sweepJson(result: SweepResult, { input, named, seed }: SweepFacts): object {
  const { fields, settings, windows, outcomes, order, front, equal, edges, idle, map, verdict, folds, by, risk } = result; // prettier-ignore
  const valuesOf = (setting: Setting): object =>
    Object.fromEntries(fields.map((field, i) => [field, setting[i]]));
  const span = ({ from, until }: Window): object => ({ from: isoOf(from), until: isoOf(until) });
  return {
    format: 1,
    version,
    config_hash: input.configHash,
    ...span(input),
    seed,
    model: named.name,
    assumptions: settingsOf(named.model),
    tapes: input.tapes.map(({ tape, file }) => ({
      pair: tape.pair,
      file,
      rows: tape.rows,
      bar_ms: tape.barMs,
      from: isoOf(knownAt(tape, 0)),
      until: isoOf(knownAt(tape, tape.rows - 1)),
      hash: tape.hash,
    })),
    strategies: input.strategies.map(({ id, kind, hash }) => ({ id, kind, hash })),
    fields,
    by,
    risk,
    figures: sweepFigures,
    counts: {
      asked: result.asked,
      invalid: result.invalid,
      repeated: result.repeated,
      settings: settings.length,
    },
    notes: sweepNotes(result),
    settings: settings.map((setting, index) => ({
      setting: index + 1,
      values: valuesOf(setting),
      runs: windows.map((window, k) => ({ ...span(window), ...runOf(outcomes[k]?.[index]) })),
    })),
    order: order.map((index) => index + 1),
    front: front.map((index) => index + 1),
    equal: [...equal].map(([first, others]) => [first, ...others].map((index) => index + 1)),
    edges,
    idle: idle.map((index) => index + 1),
    ...(map === undefined ? {} : { heat_map: map }),
    verdict: verdict && { ...verdict, best: verdict.best + 1, equal: verdict.equal.map((index) => index + 1), next: { ...verdict.next, index: verdict.next.index + 1 }, tied: verdict.tied.map((index) => index + 1) }, // prettier-ignore
    ...(folds === undefined
      ? {}
      : {
          walk_forward: folds.map(({ train, test, chosen, ...fold }) => ({
            train: span(train),
            test: span(test),
            ...(chosen === undefined ? {} : { chosen: chosen + 1, values: valuesOf(settings[chosen] ?? []) }),
            ...fold,
          })),
        }),
  };
}
