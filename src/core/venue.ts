import type { Money, Price, Quantity, Ratio } from './money.ts';
import type { Instant } from './time.ts';

/** The venue's messages in our own terms, as `wire/` parses them. Unknown fields are dropped there. */
export type Side = 'buy' | 'sell';
export const opposite = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy');

/** What to trade: exactly one of base quantity or quote amount, as in the quote request. */
export type Size =
  | { readonly by: 'quantity'; readonly quantity: Quantity }
  | { readonly by: 'amount'; readonly amount: Money };

export interface QuoteRequest {
  readonly pair: string;
  readonly side: Side;
  readonly size: Size;
  /** Omitted for probes, which are never executed. */
  readonly clientId?: string | undefined;
}

/** An executable price. It lives for `lifeMs` after its creation, on the venue's clock. */
export interface Quote {
  readonly quoteId: string;
  readonly pair: string;
  readonly side: Side;
  /** Base currency. */
  readonly quantity: Quantity;
  /** Quote currency. */
  readonly amount: Money;
  /** Quote currency per base. */
  readonly price: Price;
  readonly quotedAt: Instant;
  readonly expiresAt: Instant;
  /** `expiresAt - quotedAt`, milliseconds. Both timestamps are the venue's, so no clocks are compared. */
  readonly lifeMs: number;
  /** The `Date` header of the response, which is truncated to seconds; `undefined` if it has none. */
  readonly answeredAt?: Instant | undefined;
}

/**
 * The longest that the quote can live after its arrival, milliseconds: until its expiry by the clock of `date_quote`, or
 * by the clock of the `Date` header, because nobody promises that these two are the same.
 */
export const longestLifeMs = ({ lifeMs, expiresAt, answeredAt }: Quote): number =>
  answeredAt === undefined ? lifeMs : Math.max(lifeMs, expiresAt - answeredAt);

/** How far `date_quote` may be from the venue's own clock at the response, milliseconds. */
export const STAMPS_APART_MAX_MS = 2_000;
/** The `Date` header is truncated to whole seconds: up to so much later was the response, milliseconds. */
export const DATE_CUT_MS = 999;

/** The longest that a quote of which no record tells can live after its arrival, milliseconds. */
export const unknownLifeMs = (lifeMaxMs: number): number => lifeMaxMs + STAMPS_APART_MAX_MS + DATE_CUT_MS;

export interface OrderRequest {
  readonly pair: string;
  readonly side: Side;
  readonly quoteId: string;
  /** As in the quote request. */
  readonly size: Size;
  readonly clientId: string;
}

/** An order as the venue reports it, with the venue's own `status`; ignore its case in comparisons. */
export interface Order {
  readonly orderId: string;
  readonly clientId: string;
  readonly quoteId: string;
  readonly pair: string;
  readonly side: Side;
  readonly status: string;
  /** Filled base quantity. */
  readonly filled: Quantity;
  /** Filled quote amount, before fees. */
  readonly filledAmount: Money;
  /** Average fill price; zero when nothing filled. */
  readonly vwap: Price;
  /** Fees in quote currency. */
  readonly fees: Money;
}

/** `other`: an action that the specification does not name, or that cannot be read. It may be a trade. */
export type TransactionAction = 'deposit' | 'withdraw' | 'buy' | 'sell' | 'credit' | 'charge' | 'other';

/** One row of the account's transactions. A trade has at least two rows, one per currency. */
export interface Transaction {
  /**
   * The venue's id as text, so that ids beyond 2^53 and ids sent as text are exact. For a row without a readable id: `?` and
   * the row's JSON.
   */
  readonly id: string;
  /** Ids exactly as the venue shows them; `undefined` where the row has none. */
  readonly orderId: string | undefined;
  readonly clientId: string | undefined;
  readonly tradeId: string | undefined;
  /** The venue's stamp: `timestamp`, otherwise `day`, otherwise 0. Nothing about an order in doubt depends on it. */
  readonly at: Instant;
  readonly action: TransactionAction;
  /** Lower case; empty if it cannot be read. */
  readonly currency: string;
  /** Signed; a negative amount leaves the account. Zero if it cannot be read. */
  readonly amount: Quantity;
  readonly price: Price | undefined;
  /** In `currency`. */
  readonly fees: Quantity;
  /** Fee of a deposit or withdrawal, in `currency`; the samples leave open whether `fees` includes it. */
  readonly transferFee?: Quantity | undefined;
  readonly status: string;
  /** Until then the amount of a deposit, although in the balance, cannot be spent, for example while its ACH is unsettled. */
  readonly heldUntil?: Instant | undefined;
  /** Balance of `currency` after the transaction, if the row shows one. */
  readonly balance: Quantity | undefined;
  /** Fields that decide about orders and that cannot be read: such a row belongs to no order until a person says so. */
  readonly spoiled?: readonly string[] | undefined;
  /** The venue says that it settled a position by itself: the row names a settlement, and no order. */
  readonly isSettlement?: boolean | undefined;
}

/** All parameters of the transactions route. Times are Unix ms. */
export interface TransactionsQuery {
  readonly from: Instant;
  readonly to?: Instant | undefined;
  readonly limit: number;
  readonly offset?: number | undefined;
  /** Only rows newer than this id. */
  readonly after?: string | undefined;
  /** Only transactions of these types. */
  readonly types?: ReadonlySet<'deposit' | 'withdraw'> | undefined;
  /** Includes pending deposits and withdrawals. */
  readonly pending?: boolean | undefined;
}

export interface Currency {
  readonly symbol: string;
  readonly name: string;
  readonly isFiat: boolean;
  /** Decimals after the point in amounts of this currency. */
  readonly precision: number;
  readonly minWithdrawal: Quantity;
  readonly tradingEnabled: boolean;
}

/** Balance of one currency from the balances route (a capability). */
export interface Balance {
  readonly currency: string;
  readonly balance: Quantity;
  readonly available: Quantity;
}

/** The cost of borrowing a currency. */
export interface FundingRate {
  readonly currency: string;
  /** Per year, as a fraction: 0.02 is 2 %. */
  readonly annualRate: Ratio;
  readonly graceMinutes: number;
  readonly frequencyMinutes: number;
}

export type RiskMode = 'Enabled' | 'Long-Only' | 'Short-Only' | 'Reduce-Only';

/** Credit of the account as the venue states it, USD; omitted: not stated. No figure follows from the others. */
export interface CreditMetrics {
  /** Amount that the account owes. */
  readonly exposure?: Money | undefined;
  /** What it may still borrow. */
  readonly availableExposure?: Money | undefined;
  readonly exposureLimit?: Money | undefined;
  /** Holdings minus debts. */
  readonly equity?: Money | undefined;
  readonly equityForWithdrawals?: Money | undefined;
  /** The venue settles positions while equity divided by exposure is below this. */
  readonly liquidationLevel?: Ratio | undefined;
}

export interface ValuationPoint {
  readonly at: Instant;
  readonly usd: Money;
}

/** The venue's response to a quote request. */
export type QuoteAnswer =
  | { readonly kind: 'quote'; readonly quote: Quote }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly error: string;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly kind: 'garbled'; readonly status: number; readonly why: string }
  | { readonly kind: 'lost'; readonly sent: boolean; readonly why: string };

/** The venue's response to an order. `sent: false`: certainly no byte left on a fresh connection. */
export type OrderAnswer =
  | { readonly kind: 'order'; readonly status: number; readonly order: Order }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly error: string;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly kind: 'garbled'; readonly status: number; readonly why: string }
  | { readonly kind: 'lost'; readonly sent: boolean; readonly why: string };
