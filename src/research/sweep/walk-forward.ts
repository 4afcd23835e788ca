import { OperatorError } from '../../core/errors.ts';
import { MINUTE_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { badness, ranked, sweepFigures } from './sweep-figures.ts';
import type { FigureName, SweepFigures } from './sweep-figures.ts';

/** A piece of market history. */
export interface Window {
  readonly from: Instant;
  /** Exclusive. */
  readonly until: Instant;
}

/** One step of a walk-forward test: a setting is selected in one window and evaluated in the next. */
export interface Fold {
  readonly train: Window;
  readonly test: Window;
  /** Index of the setting that was best in training; `undefined` if none had the figure. */
  readonly chosen: number | undefined;
  readonly trained: number | undefined;
  readonly tested: number | undefined;
  /** Rank of the selected setting in the test, from 1. Equal settings share their middle rank. */
  readonly rank: number | undefined;
  /** Number of settings that have the figure in the test. */
  readonly of: number;
  /** Median of all settings in the test, which is the expected result of a random choice. */
  readonly median: number | undefined;
  /** The best setting in the test, known only in hindsight. */
  readonly best: number | undefined;
}

/**
 * Returns `folds + 1` consecutive windows of equal length, cut at whole minutes. Every window except the last trains,
 * and every window except the first tests.
 */
export function windowsOf({ from, until }: Window, folds: number): readonly Window[] {
  const length = (until - from) / (folds + 1);
  if (length < MINUTE_MS)
    throw new OperatorError('usage', `--walk-forward ${folds}: the windows would be shorter than a minute`);
  const cut = (k: number): Instant =>
    k > folds ? until : instant(from + Math.floor((length * k) / MINUTE_MS) * MINUTE_MS);
  return Array.from({ length: folds + 1 }, (_, k) => ({ from: cut(k), until: cut(k + 1) }));
}

/** Evaluates a walk-forward test. @param figuresIn for each window, the figures of all settings. */
export function walkForward(
  windows: readonly Window[],
  figuresIn: readonly (readonly (SweepFigures | undefined)[])[],
  by: FigureName,
): readonly Fold[] {
  const sign = sweepFigures[by].better === 'less' ? 1 : -1;
  const figure = (figures: SweepFigures | undefined): number | undefined => {
    const bad = badness(figures, by);
    return bad === undefined ? undefined : sign * bad;
  };
  return windows.slice(1).flatMap((test, k) => {
    const train = windows[k];
    if (train === undefined) return [];
    const [inTraining, inTest] = [figuresIn[k] ?? [], figuresIn[k + 1] ?? []];
    const [chosen] = ranked(inTraining, by);
    const order = ranked(inTest, by);
    const at = (place: number): number | undefined => {
      const index = order[place];
      return index === undefined ? undefined : figure(inTest[index]);
    };
    const own = chosen === undefined ? undefined : badness(inTest[chosen], by);
    const others = order
      .filter((index) => index !== chosen)
      .map((index) => badness(inTest[index], by) ?? Number.NaN);
    const place = (mine: number): number =>
      1 +
      others.filter((bad) => bad < mine).length +
      Math.ceil(others.filter((bad) => bad === mine).length / 2);
    return [
      {
        train,
        test,
        chosen,
        trained: chosen === undefined ? undefined : figure(inTraining[chosen]),
        tested: chosen === undefined ? undefined : figure(inTest[chosen]),
        rank: own === undefined ? undefined : place(own),
        of: order.length,
        median: middle(at(Math.floor((order.length - 1) / 2)), at(Math.floor(order.length / 2))),
        best: at(0),
      },
    ];
  });
}

/** Returns the median; for an even number of settings, the mean of the two in the middle. */
const middle = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : (a + b) / 2;
