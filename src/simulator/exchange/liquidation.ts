import {
  add, cost, counted, fraction, greatest, holding, least, negate, NO_MONEY, NO_QUANTITY, quantityDown, quantityUp, ratioOf, roundDown, roundUp, scale, subtract,
} from '../../core/money.ts'; // prettier-ignore
import type { Money, Quantity } from '../../core/money.ts';
import { headroomAt } from '../../core/risk/headroom.ts';
import { instant, MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { PtsMetrics } from '../../wire/pts.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Market } from '../market/market.ts';
import type { Position, Positions } from './positions.ts';

type LiquidationSetup = Readonly<{ ledger: Ledger; market: Market; positions: Positions; metrics: (account: string, now: Instant) => PtsMetrics }>; // prettier-ignore

/** The equity level after a settlement, in liquidation levels. */
const RESTORED = ratioOf(2);

/**
 * Settles positions in part while an account's equity, divided by its exposure, is below the liquidation level. Source:
 * public documentation. It does not say when the venue looks, how much it settles, at which price, and how it books that. Chosen
 * here: each minute of market time; oldest position first, as much as restores twice the level; at the mid price; as two
 * rows without the ids of an order.
 */
export class Liquidation {
  private readonly setup: LiquidationSetup;
  /** Market time of the last look. */
  private lookedAt = instant(0);

  constructor(setup: LiquidationSetup) {
    this.setup = setup;
  }

  /** Real time of the next look; `undefined` while no account owes anything. */
  nextDue(): Instant | undefined {
    const at = this.nextLook();
    return at && this.setup.market.realTimeOf(at);
  }

  private nextLook(): Instant | undefined {
    const { market, positions } = this.setup;
    const [oldest] = positions.open();
    if (oldest === undefined) return undefined;
    const since = Math.floor(market.timeAt(oldest.openedAt) / MINUTE_MS) * MINUTE_MS;
    return instant(Math.max(this.lookedAt, since) + MINUTE_MS);
  }

  runNext(): void {
    const { market, positions, metrics } = this.setup;
    const at = this.nextLook();
    if (at === undefined) return;
    this.lookedAt = at;
    const now = instant(Math.floor(market.realTimeOf(at)));
    for (const account of new Set([...positions.open()].map((each) => each.account))) {
      const stated = metrics(account, now);
      const { liquidationLevel: level } = stated;
      if (!level.gt(0) || !headroomAt(stated, level).lt(0)) continue;
      this.settle(account, negate(headroomAt(stated, scale(level, RESTORED))), now);
    }
  }

  /** Settles positions of an account that are worth `excess` USD in all. */
  private settle(account: string, excess: Money, now: Instant): void {
    const { market } = this.setup;
    let left = excess;
    for (const position of this.setup.positions.open()) {
      if (position.account !== account || !left.gt(0)) continue;
      const { currency, loan, owed } = position;
      const debt = add(loan, owed);
      const worth = market.usdValue(currency, debt, now);
      const part = worth.lte(left) ? debt : scale(debt, fraction(left, worth));
      const repaid = this.transfer(position, part, now);
      left = subtract(left, market.usdValue(currency, repaid, now));
    }
  }

  /** Exchanges collateral for `part` of a position's debt, at most what the account holds. Returns what was repaid. */
  private transfer(position: Position, part: Quantity, now: Instant): Quantity {
    const { ledger, market, positions } = this.setup;
    const { account, pair, currency, collateral } = position;
    const listing = market.listings.get(pair);
    const mid = market.mid(pair, now);
    const held = greatest(ledger.available(account, collateral), NO_QUANTITY);
    if (listing === undefined || held.isZero()) return NO_QUANTITY;
    const { base, quote, basePrecision, quotePrecision } = listing;
    const isLong = currency === quote;
    const quantity = isLong
      ? least(quantityUp(counted(part), mid, basePrecision), held)
      : least(roundUp(part, basePrecision), quantityDown(counted(held), mid, basePrecision));
    const amount = (isLong ? roundDown : roundUp)(cost(mid, quantity), quotePrecision);
    if (!quantity.gt(0) || !amount.gt(0)) return NO_QUANTITY;
    const before = ledger.balance(account, currency);
    ledger.book(account, {
      orderId: '',
      clientId: undefined,
      tradeId: '',
      at: now,
      pair,
      base,
      quote,
      side: isLong ? 'sell' : 'buy',
      quantity,
      amount,
      fees: NO_MONEY,
      price: mid,
      description: `settlement of position ${position.id}`,
    });
    positions.received(account, currency, before, now);
    return isLong ? holding(amount) : quantity;
  }
}
