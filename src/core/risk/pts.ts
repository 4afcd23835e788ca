import {
  add,
  fraction,
  greatest,
  least,
  money,
  negate,
  NO_MONEY,
  NO_QUANTITY,
  NOTHING,
  ratioOf,
  scale,
  subtract,
  text,
} from '../money.ts';
import type { Money, Quantity, Ratio } from '../money.ts';
import { cut } from './cuts.ts';
import type { Cut } from './cuts.ts';
import { MINUTE_MS } from '../time.ts';
import type { FundingRate, RiskMode, Side } from '../venue.ts';

/**
 * Post-trade settlement: an order is split into the part paid from own funds and the part that would use credit. The risk
 * mode of the pair decides whether credit may be used. All amounts are in the currency that the order pays with: quote for a
 * buy, base for a sell.
 */
export interface PtsQuestion {
  readonly side: Side;
  /** The currency that the order pays with. */
  readonly pays: string;
  /** What the order pays at its worst price. */
  readonly outgoing: Quantity;
  /** Balance that the order can rely on, after reservations; below zero if the account already borrows. */
  readonly available: Quantity;
  /** The part of the order that reduces an open position, in the same currency. */
  readonly reducing: Quantity;
  /** `undefined` when the mode is unknown, stale, or the endpoint refused. */
  readonly mode: RiskMode | undefined;
  readonly use: 'never' | 'when_enabled';
  /** Remaining credit, in the same currency; `unknown` if the venue has not stated it, `undefined` without a cap. */
  readonly creditLeft: Quantity | 'unknown' | undefined;
  /** Expected cost of the credit, in basis points of the credit; `undefined` if the funding rate is unknown. */
  readonly carryBps: Ratio | undefined;
  readonly carryBpsMax: Ratio | undefined;
}

export interface PtsAnswer {
  /** The amount that may be paid: at most `outgoing`. */
  readonly allowed: Quantity;
  /** The borrowed part of `allowed`. */
  readonly credit: Quantity;
  /** Why `allowed` is less than requested, with the figures. */
  readonly cuts: readonly Cut[];
}

const ZERO: Quantity = NO_QUANTITY;

/**
 * Cuts an order to own funds, to what reduces a position, and to the credit that mode, caps and carry allow.
 */
export function sizeForPts(question: PtsQuestion): PtsAnswer {
  const { outgoing, available, pays } = question;
  // The common case: own funds pay for the whole order.
  if (available.gte(outgoing) && outgoing.gt(0)) return { allowed: outgoing, credit: ZERO, cuts: [] };
  const own = greatest(least(available, outgoing), ZERO);
  const wanted = subtract(outgoing, own);
  if (wanted.isZero()) return { allowed: outgoing, credit: ZERO, cuts: [] };
  const { credit, why } = creditFor(question, wanted, own);
  const allowed = add(own, credit);
  if (why === undefined || credit.eq(wanted)) return { allowed, credit, cuts: [] };
  const funds = `${text(greatest(available, ZERO))} ${pays}`;
  return { allowed, credit, cuts: [cut('no_funds', funds, `${text(outgoing)} ${pays}`), why] };
}

/**
 * How much of the wanted credit may be used, and why no more may be used. The mode does not restrict the part that
 * reduces a position, but that part is also borrowed, so caps and carry apply to it.
 */
function creditFor(
  question: PtsQuestion,
  wanted: Quantity,
  own: Quantity,
): { readonly credit: Quantity; readonly why?: Cut } {
  const { use, creditLeft, outgoing, pays } = question;
  // Reducing a position with borrowed money is also credit, which `never` forbids.
  if (use === 'never') return { credit: ZERO, why: cut('pts_credit', 'own funds', creditText(question)) };
  const refusal = modeRefusal(question);
  const reducing = greatest(subtract(least(question.reducing, outgoing), own), ZERO);
  const permitted = refusal === undefined ? wanted : reducing;
  if (permitted.isZero()) return { credit: ZERO, ...(refusal && { why: refusal }) };
  const dear = carryRefusal(question);
  if (dear !== undefined) return { credit: ZERO, why: dear };
  if (creditLeft === 'unknown')
    return { credit: ZERO, why: cut('pts_unknown', 'a fresh available exposure', 'unknown') };
  const credit = creditLeft === undefined ? permitted : greatest(least(creditLeft, permitted), ZERO);
  if (credit.lt(permitted)) {
    const left = `${text(greatest(creditLeft ?? ZERO, ZERO))} ${pays} of credit`;
    return { credit, why: cut('pts_credit', left, creditText(question)) };
  }
  return { credit, ...(refusal && { why: refusal }) };
}

/** Why the mode does not allow credit to open or grow a position; `undefined` if it does. */
function modeRefusal(question: PtsQuestion): Cut | undefined {
  const { side, mode } = question;
  if (mode === undefined) return cut('pts_unknown', 'a fresh risk mode', 'unknown');
  return modeAllows(mode, side)
    ? undefined
    : cut('pts_terms', `risk mode ${mode}`, `a ${side} with ${creditText(question)}`);
}

const creditText = ({ outgoing, available, pays }: PtsQuestion): string =>
  `${text(subtract(outgoing, greatest(available, ZERO)))} ${pays} of credit`;

/** Why credit costs too much; `undefined` if it does not. */
function carryRefusal({ carryBps, carryBpsMax }: PtsQuestion): Cut | undefined {
  if (carryBpsMax === undefined) return undefined;
  if (carryBps === undefined) return cut('pts_unknown', 'a fresh risk mode', 'an unknown funding rate');
  return carryBps.gt(carryBpsMax)
    ? cut('pts_terms', `${text(carryBpsMax)} bps`, `${carryBps.toFixed(4)} bps`)
    : undefined;
}

/** Whether a mode allows credit to open or grow a long (buy) or a short (sell) position. */
function modeAllows(mode: RiskMode, side: Side): boolean {
  switch (mode) {
    case 'Enabled':
      return true;
    case 'Long-Only':
      return side === 'buy';
    case 'Short-Only':
      return side === 'sell';
    case 'Reduce-Only':
      return false;
  }
}

/** Rates are fractions per year of 365 days. */
export const MINUTES_A_YEAR = 365 * 24 * 60;

/**
 * Expected carry of borrowed money, in basis points. Interest accrues in whole steps of `frequencyMinutes` once the
 * grace period is over, for as long as the strategy expects to hold.
 */
export function expectedCarryBps(rate: FundingRate, holdingMs: number): Ratio {
  const charged = Math.max(0, holdingMs / MINUTE_MS - rate.graceMinutes);
  const steps = Math.floor(charged / rate.frequencyMinutes);
  if (steps === 0) return NOTHING;
  // Multiplies before dividing, because a carry exactly at the limit must not exceed it through rounding.
  const charge = scale(rate.annualRate, ratioOf(steps * rate.frequencyMinutes * 10_000));
  return fraction(charge, ratioOf(MINUTES_A_YEAR));
}

/**
 * The total borrowed in `balances`, in the currency of the cap. `convert` returns `undefined` for currencies without a
 * price.
 */
export function borrowed(
  balances: ReadonlyMap<string, Quantity>,
  convert: (currency: string, amount: Quantity) => Money | undefined,
): Money | undefined {
  let sum = NO_MONEY;
  for (const [currency, balance] of balances) {
    if (!balance.lt(0)) continue;
    const worth = convert(currency, negate(balance));
    if (worth === undefined) return undefined;
    sum = add(sum, worth);
  }
  return money(sum.toFixed());
}
