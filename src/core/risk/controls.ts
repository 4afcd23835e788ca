import { isClosedAt } from '../hours.ts';
import { add, isNear, least, ratio, scale, slippageBps } from '../money.ts';
import type { Price } from '../money.ts';
import type { Side } from '../venue.ts';
import type { Limits, Proposal, RiskContext } from './limits.ts';
import { stop } from './refusal.ts';
import type { Refusal } from './refusal.ts';
import { capRefusal, duplicateRefusal, repeatRefusal } from './repeat-limits.ts';

/** Why the desk as a whole starts nothing now. For a reducing desk, each order is checked. */
export function deskRefusal({
  control,
  isStopping,
}: Pick<RiskContext, 'control' | 'isStopping'>): Refusal | undefined {
  if (control === 'halted') return stop('halted', 'active', 'halted');
  if (control === 'paused') return stop('paused', 'active', control);
  return isStopping ? stop('shutdown', 'active', 'stopping') : undefined;
}

/**
 * Why this proposal may not proceed; `undefined` if it may. Checked before the quote, and again in the gate. A check
 * that throws counts as a refusal, because what cannot be checked is not sent.
 */
export function refusal(proposal: Proposal, world: RiskContext, limits: Limits): Refusal | undefined {
  try {
    return firstRefusal(proposal, world, limits);
  } catch (error) {
    return stop('control_failed', 'a check that ends', error instanceof Error ? error.message : 'a throw');
  }
}

/** All checks, in the order of precedence of their reasons. */
const firstRefusal = (proposal: Proposal, world: RiskContext, limits: Limits): Refusal | undefined =>
  deskRefusal(world) ??
  stateRefusal(world, limits) ??
  allowListRefusal(proposal, limits) ??
  duplicateRefusal(world) ??
  repeatRefusal(proposal, world, limits) ??
  capRefusal(world) ??
  sizeRefusal(proposal, world, limits) ??
  dayRefusal(proposal, world, limits) ??
  positionRefusal(world, limits) ??
  referenceRefusal(world) ??
  priceRefusal(proposal, limits);

function stateRefusal(world: RiskContext, limits: Limits): Refusal | undefined {
  if (world.pausedWhy !== undefined) return stop('paused', 'active', world.pausedWhy);
  if (world.control === 'reducing' && !world.isReducing)
    return stop('reducing', 'orders that reduce a borrowed balance', 'another');
  const closed = limits.closedHours?.find((hours) => isClosedAt(hours, world.at));
  if (closed !== undefined)
    return stop('restricted_hours', `${closed.from}-${closed.to} ${closed.timeZone}`, 'now');
  return world.blind === undefined ? undefined : stop('no_balances', world.blind.limit, world.blind.value);
}

function allowListRefusal({ pair, side }: Proposal, limits: Limits): Refusal | undefined {
  if (limits.pairs !== undefined && !limits.pairs.has(pair))
    return stop('not_allowed', [...limits.pairs].join(','), pair);
  if (!limits.sides.has(side)) return stop('not_allowed', [...limits.sides].join(','), side);
  return undefined;
}

function sizeRefusal(proposal: Proposal, world: RiskContext, limits: Limits): Refusal | undefined {
  const { pair, quantity, notional } = proposal;
  if (world.openDoubts >= limits.openDoubtsMax)
    return stop('open_doubts', String(limits.openDoubtsMax), String(world.openDoubts));
  if (world.pairDoubts > 0) return stop('open_doubts', `1 of ${pair}`, String(world.pairDoubts));
  const quantityMax = limits.orderQuantityMax.get(pair);
  if (quantityMax !== undefined && !quantity.lte(quantityMax))
    return stop('order_size', `max_order_quantity ${quantityMax.toFixed()}`, quantity.toFixed());
  const { orderNotionalMax, dayNotionalMax } = limits;
  if (orderNotionalMax === undefined && dayNotionalMax === undefined) return undefined;
  if (notional === undefined) return stop('no_usd_rate', limits.currency, proposal.notionalWhy ?? pair);
  if (orderNotionalMax === undefined) return undefined;
  if (!notional.lte(orderNotionalMax))
    return stop('order_size', `max_order_notional ${orderNotionalMax.toFixed()}`, notional.toFixed(2));
  if (world.openDoubts === 0) return undefined;
  const doubtMax = scale(orderNotionalMax, ratio('2'));
  const doubts = add(world.doubtNotional, notional);
  return doubts.lte(doubtMax)
    ? undefined
    : stop('open_doubts', `twice max_order_notional ${doubtMax.toFixed()}`, doubts.toFixed(2));
}

