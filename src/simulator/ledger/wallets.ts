import { add, decimalsOf, negate, NO_QUANTITY, subtract } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import type { WalletTransfer } from '../../wire/transfers.ts';
import { ByAccount } from '../exchange/by-account.ts';
import type { Ledger } from './ledger.ts';
import type { Market } from '../market/market.ts';
import type { OrderRegistry } from '../exchange/orders.ts';
import { assumed, found } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';

/** Both transactions of a transfer between wallets. */
export interface WalletTransferIds {
  readonly from: string;
  readonly to: string;
}

/**
 * The collateral wallet: money of the account that cannot be traded. The money stays in the balance as a reservation,
 * and creates no rows, so that running balances stay correct. Fields: public documentation; the rest is chosen here.
 */
export class Wallets {
  private readonly setup: { ledger: Ledger; market: Market; registry: OrderRegistry };
  private readonly collateral = new ByAccount<Quantity>();

  constructor(setup: { ledger: Ledger; market: Market; registry: OrderRegistry }) {
    this.setup = setup;
  }

  transfer(account: string, { currency, quantity: amount, from }: WalletTransfer): Reply<WalletTransferIds> {
    const { ledger, market, registry } = this.setup;
    const known = market.currencies.get(currency);
    if (known === undefined) return assumed.unknownCurrency(currency);
    if (!amount.gt(0)) return assumed.invalidSize('quantity must be above zero');
    if (decimalsOf(amount) > known.precision)
      return assumed.invalidSize(`quantity has more than the ${known.precision} decimals of ${currency}`);
    const kept = this.collateral.get(account, currency) ?? NO_QUANTITY;
    const free = from === 'trading' ? ledger.available(account, currency) : kept;
    if (free.lt(amount)) return assumed.noFunds(currency);
    this.collateral.set(account, currency, from === 'trading' ? add(kept, amount) : subtract(kept, amount));
    ledger.hold(account, currency, from === 'trading' ? amount : negate(amount));
    return found({ from: registry.nextNumber(), to: registry.nextNumber() });
  }
}
