import { approximate, fraction, roundEven, scale, ratioOf, subtract, text } from '../../../core/money.ts';
import type { AnyAmount, Ratio } from '../../../core/money.ts';
import { isoOf } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import type { Balance, ValuationPoint } from '../../../core/venue.ts';
import type { CurrencyDetail, TransactionDetail } from '../../../wire/account.ts';
import type { ApprovalRequest, ApprovalRule, WhitelistedAddress } from '../../../wire/custody.ts';
import type { FeeRates } from '../../../wire/market.ts';
import type { OrderView, OwnTrade } from '../../../wire/orders.ts';
import type { InterestPayment, PtsMetrics, PtsPosition } from '../../../wire/pts.ts';
import type { DepositAddress } from '../../../wire/transfers.ts';
import type { WithdrawalResult } from '../../../wire/withdrawal.ts';
import { column, figure, hidden } from './account-print.ts';
import type { Cell, Column } from './account-print.ts';

/** Column definitions of the account lists. Scripts rely on the names and their order. */

const amount = (each: AnyAmount | undefined): Cell => (each === undefined ? undefined : text(each));
const time = (at: Instant | undefined): Cell => (at === undefined ? undefined : isoOf(at));
const word = (each: string | undefined): Cell => (each === '' ? undefined : each);
const yesNo = (flag: boolean): Cell => flag;
/** Converts a fraction exactly into basis points: 0.001 becomes 10. */
const bps = (rate: Ratio): Cell => text(scale(rate, ratioOf(10_000)));

export const balanceColumns: readonly Column<Balance>[] = [
  column('currency', (row) => row.currency),
  figure('balance', (row) => text(row.balance)),
  figure('available', (row) => text(row.available)),
  figure('held', (row) => text(subtract(row.balance, row.available))),
];

export const transactionColumns: readonly Column<TransactionDetail>[] = [
  figure('id', (row) => row.id),
  column('time', (row) => isoOf(row.at)),
  column('action', (row) => row.action),
  column('currency', (row) => row.currency),
  figure('amount', (row) => text(row.amount)),
  figure('price', (row) => amount(row.price)),
  figure('fees', (row) => text(row.fees)),
  figure('transfer_fee', (row) => text(row.transferFee)),
  figure('balance', (row) => text(row.balance)),
  column('status', (row) => row.status),
  column('pair', (row) => row.pair),
  hidden('order_id', (row) => row.orderId),
  hidden('client_order_id', (row) => row.clientId),
  hidden('trade_id', (row) => row.tradeId),
  hidden('account_transaction_id', (row) => word(row.accountTransactionId)),
  hidden('algorithm', (row) => word(row.algorithm)),
  hidden('tx_hash', (row) => word(row.txHash)),
  hidden('memo', (row) => word(row.memo)),
  hidden('hold_expires', (row) => word(row.holdExpires)),
  hidden('wallet', (row) => word(row.wallet)),
  hidden('added_by', (row) => word(row.addedBy)),
  column('description', (row) => word(row.description)),
];

export const currencyColumns: readonly Column<CurrencyDetail>[] = [
  column('currency', (row) => row.symbol),
  column('name', (row) => row.name),
  column('fiat', (row) => yesNo(row.isFiat)),
  figure('precision', (row) => row.precision),
  figure('min_withdrawal', (row) => text(row.minWithdrawal)),
  column('trading', (row) => yesNo(row.tradingEnabled)),
  column('deposit', (row) => yesNo(row.canDeposit)),
  column('withdraw', (row) => yesNo(row.canWithdraw)),
  column('custody', (row) => yesNo(row.custodyEnabled)),
  hidden('lending', (row) => yesNo(row.lendingEnabled)),
  figure('confirmations', (row) => row.confirmationsNeeded),
  column('network', (row) => word(row.network)),
  hidden('contract', (row) => word(row.contractAddress)),
];

interface PairRow {
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly formatted_symbol?: string | null | undefined;
}
export const pairColumns: readonly Column<PairRow>[] = [
  column('pair', (row) => row.symbol),
  column('base', (row) => row.base),
  column('quote', (row) => row.quote),
  column('name', (row) => row.formatted_symbol ?? undefined),
];

export const feeColumns: readonly Column<FeeRates>[] = [
  figure('volume_14_days_usd', (row) => text(row.volume)),
  figure('maker_bps', (row) => bps(row.maker)),
  figure('taker_bps', (row) => bps(row.taker)),
  figure('taker_smart_routing_bps', (row) => bps(row.takerSmart)),
];

export const valuationColumns: readonly Column<
  ValuationPoint & { readonly before: ValuationPoint | undefined }
>[] = [
  column('time', ({ at }) => isoOf(at)),
  figure('usd', ({ usd }) => text(usd)),
  // Rounds to two decimals of a basis point, halves to even, because the figure is for people.
  figure('change_bps', ({ usd, before }) =>
    before === undefined || before.usd.isZero()
      ? undefined
      : text(roundEven(scale(fraction(subtract(usd, before.usd), before.usd), ratioOf(10_000)), 2)),
  ),
];

export const usdOf = ({ usd }: ValuationPoint): number => approximate(usd);

