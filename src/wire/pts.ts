import { z } from 'zod';
import { isoOf } from '../core/time.ts';
import type { AnyAmount, Price, Quantity, Ratio } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import type { CreditMetrics } from '../core/venue.ts';
import { numberOr } from './account-bodies.ts';
import { numberOf, wireId, wireIso, wireMoney, wirePrice, wireQuantity, wireRatio } from './message.ts';

/** Post-trade settlement, apart from rates and modes: risk metrics, positions. Source: public documentation. */

/** The metrics of a venue that states all of them. */
export type PtsMetrics = { readonly [Key in keyof CreditMetrics]-?: NonNullable<CreditMetrics[Key]> };

/** The metrics, USD, in the reply of their route and in the messages of their feed. */
export const metricsFields = z.object({
  exposure: wireMoney.nullish().describe('USD'),
  available_exposure: wireMoney.nullish().describe('USD'),
  exposure_limit: wireMoney.nullish().describe('USD'),
  equity: wireMoney.nullish().describe('USD'),
  equity_for_withdrawals: wireMoney.nullish().describe('USD'),
  liquidation_level: wireRatio
    .nullish()
    .describe('equity / exposure; the feed states it, the route does not'),
});
export const metricsOf = (body: z.output<typeof metricsFields>): CreditMetrics => ({
  exposure: body.exposure ?? undefined,
  availableExposure: body.available_exposure ?? undefined,
  exposureLimit: body.exposure_limit ?? undefined,
  equity: body.equity ?? undefined,
  equityForWithdrawals: body.equity_for_withdrawals ?? undefined,
  liquidationLevel: body.liquidation_level ?? undefined,
});

/** `GET /v1/post-trade-settlement`. */
export const ptsMetricsSchema = metricsFields.transform(metricsOf);
/** Returns the body of the route. `write` writes an amount: as a number, or for the feed as text. */
export const ptsMetricsBody = (
  metrics: PtsMetrics,
  write: (amount: AnyAmount) => unknown = numberOf,
): object => ({
  exposure: write(metrics.exposure),
  available_exposure: write(metrics.availableExposure),
  exposure_limit: write(metrics.exposureLimit),
  equity: write(metrics.equity),
  equity_for_withdrawals: write(metrics.equityForWithdrawals),
});

export const marginTypes = ['PTS_LONG', 'PTS_SHORT'] as const;
export type MarginType = (typeof marginTypes)[number];

export interface PtsPosition {
  readonly id: string;
  readonly status: 'ACTIVE' | 'CLOSED';
  readonly openedAt: Instant;
  readonly closedAt: Instant | undefined;
  readonly loanCurrency: string;
  /** Outstanding loan, in the loan currency. */
  readonly loan: Quantity;
  readonly collateralCurrency: string;
  readonly pair: string;
  /** Annualized, as a fraction. */
  readonly interestRate: Ratio;
  /** Interest charged so far, in the loan currency. */
  readonly interest: Quantity;
  readonly marginType: MarginType;
  readonly openingOrderId: string | undefined;
  readonly closingOrderId: string | undefined;
  /** Proceeds of the loan, in the collateral currency. */
  readonly proceeds: Quantity;
  /** Average price of the trades on credit, quote per base. */
  readonly vwap: Price;
}

/** Element of `GET /v1/post-trade-settlement/positions`. */
const ptsPositionSchema = z
  .object({
    id: wireId,
    status: z.enum(['ACTIVE', 'CLOSED']),
    date_added: wireIso,
    date_loan_closed: wireIso.nullish(),
    loan_currency_symbol: z.string(),
    current_loan_qty: wireQuantity.describe('in the loan currency'),
    collateral_currency: z.string(),
    pair: z.string(),
    interest_rate: wireRatio.describe('annualized, as a fraction'),
    interest_qty: wireQuantity.describe('in the loan currency'),
    margin_type: z.enum(marginTypes),
    order_id_open: wireId.nullish(),
    open_order_id: wireId.nullish().describe('older name of order_id_open'),
    order_id_close: wireId.nullish().describe('null also after a settlement by transfer'),
    proceeds: wireQuantity.describe('in the collateral currency'),
    vwap: wirePrice,
  })
  .transform((row): PtsPosition => ({
    id: row.id,
    status: row.status,
    openedAt: row.date_added,
    closedAt: row.date_loan_closed ?? undefined,
    loanCurrency: row.loan_currency_symbol,
    loan: row.current_loan_qty,
    collateralCurrency: row.collateral_currency,
    pair: row.pair,
    interestRate: row.interest_rate,
    interest: row.interest_qty,
    marginType: row.margin_type,
    openingOrderId: row.order_id_open ?? row.open_order_id ?? undefined,
    closingOrderId: row.order_id_close ?? undefined,
    proceeds: row.proceeds,
    vwap: row.vwap,
  }));

/** `GET /v1/post-trade-settlement/positions`: a list, bare or within `data`. */
export const ptsPositionsSchema = z.union([
  z.array(ptsPositionSchema),
  z.object({ data: z.array(ptsPositionSchema) }).transform(({ data }) => data),
]);
export const ptsPositionBody = (position: PtsPosition): object => ({
  id: Number(position.id),
  status: position.status,
  date_added: isoOf(position.openedAt),
  date_loan_closed: position.closedAt === undefined ? null : isoOf(position.closedAt),
  loan_currency_symbol: position.loanCurrency,
  current_loan_qty: numberOf(position.loan),
  collateral_currency: position.collateralCurrency,
  pair: position.pair,
  interest_rate: numberOf(position.interestRate),
  interest_qty: numberOf(position.interest),
  margin_type: position.marginType,
  order_id_open: numberOr(position.openingOrderId),
  order_id_close: numberOr(position.closingOrderId),
  proceeds: numberOf(position.proceeds),
  vwap: numberOf(position.vwap),
});
