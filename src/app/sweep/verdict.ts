import { combined, spreadOver, standardError, tQuantile } from '../../research/sweep/standard-error.ts';
import type { Spread } from '../../research/sweep/standard-error.ts';
import { badness } from '../../research/sweep/sweep-figures.ts';
import type { FigureName, SweepFigures } from '../../research/sweep/sweep-figures.ts';

/** What the figures say about the best setting. Settings are given by their indices. */
export interface Verdict {
  readonly best: number;
  /** Settings with the same figure in every window, which are compared as one. */
  readonly equal: readonly number[];
  /** The next best setting, and by how much it is worse, with the standard error of this difference, which shared prices make small. */
  readonly next: { readonly index: number; readonly by: number; readonly error: number | undefined };
  /** Number of settings that the best was compared with. */
  readonly compared: number;
  /** Settings that do not differ from the best by more than chance explains. */
  readonly tied: readonly number[];
  /** In a walk-forward: in how many windows the best was alone in front, and how often luck would do as much for any of the settings. */
  readonly firsts: { readonly count: number; readonly of: number; readonly chance: number } | undefined;
  /** Whether the figures recommend the best. */
  readonly isSupported: boolean;
}

/** Chance of recommending a setting if another one is at least as good. */
const CHANCE = 0.05;
/** The same for places in windows, of which there are few: first in 5 of 5 is possible by luck in 6 % of the sweeps of two settings. */
const CHANCE_OF_FIRSTS = 0.1;
/** With fewer observations, a standard error is itself too uncertain. */
const CELLS_MIN = 4;

/**
 * Compares the best setting with each other one on the same windows, and on the same cells of a window (Hsu 1981, "Simultaneous
 * confidence intervals for all distances from the best", with Bonferroni's bound). `undefined` for fewer than two settings that have
 * the figure in every window.
 *
 * @param figures for each window, those of each setting. @param spreads how `by` of each setting varied, if there is one window: several
 * windows are their own observations.
 */
export function verdictOf({ figures, spreads, by }: {
  readonly figures: readonly (readonly (SweepFigures | undefined)[])[];
  readonly spreads: readonly (Spread | undefined)[];
  readonly by: FigureName;
}): Verdict | undefined {
  const all = (figures[0] ?? []).flatMap((_, index) => {
    const values = figures.flatMap((window) => badness(window[index], by) ?? []);
    if (values.length < figures.length) return [];
    const bad = values.reduce((sum, value) => sum + value, 0) / values.length;
    return [{ index, values, bad, spread: values.length === 1 ? spreads[index] : spreadOver(values) }];
  });
  const [best, ...rest] = all.toSorted((a, b) => a.bad - b.bad || a.index - b.index);
  if (best === undefined) return undefined;
  const isEqual = ({ values }: { readonly values: readonly number[] }): boolean => values.every((value, k) => value === best.values[k]);
  const others = rest.filter((one) => !isEqual(one));
  const compared = others.map(({ index, bad, spread }) => {
    const difference = best.spread && spread && combined(spread, best.spread, -1);
    const error = difference && standardError(difference);
    const cells = difference?.parts.length ?? 0;
    const limit = cells < CELLS_MIN ? Number.POSITIVE_INFINITY : tQuantile(1 - CHANCE / others.length, cells - 1);
    return { index, by: bad - best.bad, error, isWorse: error !== undefined && bad - best.bad > limit * error };
  });
  const [next] = compared;
  if (next === undefined) return undefined;
  const tied = compared.filter(({ isWorse }) => !isWorse).map(({ index }) => index);
  const count = best.values.filter((value, k) => others.every(({ values }) => value < (values[k] ?? value))).length;
  const chance = chanceOfFirsts({ settings: others.length + 1, windows: figures.length, firsts: count });
  const isForward = figures.length > 1;
  return {
    best: best.index,
    equal: rest.filter(isEqual).map(({ index }) => index),
    next: { index: next.index, by: next.by, error: next.error },
    compared: compared.length,
    tied,
    firsts: isForward ? { count, of: figures.length, chance } : undefined,
    isSupported: tied.length === 0 || (isForward && chance <= CHANCE_OF_FIRSTS),
  };
} // prettier-ignore

/** Chance that one of `settings` equally good ones is alone in front in at least `firsts` of `windows` windows, at most. */
export function chanceOfFirsts({ settings, windows, firsts }: Readonly<Record<'settings' | 'windows' | 'firsts', number>>): number {
  let [chance, ways] = [0, 1];
  for (let k = 0; k <= windows; k++) {
    if (k >= firsts) chance += ways * settings ** -k * (1 - 1 / settings) ** (windows - k);
    ways *= (windows - k) / (k + 1);
  }
  return Math.min(1, settings * chance);
} // prettier-ignore
