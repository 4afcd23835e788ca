import { add, least, slippageBps } from './money.ts';
import type { Money, Price, Quantity, Ratio } from './money.ts';
import type { Reason } from './reasons.ts';
import type { Side } from './venue.ts';

/** The limits of a desk. What is `undefined` does not limit; in live mode the config leaves nothing undefined that matters. */
export interface Limits {
  /** Currency of the notional limits. */
  readonly currency: string;
  readonly orderNotionalMax: Money | undefined;
  readonly dayNotionalMax: Money | undefined;
  /** Base quantity by pair. */
  readonly orderQuantityMax: ReadonlyMap<string, Quantity>;
  /** Furthest that a quote may be from the reference price against us. */
  readonly collarBps: Ratio;
  /** Furthest that a quote may be from the reference price when the slice was decided. */
  readonly driftBpsMax: Ratio | undefined;
  readonly openDoubtsMax: number;
  /** `undefined`: every pair. */
  readonly pairs: ReadonlySet<string> | undefined;
  readonly sides: ReadonlySet<Side>;
}

/** What an attempt would do, at its worst or as quoted. */
export interface Proposal {
  readonly pair: string;
  readonly side: Side;
  /** Base currency. */
  readonly quantity: Quantity;
  readonly price: Price;
  /** In the currency of the limits; `undefined` when no reference price converts it. */
  readonly notional: Money | undefined;
  readonly limit: Price | undefined;
  readonly reference: Price;
  readonly decisionPrice: Price | undefined;
}

/** What the gate looks at besides the proposal: totals are folds of the journal, doubts counted as filled at worst. */
export interface World {
  readonly control: 'active' | 'paused' | 'reducing' | 'halted';
  readonly isStopping: boolean;
  readonly openDoubts: number;
  /** Doubts of this pair. */
  readonly pairDoubts: number;
  /** Traded today and under way, without this attempt, in the currency of the limits. */
  readonly dayNotional: Money;
}

export interface Refusal {
  readonly reason: Reason;
  /** `limit=… value=…`, for people. */
  readonly detail: string;
}

const stop = (reason: Reason, limit: string, value: string): Refusal => ({
  reason,
  detail: `limit=${limit} value=${value}`,
});

/** Why the desk as a whole starts nothing now. */
export function deskRefusal(world: World): Refusal | undefined {
  if (world.control === 'halted') return stop('halted', 'active', 'halted');
  // Nothing here can tell yet whether an order reduces a position: until then `reducing` starts nothing either.
  if (world.control !== 'active') return stop('paused', 'active', world.control);
  return world.isStopping ? stop('shutdown', 'active', 'stopping') : undefined;
}

/** Why this proposal may not go ahead; `undefined` when it may. Checked when planned, and again in the gate. */
export function refusal(proposal: Proposal, world: World, limits: Limits): Refusal | undefined {
  return (
    deskRefusal(world) ??
    allowListRefusal(proposal, limits) ??
    sizeRefusal(proposal, world, limits) ??
    priceRefusal(proposal, limits)
  );
}

function allowListRefusal({ pair, side }: Proposal, limits: Limits): Refusal | undefined {
  if (limits.pairs !== undefined && !limits.pairs.has(pair))
    return stop('pair_not_allowed', [...limits.pairs].join(','), pair);
  if (!limits.sides.has(side)) return stop('side_not_allowed', [...limits.sides].join(','), side);
  return undefined;
}

function sizeRefusal(proposal: Proposal, world: World, limits: Limits): Refusal | undefined {
  const { pair, quantity, notional } = proposal;
  if (world.openDoubts >= limits.openDoubtsMax)
    return stop('open_doubts', String(limits.openDoubtsMax), String(world.openDoubts));
  if (world.pairDoubts > 0) return stop('open_doubts', `1 of ${pair}`, String(world.pairDoubts));
  const quantityMax = limits.orderQuantityMax.get(pair);
  if (quantityMax !== undefined && quantity.gt(quantityMax))
    return stop('order_quantity', quantityMax.toFixed(), quantity.toFixed());
  if (limits.orderNotionalMax === undefined && limits.dayNotionalMax === undefined) return undefined;
  if (notional === undefined) return stop('no_usd_rate', limits.currency, pair);
  if (limits.orderNotionalMax !== undefined && notional.gt(limits.orderNotionalMax)) {
    return stop('order_notional', limits.orderNotionalMax.toFixed(), notional.toFixed(2));
  }
  const day = add(world.dayNotional, notional);
  if (limits.dayNotionalMax !== undefined && day.gt(limits.dayNotionalMax)) {
    return stop('day_notional', limits.dayNotionalMax.toFixed(), day.toFixed(2));
  }
  return undefined;
}

/** A price is refused only when it is worse for us; a price that is much better is outside the collar as well. */
function priceRefusal(
  { side, price, limit, reference, decisionPrice }: Proposal,
  limits: Limits,
): Refusal | undefined {
  if (limit !== undefined && (side === 'buy' ? price.gt(limit) : price.lt(limit))) {
    return stop('limit_price', limit.toFixed(), price.toFixed());
  }
  const away = slippageBps(side, price, reference);
  if (!away.abs().lte(limits.collarBps))
    return stop(
      'collar',
      `${limits.collarBps.toFixed()} bps`,
      `${away.toFixed(2)} bps from ${reference.toFixed()}`,
    );
  if (limits.driftBpsMax !== undefined && decisionPrice === undefined) {
    return stop(
      'no_reference',
      `${limits.driftBpsMax.toFixed()} bps from the decision`,
      'no price was known then',
    );
  }
  if (limits.driftBpsMax !== undefined && decisionPrice !== undefined) {
    const moved = slippageBps(side, price, decisionPrice);
    if (!moved.lte(limits.driftBpsMax))
      return stop(
        'price_drift',
        `${limits.driftBpsMax.toFixed()} bps`,
        `${moved.toFixed(2)} bps from ${decisionPrice.toFixed()}`,
      );
  }
  return undefined;
}

/** The worst price at which an order may leave: the collar around the reference, and the limit when that is nearer. */
export function worstPrice(side: Side, collar: Price, limit: Price | undefined): Price {
  if (limit === undefined) return collar;
  return side === 'buy' ? least(collar, limit) : collar.gt(limit) ? collar : limit;
}
