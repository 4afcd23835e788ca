import { boundsWithin, combined, spreadOf } from '../../research/sweep/standard-error.ts';
import type { Piece, Spread } from '../../research/sweep/standard-error.ts';
import type { FigureName, Spreads, SweepFigures } from '../../research/sweep/sweep-figures.ts';
import type { Window } from '../../research/sweep/walk-forward.ts';
import { NO_MONEY, add, approximate, cost, fraction, money, roundEven, scale, subtract, text } from '../../core/money.ts'; // prettier-ignore
import type { Money, Price } from '../../core/money.ts';
import { DAY_MS, instant } from '../../core/time.ts';
import type { FillRecord } from '../../core/record.ts';
import { fixed } from '../../report/figures/digits.ts';
import type { Figures } from '../../report/figures/figures.ts';
import type { ParentFigures } from '../../report/figures/shortfall.ts';

/** Figures as text, each with how it varied over the window. */
type Said = Partial<Record<FigureName, readonly [figure: string | undefined, spread?: Spread | undefined]>>;

/** Returns the figures of a run. @param values of the account in USD, at equal distances from the start of the window to its end. */
export function runFigures(
  figures: Figures,
  { window, values }: { readonly window: Window; readonly values: readonly Money[] },
): { readonly figures: SweepFigures; readonly spreads: Spreads } {
  const { fills, untraded } = figures;
  const orders = orderCosts(figures, window);
  const drawdowns = figures.portfolios.flatMap(({ course }) => course?.drawdown ?? []);
  const [first = NO_MONEY, last = NO_MONEY] = [values[0], values.at(-1)];
  const gained = spreadOf(gains(values, window), window, (_, of) => of);
  const said: Said = {
    ...costsSaid(orders, window),
    ...portfolioSaid(figures, orders, window),
    drawdown: [drawdowns.length === 0 ? undefined : Math.max(...drawdowns).toFixed(6)],
    untraded: [String(untraded.reduce((sum, { slices }) => sum + slices, 0))],
    fills: [String(fills.length)],
    turnover_usd: [text(fills.reduce((sum, fill) => add(sum, money(fill.notional_usd)), NO_MONEY))],
    fees_usd: [text(roundEven(fills.reduce((sum, fill) => add(sum, feesOf(fill)), NO_MONEY), 8))],
    value_usd: [text(last), gained],
    gain_usd: [text(subtract(last, first)), gained],
  };
  const known = Object.entries(said).filter(([, [figure]]) => figure !== undefined);
  return {
    figures: Object.fromEntries(known.map(([name, [figure]]) => [name, figure])),
    spreads: Object.fromEntries(known.flatMap(([name, [, spread]]) => (spread === undefined ? [] : [[name, spread]]))),
  };
} // prettier-ignore

/** Costs of all orders in USD, also of a desk that trades in other currencies. */
interface OrderCosts extends OrderPieces {
  /** As in the report; `undefined` without a rate. */
  readonly usd: Money | undefined;
}

function orderCosts(figures: Figures, window: Window): OrderCosts {
  const { totals, parents } = figures;
  const sums = totals.map(({ quote, costs }) => inUsd(money(costs.total), quote, figures));
  const isKnown = totals.length > 0 && sums.every((one) => one !== undefined);
  const usd = isKnown ? sums.reduce<Money>((all, one) => add(all, one ?? NO_MONEY), NO_MONEY) : undefined;
  // One currency needs no rate: it cancels.
  const some = isKnown || totals.length === 1 ? parents : [];
  const pieces = some.map((parent) => orderPieces(parent, approximate(inUsd(UNIT, parent.quote, figures) ?? UNIT), { prices: figures.prices, window }));
  return {
    usd,
    execution: pieces.flatMap((one) => one.execution),
    whole: pieces.flatMap((one) => one.whole),
    traded: pieces.flatMap((one) => one.traded),
    scatter: pieces.flatMap((one) => one.scatter),
  };
} // prettier-ignore
const UNIT = money('1');

const BPS = 10_000;

