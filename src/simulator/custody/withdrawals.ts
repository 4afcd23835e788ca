import { add, decimalsOf, negate, NO_QUANTITY, quantity, text } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { PtsMetrics } from '../../wire/pts.ts';
import type { FeeChannel, WithdrawalRequest, WithdrawalResult } from '../../wire/withdrawal.ts';
import type { Custody } from './custody.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Market } from '../market/market.ts';
import type { VenueOptions } from '../options/options.ts';
import { own } from '../exchange/own.ts';
import { uuidOf } from '../exchange/quotes.ts';
import { assumed, found } from '../http/reply.ts';
import type { Refusal, Reply } from '../http/reply.ts';
import { APPROVAL_REQUIRED } from './transfers.ts';
import type { Transfers } from './transfers.ts';

export interface WithdrawalsSetup {
  readonly options: VenueOptions;
  readonly ledger: Ledger;
  readonly market: Market;
  readonly transit: Transfers;
  readonly custody: Custody;
  readonly metrics: (account: string, now: Instant) => PtsMetrics;
}

/** Status code of a new withdrawal. Source: a public sample. */
const TX_INITIATED = 1_100;
/** Default fees of built-in currencies, in the respective currency. */
const FEES: Readonly<Record<string, string>> = {
  btc: '0.0001',
  eth: '0.001',
  ltc: '0.001',
  sol: '0.01',
  xrp: '0.1',
  usdc: '1',
  usdt: '1',
};

/** Fees of usd by wire; ACH is free. */
const WIRE_FEE_DOMESTIC = quantity('25');
const WIRE_FEE_INTERNATIONAL = quantity('45');

/** Withdrawals: who may withdraw what, and at which fee. `Transit` moves the money afterwards. */
export class Withdrawals {
  private readonly setup: WithdrawalsSetup;

  constructor(setup: WithdrawalsSetup) {
    this.setup = setup;
  }

  /** Fee in the currency; `channel` matters only for usd; it is a domestic or an international wire. Default: a domestic wire. */
  fee(currency: string, channel: FeeChannel | undefined): Reply<Quantity> {
    const { market } = this.setup;
    if (!market.currencies.has(currency)) return assumed.unknownCurrency(currency);
    if (currency !== 'usd') return found(this.addressFee(currency));
    return found(channel === 'international' ? WIRE_FEE_INTERNATIONAL : WIRE_FEE_DOMESTIC);
  }

  withdraw(account: string, asked: WithdrawalRequest, now: Instant): Reply<WithdrawalResult> {
    const { options, ledger, market, transit, custody } = this.setup;
    const { currency, amount, memo } = asked;
    const address = currency === 'usd' ? '' : asked.address;
    const fee = this.feeOf(asked);
    const refused = this.problem(asked, fee);
    if (refused !== undefined) return refused;
    if (ledger.available(account, currency).lt(add(amount, fee))) return assumed.noFunds(currency);
    const usd = market.usdValue(currency, amount, now);
    if (this.exceedsEquity(account, usd, now)) return assumed.noEquity();

    const id = transit.start(
      {
        account,
        currency,
        fee,
        stopped: custody.needsApproval(account, usd) ? APPROVAL_REQUIRED : undefined,
        amount: negate(amount),
        way: currency === 'usd' ? 'bank' : 'crypto',
        remarks: { memo, description: address, addedBy: account },
      },
      now,
    );
    return found({
      success: true,
      id: uuidOf(`withdrawal ${options.seed} ${id}`),
      atxId: String(id),
      txStatus: TX_INITIATED,
      currency,
      amount,
      address,
    });
  }

  private problem({ currency, amount, address }: WithdrawalRequest, fee: Quantity): Refusal | undefined {
    const { market } = this.setup;
    const known = market.currencies.get(currency);
    if (known === undefined) return assumed.unknownCurrency(currency);
    if (!known.canWithdraw) return assumed.notWithdrawable(currency);
    if (!amount.gt(0)) return assumed.invalidSize('amount must be above zero');
    if (decimalsOf(amount) > known.precision)
      return assumed.invalidSize(`amount has more than the ${known.precision} decimals of ${currency}`);
    if (amount.lt(known.minWithdrawal))
      return assumed.invalidSize(`amount is below the minimum of ${text(known.minWithdrawal)} ${currency}`);
    if (decimalsOf(fee) > known.precision) return assumed.invalidSize('the fee cannot be charged');
    if (currency === 'usd') return undefined;
    if (address === '') return assumed.malformed('address is required when the currency is not usd');
    return undefined;
  }

  private exceedsEquity(account: string, usd: Money, now: Instant): boolean {
    const { exposure, equityForWithdrawals } = this.setup.metrics(account, now);
    return exposure.gt(0) && usd.gt(equityForWithdrawals);
  }

  private feeOf({ currency, isWire }: WithdrawalRequest): Quantity {
    if (currency !== 'usd') return this.addressFee(currency);
    return isWire ? WIRE_FEE_DOMESTIC : NO_QUANTITY;
  }

  private addressFee(currency: string): Quantity {
    const set = own(this.setup.options.currencies, currency)?.withdrawFee ?? own(FEES, currency);
    return set === undefined ? NO_QUANTITY : quantity(set);
  }
}
