import {
  add,
  fraction,
  greatest,
  negate,
  NO_MONEY,
  NOTHING,
  ONE,
  quantityDown,
  ratioOf,
  roundEven,
  scale,
  size,
  subtract,
} from '../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../core/money.ts';
import type { Targets, Valued } from '../core/portfolio.ts';
import type { Side } from '../core/venue.ts';
import type { DriftType } from '../core/wake.ts';

export interface Trade {
  readonly pair: string;
  readonly side: Side;
  /** Base currency, cut down to its precision. */
  readonly quantity: Quantity;
  /** In cash, at the reference price. */
  readonly notional: Money;
}

/** Far finer than any unit, far coarser than the precision of a fraction. */
const DECIMALS = 40;

interface Question {
  readonly valued: Valued;
  readonly targets: Targets;
  readonly cash: string;
  readonly drifts: ReadonlyMap<string, Ratio>;
  readonly threshold: Ratio;
  readonly driftType: DriftType;
  readonly rebalanceTo: 'target' | 'band_edge';
  readonly onlyDrifted: boolean;
  /** In cash. */
  readonly tradeMin: Money;
  /** Largest traded share of the value, one-way: of all that is bought and all that is sold, the larger. */
  readonly turnoverMax: Ratio | undefined;
  market(
    asset: string,
  ): { readonly pair: string; readonly mid: Price; readonly precision: number } | undefined;
}

/** The trades that bring a portfolio back: sells first, largest first. `capped` says that `turnoverMax` cut them. */
export function tradesFor(question: Question): {
  readonly trades: readonly Trade[];
  readonly capped: boolean;
} {
  const wanted = wantedMoves(question);
  const total = turnoverOf([...wanted.values()]);
  const largest =
    question.turnoverMax === undefined ? total : scale(question.valued.value, question.turnoverMax);
  const capped = total.gt(largest);
  const trades: Trade[] = [];
  for (const [asset, move] of wanted) {
    const market = question.market(asset);
    if (market === undefined) continue;
    const notional = capped ? scale(size(move), fraction(largest, total)) : size(move);
    // Weights are cut at 80 digits: without rounding a hair less, to sell all of an asset would leave one unit of it.
    const quantity = quantityDown(roundEven(notional, DECIMALS), market.mid, market.precision);
    if (notional.lt(question.tradeMin) || quantity.isZero()) continue;
    trades.push({ pair: market.pair, side: move.lt(0) ? 'sell' : 'buy', quantity, notional });
  }
  const order = (a: Trade, b: Trade): number =>
    a.side === b.side
      ? b.notional.comparedTo(a.notional) || (a.pair < b.pair ? -1 : 1)
      : a.side === 'sell'
        ? -1
        : 1;
  return { trades: trades.toSorted(order), capped };
}

/** One-way turnover, in cash: what leaves an asset for another counts once. */
function turnoverOf(moves: readonly Money[]): Money {
  const bought = moves.reduce((sum, move) => (move.gt(0) ? add(sum, move) : sum), NO_MONEY);
  const sold = moves.reduce((sum, move) => (move.lt(0) ? subtract(sum, move) : sum), NO_MONEY);
  return greatest(bought, sold);
}

/** By how much cash value each asset should grow (or shrink, when negative). */
function wantedMoves(question: Question): ReadonlyMap<string, Money> {
  const { valued, targets, cash, drifts, threshold } = question;
  const assets = [...targets.keys()].filter((asset) => asset !== cash);
  const isDrifted = (asset: string): boolean => size(drifts.get(asset) ?? NOTHING).gt(threshold);
  const drifted = assets.filter(isDrifted);
  const some = question.onlyDrifted || question.rebalanceTo === 'band_edge';
  const moves = new Map<string, Money>();
  if (some && drifted.length === 0) {
    const away = excess(question, cash);
    for (const [asset, part] of shares(question, assets, away.gt(0))) {
      moves.set(asset, scale(scale(valued.value, away), part));
    }
    return moves;
  }
  for (const asset of some ? drifted : assets) {
    moves.set(asset, scale(valued.value, negate(excess(question, asset))));
  }
  return moves;
}

/**
 * How the assets share what cash alone has too much or too little. What is bought goes by target weights; what is sold
 * comes from what is held, so that nothing is sold that is not there.
 */
function shares(
  { targets, valued }: Question,
  assets: readonly string[],
  isBuying: boolean,
): ReadonlyMap<string, Ratio> {
  const weights = isBuying ? targets : valued.weights;
  const parts = assets.map((asset) => greatest(weights.get(asset) ?? NOTHING, NOTHING));
  const whole = parts.reduce((sum, part) => add(sum, part), NOTHING);
  const even = fraction(ONE, ratioOf(assets.length));
  return new Map(
    assets.map((asset, n) => [asset, whole.isZero() ? even : fraction(parts[n] ?? NOTHING, whole)]),
  );
}

/** Weight of a currency above where it should go: its target, or the nearer edge of its band. Signed. */
function excess({ valued, targets, threshold, driftType, rebalanceTo }: Question, currency: string): Ratio {
  const weight = valued.weights.get(currency) ?? NOTHING;
  const target = targets.get(currency) ?? NOTHING;
  if (rebalanceTo === 'target') return subtract(weight, target);
  const band = driftType === 'absolute' || target.isZero() ? threshold : scale(threshold, target);
  return subtract(weight, weight.gt(target) ? add(target, band) : subtract(target, band));
}
