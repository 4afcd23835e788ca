import { fillPrice } from '../../core/cycle/answer.ts';
import { isTrade, otherFeesIn } from '../../core/account/rows.ts';
import type { Trade } from '../../core/account/rows.ts';
import { parseClientId } from '../../core/ids.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  add,
  greatest,
  money,
  priceOf,
  quantity,
  roundDown,
  roundUp,
  subtract,
  text,
} from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { FillRecord, IntentRecord, Missing } from '../../core/record.ts';
import type { TradeFigures } from '../../core/cycle/resolution.ts';
import type { Pair } from '../../core/pairs.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Order, Quote, Side, Transaction } from '../../core/venue.ts';
import type { Desk } from '../desk.ts';
import { sliceKey } from '../state/engine-state.ts';
import type { OpenAttempt } from '../state/engine-state.ts';

/** Builds fill records from each source of proof. */

const named = (
  intent: IntentRecord,
): Pick<
  FillRecord,
  | 'kind'
  | 'client_order_id'
  | 'pair'
  | 'base'
  | 'quote'
  | 'side'
  | 'strategy'
  | 'parent'
  | 'slice'
  | 'attempt'
> => ({
  kind: 'fill',
  client_order_id: intent.client_order_id,
  pair: intent.pair,
  base: intent.base,
  quote: intent.quote,
  side: intent.side,
  strategy: intent.strategy,
  parent: intent.parent,
  slice: intent.slice,
  attempt: intent.attempt,
});

interface Placed {
  readonly order: Order;
  readonly quote: Quote;
  readonly executedAt: Instant;
  /** In the currency of the limits. */
  readonly notional: Money | undefined;
  readonly source: FillRecord['source'];
  /** The quoted size that, according to the response, was not filled. */
  readonly missing?: Missing | undefined;
  /** Reference price when the slice was decided; empty when none was known. */
  readonly decisionPrice: string;
}

/** From the response to the order. */
export const fillFromOrder = (
  intent: IntentRecord,
  { order, quote, executedAt, notional, source, missing, decisionPrice }: Placed,
): FillRecord => ({
  kind: 'fill',
  client_order_id: intent.client_order_id,
  pair: intent.pair,
  base: intent.base,
  quote: intent.quote,
  side: intent.side,
  strategy: intent.strategy,
  parent: intent.parent,
  slice: intent.slice,
  attempt: intent.attempt,
  order_id: order.orderId,
  quote_id: quote.quoteId,
  quantity: text(order.filled),
  price: text(fillPrice(order)),
  amount: text(order.filledAmount),
  fees: text(order.fees),
  executed_at: executedAt,
  notional_usd: notional === undefined ? intent.notional_usd : text(roundUp(notional, 8)),
  decision_price: decisionPrice,
  source,
  ...(missing === undefined ? {} : { missing }),
});

const byAmount = ({ by }: IntentRecord): Pick<FillRecord, 'by'> => (by === 'amount' ? { by } : {});

/** From a look-up of the order, for an attempt that was in doubt. */
export const fillFromLookup = (
  { intent, quote }: OpenAttempt,
  order: Order,
  { now, decisionPrice }: { readonly now: Instant; readonly decisionPrice: string },
): FillRecord => ({
  ...named(intent),
  ...byAmount(intent),
  order_id: order.orderId,
  quote_id: quote?.quote_id ?? order.quoteId,
  quantity: text(order.filled),
  price: text(fillPrice(order)),
  amount: text(order.filledAmount),
  fees: text(order.fees),
  executed_at: now,
  notional_usd: intent.notional_usd,
  decision_price: decisionPrice,
  source: 'lookup',
});

