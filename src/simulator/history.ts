import { add, NO_MONEY, roundDown } from '../core/money.ts';
import type { Money } from '../core/money.ts';
import { DAY_MS, HOUR_MS, instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { ValuationPoint } from '../core/venue.ts';
import type { Ledger } from './ledger.ts';
import type { Market } from './market.ts';

/** Most points kept of an account: more than a year of hours. */
const POINTS_MAX = 10_000;

/** Point of the history with its market time, which decides whether it is a daily one. */
interface Point extends ValuationPoint {
  readonly market: Instant;
}

/** USD value of an account at the real time `now`, cents, rounded down. */
export function accountValue(
  account: string,
  { ledger, market, now }: { ledger: Ledger; market: Market; now: Instant },
): Money {
  let total = NO_MONEY;
  for (const [currency, held] of ledger.balances(account))
    total = add(total, market.usdValue(currency, held, now));
  return roundDown(total, 2);
}

/**
 * The value of every account at its start and at each full hour of the market. `advance` must be called before every
 * change, so that a point sees the holdings of its own time.
 */
export class ValueHistory {
  private readonly points = new Map<string, Point[]>();
  private readonly ledger: Ledger;
  private readonly market: Market;
  private nextHour: Instant;

  constructor(ledger: Ledger, market: Market) {
    this.ledger = ledger;
    this.market = market;
    this.nextHour = instant((Math.floor(market.startsAt / HOUR_MS) + 1) * HOUR_MS);
  }

  /** Begins the history of an account with its value at `now`. */
  open(account: string, now: Instant): void {
    this.points.set(account, [this.valued(account, now, this.market.timeAt(now))]);
  }

  /** Notes all full hours of the market up to the real time `now`. */
  advance(now: Instant): void {
    const market = this.market.timeAt(now);
    const oldest = market - POINTS_MAX * HOUR_MS;
    if (this.nextHour < oldest) this.nextHour = instant(Math.floor(oldest / HOUR_MS) * HOUR_MS);
    for (; this.nextHour <= market; this.nextHour = instant(this.nextHour + HOUR_MS)) {
      const at = this.market.realTimeOf(this.nextHour);
      for (const [account, points] of this.points) {
        points.push(this.valued(account, at, this.nextHour));
        if (points.length > POINTS_MAX) points.shift();
      }
    }
  }

  /** Points from `from` to `to`, real time, oldest first: all, or with a whole day of the market between them. */
  read(
    account: string,
    { from, to, interval }: { from: Instant; to: Instant; interval: 'hour' | 'day' },
  ): readonly ValuationPoint[] {
    return (this.points.get(account) ?? [])
      .filter(({ at, market }, index) => {
        const isDaily = index === 0 || market % DAY_MS === 0;
        return at >= from && at <= to && (interval === 'hour' || isDaily);
      })
      .map(({ at, usd }) => ({ at, usd }));
  }

  private valued(account: string, now: Instant, market: Instant): Point {
    const usd = accountValue(account, { ledger: this.ledger, market: this.market, now });
    return { at: instant(Math.floor(now)), usd, market };
  }
}
