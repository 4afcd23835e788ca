import { z } from 'zod';
import { NO_QUANTITY } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';
import { parseClientId } from '../core/ids.ts';
import { instant } from '../core/time.ts';
import type { Currency, RiskMode, Transaction, TransactionAction, ValuationPoint } from '../core/venue.ts';
import { wireId, wireIso, wireMoney, wirePrice, wireQuantity, wireRatio } from './message.ts';

/** Errors of every route: `{"error": "<text>"}`. */
export const errorSchema = z.object({ error: z.string() });

const actions = ['deposit', 'withdraw', 'buy', 'sell', 'credit', 'charge'] as const;

/** A transaction with every field worth displaying. Fields that the venue omits are empty strings. */
export interface TransactionDetail extends Transaction {
  /** Account transaction id, for transactions that are not trades. It survives a change of status; `id` may not. */
  readonly accountTransactionId: string;
  readonly memo: string;
  /** Sender of a deposit, destination of a withdrawal, or free text. */
  readonly description: string;
  readonly txHash: string;
  /** Fee of a deposit or withdrawal, in `currency`. */
  readonly transferFee: Quantity;
  readonly algorithm: string;
  readonly algorithmId: string;
  readonly holdExpires: string;
  readonly addedBy: string;
  readonly wallet: string;
}

/** Element of `GET /v1/account/transactions`. Spec: "Transaction". */
const transactionFields = z.object({
  id: z.int().nonnegative().describe('service-generated; used for `after`'),
  atxid: z.unknown().optional(),
  AtxId: z.unknown().optional().describe('alternative spelling, seen in a sample'),
  order_id: wireId.nullish(),
  client_order_id: z.string().nullish(),
  trade_id: wireId.nullish(),
  day: wireIso.nullish(),
  action: z
    .string()
    .describe('Deposit, Withdraw, Buy, Sell, Credit or Charge')
    .transform(
      (value): TransactionAction => actions.find((known) => known === value.toLowerCase()) ?? 'other',
    ),
  currency: z.string().min(1),
  memo: z.string().nullish(),
  amount: wireQuantity.describe('signed, in `currency`; negative for the outgoing leg of a trade'),
  net_proceeds: wireQuantity.nullish(),
  price: wirePrice.nullish(),
  fees: wireQuantity.nullish().describe('in `currency`'),
  status: z.string(),
  hold_expires: z.unknown().optional(),
  tx_hash: z.string().nullish(),
  algo_name: z.string().nullish(),
  algo_id: z.unknown().optional(),
  account_balance: wireQuantity.describe('of `currency`, after the transaction'),
  AccountTransferFee: wireQuantity.nullish(),
  description: z.string().nullish(),
  Description: z.string().nullish().describe('alternative spelling, seen in a sample'),
  wallet_display_id: z.unknown().optional(),
  added_by_user_email: z.string().nullish(),
  symbol: z.string().nullish().describe('pair of a trade'),
  IdempotencyId: z.unknown().optional(),
  timestamp: z.int().describe('Unix ms'),
});
type TransactionFields = z.output<typeof transactionFields>;

const transactionOf = (row: TransactionFields): Transaction => ({
  id: row.id,
  orderId: row.order_id ?? undefined,
  clientId: row.client_order_id === '' ? undefined : (row.client_order_id ?? undefined),
  tradeId: row.trade_id ?? undefined,
  at: instant(row.timestamp),
  action: row.action,
  currency: row.currency.toLowerCase(),
  amount: row.amount,
  price: row.price ?? undefined,
  fees: row.fees ?? NO_QUANTITY,
  status: row.status,
  balance: row.account_balance,
  pair: row.symbol?.toLowerCase(),
  ...(row.AccountTransferFee?.isZero() === false ? { transferFee: row.AccountTransferFee } : {}),
});

/** An unknown row must not hide the rest of the account. However, if the row names an order of the desk, the read fails. */
export const transactionSchema = transactionFields.transform((row, context) => {
  if (row.action === 'other' && parseClientId(row.client_order_id ?? '') !== undefined) {
    context.addIssue({ code: 'custom', message: 'a row with an unknown action names one of our orders' });
    return z.NEVER;
  }
  return transactionOf(row);
});

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

export const transactionDetailSchema = transactionFields.transform((row): TransactionDetail => ({
  ...transactionOf(row),
  accountTransactionId: textOf(row.atxid ?? row.AtxId),
  memo: row.memo ?? '',
  description: row.description ?? row.Description ?? '',
  txHash: row.tx_hash ?? '',
  transferFee: row.AccountTransferFee ?? NO_QUANTITY,
  algorithm: row.algo_name ?? '',
  algorithmId: textOf(row.algo_id),
  holdExpires: textOf(row.hold_expires),
  addedBy: row.added_by_user_email ?? '',
  wallet: textOf(row.wallet_display_id),
}));
export const transactionDetailsSchema = z.array(transactionDetailSchema).max(1000);
export const transactionsSchema = z.array(transactionSchema).max(1000);

const flag = z
  .union([z.literal(0), z.literal(1), z.boolean()])
  .transform((value) => value === 1 || value === true);