function costsSaid({ usd, execution, whole, traded, scatter }: OrderCosts, window: Window): Said {
  const weight = sumOf(scatter, 'of');
  const mean = sumOf(scatter, 'over') / weight;
  // Squares of the deviations, so that their ratio is the variance.
  const squares = scatter.map(({ at, over, of }) => ({ at, over: of * (over / of - mean) ** 2, of }));
  const deviation = Math.sqrt(sumOf(squares, 'over') / weight);
  return {
    execution_bps: [rateText(execution), spreadOf(execution, window, () => BPS)],
    cost_bps: [rateText(whole), costSpread(whole, window, BPS / sumOf(whole, 'of'))],
    cost_usd: [usd && text(roundEven(usd, 2)), costSpread(whole, window, 1)],
    slippage_bps: [rateText(traded), costSpread(traded, window, BPS / sumOf(traded, 'of'))],
    risk_bps: scatter.length < 2 ? [undefined] : [(BPS * deviation).toFixed(4), spreadOf(squares, window, () => BPS / (2 * deviation || 1))],
  };
} // prettier-ignore

const rateText = (pieces: readonly Piece[]): string | undefined =>
  sumOf(pieces, 'of') > 0 ? fixed((BPS * sumOf(pieces, 'over')) / sumOf(pieces, 'of'), 4) : undefined;

/** Moves of the market vary around their mean over the time in which something was left, execution around its mean over what traded. */
function costSpread(steps: readonly CostPiece[], window: Window, each: number): Spread | undefined {
  const all = (_: number, of: number): number => each * of;
  const execution = spreadOf(steps.map(({ at, over, moved, of }) => ({ at, over: over - moved, of })), window, all);
  const market = spreadOf(steps.map(({ at, moved, held }) => ({ at, over: moved, of: held })), window, all);
  return execution && market ? combined(execution, market, 1) : (execution ?? market);
} // prettier-ignore

/** Relative risk aversion of an investor. Half of it is the weight of the variance relative to the portfolio's targets. */
const RISK_AVERSION = 4;
const YEAR_MS = 365.25 * DAY_MS;

/** `portfolio_bps` is the yearly cost of trading plus the value of avoiding drift. Defined only for a single portfolio. */
function portfolioSaid(figures: Figures, { usd = NO_MONEY, whole }: OrderCosts, window: Window): Said {
  const courses = figures.portfolios.flatMap(({ cash, course }) => (course === undefined ? [] : [{ cash, course }]));
  const errors = courses.flatMap(({ course }) => course.tracking_error ?? []);
  const [one, another] = courses;
  const error = one?.course.tracking_error;
  if (one === undefined || another !== undefined || error === undefined)
    return { tracking_error: [errors.length === 0 ? undefined : Math.max(...errors).toFixed(6)] };
  const { points, mean_value: meanValue } = one.course;
  const steps = points.slice(1).map(({ at, index, target_index: target }, i) => {
    const [before, end] = [points[i], Date.parse(at)];
    const difference = index / (before?.index ?? index) - target / (before?.target_index ?? target);
    return { at: end - 1, over: difference, of: end - Date.parse(before?.at ?? at) };
  });
  const drift = sumOf(steps, 'over') / sumOf(steps, 'of');
  const squares = steps.map(({ at, over, of }) => ({ at, over: (over - of * drift) ** 2, of }));
  // The error is the root of a multiple of the ratio.
  const tracking = spreadOf(squares, window, (ratio) => error / (2 * ratio || 1));
  const years = sumOf(steps, 'of') / YEAR_MS;
  const value = inUsd(money(String(meanValue)), one.cash, figures);
  const yearly = value && BPS / (approximate(value) * years);
  const paid = [...whole.map(({ at, over }) => ({ at, over, of: 0 })), ...steps.map(({ at, of }) => ({ at, over: 0, of }))];
  const trading = spreadOf(paid, window, (_, of) => of * (yearly ?? 0));
  const both = tracking && trading && combined(trading, tracking, BPS * RISK_AVERSION * error);
  return {
    tracking_error: [error.toFixed(6), tracking],
    portfolio_bps: [yearly === undefined ? undefined : (yearly * approximate(usd) + BPS * (RISK_AVERSION / 2) * error ** 2).toFixed(4), both],
  };
} // prettier-ignore

type OrderPieces = Readonly<
  Record<'execution' | 'scatter', readonly Piece[]> & Record<'whole' | 'traded', readonly CostPiece[]>
>;

/** `over` contains `moved`, the part of the market, on `held`: what was left times ms. */
interface CostPiece extends Piece {
  readonly moved: number;
  readonly held: number;
}

/**
 * What an order adds to the figures. @param usd value of a unit of its quote currency.
 *
 * `walk` splits its cost against a price by time: what the market's move from one slice or mark to the next cost on all that was still
 * to trade, and what each slice paid against the price at its decision. Without a trend, such pieces are uncorrelated, which those
 * against one price are not. Prices count relative to that price, weighted by shares of the total in its own currency: the average
 * price of equal amounts is a harmonic mean, which lies below the mean of the prices without any skill.
 */
