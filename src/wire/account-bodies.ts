import { NO_QUANTITY, subtract } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';
import type { Pair } from '../core/pairs.ts';
import { isoOf } from '../core/time.ts';
import type { Balance, Currency, FundingRate, Transaction, ValuationPoint } from '../core/venue.ts';
import type { CurrencyDetail, TransactionDetail } from './account.ts';
import { numberOf } from './message.ts';

/** Writes the account's messages in the venue's format; the schemas in `account.ts` read them. */

const capitalised = (word: string): string => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
const flag = (value: boolean): 0 | 1 => (value ? 1 : 0);
export const numberOr = (id: string | undefined): number | null => (id === undefined ? null : Number(id));

type Optional<Of> = { readonly [Key in keyof Of]?: Of[Key] | undefined };
/** A transaction that a venue books: its ids count up, and every row has a balance. Empty fields are omitted. */
export type BookedTransaction = Omit<Transaction, 'id' | 'balance' | 'spoiled'> & {
  readonly id: number;
  readonly balance: Quantity;
} & Optional<Omit<TransactionDetail, keyof Transaction>>;

/**
 * Returns an element of `GET /v1/account/transactions`. `net_proceeds` is the amount minus the fee, that is, the change of the
 * balance. Optional fields that a transaction does not set get the venue's default values.
 */
export function transactionBody(row: BookedTransaction): object {
  const isTrade = row.tradeId !== undefined;
  return {
    id: row.id,
    atxid: isTrade ? null : Number(row.accountTransactionId ?? row.id),
    order_id: numberOr(row.orderId),
    client_order_id: row.clientId ?? '',
    trade_id: numberOr(row.tradeId),
    day: isoOf(row.at),
    action: capitalised(row.action),
    currency: row.currency,
    memo: row.memo ?? '',
    amount: numberOf(row.amount),
    net_proceeds: numberOf(subtract(row.amount, row.fees)),
    price: row.price === undefined ? null : numberOf(row.price),
    fees: numberOf(row.fees),
    status: row.status,
    hold_expires: row.heldUntil === undefined ? '' : isoOf(row.heldUntil),
    tx_hash: row.txHash ?? '',
    algo_name: row.algorithm ?? (isTrade ? 'Instant' : ''),
    algo_id: row.algorithmId ?? (isTrade ? '150' : ''),
    account_balance: numberOf(row.balance),
    AccountTransferFee: numberOf(row.transferFee ?? NO_QUANTITY),
    description: row.description ?? '',
    wallet_display_id: row.wallet ?? '',
    added_by_user_email: row.addedBy ?? '',
    symbol: row.pair ?? null,
    IdempotencyId: null,
    timestamp: row.at,
  };
}

/** Returns an element of `GET /v1/currency`; `id` is its index in the list. */
export function currencyBody(currency: Currency & Partial<CurrencyDetail>, id: number): object {
  return {
    id,
    symbol: currency.symbol,
    name: currency.name,
    is_fiat: flag(currency.isFiat),
    is_lending_enabled: flag(currency.lendingEnabled ?? false),
    can_deposit: flag(currency.canDeposit ?? true),
    can_withdraw: flag(currency.canWithdraw ?? true),
    min_withdrawal: numberOf(currency.minWithdrawal),
    confirmations_needed: currency.confirmationsNeeded ?? (currency.isFiat ? null : 3),
    precision: currency.precision,
    ascii_sign: currency.sign ?? (currency.symbol === 'usd' ? '$' : ''),
    contract_address: currency.contractAddress ?? null,
    custody_enabled: flag(currency.custodyEnabled ?? false),
    trading_enabled: flag(currency.tradingEnabled),
    primary_network: currency.network ?? (currency.isFiat ? null : currency.symbol),
    code: currency.symbol.toUpperCase(),
    currency: currency.symbol,
  };
}

/** `GET /v1/post-trade-settlement/interest`. */
export const fundingRatesBody = (rates: readonly FundingRate[]): object =>
  Object.fromEntries(
    rates.map(({ currency, annualRate, graceMinutes, frequencyMinutes }) => [
      currency,
      {
        interest_rate: numberOf(annualRate),
        interest_grace_period_minutes: graceMinutes,
        interest_frequency_minutes: frequencyMinutes,
      },
    ]),
  );

/** `GET /v1/post-trade-settlement/risk-modes`. `mode` uses the venue's spelling. */
export const riskModesBody = (
  modes: readonly { readonly pair: string; readonly mode: string }[],
): object => ({
  data: modes.map(({ pair, mode }) => ({ currency_pair: pair, risk_mode: mode })),
});

/** `GET /v1/account/balance/history`. */
export const valuationBody = (points: readonly ValuationPoint[]): object => ({
  data: points.map(({ at, usd }) => ({ timestamp: at, usd_value: numberOf(usd) })),
});

/**
 * `GET /v1/user/balance` (beyond the specification), whose amounts are numbers, and the feed of balances, where `write` makes
 * them strings. All holdings are in the trading wallet; the other wallets are empty.
 */
export const balancesBody = (
  balances: readonly Balance[],
  write: (each: Quantity) => unknown = numberOf,
): readonly object[] =>
  balances.map(({ currency, balance, available }) => ({
    currency,
    balance: write(balance),
    available: write(available),
    held: write(subtract(balance, available)),
    trading_wallet: write(balance),
    collateral_wallet: write(NO_QUANTITY),
    borrow_wallet: write(NO_QUANTITY),
    lending_wallet: write(NO_QUANTITY),
  }));

/** `GET /v1/markets/currency-pairs` (beyond the specification). */
export const pairsBody = (pairs: readonly Pair[]): object =>
  Object.fromEntries(
    pairs.map(({ pair, base, quote }) => [
      pair,
      { formatted_symbol: `${base.toUpperCase()}/${quote.toUpperCase()}`, symbol: pair, base, quote },
    ]),
  );
