import {
  add,
  cost,
  fraction,
  greatest,
  least,
  negate,
  NO_MONEY,
  NOTHING,
  ONE,
  quantityDown,
  roundEven,
  scale,
  size,
  subtract,
} from '../../../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../../../core/money.ts';
import type { Basis, Targets, Valued } from '../../../core/risk/portfolio.ts';
import type { Side } from '../../../core/venue.ts';
import type { DriftType } from '../../../core/wake.ts';

/**
 * The order of trades. A trade begins once all trades of the previous turn have ended, because their proceeds pay for
 * it. The turns are: sells against currencies other than cash, sells for cash, buys with cash, and buys with other
 * currencies.
 */
export const turns = { crossSell: 0, sell: 1, buy: 2, crossBuy: 3 } as const;
export type Turn = (typeof turns)[keyof typeof turns];

export interface Trade {
  /** Base currency of the pair. */
  readonly asset: string;
  readonly pair: string;
  readonly side: Side;
  /** Base currency, rounded down to its precision. */
  readonly quantity: Quantity;
  /** In cash, at the reference price. */
  readonly notional: Money;
  /** Proceeds or cost in the quote currency of the pair, at the reference price. */
  readonly amount: Money;
  readonly turn: Turn;
  /** The quote currency, if it is not cash. */
  readonly bridge?: { readonly currency: string };
}

/** The pair in which a currency trades, and its price. */
export interface AssetMarket {
  readonly pair: string;
  /** Quote per base of `pair`. */
  readonly mid: Price;
  /** Price of one unit in cash. Equal to `mid` if the pair is against cash. */
  readonly each: Price;
  /** Decimals of a quantity. */
  readonly precision: number;
}

/** Decimals of a value: much finer than any unit, and much coarser than the precision of a fraction. */
const DECIMALS = 40;

interface Question {
  readonly valued: Valued;
  readonly targets: Targets;
  readonly basis: Basis;
  /** A fraction. */
  readonly threshold: Ratio;
  readonly driftType: DriftType;
  readonly rebalanceTo: 'target' | 'band_edge';
  readonly onlyDrifted: boolean;
  readonly sells: boolean;
  /** In cash. */
  readonly tradeMin: Money;
  /** Largest traded share of the value, one-way: the larger of all buys and all sells. */
  readonly turnoverMax: Ratio | undefined;
  market(asset: string): AssetMarket | undefined;
}

/**
 * Returns the trades that rebalance a portfolio, in the order of their turns, largest first. `capped` is true if `turnoverMax` cut
 * them.
 */
export function tradesFor(question: Question): {
  readonly trades: readonly Trade[];
  readonly capped: boolean;
} {
  const { valued, turnoverMax } = question;
  const wanted = question.sells ? wantedMoves(question) : buysWithSurplus(question);
  const moves = turnoverMax === undefined ? wanted : cut(wanted, scale(valued.value, turnoverMax));
  const { trades, flows } = crossTrades(question, moves);
  for (const [asset, flow] of flows) {
    const market = question.market(asset);
    const trade = market === undefined ? undefined : tradeOf(flow, market, question.tradeMin);
    if (trade !== undefined)
      trades.push({ ...trade, asset, turn: trade.side === 'sell' ? turns.sell : turns.buy });
  }
  const order = (a: Trade, b: Trade): number =>
    a.turn - b.turn || b.notional.comparedTo(a.notional) || (a.pair < b.pair ? -1 : 1);
  return { trades: trades.toSorted(order), capped: moves !== wanted };
}

/** Returns the trades against currencies other than cash, and how much of each other currency to buy or sell for cash. */
function crossTrades(
  question: Question,
  moves: ReadonlyMap<string, Money>,
): { readonly trades: Trade[]; readonly flows: ReadonlyMap<string, Money> } {
  const { via } = question.basis;
  const trades: Trade[] = [];
  if (via === undefined) return { trades, flows: moves };
  const flows = new Map([...moves].filter(([asset]) => via[asset] === undefined));
  for (const [asset, move] of moves) {
    const currency = via[asset];
    const market = question.market(asset);
    if (currency === undefined || market === undefined) continue;
    const trade = tradeOf(move, market, question.tradeMin);
    if (trade === undefined) continue;
    const turn = trade.side === 'sell' ? turns.crossSell : turns.crossBuy;
    trades.push({ ...trade, asset, turn, bridge: { currency } });
    // The proceeds of a sale are sold on, and the cost of a purchase is bought, to the exact unit, so that no more is sold than is
    // there.
    const worth = cost(market.each, trade.quantity);
    flows.set(currency, add(flows.get(currency) ?? NO_MONEY, trade.side === 'sell' ? negate(worth) : worth));
  }
  return { trades, flows };
}

/**
 * Returns the quantity that has this value in cash, cut to its precision. Weights have 80 digits and are truncated, so
 * without the rounding first, a sale of a whole asset would leave one unit of it.
 */
export const quantityWorth = (
  notional: Money,
  { each, precision }: Pick<AssetMarket, 'each' | 'precision'>,
): Quantity => quantityDown(roundEven(notional, DECIMALS), each, precision);

