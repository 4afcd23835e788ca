import { overridable } from './limits.ts';
import type { Limits, Overridable, OverrideCeilings } from './limits.ts';
import { money, quantity, ratio, text } from '../money.ts';
import type { AnyAmount } from '../money.ts';
import type { OverrideRecord } from '../record.ts';
import type { Side } from '../venue.ts';

export const isOverridable = (name: string): name is Overridable =>
  overridable.some((known) => known === name);

/** Amounts as people write them, limited to what a journal accepts. */
const PLAIN = /^\d{1,20}(?:\.\d{1,18})?$/u;
const SIGNED = /^-?\d{1,20}(?:\.\d{1,18})?$/u;

/** Longest time from the proposal to the order. */
export const OVERRIDE_MAX_MINUTES = 15;

/** The order that overrides are searched for. */
export interface OverriddenOrder {
  readonly parent: string;
  readonly slice: number;
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly side: Side;
}

/** Whether the override names this order. */
export function concerns(override: OverrideRecord, order: OverriddenOrder): boolean {
  if (override.parent !== undefined)
    return (
      override.parent === order.parent && (override.slice === undefined || override.slice === order.slice)
    );
  return override.pair === order.pair && override.side === order.side;
}

/** The limits for one order, with the overridden limit at its new value. The other limits do not change. */
export function loosened(limits: Limits, { limit, value }: OverrideRecord, order: OverriddenOrder): Limits {
  const [gives, gets] = order.side === 'buy' ? [order.quote, order.base] : [order.base, order.quote];
  if (limit === 'restricted_hours') return { ...limits, closedHours: undefined };
  if (value === undefined) return limits;
  switch (limit) {
    case 'max_order_notional':
      return { ...limits, orderNotionalMax: looser(limits.orderNotionalMax, money(value)) };
    case 'max_day_notional':
      return { ...limits, dayNotionalMax: looser(limits.dayNotionalMax, money(value)) };
    case 'max_drift_bps':
      return { ...limits, driftBpsMax: looser(limits.driftBpsMax, ratio(value)) };
    case 'max_order_quantity':
      return { ...limits, orderQuantityMax: withMost(limits.orderQuantityMax, order.pair, quantity(value)) };
    case 'max_pair_day_notional':
      return { ...limits, pairDayNotionalMax: withMost(limits.pairDayNotionalMax, order.pair, money(value)) };
    case 'max_position':
      return { ...limits, positionMax: withMost(limits.positionMax, gets, quantity(value)) };
    case 'min_position': {
      const floor = limits.positionMin?.get(gives);
      const to = quantity(value);
      if (floor === undefined || !to.lt(floor)) return limits;
      return { ...limits, positionMin: new Map([...(limits.positionMin ?? []), [gives, to]]) };
    }
    default:
      return limits;
  }
}

/** An override never tightens a limit and never adds one. */
const looser = <A extends AnyAmount>(limit: A | undefined, to: A): A | undefined =>
  limit === undefined || limit.gte(to) ? limit : to;

function withMost<A extends AnyAmount>(
  limits: ReadonlyMap<string, A> | undefined,
  key: string,
  to: A,
): ReadonlyMap<string, A> {
  const limit = looser(limits?.get(key), to);
  return limit === undefined ? (limits ?? new Map<string, A>()) : new Map([...(limits ?? []), [key, limit]]);
}

/** Why a value is beyond what the config allows, in words. */
export function ceilingFault(
  { limit, value }: Pick<OverrideWish, 'limit' | 'value'>,
  ceilings: OverrideCeilings | undefined,
): string | undefined {
  if (ceilings === undefined) return undefined;
  const ceiling = ceilings.get(limit);
  if (ceiling === undefined)
    return `controls.override_ceilings does not list ${limit}, so it cannot be overridden; it lists ${[...ceilings.keys()].join(', ')}`;
  if (value === undefined) return undefined;
  const isBeyond = limit === 'min_position' ? quantity(value).lt(ceiling) : quantity(value).gt(ceiling);
  return isBeyond ? `${value} is beyond controls.override_ceilings.${limit} of ${text(ceiling)}` : undefined;
}

/** A person's request for an override, unchecked. */
export interface OverrideWish {
  readonly limit: string;
  readonly value?: string | undefined;
  readonly parent?: string | undefined;
  readonly slice?: number | undefined;
  readonly pair?: string | undefined;
  readonly side?: Side | undefined;
  readonly minutes?: number | undefined;
  readonly by: string;
  readonly why: string;
}

/** Why this cannot be proposed, in words; `undefined` if it can. */
export function overrideFault(wish: OverrideWish): string | undefined {
  const { limit, value, parent, slice, pair, side, minutes = OVERRIDE_MAX_MINUTES, by, why } = wish;
  if (by.trim() === '') return 'name the person who proposes it';
  if (why.trim() === '') return 'give the reason';
  if (!isOverridable(limit)) return `${limit} cannot be overridden; these can: ${overridable.join(', ')}`;
  if (limit === 'restricted_hours' ? value !== undefined : value === undefined)
    return limit === 'restricted_hours'
      ? 'restricted_hours takes no value: the override lifts it for one order'
      : 'name the new value';
  // A floor below zero permits a debt of that size.
  if (value !== undefined && !(limit === 'min_position' ? SIGNED : PLAIN).test(value))
    return 'the value must be a plain decimal such as "75000"';
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > OVERRIDE_MAX_MINUTES)
    return `it must last 1 to ${OVERRIDE_MAX_MINUTES} whole minutes`;
  const isOfParent = parent !== undefined && pair === undefined && side === undefined;
  const isOfPair =
    parent === undefined && slice === undefined && pair !== undefined && (side === 'buy' || side === 'sell');
  if (!isOfParent && !isOfPair) return 'name a parent, optionally with a slice, or a pair and a side';
  if (slice !== undefined && (!Number.isInteger(slice) || slice < 0))
    return 'slice must be a whole number from 0';
  return undefined;
}
