import { OperatorError } from '../../core/errors.ts';
import type { Spread } from './standard-error.ts';

/** Figures of a setting. Their text is exact; derived numbers are used only for ranking and drawing. */
// prettier-ignore
export const sweepFigures = {
  execution_bps: { better: 'less', says: 'traded value against the price at the decision of each slice: spread and impact, without moves of the market, bps' },
  cost_bps: { better: 'less', says: 'implementation shortfall: delay, trading, opportunity, fees; bps' },
  cost_usd: { better: 'less', says: 'implementation shortfall in USD: total cost, regardless of the traded value' },
  slippage_bps: { better: 'less', says: 'traded value against the arrival price, bps' },
  risk_bps: { better: 'less', says: 'standard deviation of slice prices against arrival, weighted by size, bps' },
  tracking_error: { better: 'less', says: 'of the portfolio against its targets, per year; fraction' },
  portfolio_bps: { better: 'less', says: 'per year: trading cost relative to the mean value, plus two times the squared tracking error; bps' },
  drawdown: { better: 'less', says: 'largest fall of the portfolio from a peak; fraction' },
  untraded: { better: 'less', says: 'slices that did not trade' },
  fills: { better: 'less', says: 'trades' },
  turnover_usd: { better: 'less', says: 'value of all trades, USD' },
  fees_usd: { better: 'less', says: 'fees, USD' },
  gain_usd: { better: 'more', says: 'value of the account at the end of the window minus that at its start, USD' },
  value_usd: { better: 'more', says: 'value of the account at the prices of the end of the window, USD' },
} as const satisfies Readonly<Record<string, { readonly better: 'less' | 'more'; readonly says: string }>>;

export type FigureName = keyof typeof sweepFigures;
export type SweepFigures = Readonly<Partial<Record<FigureName, string>>>;
export type Spreads = Readonly<Partial<Record<FigureName, Spread>>>;

export const figureNames = Object.keys(sweepFigures) as readonly FigureName[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- keys of a constant

/** Reads the name of a figure. @throws OperatorError `usage` that lists the names. */
export function readFigure(name: string, option: string): FigureName {
  const known = figureNames.find((one) => one === name);
  if (known !== undefined) return known;
  throw new OperatorError('usage', `${option}: expected one of ${figureNames.join(', ')}, got "${name}"`);
}

/** Whether a setting traded nothing. Such a setting is not compared, because its zero cost is not a better execution. */
export const isIdle = (figures: SweepFigures | undefined): boolean => figures?.fills === '0';

/** Returns a number for which less is better; `undefined` if the setting lacks the figure, or traded nothing. */
export function badness(figures: SweepFigures | undefined, name: FigureName): number | undefined {
  const said = figures?.[name];
  if (said === undefined || isIdle(figures)) return undefined;
  return sweepFigures[name].better === 'less' ? Number(said) : -Number(said);
}

/**
 * Returns the indices of settings, best first, without settings that lack the figure or traded nothing. Equal settings
 * keep their order.
 */
export function ranked(all: readonly (SweepFigures | undefined)[], name: FigureName): readonly number[] {
  return all
    .flatMap((figures, index) => {
      const bad = badness(figures, name);
      return bad === undefined ? [] : [{ index, bad }];
    })
    .toSorted((a, b) => a.bad - b.bad || a.index - b.index)
    .map(({ index }) => index);
}

/**
 * Returns the indices of the settings that no other setting beats in both figures, sorted by the first figure. Among
 * these, a better value of one figure always means a worse value of the other. Settings that are equal in both are
 * listed together, in their order.
 */
export function paretoFront(
  all: readonly (SweepFigures | undefined)[],
  [first, second]: readonly [FigureName, FigureName],
): readonly (readonly number[])[] {
  const points = all.flatMap((figures, index) => {
    const [x, y] = [badness(figures, first), badness(figures, second)];
    return x === undefined || y === undefined ? [] : [{ index, x, y }];
  });
  points.sort((a, b) => a.x - b.x || a.y - b.y || a.index - b.index);
  const front: { readonly x: number; readonly y: number; readonly indices: number[] }[] = [];
  for (const { index, x, y } of points) {
    const last = front.at(-1);
    if (last?.x === x && last.y === y) last.indices.push(index);
    else if (last === undefined || y < last.y) front.push({ x, y, indices: [index] });
  }
  return front.map(({ indices }) => indices);
}
