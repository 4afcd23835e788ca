import {
  cost,
  fraction,
  greatest,
  least,
  money,
  NO_QUANTITY,
  ONE,
  price,
  quantity,
  ratio,
  ratioOf,
  roundUp,
  scale,
} from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import type { IntentText } from '../../core/record.ts';
import type { Refusal } from '../../core/risk/refusal.ts';
import { isBudgetSpent, requoteMs, tacticRefusal } from '../../core/risk/tactics.ts';
import type { KnownPrices } from '../../core/risk/tactics.ts';
import type { Desk } from '../desk.ts';
import type { OpenSlice } from '../state/engine-state.ts';
import { overridesFor } from '../operator/overrides.ts';
import type { OverridesContext } from '../operator/overrides.ts';

/** The parts of a desk that this file uses. */
export type TacticsContext = Pick<Desk, 'footprint' | 'sizeProbes'> & OverridesContext;

/** The reference prices for the tactics of a slice; `mid` is the current price. */
export function knownPrices(
  desk: TacticsContext,
  { parent, decision_price: decision }: IntentText,
  mid: Price,
): KnownPrices {
  return {
    mid,
    decision: decision === undefined ? undefined : price(decision),
    arrival: desk.state.totals.parent(parent)?.arrival,
  };
}

/** Why the tactics of the slice reject a quote, or the price expected for one. */
export const tacticFault = (
  desk: TacticsContext,
  { intent }: OpenSlice,
  { price: each, mid }: { readonly price: Price; readonly mid: Price },
): Refusal | undefined =>
  intent.tactics === undefined
    ? undefined
    : tacticRefusal(intent.tactics, { side: intent.side, price: each }, knownPrices(desk, intent, mid));

/** The balance of a currency that must not be spent: the desk's reserve, or the strategy's reserve if it is larger. */
export function keepOf(
  desk: TacticsContext,
  { tactics }: IntentText,
  currency: string,
): Quantity | undefined {
  const ofDesk = desk.policy.keep?.get(currency);
  if (tactics?.keep === undefined) return ofDesk;
  return greatest(quantity(tactics.keep), ofDesk ?? NO_QUANTITY);
}

/** The floor of the balance that pays for an order of the slice, or the floor of a pending override if it is lower. */
export function floorOf(desk: TacticsContext, slice: OpenSlice, currency: string): Quantity | undefined {
  const floor = desk.policy.limits.positionMin?.get(currency);
  if (floor === undefined) return undefined;
  const lowered = overridesFor(desk, slice, undefined).map(({ limits }) => limits.positionMin?.get(currency));
  return least(floor, ...lowered.filter((one) => one !== undefined));
}

/** First draw number for the waits of a slice; no slice has this many attempts. */
const TURNS = 10_000;

/** How long a slice waits after an unacceptable quote, milliseconds; longer if too few quotes of the pair trade. */
export const waitOf = (desk: TacticsContext, { intent, attempts }: OpenSlice): number =>
  requoteMs(intent.tactics, desk.policy.retry.requoteMs, intent.slice * TURNS + attempts) *
  desk.footprint.slowdown(intent.pair);

/** Time between two pieces of a slice, milliseconds, for the price to recover. */
export const pauseOf = ({ policy }: TacticsContext, { intent, attempts }: OpenSlice): number =>
  requoteMs(intent.tactics, policy.retry.requoteMs, intent.slice * TURNS + attempts);

/** Typical duration of a piece, milliseconds; it limits the number of pieces of a slice. */
const PIECE_MS = 5_000;

/** The largest piece that costs little more than a small one, quote currency; `undefined`: the slice is sent whole. */
export function pieceOf(
  desk: TacticsContext,
  { intent, decidedAt }: OpenSlice,
  mid: Price,
): Money | undefined {
  const { pair, side, tactics, deadline, by, size } = intent;
  if (tactics?.impact_bps === undefined) return undefined;
  const most = ratio(tactics.impact_bps);
  const now = desk.ports.clock.monotonic();
  const piece = desk.sizeProbes.pieceWithin(pair, side, { most, now });
  if (piece === undefined) return undefined;
  const eachMs = PIECE_MS + Math.max(desk.policy.retry.requoteMs, tactics.requote_ms ?? 0);
  const pieces = Math.max(1, Math.floor((deadline - decidedAt) / eachMs));
  // Based on the whole slice: based on the remainder, pieces would become smaller and smaller.
  const whole = by === 'amount' ? money(size) : cost(mid, quantity(size));
  return greatest(piece, roundUp(scale(whole, fraction(ONE, ratioOf(pieces))), 8));
}

/** Whether the slice has used up its quotes, because none of the last ones led to a trade. */
export const hasNoQuotesLeft = ({ intent, attempts, settled }: OpenSlice): boolean =>
  isBudgetSpent(intent.tactics, attempts - settled);
