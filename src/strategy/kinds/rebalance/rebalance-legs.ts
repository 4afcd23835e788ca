import { z } from 'zod';
import {
  add,
  fraction,
  greatest,
  least,
  money,
  NO_MONEY,
  NO_QUANTITY,
  NOTHING,
  ONE,
  quantity,
  roundDown,
  scale,
  subtract,
  text,
} from '../../../core/money.ts';
import type { Money, Quantity, Ratio } from '../../../core/money.ts';
import type { Reason } from '../../../core/reasons.ts';
import { instant } from '../../../core/time.ts';
import { turns } from './rebalance-trades.ts';
import type { Trade } from './rebalance-trades.ts';

/** A trade in progress, in slices over time. Amounts in base currency, as text. */
const spreadShape = z.lazy(() =>
  z.strictObject({
    /** Total of all slices. */
    due: z.string(),
    /** Unix ms. */
    from: z.number().transform(instant),
    slices: z.int().min(1),
    /** Next slice to start. */
    next: z.int().min(0),
    /** Whether the slice before `next` has not ended. */
    isOpen: z.boolean(),
    filled: z.string(),
  }),
);
export type Spread = z.output<typeof spreadShape>;

/** A trade of a rebalancing, as decided, and its outcome. Part of the state; amounts as text. */
export const legShape = z.lazy(() =>
  z.strictObject({
    leg: z.string(),
    /** Base currency of the pair. */
    asset: z.string(),
    pair: z.string(),
    side: z.enum(['buy', 'sell']),
    /** As decided, base currency. */
    quantity: z.string(),
    ended: z.boolean(),
    /** See `turns`. */
    turn: z.int().min(0).max(3),
    /** For a cross pair: the quote currency, which is not cash, and its amount. */
    bridge: z.strictObject({ currency: z.string(), amount: z.string() }).optional(),
    /** Proceeds or cost at the prices of the decision, in quote currency. */
    amount: z.string(),
    /** Traded quantity once the trade has ended, in base currency; if omitted, the whole quantity. */
    filled: z.string().optional(),
    /** Why it traded nothing. */
    reason: z.string().optional(),
    /** Whether the decided size exceeds a per-order limit, so that the trade is split into orders within it. */
    split: z.literal(true).optional(),
    /** If omitted, the trade is one slice. */
    spread: spreadShape.optional(),
  }),
);
export type Leg = z.output<typeof legShape>;

/** Returns the leg of a trade. `orderMax` is the largest order within the limits per order. */
export const legOf = (trade: Trade, decision: number, orderMax: Quantity | undefined): Leg => ({
  leg: `${decision}.${trade.pair}.${trade.side}`,
  asset: trade.asset,
  pair: trade.pair,
  side: trade.side,
  quantity: text(trade.quantity),
  ended: false,
  turn: trade.turn,
  amount: text(trade.amount),
  ...(orderMax === undefined || trade.quantity.lte(orderMax) ? {} : { split: true }),
  ...(trade.bridge === undefined
    ? {}
    : { bridge: { currency: trade.bridge.currency, amount: text(trade.amount) } }),
});

export const ended = (leg: Leg, filled: Quantity, reason?: Reason): Leg => ({
  ...leg,
  ended: true,
  filled: text(filled),
  ...(reason === undefined || filled.gt(0) ? {} : { reason }),
});

/** Returns the turn in progress, which is the first turn with a trade that has not ended. */
export function turnUnderWay(legs: readonly Leg[]): number | undefined {
  const open = legs.filter((one) => !one.ended).map((one) => one.turn);
  return open.length === 0 ? undefined : Math.min(...open);
}

/** A trade that is due now. */
export type Due = Leg & { readonly due: Quantity };

/** How the trades of a turn are sized. */
export interface TurnSizing {
  /** Decimals of a quantity of the pair. */
  readonly precisionOf: (pair: string) => number;
  /** Cuts the trades of a turn further; a trade that is cut to nothing ends. */
  readonly restrict: (turn: readonly Due[]) => readonly Due[];
}

