import { parseClientId } from '../../../src/core/ids.ts';
import { add, money, quantity, text } from '../../../src/core/money.ts';
import type { Strange } from '../../../src/engine/account/read-account.ts';
import { sideOf } from '../../../src/engine/attempt/booking.ts';
import type { Pair } from '../../../src/core/pairs.ts';
import type { Reason } from '../../../src/core/reasons.ts';
import type { FillRecord, IntentRecord, RecordBody } from '../../../src/core/record.ts';
import { instant } from '../../../src/core/time.ts';
import type { Doubt, Phase } from '../../../src/core/cycle/cycle.ts';
import type { Quote, QuoteRequest } from '../../../src/core/venue.ts';
import type { OpenSlice } from '../../../src/engine/state/strategy-run.ts';

/** Records that the desk of simulation A writes, and the pairs that it trades. */

export type End =
  | {
      readonly end: 'filled';
      readonly intent: IntentRecord;
      readonly fill: FillRecord;
      readonly differs?: string | undefined;
      /** More than the order was executed: the desk halts. */
      readonly isMore?: boolean | undefined;
    }
  | { readonly end: 'doubt'; readonly intent: IntentRecord; readonly phase: Doubt }
  | { readonly end: 'closed'; readonly intent: IntentRecord; readonly phase: Phase & { state: 'ended' } };

export interface Attempt {
  readonly intent: IntentRecord;
  readonly request: QuoteRequest;
  readonly slice: OpenSlice;
  readonly breaks: number;
  readonly key: string;
}

export const PAIRS: Readonly<Record<string, Pair>> = {
  btcusd: { pair: 'btcusd', base: 'btc', quote: 'usd' },
  ethusd: { pair: 'ethusd', base: 'eth', quote: 'usd' },
};
const instrumentOf = (
  pair: string,
): Pair & { basePrecision: number; quotePrecision: number; minimum: object } => ({
  ...(PAIRS[pair] ?? { pair, base: '', quote: '' }),
  basePrecision: 2,
  quotePrecision: 2,
  minimum: {},
});
export const INSTRUMENTS = { btcusd: instrumentOf('btcusd'), ethusd: instrumentOf('ethusd') } as const;
export const keyOf = ({ strategy, slice, attempt }: IntentRecord): string => `${strategy}${slice}.${attempt}`;

export const halted = (why: string): RecordBody => ({ kind: 'control', state: 'halted', by: 'tranche', why });

export const attemptRecord = (
  intent: IntentRecord,
  result: 'discarded' | 'doubt' | 'rejected' | 'absent' | 'filled',
  reason?: Reason,
  detail = '',
): RecordBody => ({
  kind: 'attempt',
  client_order_id: intent.client_order_id,
  result,
  ...(reason === undefined ? {} : { reason }),
  detail,
});

export const quoteRecord = (intent: IntentRecord, quote: Quote, ageMs: number): RecordBody => ({
  kind: 'quote',
  client_order_id: intent.client_order_id,
  quote_id: quote.quoteId,
  quantity: text(quote.quantity),
  price: text(quote.price),
  amount: text(quote.amount),
  life_ms: quote.lifeMs,
  quoted_at: quote.quotedAt,
  age_ms: ageMs,
});

export const sliceEnd = (
  slice: OpenSlice,
  result: 'filled' | 'skipped' | 'expired',
  fill?: FillRecord,
  reason?: Reason,
): RecordBody => ({
  kind: 'slice',
  strategy: slice.strategy,
  parent: slice.intent.parent,
  leg: slice.intent.leg,
  slice: slice.intent.slice,
  result,
  ...(reason === undefined ? {} : { reason }),
  filled: text(fill === undefined ? slice.filled : add(slice.filled, quantity(fill.quantity))),
  filled_amount: text(fill === undefined ? slice.filledAmount : add(slice.filledAmount, money(fill.amount))),
});

/** A trade that the journal does not know, named by what its id says. */
export function adopted({ trade, pair }: Strange, slice: OpenSlice | undefined, at: number): FillRecord {
  const id = parseClientId(trade.clientId);
  const { base = '', quote = '' } = pair ?? {};
  return {
    kind: 'fill',
    client_order_id: trade.clientId,
    order_id: trade.orderId,
    quote_id: '',
    pair: pair?.pair ?? '',
    base,
    quote,
    side: sideOf(base, trade.rows),
    quantity: text(trade.quantity),
    price: text(trade.price),
    amount: text(trade.amount),
    fees: text(trade.fees),
    executed_at: instant(Math.min(trade.at, at)),
    strategy: slice?.strategy ?? '',
    parent: id?.parent ?? '',
    slice: id?.slice ?? 0,
    attempt: id?.attempt ?? 0,
    notional_usd: text(trade.amount),
    decision_price: '',
    source: 'transactions',
    rows: trade.kept,
    adopted: true,
  };
}