/** A currency with all its settings. */
export interface CurrencyDetail extends Currency {
  readonly id: number | undefined;
  readonly canDeposit: boolean;
  readonly canWithdraw: boolean;
  readonly lendingEnabled: boolean;
  readonly custodyEnabled: boolean;
  readonly confirmationsNeeded: number | undefined;
  readonly sign: string;
  readonly contractAddress: string;
  readonly network: string;
}

/** Element of `GET /v1/currency`. Spec: "Currency". */
const currencyFields = z.object({
  id: z.int().nullish(),
  symbol: z.string().min(1),
  name: z.string().nullish(),
  is_fiat: flag.nullish(),
  is_lending_enabled: flag.nullish(),
  can_deposit: flag.nullish(),
  can_withdraw: flag.nullish(),
  min_withdrawal: wireQuantity.nullish().describe('in the currency'),
  confirmations_needed: z.int().nullish(),
  precision: z.int().min(0).max(18).describe('decimals after the point'),
  ascii_sign: z.string().nullish(),
  contract_address: z.string().nullish(),
  custody_enabled: flag.nullish(),
  trading_enabled: flag.nullish(),
  primary_network: z.string().nullish(),
  code: z.string().nullish(),
  currency: z.string().nullish(),
});

const currencyOf = (row: z.output<typeof currencyFields>): Currency => ({
  symbol: row.symbol.toLowerCase(),
  name: row.name ?? row.symbol,
  isFiat: row.is_fiat ?? false,
  precision: row.precision,
  minWithdrawal: row.min_withdrawal ?? NO_QUANTITY,
  tradingEnabled: row.trading_enabled ?? true,
});

export const currencySchema = currencyFields.transform(currencyOf);
export const currencyDetailSchema = currencyFields.transform((row): CurrencyDetail => ({
  ...currencyOf(row),
  id: row.id ?? undefined,
  canDeposit: row.can_deposit ?? true,
  canWithdraw: row.can_withdraw ?? true,
  lendingEnabled: row.is_lending_enabled ?? false,
  custodyEnabled: row.custody_enabled ?? false,
  confirmationsNeeded: row.confirmations_needed ?? undefined,
  sign: row.ascii_sign ?? '',
  contractAddress: row.contract_address ?? '',
  network: row.primary_network ?? '',
}));
export const currencyDetailsSchema = z.array(currencyDetailSchema).max(5000);
export const currenciesSchema = z.array(currencySchema).max(5000);

/** Value of one currency in `GET /v1/post-trade-settlement/interest`. Spec: "PTS funding rate". */
const fundingRateSchema = z.object({
  interest_rate: wireRatio.describe('annualized, as a fraction: 0.02 means 2 %'),
  interest_grace_period_minutes: z.number().nonnegative().describe('minutes without interest after opening'),
  interest_frequency_minutes: z.number().positive().describe('minutes between accruals'),
});
export const fundingRatesSchema = z.record(z.string(), fundingRateSchema);

/** A row that cannot be read. It does not affect the other rows. */
const unreadable = z.unknown().transform(() => undefined);
/** The rates in the same response. The rate of a row that cannot be read is `undefined` (unknown). */
export const readableRatesSchema = z.record(z.string(), fundingRateSchema.or(unreadable));

/** Accepts both spellings of the last mode. */
const riskMode = z.string().transform((value, context): RiskMode => {
  const mode = (['Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only'] as const).find(
    (known) => known.toLowerCase() === value.toLowerCase().replaceAll('_', '-'),
  );
  if (mode !== undefined) return mode;
  context.addIssue({ code: 'custom', message: 'unknown risk mode' });
  return z.NEVER;
});

/** `GET /v1/post-trade-settlement/risk-modes`. If a row cannot be read, only the mode of its pair is unknown. */
const riskModeRow = z.object({ currency_pair: z.string(), risk_mode: riskMode.or(unreadable) });
export const riskModesSchema = z.object({ data: z.array(riskModeRow) });
/** The same modes, without the rows that name no pair. */
export const readableModesSchema = z.object({ data: z.array(riskModeRow.or(unreadable)) });

/** `GET /v1/account/balance/history`. Spec: "Portfolio valuation point". */
export const valuationSchema = z.object({
  data: z.array(
    z
      .object({ timestamp: z.int().describe('Unix ms'), usd_value: wireMoney })
      .transform((row): ValuationPoint => ({ at: instant(row.timestamp), usd: row.usd_value })),
  ),
});

/** Element of `GET /v1/user/balance` (capability `balances`; beyond the spec, section 9.1). */
export const balancesSchema = z.array(
  z
    .object({
      currency: z.string(),
      balance: wireQuantity,
      available: wireQuantity,
      held: wireQuantity.nullish(),
    })
    .transform((row) => ({
      currency: row.currency.toLowerCase(),
      balance: row.balance,
      available: row.available,
    })),
);

/** `GET /v1/markets/currency-pairs` (capability `pairs`; beyond the spec, section 9.2). */
export const pairsSchema = z.record(
  z.string(),
  z.object({
    formatted_symbol: z.string().nullish(),
    symbol: z.string(),
    base: z.string(),
    quote: z.string(),
  }),
);