function dayRefusal(
  { pair, notional, notionalWhy }: Proposal,
  world: RiskContext,
  limits: Limits,
): Refusal | undefined {
  const { dayNotionalMax } = limits;
  const pairMax = limits.pairDayNotionalMax?.get(pair);
  if (dayNotionalMax === undefined && pairMax === undefined) return undefined;
  if (notional === undefined) return stop('no_usd_rate', limits.currency, notionalWhy ?? pair);
  if (dayNotionalMax !== undefined) {
    const day = add(world.dayNotional, notional);
    if (!day.lte(dayNotionalMax))
      return stop('day_limit', `max_day_notional ${dayNotionalMax.toFixed()}`, day.toFixed(2));
  }
  if (pairMax === undefined) return undefined;
  const ofPair = add(world.pairDayNotional, notional);
  return ofPair.lte(pairMax)
    ? undefined
    : stop('day_limit', `max_pair_day_notional ${pairMax.toFixed()} of ${pair}`, ofPair.toFixed(2));
}

/**
 * Refuses an order that would take a balance below its floor or above its ceiling, counting all orders in flight at
 * their worst.
 */
function positionRefusal(world: RiskContext, { positionMin, positionMax }: Limits): Refusal | undefined {
  if (positionMin !== undefined) {
    const { currency, after } = world.gives;
    const floor = positionMin.get(currency);
    if (floor !== undefined && after?.gte(floor) !== true)
      return stop(
        'position_limit',
        `min_position ${floor.toFixed()} ${currency}`,
        after?.toFixed() ?? 'unknown',
      );
  }
  if (positionMax !== undefined) {
    const { currency, after } = world.gets;
    const ceiling = positionMax.get(currency);
    if (ceiling !== undefined && after?.lte(ceiling) !== true)
      return stop(
        'position_limit',
        `max_position ${ceiling.toFixed()} ${currency}`,
        after?.toFixed() ?? 'unknown',
      );
  }
  return undefined;
}

function referenceRefusal(world: RiskContext): Refusal | undefined {
  const most = world.referenceGapBpsMax;
  const gap = most && world.referenceGapBps;
  if (most === undefined || gap === undefined || gap.lte(most)) return undefined;
  return stop('control_failed', `${most.toFixed()} bps between two sources`, `${gap.toFixed(2)} bps`);
}

/** Limits refuse only prices that are worse for us. The collar also refuses a price that is much better. */
function priceRefusal(
  { side, price, limit, reference, decisionPrice }: Proposal,
  limits: Limits,
): Refusal | undefined {
  if (limit !== undefined && (side === 'buy' ? price.gt(limit) : price.lt(limit))) {
    return stop('limit_price', limit.toFixed(), price.toFixed());
  }
  if (!isNear(price, reference, limits.collarBps)) {
    const away = slippageBps(side, price, reference);
    if (!away.abs().lte(limits.collarBps))
      return stop(
        'collar',
        `${limits.collarBps.toFixed()} bps`,
        `${away.toFixed(2)} bps from ${reference.toFixed()}`,
      );
  }
  if (limits.driftBpsMax !== undefined && decisionPrice === undefined) {
    return stop(
      'no_reference',
      `${limits.driftBpsMax.toFixed()} bps from the decision`,
      'no price was known then',
    );
  }
  if (
    limits.driftBpsMax !== undefined &&
    decisionPrice !== undefined &&
    !isNear(price, decisionPrice, limits.driftBpsMax)
  ) {
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

/** The worst price at which an order may be sent: the collar around the reference, or the limit price if it is tighter. */
export function worstPrice(side: Side, collar: Price, limit: Price | undefined): Price {
  if (limit === undefined) return collar;
  return side === 'buy' ? least(collar, limit) : collar.gt(limit) ? collar : limit;
}
