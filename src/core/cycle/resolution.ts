import { feesFault } from './answer.ts';
import type { Doubt } from './cycle.ts';
import { price, priceOf } from '../money.ts';
import type { Money, Quantity } from '../money.ts';
import type { IntentRecord } from '../record.ts';
import type { Monotonic } from '../time.ts';

/** A person's resolution of a doubt that the account cannot end. The journal records the name and the reason. */
export interface Resolution {
  readonly clientOrderId: string;
  /**
   * `filled`: the order traded. With figures, the trade is booked. Without figures, the doubt waits until the account
   * shows them, and can end in no other way. `not_executed`: the order did not trade and never will. `ours` and
   * `not_ours`: whose the rows are that hold the doubt open.
   */
  readonly verdict: 'filled' | 'not_executed' | 'ours' | 'not_ours';
  /** Ids of these rows. */
  readonly rows?: readonly string[] | undefined;
  readonly figures?: TradeFigures | undefined;
  readonly by: string;
  readonly why: string;
}

/** A trade as the venue's statement shows it. */
export interface TradeFigures {
  readonly orderId: string;
  /** Base currency. */
  readonly quantity: Quantity;
  /** Quote currency, before fees. */
  readonly amount: Money;
  /** Quote currency. */
  readonly fees: Money;
}

/**
 * Why a doubt cannot be resolved in this way; `undefined` if it can. A person may know what no route of the venue
 * shows, but may not contradict what the venue has shown, nor resolve a doubt while its order can still trade.
 */
export function resolutionFault(
  resolution: Resolution,
  open: { readonly intent: IntentRecord; readonly phase: Doubt } | undefined,
  now: Monotonic,
): string | undefined {
  const { clientOrderId, verdict, figures } = resolution;
  const unsaid = unsaidIn(resolution);
  if (unsaid !== undefined) return unsaid;
  if (open === undefined) return `${clientOrderId} is not in doubt`;
  const { intent, phase } = open;
  if (verdict === 'filled') return figures === undefined ? undefined : figuresFault(intent, figures);
  if (figures !== undefined) return 'an order that was not executed has no figures';
  if (phase.proof.proves === 'nothing')
    return `${clientOrderId} certainly traded: only its figures are missing`;
  // After a first read of the proof, the order can neither trade nor be booked; the wait for the second only guards that read.
  const isOver = phase.proof.proves === 'absent' && phase.proof.readsLeft < 2;
  if (!isOver && now < phase.proof.notBefore) {
    const seconds = Math.ceil((phase.proof.notBefore - now) / 1_000);
    return `${clientOrderId} may still trade, or be booked: try again in ${seconds} s`;
  }
  return undefined;
}

/** Why rows cannot be attributed in this way. Only rows that hold the doubt open can. */
export function attributionFault(resolution: Resolution, held: ReadonlySet<string>): string | undefined {
  const { clientOrderId, rows = [], figures } = resolution;
  if (figures !== undefined) return 'rows have their own figures';
  if (rows.length === 0) return 'name the rows, as tranche doubts shows them';
  const other = rows.find((row) => !held.has(row));
  if (other !== undefined) return `row ${other} does not hold ${clientOrderId} open`;
  return unsaidIn(resolution);
}

/** Why the missing part of an order cannot be closed in this way. Only the account can show that it traded. */
export function missingFault(resolution: Resolution): string | undefined {
  const { clientOrderId, verdict, figures } = resolution;
  if (verdict === 'filled') return `${clientOrderId} is booked: only the account can show its missing part`;
  if (figures !== undefined) return 'an order that was not executed has no figures';
  return unsaidIn(resolution);
}

function unsaidIn({ by, why }: Resolution): string | undefined {
  if (by.trim() === '') return 'name the person who resolves it';
  return why.trim() === '' ? 'give the reason: what the venue said, and who said it' : undefined;
}

/**
 * No order leaves for more than its intent or beyond its worst price, so figures that exceed these contain a typing
 * error or need review.
 */
function figuresFault(
  intent: IntentRecord,
  { orderId, quantity, amount, fees }: TradeFigures,
): string | undefined {
  if (orderId.trim() === '') return 'name the order id of the venue';
  if (!quantity.gt(0) || !amount.gt(0)) return 'quantity and amount must be above zero';
  if (fees.lt(0)) return 'fees cannot be below zero';
  const feesAre = feesFault({ filledAmount: amount, fees });
  if (feesAre !== undefined) return `${feesAre} cannot be right`;
  const done = intent.by === 'quantity' ? quantity : amount;
  if (done.gt(intent.size)) return `the order was for ${intent.size}, not for ${done.toFixed()}`;
  const paid = priceOf(amount, quantity);
  const worst = price(intent.worst_price);
  if (intent.side === 'buy' ? paid.gt(worst) : paid.lt(worst))
    return `a price of ${paid.toFixed(8)} is beyond ${intent.worst_price}, the worst price at which the order could be sent`;
  return undefined;
}

/** Whether the figures cover less than the whole order, in which case its fill differs from its quote. */
export const isPart = (intent: IntentRecord, { quantity, amount }: TradeFigures): boolean =>
  (intent.by === 'quantity' ? quantity : amount).lt(intent.size);
