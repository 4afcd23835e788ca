import {
  add,
  fraction,
  negate,
  NO_MONEY,
  NOTHING,
  ONE,
  quantityDown,
  ratioOf,
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
  /** Largest traded share of the value, one-way. */
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
  const total = [...wanted.values()].reduce((sum, move) => add(sum, size(move)), NO_MONEY);
  const largest =
    question.turnoverMax === undefined ? total : scale(question.valued.value, question.turnoverMax);
  const capped = total.gt(largest);
  const trades: Trade[] = [];
  for (const [asset, move] of wanted) {
    const market = question.market(asset);
    if (market === undefined) continue;
    const notional = capped ? scale(size(move), fraction(largest, total)) : size(move);
    const quantity = quantityDown(notional, market.mid, market.precision);
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

/** By how much cash value each asset should grow (or shrink, when negative). */
function wantedMoves(question: Question): ReadonlyMap<string, Money> {
  const { valued, targets, cash, drifts, threshold } = question;
  const assets = [...targets.keys()].filter((asset) => asset !== cash);
  const isDrifted = (asset: string): boolean => size(drifts.get(asset) ?? NOTHING).gt(threshold);
  const drifted = assets.filter(isDrifted);
  const some = question.onlyDrifted || question.rebalanceTo === 'band_edge';
  const moves = new Map<string, Money>();
  if (some && drifted.length === 0) {
    // Only cash has left its band: the assets share what cash must give or take, by their target weights.
    const away = excess(question, cash);
    const invested = assets.reduce((sum, asset) => add(sum, targets.get(asset) ?? NOTHING), NOTHING);
    for (const asset of assets) {
      const part = invested.isZero()
        ? fraction(ONE, ratioOf(assets.length))
        : fraction(targets.get(asset) ?? NOTHING, invested);
      moves.set(asset, scale(scale(valued.value, away), part));
    }
    return moves;
  }
  for (const asset of some ? drifted : assets) {
    moves.set(asset, scale(valued.value, negate(excess(question, asset))));
  }
  return moves;
}

/** Weight of a currency above where it should go: its target, or the nearer edge of its band. Signed. */
function excess({ valued, targets, threshold, driftType, rebalanceTo }: Question, currency: string): Ratio {
  const weight = valued.weights.get(currency) ?? NOTHING;
  const target = targets.get(currency) ?? NOTHING;
  if (rebalanceTo === 'target') return subtract(weight, target);
  const band = driftType === 'absolute' || target.isZero() ? threshold : scale(threshold, target);
  return subtract(weight, weight.gt(target) ? add(target, band) : subtract(target, band));
}
