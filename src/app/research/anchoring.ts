import { summaryOf } from '../../research/resample/bootstrap.ts';
import { startsOf } from '../../research/resample/resample.ts';
import type { Resampling } from '../../research/resample/resample.ts';
import { withSeparators } from '../../core/text/with-separators.ts';
import { nineDigits } from '../../report/figures/digits.ts';
import { bootstrapFigures } from '../../report/json/schema-bootstrap.ts';
import type { BootstrapFacts, BootstrapFigure } from '../../report/json/schema-bootstrap.ts';
import type { BacktestInput } from './backtest-input.ts';

/** A run over history (index 0) or over a resample. A resample is drawn as requested, or in the other way. */
interface Ordered {
  readonly index: number;
  readonly isOther: boolean;
}

/** Number of resamples, from the first, that are also drawn in the other way to measure the effect. */
export const COMPARED = 100;

/** Returns the runs in order. The two runs of a pair are adjacent, so that a stopped run has the same pairs as a smaller one. */
export function orderOf(asked: number, compared: number): readonly Ordered[] {
  const order: Ordered[] = [{ index: 0, isOther: false }];
  for (let index = 1; index <= asked; index++) {
    order.push({ index, isOther: false });
    if (index <= compared) order.push({ index, isOther: true });
  }
  return order;
}

/** Returns the number of first runs that have ended, without a last run whose pair is missing. */
export const wholePart = (order: readonly Ordered[], ended: number): number =>
  order[ended]?.isOther === true ? ended - 1 : ended;

/** Returns the same draws in the other way: blocks that begin at any time instead of blocks that keep their time of day, or vice versa. */
export function otherOf({ isUnanchored = false, ...resampling }: Resampling): Resampling {
  return isUnanchored ? resampling : { ...resampling, isUnanchored: true };
}

/** Returns whether keeping the time of day changes the possible blocks, which is so if blocks are whole days and bars are shorter. */
export function canAnchor({ tapes, ...span }: Pick<BacktestInput, 'from' | 'until' | 'tapes'>, resampling: Resampling): boolean {
  const all = tapes.map(({ tape }) => tape);
  return startsOf(all, span, resampling).count !== startsOf(all, span, otherOf(resampling)).count;
} // prettier-ignore

/** Returns a figure of one resample. */
type Values = (figure: BootstrapFigure) => number | undefined;

interface Compared {
  readonly own: readonly Values[];
  /** The first resamples, drawn in the other way. */
  readonly others: readonly Values[];
  readonly isUnanchored: boolean;
}

/** Compares the same resamples drawn in both ways; `undefined` if fewer than two were drawn in the other way. */
export function anchoringOf(compared: Compared): BootstrapFacts['anchoring'] {
  const { others, isUnanchored } = compared;
  if (others.length < 2) return undefined;
  const quantilesOf = (resamples: readonly Values[], figure: BootstrapFigure): Quantiles | undefined => {
    const summary = summaryOf(resamples.flatMap((valueOf) => valueOf(figure) ?? []), 0.9); // prettier-ignore
    return (
      summary && {
        p5: nineDigits(summary.p5),
        median: nineDigits(summary.median),
        p95: nineDigits(summary.p95),
      }
    );
  };
  const names = Object.keys(bootstrapFigures) as BootstrapFigure[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- keys of a constant
  const figures = names.flatMap((figure) => {
    const [own, other] = [
      quantilesOf(compared.own.slice(0, others.length), figure),
      quantilesOf(others, figure),
    ];
    if (own === undefined || other === undefined) return [];
    return [isUnanchored ? { figure, anchored: other, unanchored: own } : { figure, anchored: own, unanchored: other }]; // prettier-ignore
  });
  return { resamples: others.length, figures };
}

type Quantiles = NonNullable<BootstrapFacts['anchoring']>['figures'][number]['anchored'];

/**
 * Returns notes on blocks that keep their time of day, which leaves fewer possible blocks. Includes the effect on the
 * figures, if it was measured.
 */
export function anchorNotes(
  { tapes, ...span }: Pick<BacktestInput, 'from' | 'until' | 'tapes'>,
  resampling: Resampling,
  anchoring: BootstrapFacts['anchoring'],
): readonly string[] {
  const { count, unanchored } = startsOf(tapes.map(({ tape }) => tape), span, resampling); // prettier-ignore
  const effect = anchoring === undefined ? [] : effectOf(anchoring);
  if (resampling.isUnanchored === true)
    return [`Blocks begin at any of ${unanchored} instants, at any time of day: actions that a strategy takes at one hour meet prices of other hours.`, ...effect]; // prettier-ignore
  if (count === unanchored) return [];
  return [`Blocks keep their time of day: each begins at one of ${count} instants of the window instead of ${unanchored}, so that its ${count} days are recombined. --unanchored lets blocks begin anywhere.`, ...effect]; // prettier-ignore
}

/** Figures whose change the notes state; a table of the report has the others. */
const EFFECTS: ReadonlySet<BootstrapFigure> = new Set(['cost_bps', 'value_usd', 'drawdown']);

function* effectOf({ resamples, figures }: NonNullable<BootstrapFacts['anchoring']>): Generator<string> {
  const from = ({ anchored, unanchored }: (typeof figures)[number], of: keyof Quantiles): string =>
    `${shownFigure(anchored[of])} against ${shownFigure(unanchored[of])}`;
  for (const one of figures)
    if (EFFECTS.has(one.figure))
      yield `Effect of keeping the time of day on ${named(one.figure)}, ${resamples} resamples of the same random numbers with against without: median ${from(one, 'median')}, 5 % ${from(one, 'p5')}, 95 % ${from(one, 'p95')}.`; // prettier-ignore
}

export const named = (figure: BootstrapFigure): string =>
  bootstrapFigures[figure] + (figure.endsWith('_bps') ? ', bps' : '');
export const shownFigure = (value: number): string =>
  withSeparators(value.toFixed(Math.abs(value) < 1 ? 4 : 2));
