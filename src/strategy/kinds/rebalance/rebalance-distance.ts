import {
  add,
  cost,
  greatest,
  least,
  negate,
  NO_MONEY,
  NOTHING,
  scale,
  size,
  subtract,
} from '../../../core/money.ts';
import type { Money } from '../../../core/money.ts';
import type { Basis, Targets, Valued } from '../../../core/risk/portfolio.ts';
import type { Due } from './rebalance-legs.ts';
import { quantityWorth } from './rebalance-trades.ts';
import type { AssetMarket } from './rebalance-trades.ts';

/** A portfolio at the prices of one instant. */
export interface Markets {
  readonly basis: Basis;
  readonly targets: Targets;
  /** `undefined` when a price is missing. */
  readonly valued: Valued | undefined;
  market(asset: string): AssetMarket | undefined;
}

/**
 * Cuts trades that were decided at earlier prices, based on the current prices. A trade that would take the portfolio
 * further from its targets goes no further than its currency's target. Trades in a bridging currency are not cut,
 * because a later trade may pay with it.
 */
export function towardsTargets(turn: readonly Due[], markets: Markets): readonly Due[] {
  const { valued, targets, basis } = markets;
  if (valued === undefined) return turn;
  const { value } = valued;
  const worths = new Map(valued.worths);
  const worthOf = (currency: string): Money => worths.get(currency) ?? NO_MONEY;
  return turn.map((one) => {
    const { asset } = one;
    const market = markets.market(asset);
    if (market === undefined || isBridge(asset, basis)) return one;
    const paid = one.bridge?.currency ?? basis.cash;
    const signed = (move: Money): Money => (one.side === 'sell' ? negate(move) : move);
    const gapOf = (currency: string): Money =>
      subtract(scale(value, targets.get(currency) ?? NOTHING), worthOf(currency));
    const [gap, paidGap] = [gapOf(asset), gapOf(paid)];
    // A move between two currencies changes no other distance.
    const whole = signed(cost(market.each, one.due));
    const before = add(size(gap), size(paidGap));
    const isFurther = add(size(subtract(gap, whole)), size(add(paidGap, whole))).gt(before);
    const due = isFurther ? least(one.due, quantityWorth(greatest(signed(gap), NO_MONEY), market)) : one.due;
    const move = signed(cost(market.each, due));
    worths.set(asset, add(worthOf(asset), move)).set(paid, subtract(worthOf(paid), move));
    return { ...one, due };
  });
}

const isBridge = (asset: string, { via }: Basis): boolean =>
  via !== undefined && Object.values(via).includes(asset);
