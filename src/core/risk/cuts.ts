import { greatest, NO_QUANTITY, subtract, text } from '../money.ts';
import type { PtsQuestion } from './pts.ts';
import { stop } from './refusal.ts';
import type { Reason } from '../reasons.ts';

/** Why a size is smaller than wanted, with the figures behind it. */
export interface Cut {
  readonly reason: Reason;
  /** `limit=… value=…`, for people. */
  readonly note: string;
}

export function cut(reason: Reason, limit: string, value: string): Cut {
  const { detail } = stop(reason, limit, value);
  return { reason, note: detail };
}

/** The cuts of an order because of funds and credit, with their figures. `pays` is the currency that the order pays with. */
export const cutsOfPts = (asked: PtsQuestion, reasons: readonly Reason[], pays: string): readonly Cut[] =>
  reasons.map((reason) => cut(reason, ...figuresOf(reason, asked, pays)));

function figuresOf(
  reason: Reason,
  { outgoing, available, mode, side, creditLeft, carryBps, carryBpsMax }: PtsQuestion,
  pays: string,
): readonly [limit: string, value: string] {
  const credit = `${text(subtract(outgoing, greatest(available, NO_QUANTITY)))} ${pays} of credit`;
  switch (reason) {
    case 'clipped_funds':
      return [`${text(greatest(available, NO_QUANTITY))} ${pays}`, `${text(outgoing)} ${pays}`];
    case 'pts_mode':
      return [`risk mode ${mode ?? 'unknown'}`, `a ${side} with ${credit}`];
    case 'pts_max_credit':
      return [`${text(greatest(creditLeft ?? NO_QUANTITY, NO_QUANTITY))} ${pays} of credit`, credit];
    case 'pts_max_carry':
      return [`${text(carryBpsMax ?? NO_QUANTITY)} bps`, `${(carryBps ?? NO_QUANTITY).toFixed(4)} bps`];
    case 'pts_unknown':
      return ['a fresh risk mode', mode === undefined ? 'unknown' : 'an unknown funding rate'];
    default:
      return ['own funds', credit];
  }
}