/** From an operator's resolution, for an attempt that was in doubt. */
export const fillFromResolution = (
  { intent, quote }: OpenAttempt,
  figures: TradeFigures,
  { now, decisionPrice }: { readonly now: Instant; readonly decisionPrice: string },
): FillRecord => ({
  ...named(intent),
  ...byAmount(intent),
  order_id: figures.orderId,
  quote_id: quote?.quote_id ?? '',
  quantity: text(figures.quantity),
  price: text(roundDown(priceOf(figures.amount, figures.quantity), 18)),
  amount: text(figures.amount),
  fees: text(figures.fees),
  executed_at: now,
  notional_usd: intent.notional_usd,
  decision_price: decisionPrice,
  source: 'operator',
});

interface Proven {
  readonly now: Instant;
  readonly decisionPrice: string;
  readonly missing?: Missing | undefined;
}

/** From the account's transactions, for an attempt that was in doubt. */
export const fillFromEvidence = (
  { intent, quote, since }: OpenAttempt,
  trade: Trade,
  { now, decisionPrice, missing }: Proven,
): FillRecord => ({
  ...named(intent),
  ...byAmount(intent),
  order_id: trade.orderId,
  quote_id: quote?.quote_id ?? '',
  quantity: text(trade.quantity),
  price: text(trade.price),
  amount: text(trade.amount),
  fees: text(trade.fees),
  // The day limit uses our own clock, so that a venue timestamp in the future does not start a new day.
  executed_at: instant(Math.min(Math.max(trade.at, since), now)),
  notional_usd: missing === undefined ? intent.notional_usd : withoutMissing(intent, missing),
  decision_price: decisionPrice,
  source: 'transactions',
  ...rowsOf(trade),
  ...(missing === undefined ? {} : { missing }),
});

/** The rows of a trade, and its fees in other currencies. */
const rowsOf = (trade: Trade): Pick<FillRecord, 'rows' | 'other_fees'> => ({
  rows: trade.kept,
  ...otherFeesIn(trade),
});

const withoutMissing = ({ notional_usd: whole }: IntentRecord, { notional_usd: missing }: Missing): string =>
  text(greatest(subtract(money(whole), money(missing)), NO_MONEY));

/** Side of a trade that the journal does not know: the direction of its base leg, or the opposite of its quote leg. */
export function sideOf(base: string, rows: readonly Transaction[]): Side {
  const legs = rows.filter(isTrade);
  const signed = (isBase: boolean): Quantity =>
    legs
      .filter(({ currency }) => (currency === base) === isBase)
      .reduce((sum, { amount }) => add(sum, amount), NO_QUANTITY);
  const [bases, quotes] = [signed(true), signed(false)];
  // Unsigned amounts show no direction, so that only the action of the base leg is left.
  const isUnsigned = bases.gt(0) && quotes.gt(0);
  if (isUnsigned) return legs.find(({ currency }) => currency === base)?.action === 'sell' ? 'sell' : 'buy';
  return bases.gt(0) || (bases.isZero() && quotes.lt(0)) ? 'buy' : 'sell';
}

/** From the account's transactions, for one of our ids that the journal does not know. The id itself names the attempt. */
export function adoptedFill(
  desk: Desk,
  { trade, pair }: { readonly trade: Trade; readonly pair: Pair | undefined },
  now: Instant,
): FillRecord {
  const id = parseClientId(trade.clientId);
  const { base = '', quote = '' } = pair ?? {};
  const slice = desk.state.slices.get(sliceKey(id?.parent ?? '', id?.slice ?? 0));
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
    executed_at: trade.at > now || trade.at === 0 ? now : trade.at,
    strategy: slice?.strategy ?? '',
    parent: id?.parent ?? '',
    slice: id?.slice ?? 0,
    attempt: id?.attempt ?? 0,
    notional_usd: text(
      desk.rates.convert(quote, quantity(trade.amount.toFixed()), desk.policy.limits.currency) ?? money('0'),
    ),
    decision_price: slice?.intent.decision_price ?? '',
    source: 'transactions',
    ...rowsOf(trade),
    adopted: true,
  };
}
