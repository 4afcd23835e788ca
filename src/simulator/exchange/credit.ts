import { add, greatest, money, NO_MONEY, ratio, roundUp, size, subtract } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { FundingRate, Side } from '../../core/venue.ts';
import type { PtsMetrics } from '../../wire/pts.ts';
import { accountValue } from '../ledger/value-history.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Market } from '../market/market.ts';
import type { RateOptions, RiskModeText, VenueOptions } from '../options/options.ts';

export interface Outlay {
  readonly account: string;
  readonly pair: string;
  readonly side: Side;
  /** The currency and amount that leave the account. */
  readonly currency: string;
  readonly amount: Quantity;
  readonly now: Instant;
}

/** Post-trade settlement: decides in which pairs, on which side and up to which amount an account may borrow. */
export class Credit {
  private readonly options: VenueOptions['pts'];
  private readonly ledger: Ledger;
  private readonly market: Market;
  private readonly limitUsd: Money;
  private readonly modes: Map<string, RiskModeText>;
  private readonly rates: Map<string, RateOptions>;

  constructor(options: VenueOptions['pts'], ledger: Ledger, market: Market) {
    this.options = options;
    this.ledger = ledger;
    this.market = market;
    this.limitUsd = money(options.creditLimitUsd);
    this.modes = new Map(Object.entries(options.modes));
    this.rates = new Map(Object.entries(options.rates));
  }

  get isEnabled(): boolean {
    return this.options.enabled;
  }

  setMode(pair: string, mode: RiskModeText): void {
    this.modes.set(pair, mode);
  }

  setRate(currency: string, rate: RateOptions): void {
    this.rates.set(currency, rate);
  }

  riskModes(): readonly { readonly pair: string; readonly mode: RiskModeText }[] {
    return [...this.market.listings.keys()].map((pair) => ({ pair, mode: this.modeOf(pair) }));
  }

  fundingRates(): readonly FundingRate[] {
    return [...this.market.currencies.keys()].map((currency) => this.rateOf(currency));
  }

  rateOf(currency: string): FundingRate {
    const { annualRate, graceMinutes, frequencyMinutes } =
      this.rates.get(currency) ?? this.options.defaultRate;
    return { currency, annualRate: ratio(annualRate), graceMinutes, frequencyMinutes };
  }

  /** Whether the account can pay: from free balance, or with credit if the risk mode and the limit allow it. */
  covers({ account, pair, side, currency, amount, now }: Outlay): boolean {
    const available = this.ledger.available(account, currency);
    if (available.gte(amount)) return true;
    if (!this.isEnabled || !this.allows(pair, side)) return false;
    const left = subtract(available, amount);
    const owed = add(this.owedUsd(account, currency, now), this.market.usdValue(currency, size(left), now));
    return owed.lte(this.limitUsd);
  }

  /** The account's debts, holdings and remaining credit, in USD to the cent. Debts are rounded up, holdings down. */
  metrics(account: string, now: Instant): PtsMetrics {
    const exposure = roundUp(this.owedUsd(account, undefined, now), 2);
    const equity = accountValue(account, { ledger: this.ledger, market: this.market, now });
    return {
      exposure,
      availableExposure: greatest(subtract(this.limitUsd, exposure), NO_MONEY),
      exposureLimit: this.limitUsd,
      equity,
      equityForWithdrawals: greatest(subtract(equity, exposure), NO_MONEY),
      liquidationLevel: ratio(this.options.liquidationLevel),
    };
  }

  private modeOf(pair: string): RiskModeText {
    return this.modes.get(pair) ?? this.options.defaultMode;
  }

  /** A buy on credit opens a long, a sell on credit opens a short. */
  private allows(pair: string, side: Side): boolean {
    const mode = this.modeOf(pair);
    return mode === 'Enabled' || mode === (side === 'buy' ? 'Long-Only' : 'Short-Only');
  }

  /** The account's debts in all currencies except `except`, USD. */
  private owedUsd(account: string, except: string | undefined, now: Instant): Money {
    let owed = NO_MONEY;
    for (const [currency, held] of this.ledger.balances(account)) {
      if (currency !== except && held.isNegative())
        owed = add(owed, this.market.usdValue(currency, size(held), now));
    }
    return owed;
  }
}
