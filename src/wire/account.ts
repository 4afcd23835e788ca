import { z } from 'zod';
import { sha256 } from '../core/ids.ts';
import { NO_QUANTITY, isAmountText, least, price, quantity, subtract } from '../core/money.ts';
import type { AnyAmount, Quantity } from '../core/money.ts';
import { instant, parseIso } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Currency, RiskMode, Transaction, TransactionAction, ValuationPoint } from '../core/venue.ts';
import {
  idText,
  isObject,
  usedFields,
  wireId,
  wireIso,
  wireMoney,
  wirePrice,
  wireQuantity,
  wireRatio,
} from './message.ts';

/** Errors of every route: `{"error": "<text>"}`. */
export const errorSchema = z.object({ error: z.string() });

/** A transaction with every field worth displaying. Texts that the venue omits, or that cannot be read, are empty. */
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
  /** Pair of a trade, lower case. */
  readonly pair: string;
  /** The action as the venue sends it. */
  readonly sentAction: string;
}

/** `GET /v1/account/transactions`, as the venue sends it. Spec: "Transaction". */
export const sentTransactionSchema = z.object({
  id: z.int().nonnegative().describe('service-generated; used for `after`'),
  atxid: z.unknown().optional(),
  AtxId: z.unknown().optional().describe('alternative spelling, seen in a sample'),
  order_id: wireId.nullish(),
  client_order_id: z.string().nullish(),
  trade_id: wireId.nullish(),
  day: wireIso.nullish(),
  action: z.string().describe('Deposit, Withdraw, Buy, Sell, Credit or Charge'),
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
export const sentTransactionsSchema = z.array(sentTransactionSchema).max(1000);

type Row = Readonly<Record<string, unknown>>;

/**
 * All fields of a row, unread; the second branch is an element that is no row. Each row is read on its own, and no row fails
 * the list. A field that is not used is not read. A used field that cannot be read is missing, and if it decides about
 * orders, the row names it in `spoiled`.
 */
export const anyRow = z.union([usedFields(sentTransactionSchema, {}).loose(), z.unknown()]);

const ACTIONS = ['deposit', 'withdraw', 'buy', 'sell', 'credit', 'charge'] as const;
const ID_MAX = 128;
const isMissing = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

export function transactionOf(element: unknown): Transaction {
  const isRow = isObject(element) && !Array.isArray(element);
  const row: Row = isRow ? element : {};
  const spoiled: string[] = isRow ? [] : ['row'];
  /** A field that decides about orders: `unread` stands for one that cannot be read. */
  const decides = <T>(name: string, value: T | undefined, unread: T): T => {
    if (value === undefined && isRow) spoiled.push(name);
    return value ?? unread;
  };
  const id = (name: string): string | undefined =>
    isMissing(row[name]) ? undefined : decides(name, rowIdOf(row[name]), '') || undefined;
  const fee = amountOf(row['AccountTransferFee'], quantity);
  const [action, hold] = [actionOf(row['action']), row['hold_expires']];
  return {
    id: rowIdOf(row['id']) ?? contentId(element),
    orderId: id('order_id'),
    clientId: id('client_order_id'),
    tradeId: id('trade_id'),
    at: timeOf(row),
    action,
    currency: decides('currency', symbolOf(row['currency']), ''),
    amount: decides('amount', amountOf(row['amount'], quantity), NO_QUANTITY),
    price: amountOf(row['price'], price),
    fees: isMissing(row['fees'])
      ? NO_QUANTITY
      : decides('fees', amountOf(row['fees'], quantity), NO_QUANTITY),
    status: textOf(row['status']),
    balance: amountOf(row['account_balance'], quantity),
    ...(fee === undefined || fee.isZero() ? {} : { transferFee: fee }),
    // A hold whose end cannot be read does not end.
    ...(action !== 'deposit' || isMissing(hold)
      ? {}
      : { heldUntil: stampOf(hold) ?? isoTimeOf(hold) ?? instant(TIME_MAX) }),
    ...(spoiled.length === 0 ? {} : { spoiled }),
    ...(isSettlement(row) ? { isSettlement: true } : {}),
  };
}

/**
 * Whether a row says that the venue settled a position: by its text, and without the ids of an order, as a position that is
 * settled by transfer has no closing order. No document shows such a row.
 */
const isSettlement = (row: Row): boolean =>
  ['order_id', 'client_order_id', 'trade_id'].every((id) => isMissing(row[id])) &&
  namesSettlement(textOf(row['description'] ?? row['Description']));
export const namesSettlement = (description: string): boolean => /\b(?:settle|liquidat)/iu.test(description);

/** Not control characters or lone surrogates, which some databases refuse. */
const NO_TEXT = /[\p{Cc}\p{Cs}]/u;
function rowIdOf(value: unknown): string | undefined {
  const id = idText(value);
  return id !== undefined && id.length <= ID_MAX && !NO_TEXT.test(id) ? id : undefined;
}

/** The id of a row that shows none: its content, whatever the order of its members. */
function contentId(element: unknown): string {
  const sorted = (_: string, value: unknown): unknown =>
    isObject(value) && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  const content = JSON.stringify(element, sorted);
  return `?${content.length < ID_MAX ? content : sha256(content)}`;
}

/** An amount from its source text; `undefined` if it cannot be read. */
function amountOf<A extends AnyAmount>(value: unknown, read: (written: string) => A): A | undefined {
  if (typeof value !== 'string') return undefined;
  const written = value.trim();
  if (!isAmountText(written)) return undefined;
  const each = read(written);
  // Without the sign of a negative zero.
  return each.isZero() ? read('0') : each;
}

const actionOf = (value: unknown): TransactionAction =>
  ACTIONS.find((known) => known === textOf(value).trim().toLowerCase()) ?? 'other';

/** Characters of a symbol. Anything else, such as "btc (bitcoin)", would pass for a currency that no order uses. */
const SYMBOL = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/u;
function symbolOf(value: unknown): string | undefined {
  const symbol = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return SYMBOL.test(symbol) && symbol.length <= 32 ? symbol : undefined;
}

/** The last instant of a `Date`. */
const TIME_MAX = 8.64e15;
/** `timestamp`, as a number or as text; otherwise `day`; otherwise 0. */
const timeOf = ({ timestamp, day }: Row): Instant => stampOf(timestamp) ?? isoTimeOf(day) ?? instant(0);

function stampOf(value: unknown): Instant | undefined {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && isAmountText(value.trim()));
  return isNumber ? inRange(Math.floor(Number(value))) : undefined;
}
const isoTimeOf = (value: unknown): Instant | undefined =>
  typeof value === 'string' ? inRange(parseIso(value.trim())) : undefined;
const inRange = (at: number | undefined): Instant | undefined =>
  at !== undefined && at >= 0 && at <= TIME_MAX ? instant(at) : undefined;

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

function detailOf(element: unknown): TransactionDetail {
  const row: Row = isObject(element) ? element : {};
  const transaction = transactionOf(element);
  return {
    ...transaction,
    accountTransactionId: textOf(row['atxid'] ?? row['AtxId']),
    memo: textOf(row['memo']),
    description: textOf(row['description'] ?? row['Description']),
    txHash: textOf(row['tx_hash']),
    transferFee: transaction.transferFee ?? NO_QUANTITY,
    algorithm: textOf(row['algo_name']),
    algorithmId: textOf(row['algo_id']),
    holdExpires: textOf(row['hold_expires']),
    addedBy: textOf(row['added_by_user_email']),
    wallet: textOf(row['wallet_display_id']),
    pair: textOf(row['symbol']).toLowerCase(),
    sentAction: textOf(row['action']).trim(),
  };
}

export const transactionSchema = anyRow.transform(transactionOf);
export const transactionsSchema = z.array(transactionSchema);
export const transactionDetailSchema = anyRow.transform(detailOf);
export const transactionDetailsSchema = z.array(transactionDetailSchema);

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

/** Parts of a balance, which older versions of the route and of the feed lack. */
export const walletFields = {
  held: wireQuantity.nullish(),
  trading_wallet: wireQuantity.nullish(),
  collateral_wallet: wireQuantity.nullish(),
  borrow_wallet: wireQuantity.nullish(),
  lending_wallet: wireQuantity.nullish(),
};

/** Element of `GET /v1/user/balance` (capability `balances`; beyond the spec, section 9.1). */
export const balancesSchema = z.array(
  z
    .object({
      currency: z.string(),
      balance: wireQuantity,
      available: wireQuantity,
      ...walletFields,
    })
    .transform((row) => ({
      currency: row.currency.toLowerCase(),
      balance: row.balance,
      // What is held cannot be spent, even if the venue were to count it as available.
      available: row.held ? least(row.available, subtract(row.balance, row.held)) : row.available,
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
