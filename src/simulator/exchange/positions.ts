import {
  add,
  greatest,
  holding,
  least,
  money,
  negate,
  NO_QUANTITY,
  price,
  priceOf,
  ratio,
  ratioOf,
  roundEven,
  scale,
  share,
  subtract,
  text,
} from '../../core/money.ts';
import type { Money, Quantity, Ratio } from '../../core/money.ts';
import { instant, MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { FundingRate } from '../../core/venue.ts';
import type { MarginType, PtsPosition } from '../../wire/pts.ts';
import type { Filled } from './fills.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Market } from '../market/market.ts';
import type { OrderRegistry } from './orders.ts';

/** One charge of interest. */
export interface InterestPayment {
  readonly id: string;
  readonly currency: string;
  /** In the currency. */
  readonly amount: Quantity;
  readonly usd: Money;
  readonly at: Instant;
  readonly positionId: string;
}

export interface PositionsSetup {
  readonly ledger: Ledger;
  readonly market: Market;
  readonly registry: OrderRegistry;
  readonly rateOf: (currency: string) => FundingRate;
}

/** The balances of the base and quote currency that a trade changes. */
export interface Balances {
  readonly base: Quantity;
  readonly quote: Quantity;
}

/** A trade and the balance that it changed. */
interface CreditTrade extends Filled {
  readonly currency: string;
}

export interface Position {
  readonly id: string;
  readonly account: string;
  readonly pair: string;
  readonly marginType: MarginType;
  readonly currency: string;
  readonly collateral: string;
  readonly orderId: string;
  readonly openedAt: Instant;
  closedAt: Instant | undefined;
  closingOrderId: string | undefined;
  /** Borrowed and not repaid, excluding interest, which itself bears no interest. */
  loan: Quantity;
  /** Interest charged and not repaid. */
  owed: Quantity;
  charged: Quantity;
  /**
   * Interest since the opening, multiplied by the minutes of a year. It is divided only at the end, so that no
   * intermediate result is rounded.
   */
  accrued: Quantity;
  /** Market time. */
  nextAccrual: Instant;
  /** Traded on credit: quantity and amount of the pair. */
  quantity: Quantity;
  amount: Quantity;
}

const MINUTES_A_YEAR = 365 * 24 * 60;
/** More than ten years of ten positions that are charged every hour. */
const HISTORY_MAX = 1_000_000;
const VWAP_DECIMALS = 8;

/**
 * Positions on credit, one loan each. An account's debt in a currency is the sum of its loans in that currency and of
 * the interest charged on them.
 *
 * Interest is simple, and a year has 365 days. Interest accrues in market time, for the first time one `frequency`
 * after the grace period. Each charge is the total so far, cut to the decimals of the currency, minus the earlier
 * charges, so that no fraction is lost or charged twice. Source of rate, grace and frequency: specification; the rest
 * is chosen here.
 */
export class Positions {
  private readonly setup: PositionsSetup;
  private readonly active = new Map<string, Position>();
  private readonly all: Position[] = [];
  private readonly payments = new Map<string, InterestPayment[]>();

  constructor(setup: PositionsSetup) {
    this.setup = setup;
  }

  /** Opens, grows, reduces or closes positions after a trade has changed two balances. */
  traded(account: string, filled: Filled, before: Balances, now: Instant): void {
    const { ledger } = this.setup;
    const { base, quote } = filled.listing;
    const [baseNow, quoteNow] = [ledger.balance(account, base), ledger.balance(account, quote)];
    if (before.quote.isNegative() || quoteNow.isNegative())
      this.owing(account, { ...filled, currency: quote }, subtract(debt(quoteNow), debt(before.quote)), now);
    if (before.base.isNegative() || baseNow.isNegative())
      this.owing(account, { ...filled, currency: base }, subtract(debt(baseNow), debt(before.base)), now);
  }

  private owing(account: string, trade: CreditTrade, grown: Quantity, now: Instant): void {
    if (grown.gt(0)) this.grow(account, trade, grown, now);
    else if (grown.lt(0))
      this.repay(account, { currency: trade.currency, amount: negate(grown), by: trade }, now);
  }

  /** Money that arrives without a trade repays debts in its currency, oldest position first. */
  received(account: string, currency: string, before: Quantity, now: Instant): void {
    const paid = subtract(debt(before), debt(this.setup.ledger.balance(account, currency)));
    if (paid.gt(0)) this.repay(account, { currency, amount: paid }, now);
  }

  /** Real time of the next accrual of interest. */
  nextDue(): Instant | undefined {
    const next = this.earliest();
    return next === undefined ? undefined : this.setup.market.realTimeOf(next.nextAccrual);
  }

  /** Accrues the interest that is due next. */
  runNext(): void {
    const position = this.earliest();
    if (position === undefined) return;
    const { ledger, market, rateOf } = this.setup;
    const { account, currency, nextAccrual } = position;
    const { annualRate, frequencyMinutes } = rateOf(currency);
    const minutes = ratioOf(frequencyMinutes);
    position.accrued = add(position.accrued, scale(scale(position.loan, annualRate), minutes));
    position.nextAccrual = instant(nextAccrual + frequencyMinutes * MINUTE_MS);
    const precision = market.currencies.get(currency)?.precision ?? 8;
    const amount = subtract(share(position.accrued, MINUTES_A_YEAR, precision), position.charged);
    if (!amount.gt(0)) return;
    const at = instant(Math.floor(market.realTimeOf(nextAccrual)));
    position.charged = add(position.charged, amount);
    position.owed = add(position.owed, amount);
    const description = `interest of position ${position.id}`;
    const id = String(ledger.charge(account, { currency, amount, description }, at));
    const usd = roundEven(market.usdValue(currency, amount, at), 2);
    const payments = this.payments.get(account) ?? [];
    payments.push({ id, currency, amount, usd, at, positionId: position.id });
    if (payments.length > HISTORY_MAX) payments.shift();
    this.payments.set(account, payments);
  }

  /** Oldest first. */
  of(account: string): readonly PtsPosition[] {
    return this.all.filter((each) => each.account === account).map((each) => this.view(each));
  }

  /** Positions that are not repaid, oldest first. */
  open(): Iterable<Position> {
    return this.active.values();
  }

  /** Interest of an account, newest first. */
  interestOf(account: string): readonly InterestPayment[] {
    return (this.payments.get(account) ?? []).toReversed();
  }

  private grow(account: string, trade: CreditTrade, loan: Quantity, now: Instant): void {
    const { market, registry, rateOf } = this.setup;
    const { listing, currency, fill } = trade;
    const marginType = currency === listing.quote ? 'PTS_LONG' : 'PTS_SHORT';
    const key = [account, listing.pair, marginType].join('\n');
    let position = this.active.get(key);
    if (position === undefined) {
      const { graceMinutes, frequencyMinutes } = rateOf(currency);
      position = {
        id: registry.nextNumber(),
        account,
        pair: listing.pair,
        marginType,
        currency,
        collateral: currency === listing.quote ? listing.base : listing.quote,
        orderId: trade.order.orderId,
        openedAt: instant(Math.floor(now)),
        closedAt: undefined,
        closingOrderId: undefined,
        loan: NO_QUANTITY,
        owed: NO_QUANTITY,
        charged: NO_QUANTITY,
        accrued: NO_QUANTITY,
        nextAccrual: instant(market.timeAt(now) + (graceMinutes + frequencyMinutes) * MINUTE_MS),
        quantity: NO_QUANTITY,
        amount: NO_QUANTITY,
      };
      this.active.set(key, position);
      this.all.push(position);
    }
    position.loan = add(position.loan, loan);
    position.quantity = add(position.quantity, fill.quantity);
    position.amount = add(position.amount, holding(fill.amount));
  }

  /** Repays interest before the loan, and the traded pair's position before older positions. */
  private repay(
    account: string,
    { currency, amount, by }: { currency: string; amount: Quantity; by?: CreditTrade },
    now: Instant,
  ): void {
    const own = (each: Position): number => (each.pair === by?.listing.pair ? 0 : 1);
    const open = [...this.active.entries()]
      .filter(([, each]) => each.account === account && each.currency === currency)
      .toSorted(([, a], [, b]) => own(a) - own(b));
    let left = amount;
    for (const [key, position] of open) {
      const interest = least(left, position.owed);
      position.owed = subtract(position.owed, interest);
      left = subtract(left, interest);
      const principal = least(left, position.loan);
      position.loan = subtract(position.loan, principal);
      left = subtract(left, principal);
      if (!position.loan.isZero() || !position.owed.isZero()) return;
      position.closedAt = instant(Math.floor(now));
      position.closingOrderId = by?.order.orderId;
      this.active.delete(key);
    }
  }

  private earliest(): Position | undefined {
    if (this.active.size === 0) return undefined;
    let first: Position | undefined;
    for (const each of this.active.values())
      if (first === undefined || each.nextAccrual < first.nextAccrual) first = each;
    return first;
  }

  private view(position: Position): PtsPosition {
    const { currency, marginType, amount, quantity } = position;
    const isClosed = position.closedAt !== undefined;
    return {
      id: position.id,
      status: isClosed ? 'CLOSED' : 'ACTIVE',
      openedAt: position.openedAt,
      closedAt: position.closedAt,
      loanCurrency: currency,
      loan: position.loan,
      collateralCurrency: position.collateral,
      pair: position.pair,
      interestRate: rateNow(this.setup.rateOf(currency)),
      interest: position.charged,
      marginType,
      openingOrderId: position.orderId,
      closingOrderId: position.closingOrderId,
      proceeds: marginType === 'PTS_LONG' ? quantity : amount,
      vwap: quantity.isZero() ? price('0') : roundEven(priceOf(money(text(amount)), quantity), VWAP_DECIMALS),
    };
  }
}

/** The debt of a balance below zero. */
const debt = (balance: Quantity): Quantity => greatest(negate(balance), NO_QUANTITY);

const rateNow = ({ annualRate }: FundingRate): Ratio => ratio(text(annualRate));
