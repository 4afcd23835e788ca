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

/** The reference prices of the tactics of a slice, with `mid` as the current price. */
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

/** Why a quote, or a price that one may come at, is too dear for the tactics of the slice. */
export const tacticFault = (
  desk: TacticsContext,
  { intent }: OpenSlice,
  { price: each, mid }: { readonly price: Price; readonly mid: Price },
): Refusal | undefined =>
  intent.tactics === undefined
    ? undefined
    : tacticRefusal(intent.tactics, { side: intent.side, price: each }, knownPrices(desk, intent, mid));

/** What must stay of a currency: the reserve of the desk, or that of the strategy when it is larger. */
export function keepOf(
  desk: TacticsContext,
  { tactics }: IntentText,
  currency: string,
): Quantity | undefined {
  const ofDesk = desk.policy.keep?.get(currency);
  if (tactics?.keep === undefined) return ofDesk;
  return greatest(quantity(tactics.keep), ofDesk ?? NO_QUANTITY);
}

/** The floor of the balance that an order of the slice pays from, or that of an override that waits for the order when it is lower. */
export function floorOf(desk: TacticsContext, slice: OpenSlice, currency: string): Quantity | undefined {
  const floor = desk.policy.limits.positionMin?.get(currency);
  if (floor === undefined) return undefined;
  const lowered = overridesFor(desk, slice, undefined).map(({ limits }) => limits.positionMin?.get(currency));
  return least(floor, ...lowered.filter((one) => one !== undefined));
}

/** Base of the draw numbers of a slice's waits: no slice has this many attempts. */
const TURNS = 10_000;

/** How long a slice waits after a quote that did not suit, milliseconds: longer where too few quotes of the pair trade. */
export const waitOf = (desk: TacticsContext, { intent, attempts }: OpenSlice): number =>
  requoteMs(intent.tactics, desk.policy.retry.requoteMs, intent.slice * TURNS + attempts) *
  desk.footprint.slowdown(intent.pair);

/** Time between two pieces of a slice, milliseconds, in which the price recovers. */
export const pauseOf = ({ policy }: TacticsContext, { intent, attempts }: OpenSlice): number =>
  requoteMs(intent.tactics, policy.retry.requoteMs, intent.slice * TURNS + attempts);

/** Typical duration of a piece, milliseconds; it limits the number of pieces of a slice. */
const PIECE_MS = 5_000;

/** The largest piece that costs little more than a small one, quote currency; `undefined`: the slice goes out whole. */
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
  // By the whole slice: by what is left of it the pieces would become smaller and smaller.
  const whole = by === 'amount' ? money(size) : cost(mid, quantity(size));
  return greatest(piece, roundUp(scale(whole, fraction(ONE, ratioOf(pieces))), 8));
}

/** Whether the slice may ask for no further quote, because none of its last ones led to a trade. */
export const hasNoQuotesLeft = ({ intent, attempts, settled }: OpenSlice): boolean =>
  isBudgetSpent(intent.tactics, attempts - settled);