export const orderColumns: readonly Column<OrderView>[] = [
  figure('id', (row) => row.orderId),
  column('updated', (row) => word(row.updatedAt)),
  column('pair', (row) => row.pair),
  column('side', (row) => row.side),
  column('algorithm', (row) => word(row.algorithm)),
  column('time_in_force', (row) => word(row.timeInForce)),
  figure('quantity', (row) => amount(row.quantity)),
  figure('price', (row) => amount(row.price)),
  figure('filled', (row) => text(row.filled)),
  figure('vwap', (row) => text(row.vwap)),
  figure('filled_amount', (row) => text(row.filledAmount)),
  figure('fees', (row) => text(row.fees)),
  column('status', (row) => row.status),
  hidden('net_proceeds', (row) => amount(row.netProceeds)),
  hidden('quote_id', (row) => word(row.quoteId)),
  column('client_order_id', (row) => word(row.clientId)),
];

export const tradeColumns: readonly Column<OwnTrade & { readonly cursor: string }>[] = [
  figure('trade_id', (row) => row.tradeId),
  figure('order_id', (row) => row.orderId),
  column('time', (row) => isoOf(row.at)),
  column('pair', (row) => row.pair),
  column('side', (row) => row.side),
  figure('quantity', (row) => text(row.quantity)),
  figure('price', (row) => text(row.price)),
  figure('amount', (row) => text(row.amount)),
  figure('fees', (row) => text(row.fees)),
  figure('net_amount', (row) => text(row.netAmount)),
  hidden('cursor', (row) => row.cursor),
];

export const depositColumns: readonly Column<DepositAddress>[] = [
  column('currency', (row) => row.currency),
  column('address', (row) => row.address),
];

export const withdrawalColumns: readonly Column<WithdrawalResult>[] = [
  column('success', (row) => row.success),
  column('id', (row) => row.id),
  column('account_transaction_id', (row) => row.atxId),
  column('status_code', (row) => row.txStatus),
  column('currency', (row) => row.currency),
  figure('amount', (row) => text(row.amount)),
  column('address', (row) => word(row.address)),
];

export const ruleColumns: readonly Column<ApprovalRule>[] = [
  figure('id', (row) => row.id),
  column('type', (row) => row.ruleType),
  figure('threshold_usd', (row) => amount(row.threshold)),
  figure('required', (row) => row.requiredApprovals),
  figure('approvers', (row) => row.availableApprovers),
  column('status', (row) => row.status),
  column('added', (row) => isoOf(row.addedAt)),
];

export const requestColumns: readonly Column<ApprovalRequest>[] = [
  figure('id', (row) => row.id),
  column('type', (row) => row.approvalType),
  column('status', (row) => row.status),
  figure('received', (row) => row.receivedApprovals),
  figure('required', (row) => row.requiredApprovals),
  figure('amount', (row) => amount(row.details.amount)),
  column('currency', (row) => word(row.details.currency)),
  column('address', (row) => word(row.details.address)),
  figure('threshold_usd', (row) => amount(row.details.threshold)),
  column('requested_by', (row) => row.requestedBy),
  column('added', (row) => isoOf(row.addedAt)),
  column('answers', ({ responses }) =>
    word(responses.map(({ username, approved }) => `${username}: ${approved ? 'yes' : 'no'}`).join('; ')),
  ),
];

export const addressColumns: readonly Column<WhitelistedAddress>[] = [
  column('id', (row) => word(row.id)),
  column('currency', (row) => row.currency),
  column('address', (row) => row.address),
  column('alias', (row) => word(row.alias)),
  column('status', (row) => row.status),
  column('created', (row) => isoOf(row.createdAt)),
  hidden('updated', (row) => isoOf(row.updatedAt)),
];

export interface RateRow {
  readonly currency: string;
  readonly annualRate: Ratio;
  readonly graceMinutes: number;
  readonly frequencyMinutes: number;
}
export const rateColumns: readonly Column<RateRow>[] = [
  column('currency', (row) => row.currency),
  figure('annual_rate', (row) => text(row.annualRate)),
  figure('grace_minutes', (row) => row.graceMinutes),
  figure('frequency_minutes', (row) => row.frequencyMinutes),
];

export const modeColumns: readonly Column<{ readonly pair: string; readonly mode: string }>[] = [
  column('pair', (row) => row.pair),
  column('risk_mode', (row) => row.mode),
];

export const metricsColumns: readonly Column<PtsMetrics>[] = [
  figure('equity_usd', (row) => text(row.equity)),
  figure('equity_for_withdrawals_usd', (row) => text(row.equityForWithdrawals)),
  figure('exposure_usd', (row) => text(row.exposure)),
  figure('available_exposure_usd', (row) => text(row.availableExposure)),
  figure('exposure_limit_usd', (row) => text(row.exposureLimit)),
];

export const positionColumns: readonly Column<PtsPosition>[] = [
  figure('id', (row) => row.id),
  column('type', (row) => row.marginType),
  column('pair', (row) => row.pair),
  column('status', (row) => row.status),
  column('opened', (row) => isoOf(row.openedAt)),
  column('closed', (row) => time(row.closedAt)),
  figure('loan', (row) => text(row.loan)),
  column('loan_currency', (row) => row.loanCurrency),
  figure('proceeds', (row) => text(row.proceeds)),
  column('collateral_currency', (row) => row.collateralCurrency),
  figure('vwap', (row) => text(row.vwap)),
  figure('annual_rate', (row) => text(row.interestRate)),
  figure('interest', (row) => text(row.interest)),
  hidden('opening_order_id', (row) => row.openingOrderId),
  hidden('closing_order_id', (row) => row.closingOrderId),
];

export const interestColumns: readonly Column<InterestPayment>[] = [
  figure('id', (row) => row.id),
  column('time', (row) => isoOf(row.at)),
  figure('position_id', (row) => row.positionId),
  column('currency', (row) => row.currency),
  figure('amount', (row) => text(row.amount)),
  figure('amount_usd', (row) => text(row.usd)),
];