/** Returns the trade that moves this value, in cash, into an asset or out of it; `undefined` when it is too small. */
function tradeOf(move: Money, { pair, mid, each, precision }: AssetMarket, tradeMin: Money) {
  const notional = size(move);
  const quantity = quantityWorth(notional, { each, precision });
  if (notional.lt(tradeMin) || quantity.isZero()) return undefined;
  return {
    pair,
    side: move.lt(0) ? 'sell' : 'buy',
    quantity,
    notional,
    amount: cost(mid, quantity),
  } as const;
}

/** Scales all moves down so that the turnover does not exceed `largest`; returns the same map if it does not. */
function cut(moves: ReadonlyMap<string, Money>, largest: Money): ReadonlyMap<string, Money> {
  const total = turnoverOf([...moves.values()]);
  return total.gt(largest)
    ? new Map([...moves].map(([asset, move]) => [asset, scale(move, fraction(largest, total))]))
    : moves;
}

/** Returns the one-way turnover, in cash. Value that moves from one asset to another counts once. */
function turnoverOf(moves: readonly Money[]): Money {
  const bought = moves.reduce((sum, move) => (move.gt(0) ? add(sum, move) : sum), NO_MONEY);
  const sold = moves.reduce((sum, move) => (move.lt(0) ? subtract(sum, move) : sum), NO_MONEY);
  return greatest(bought, sold);
}

/** Returns what the cash above its target buys: first the asset that lacks most value, up to its target, then the next. */
function buysWithSurplus(question: Question): ReadonlyMap<string, Money> {
  const { valued, targets, basis, onlyDrifted } = question;
  const weightOf = (currency: string): Ratio => valued.weights.get(currency) ?? NOTHING;
  const cash = weightOf(basis.cash);
  let surplus = scale(valued.value, subtract(cash, goalOf(question, basis.cash, cash)));
  const lacking = [...targets]
    .filter(
      ([asset]) => asset !== basis.cash && (!onlyDrifted || isDrifted(question, asset, weightOf(asset))),
    )
    .map(([asset, target]) => ({ asset, lack: scale(valued.value, subtract(target, weightOf(asset))) }))
    .toSorted((a, b) => b.lack.comparedTo(a.lack));
  const moves = new Map<string, Money>();
  for (const { asset, lack } of lacking) {
    const move = least(lack, surplus);
    if (!move.gt(0)) break;
    moves.set(asset, move);
    surplus = subtract(surplus, move);
  }
  return moves;
}

/** Returns by how much each asset should grow, in cash (negative: shrink). */
function wantedMoves(question: Question): ReadonlyMap<string, Money> {
  const { valued, targets, basis } = question;
  const some = question.onlyDrifted || question.rebalanceTo === 'band_edge';
  const before = (asset: string): Ratio => valued.weights.get(asset) ?? NOTHING;
  const goals = new Map<string, Ratio>();
  for (const asset of targets.keys()) {
    if (asset === basis.cash) continue;
    const weight = before(asset);
    const isMoved = !some || isDrifted(question, asset, weight);
    goals.set(asset, isMoved ? goalOf(question, asset, weight) : weight);
  }
  const settled = some ? withCash(question, goals) : goals;
  const moves = new Map<string, Money>();
  for (const [asset, goal] of settled) {
    const change = subtract(goal, before(asset));
    if (!change.isZero()) moves.set(asset, scale(valued.value, change));
  }
  return moves;
}

/**
 * Cash gets what the assets leave. If that is outside cash's band, cash takes the difference from the assets above
 * their targets, or gives it to the assets below theirs, in proportion to their distances. No asset passes its target,
 * so none leaves its band, and no sale exceeds the holding.
 */
function withCash(question: Question, goals: ReadonlyMap<string, Ratio>): ReadonlyMap<string, Ratio> {
  const { targets, basis } = question;
  const left = [...goals.values()].reduce((rest, goal) => subtract(rest, goal), ONE);
  if (!isDrifted(question, basis.cash, left)) return goals;
  const missing = subtract(goalOf(question, basis.cash, left), left);
  const room = new Map(
    [...goals].map(([asset, goal]) => {
      const above = subtract(goal, targets.get(asset) ?? NOTHING);
      return [asset, above.gt(0) === missing.gt(0) ? above : NOTHING];
    }),
  );
  const whole = [...room.values()].reduce((sum, part) => add(sum, part), NOTHING);
  const share = fraction(size(missing), size(whole));
  return new Map(
    [...goals].map(([asset, goal]) => [asset, subtract(goal, scale(room.get(asset) ?? NOTHING, share))]),
  );
}

const bandOf = ({ targets, threshold, driftType }: Question, currency: string): Ratio => {
  const target = targets.get(currency) ?? NOTHING;
  return driftType === 'absolute' || target.isZero() ? threshold : scale(threshold, target);
};

const isDrifted = (question: Question, currency: string, weight: Ratio): boolean =>
  size(subtract(weight, question.targets.get(currency) ?? NOTHING)).gt(bandOf(question, currency));

/** Returns the weight that a currency should reach: its target, or the nearer edge of its band. */
function goalOf(question: Question, currency: string, weight: Ratio): Ratio {
  const target = question.targets.get(currency) ?? NOTHING;
  if (question.rebalanceTo === 'target') return target;
  const band = bandOf(question, currency);
  return weight.gt(target) ? add(target, band) : subtract(target, band);
}
