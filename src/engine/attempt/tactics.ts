import {
  cost,
  fraction,
  greatest,
  money,
  NO_QUANTITY,
  ONE,
  quantity,
  ratio,
  ratioOf,
  roundUp,
  scale,
} from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import type { IntentText } from '../../core/record.ts';
import type { Refusal } from '../../core/risk/refusal.ts';
import { requoteMs, tacticRefusal } from '../../core/risk/tactics.ts';
import type { KnownPrices } from '../../core/risk/tactics.ts';
import type { Desk } from '../desk.ts';
import type { OpenSlice } from '../state/engine-state.ts';

/** The reference prices for the tactics of a slice; `mid` is the current price. */
export function knownPrices(desk: Desk, { parent }: IntentText, mid: Price): KnownPrices {
  return { mid, arrival: desk.state.totals.parent(parent)?.arrival };
}

/** Why the tactics of the slice reject a quote, or the price expected for one. */
export const tacticFault = (
  desk: Desk,
  { intent }: OpenSlice,
  { price: each, mid }: { readonly price: Price; readonly mid: Price },
): Refusal | undefined =>
  intent.tactics === undefined
    ? undefined
    : tacticRefusal(intent.tactics, { side: intent.side, price: each }, knownPrices(desk, intent, mid));

/** The reserve of a currency that must remain: the desk's reserve, or the strategy's if that is larger. */
export function keepOf(desk: Desk, { tactics }: IntentText, currency: string): Quantity | undefined {
  const ofDesk = desk.policy.keep?.get(currency);
  if (tactics?.keep === undefined) return ofDesk;
  return greatest(quantity(tactics.keep), ofDesk ?? NO_QUANTITY);
}

/** First draw number for the waits of a slice. No slice has this many attempts. */
const TURNS = 10_000;

/** How long a slice waits after an unacceptable quote, milliseconds; longer if too few quotes of the pair trade. */
export const waitOf = (desk: Desk, { intent, attempts }: OpenSlice): number =>
  requoteMs(intent.tactics, desk.policy.retry.requoteMs, intent.slice * TURNS + attempts) *
  desk.footprint.slowdown(intent.pair);

/** Time between two pieces of a slice, milliseconds, for the price to recover. */
export const pauseOf = ({ policy }: Desk, { intent, attempts }: OpenSlice): number =>
  requoteMs(intent.tactics, policy.retry.requoteMs, intent.slice * TURNS + attempts);

/** Typical duration of a piece, milliseconds; it limits the number of pieces of a slice. */
const PIECE_MS = 5_000;

/** The largest piece that costs little more than a small one, in quote currency; `undefined`: the slice is sent whole. */
export function pieceOf(desk: Desk, { intent, decidedAt }: OpenSlice, mid: Price): Money | undefined {
  const { pair, side, tactics, deadline, by, size } = intent;
  if (tactics?.impact_bps === undefined) return undefined;
  const most = ratio(tactics.impact_bps);
  const now = desk.ports.clock.monotonic();
  const piece = desk.sizeProbes.pieceWithin(pair, side, { most, now });
  if (piece === undefined) return undefined;
  const eachMs = PIECE_MS + desk.policy.retry.requoteMs;
  const pieces = Math.max(1, Math.floor((deadline - decidedAt) / eachMs));
  // Based on the whole slice, because pieces based on the remainder would become smaller and smaller.
  const whole = by === 'amount' ? money(size) : cost(mid, quantity(size));
  return greatest(piece, roundUp(scale(whole, fraction(ONE, ratioOf(pieces))), 8));
}
