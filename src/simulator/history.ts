import { add, NO_MONEY, roundDown } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { DAY_MS, HOUR_MS, instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { ValuationPoint } from '../core/venue.ts';
import type { Ledger } from './ledger.ts';
import type { Market } from './market.ts';

/** Most points kept of an account: more than a year of hours. */
const POINTS_MAX = 10_000;

type Held = ReadonlyMap<string, Quantity>;

/** Point of the history with its market time, which decides whether it is a daily one. Valued when somebody asks: few do. */
interface Point {
  readonly at: Instant;
  readonly market: Instant;
  /** What was held then; shared by all points between two changes. */
  readonly held: Held;
  usd: Money | undefined;
}

/** USD value of an account at the real time `now`, cents, rounded down. */
export const accountValue = (
  account: string,
  { ledger, market, now }: { ledger: Ledger; market: Market; now: Instant },
): Money => valueOf(ledger.balances(account), market, now);

function valueOf(held: Held, market: Market, now: Instant): Money {
  let total = NO_MONEY;
  for (const [currency, amount] of held) total = add(total, market.usdValue(currency, amount, now));
  return roundDown(total, 2);
}

/**
 * The value of every account at its start and at each full hour of the market. `advance` must be called before every
 * change of what is held, so that a point has the holdings of its own time, and `settle` before prices are other than they were.
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
    const market = this.market.timeAt(now);
    this.points.set(account, [{ at: now, market, held: this.heldBy(account, undefined), usd: undefined }]);
  }

  /** Notes all full hours of the market up to the real time `now`. */
  advance(now: Instant): void {
    const market = this.market.timeAt(now);
    if (this.nextHour > market) return;
    const oldest = market - POINTS_MAX * HOUR_MS;
    if (this.nextHour < oldest) this.nextHour = instant(Math.floor(oldest / HOUR_MS) * HOUR_MS);
    const first = this.nextHour;
    for (const [account, points] of this.points) {
      const held = this.heldBy(account, points.at(-1)?.held);
      for (let hour = first; hour <= market; hour = instant(hour + HOUR_MS))
        points.push({ at: this.market.realTimeOf(hour), market: hour, held, usd: undefined });
      if (points.length > 2 * POINTS_MAX) points.splice(0, points.length - POINTS_MAX);
    }
    this.nextHour = instant((Math.floor(market / HOUR_MS) + 1) * HOUR_MS);
  }

  /** Values every point by the prices as they are told now. */
  settle(): void {
    for (const points of this.points.values()) for (const point of points) this.valued(point);
  }

  /** Points from `from` to `to`, real time, oldest first: all, or with a whole day of the market between them. */
  read(
    account: string,
    { from, to, interval }: { from: Instant; to: Instant; interval: 'hour' | 'day' },
  ): readonly ValuationPoint[] {
    return (this.points.get(account) ?? [])
      .slice(-POINTS_MAX)
      .filter(({ at, market }, index) => {
        const isDaily = index === 0 || market % DAY_MS === 0;
        const stamp = Math.floor(at);
        return stamp >= from && stamp <= to && (interval === 'hour' || isDaily);
      })
      .map((point) => ({ at: instant(Math.floor(point.at)), usd: this.valued(point) }));
  }

  private valued(point: Point): Money {
    point.usd ??= valueOf(point.held, this.market, point.at);
    return point.usd;
  }

  /** What an account holds now: the same object as before while nothing has changed. */
  private heldBy(account: string, before: Held | undefined): Held {
    const now = this.ledger.balances(account);
    const isSame =
      before?.size === now.size && [...now].every(([currency, amount]) => before.get(currency) === amount);
    return isSame ? before : new Map(now);
  }
}