/** Returns the trades of the next turn, cut to the proceeds of the earlier turns. Trades that are cut to nothing end. */
export function nextTurn(
  all: readonly Leg[],
  { precisionOf, restrict }: TurnSizing,
): { readonly legs: readonly Leg[]; readonly turn: readonly Due[] } {
  let legs = all;
  for (;;) {
    const turn = turnUnderWay(legs);
    if (turn === undefined) return { legs, turn: [] };
    const now = legs
      .filter((one) => !one.ended && one.turn === turn)
      .map((one) => ({ ...one, due: roundDown(dueOf(one, legs), precisionOf(one.pair)) }));
    const due = restrict(now).filter((one) => one.due.gt(0));
    const none = new Set(now.map((one) => one.leg)).difference(new Set(due.map((one) => one.leg)));
    if (none.size > 0) legs = legs.map((one) => (none.has(one.leg) ? ended(one, NO_QUANTITY) : one));
    if (due.length > 0) return { legs, turn: due };
  }
}

/**
 * Returns the quantity that a trade may still reach. If a sale against another currency brought less, less of that
 * currency is sold. If less of a currency was bought, less of it is spent. Cash that sells did not bring is not spent.
 * No trade becomes larger than decided.
 */
function dueOf(leg: Leg, legs: readonly Leg[]): Quantity {
  const decided = quantity(leg.quantity);
  const { turn } = leg;
  if (turn === turns.sell) {
    return greatest(NO_QUANTITY, subtract(decided, undelivered(leg.asset, legs)));
  }
  if (turn === turns.buy) return scale(decided, affordable(legs));
  if (turn !== turns.crossBuy || leg.bridge === undefined) return decided;
  const { currency } = leg.bridge;
  const planned = legs
    .filter((one) => one.turn === turns.crossBuy && one.bridge?.currency === currency)
    .reduce((sum, one) => add(sum, quantity(one.bridge?.amount ?? '0')), NO_QUANTITY);
  if (planned.isZero()) return decided;
  const kept = subtract(ONE, fraction(missingFor(currency, legs), planned));
  return scale(decided, greatest(NOTHING, kept));
}

/**
 * Returns the share of the buys with cash that remains after cutting all of them by the cash that sells did not bring.
 * A worse price of a sale does not count, because cash pays the cost of trades.
 */
function affordable(legs: readonly Leg[]): Ratio {
  const total = (turn: number, amountOf: (leg: Leg) => Money): Money =>
    legs.filter((one) => one.turn === turn).reduce((sum, one) => add(sum, amountOf(one)), NO_MONEY);
  const lacked = total(turns.sell, (one) => scale(amountOf(one), undone(one)));
  const planned = total(turns.buy, amountOf);
  if (lacked.isZero() || planned.isZero()) return ONE;
  return greatest(NOTHING, subtract(ONE, fraction(lacked, planned)));
}

const amountOf = ({ amount }: Leg): Money => money(amount);

/** Returns the amount of a bridging currency that sales against it should have brought but did not bring. */
const undelivered = (currency: string, legs: readonly Leg[]): Quantity =>
  legs
    .filter((one) => one.turn === turns.crossSell && one.bridge?.currency === currency)
    .reduce((sum, one) => add(sum, scale(quantity(one.bridge?.amount ?? '0'), undone(one))), NO_QUANTITY);

/** Returns how much of a bridging currency is missing for the purchases with it. */
function missingFor(currency: string, legs: readonly Leg[]): Quantity {
  const own = legs.filter((one) => one.bridge === undefined && one.asset === currency);
  const sale = own.find((one) => one.turn === turns.sell);
  const purchase = own.find((one) => one.turn === turns.buy);
  const late = undelivered(currency, legs);
  const spared = sale === undefined ? NO_QUANTITY : least(late, quantity(sale.quantity));
  const unfetched =
    purchase === undefined ? NO_QUANTITY : scale(quantity(purchase.quantity), undone(purchase));
  return add(subtract(late, spared), unfetched);
}

/** Returns the untraded share of an ended trade; zero before it ends. */
function undone({ quantity: decided, ended: isOver, filled = decided }: Leg): Ratio {
  if (!isOver) return NOTHING;
  const left = subtract(quantity(decided), quantity(filled));
  return greatest(NOTHING, fraction(left, quantity(decided)));
}