function orderPieces(parent: ParentFigures, usd: number, { prices, window }: Pick<Figures, 'prices'> & { readonly window: Window }): OrderPieces {
  const { facts: { pair, side, by, begunAt }, decision, arrival, planned, shortfall, traded, endedAt } = parent;
  const slices = parent.slices.filter((slice) => !slice.traded.isZero());
  const ratios = (part: 'execution' | 'cost', whole: 'atDecision' | 'paper'): readonly Piece[] =>
    slices.flatMap(({ facts: { at }, [part]: over, [whole]: of }) =>
      over === undefined || of === undefined ? [] : [{ at, over: usd * approximate(over), of: usd * approximate(of) }]);
  const execution = ratios('execution', 'atDecision');
  if (shortfall === undefined || planned === undefined || decision === undefined || arrival === undefined)
    return { execution, whole: [], traded: [], scatter: [] };
  const left = approximate(cost(decision.price, subtract(planned, traded)));
  const end = left === 0 ? undefined : parent.end;
  const last = end && { at: endedAt, mid: approximate(end.price), paid: approximate(end.price), done: left, fees: 0 };
  // A mark ends its cell. All settings have the same ones.
  const marks = boundsWithin(window, [begunAt, last?.at ?? slices.at(-1)?.facts.at ?? begunAt]).flatMap((at) => {
    const mid = prices.midAt(pair, instant(at))?.price;
    return mid === undefined ? [] : [{ at: at - 1, mid: approximate(mid), paid: 0, done: 0, fees: 0 }];
  });
  const feeRate = parent.amount.isZero() ? 0 : approximate(parent.fees) / approximate(parent.amount);
  const walk = (from: Price, isWhole: boolean): readonly CostPiece[] => {
    const base = approximate(from);
    const trades = slices.map(({ facts: { at }, decision: decided, amount, traded: quantity }) => {
      const paid = approximate(amount) / approximate(quantity);
      const done = approximate(by === 'amount' ? amount : cost(from, quantity));
      return { at, mid: decided === undefined ? paid : approximate(decided), paid, done, fees: isWhole ? feeRate * approximate(amount) : 0 };
    });
    const steps = [...marks, ...trades, ...(isWhole && last ? [last] : [])].toSorted((a, b) => a.at - b.at);
    let [open, before, since] = [steps.reduce((all, { done }) => all + done, 0), base, steps[0]?.at ?? 0];
    return steps.map(({ at, mid, paid, done, fees }) => {
      const [moved, executed] = [(open * (mid - before)) / base, done === 0 ? 0 : (done * (paid - mid)) / base];
      const signed = side === 'buy' ? usd : -usd;
      const piece = { at, over: signed * (moved + executed) + usd * fees, moved: signed * moved, of: usd * done, held: usd * open * (at - since) };
      [open, before, since] = [open - done, mid, at];
      return piece;
    });
  };
  return { execution, whole: walk(decision.price, true), traded: walk(arrival, false), scatter: ratios('cost', 'paper') };
} // prettier-ignore

/** Changes of the value of an account, each in the middle of its time. */
const gains = (values: readonly Money[], { from, until }: Window): readonly Piece[] =>
  values.slice(1).map((value, i) => ({
    at: from + ((until - from) * (i + 0.5)) / (values.length - 1),
    over: approximate(subtract(value, values[i] ?? value)),
    of: 1,
  }));

const sumOf = (pieces: readonly Piece[], part: 'over' | 'of'): number =>
  pieces.reduce((all, one) => all + one[part], 0);

/** Returns the fees of a fill in USD, at the rate at which its amount was converted. */
function feesOf({ amount, fees, notional_usd: usd }: FillRecord): Money {
  const [paid, all] = [money(fees), money(amount)];
  return paid.isZero() || all.isZero() ? NO_MONEY : scale(paid, fraction(money(usd), all));
}

/** Converts an amount to USD at the mean rate of the fills in that currency; `undefined` if there are no such fills. */
function inUsd(amount: Money, quote: string, { fills }: Figures): Money | undefined {
  if (quote === 'usd') return amount;
  let [sum, usd] = [NO_MONEY, NO_MONEY];
  for (const fill of fills) {
    if (fill.quote !== quote) continue;
    sum = add(sum, money(fill.amount));
    usd = add(usd, money(fill.notional_usd));
  }
  return sum.isZero() ? undefined : scale(amount, fraction(usd, sum));
}
