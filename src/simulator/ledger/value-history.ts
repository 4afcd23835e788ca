import { add, NO_MONEY, roundDown } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { DAY_MS, HOUR_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { ValuationPoint } from '../../core/venue.ts';
import type { Ledger } from './ledger.ts';
import type { Market } from '../market/market.ts';

/** Maximum number of points of an account, which is more than a year of hours. */
const POINTS_MAX = 10_000;

/**
 * The points of an account, oldest first, in spans: consecutive hours of the market with the same newest transaction.
 * Stored as lists of numbers, because a backtest creates very many points and rarely reads one.
 */
interface Line {
  readonly account: string;
  /** For each span: market time of its first point, number of points, and id of the transaction. */
  firsts: number[];
  counts: number[];
  newest: number[];
  /** Number of points in all spans. */
  count: number;
  /** Market and real time of the account's first point, which is the only point that is not at a full hour of the market. */
  readonly beginsAt: { readonly market: Instant; readonly at: Instant };
  /** Values by the market time of their points. Computed on request, because few points are read. */
  readonly usd: Map<number, Money>;
}

interface Point {
  readonly market: Instant;
  /** Real time, whole milliseconds. */
  readonly at: Instant;
  /** Id of the newest transaction before it. */
  readonly newest: number;
}

/** USD value of an account at the real time `now`, cents, rounded down. */
export const accountValue = (
  account: string,
  { ledger, market, now }: { ledger: Ledger; market: Market; now: Instant },
): Money => worth(ledger.balances(account), market, now);

function worth(held: ReadonlyMap<string, Quantity>, market: Market, now: Instant): Money {
  let total = NO_MONEY;
  for (const [currency, amount] of held) total = add(total, market.usdValue(currency, amount, now));
  return roundDown(total, 2);
}

/**
 * The value of every account at its start and at each full hour of the market. Call `advance` before every change of
 * holdings, so that a point uses the holdings of its time, and `settle` before every change of prices.
 */
export class ValueHistory {
  private readonly lines: Line[] = [];
  private readonly ledger: Ledger;
  private readonly market: Market;
  private nextHour: Instant;

  constructor(ledger: Ledger, market: Market) {
    this.ledger = ledger;
    this.market = market;
    this.nextHour = instant((Math.floor(market.startsAt / HOUR_MS) + 1) * HOUR_MS);
  }

  /** Starts the history of an account with its value at `now`. */
  open(account: string, now: Instant): void {
    const market = this.market.timeAt(now);
    this.lines.push({
      account,
      firsts: [market],
      counts: [1],
      newest: [this.ledger.newestId(account)],
      count: 1,
      beginsAt: { market, at: now },
      usd: new Map(),
    });
  }

  /** Adds points for all full hours of the market up to the real time `now`. */
  advance(now: Instant): void {
    const market = this.market.timeAt(now);
    if (this.nextHour > market) return;
    const oldest = market - POINTS_MAX * HOUR_MS;
    if (this.nextHour < oldest) this.nextHour = instant(Math.floor(oldest / HOUR_MS) * HOUR_MS);
    const first = this.nextHour;
    const count = Math.floor((market - first) / HOUR_MS) + 1;
    for (const line of this.lines) {
      const last = line.firsts.length - 1;
      const newest = this.ledger.newestId(line.account);
      const goesOn = line.newest[last] === newest && hourOf(line, last, line.counts[last] ?? 0) === first;
      if (goesOn) line.counts[last] = (line.counts[last] ?? 0) + count;
      else {
        line.firsts.push(first);
        line.counts.push(count);
        line.newest.push(newest);
      }
      line.count += count;
      if (line.count > 2 * POINTS_MAX) shorten(line);
    }
    this.nextHour = instant((Math.floor(market / HOUR_MS) + 1) * HOUR_MS);
  }

  /** Values every point at the current prices. */
  settle(): void {
    for (const line of this.lines) this.value(line, this.pointsOf(line, line.count));
  }

  /** Points from `from` to `to`, real time, oldest first: all of them, or one per day of the market. */
  read(
    account: string,
    { from, to, interval }: { from: Instant; to: Instant; interval: 'hour' | 'day' },
  ): readonly ValuationPoint[] {
    const line = this.lines.find((each) => each.account === account);
    if (line === undefined) return [];
    const count = Math.min(line.count, POINTS_MAX);
    const wanted: Point[] = [];
    let left = count;
    for (const point of this.pointsOf(line, count)) {
      if (point.at < from) break;
      const isDaily = left === 1 || point.market % DAY_MS === 0;
      if (point.at <= to && (interval === 'hour' || isDaily)) wanted.push(point);
      left--;
    }
    this.value(line, wanted);
    return wanted.map(({ at, market }) => ({ at, usd: line.usd.get(market) ?? NO_MONEY })).toReversed();
  }

  /** The newest points, newest first, because readers mostly request a few hours out of years. */
  private *pointsOf(line: Line, count: number): Generator<Point> {
    let left = count;
    for (let span = line.firsts.length - 1; span >= 0; span--) {
      for (let place = (line.counts[span] ?? 0) - 1; place >= 0 && left > 0; place--, left--) {
        const market = hourOf(line, span, place);
        yield { market, at: instant(Math.floor(this.timeOf(line, market))), newest: line.newest[span] ?? -1 };
      }
    }
  }

  /** Real time of a point. */
  private timeOf({ beginsAt }: Line, market: Instant): Instant {
    return market === beginsAt.market ? beginsAt.at : this.market.realTimeOf(market);
  }

  /** Computes the values of points, which are passed newest first. */
  private value(line: Line, points: Iterable<Point>): void {
    const unknown = [...points].filter(({ market }) => !line.usd.has(market)).toReversed();
    const ids = unknown.map(({ newest }) => newest);
    this.ledger.recall(line.account, ids, (place, held) => {
      const market = unknown[place]?.market;
      if (market !== undefined) line.usd.set(market, worth(held, this.market, this.timeOf(line, market)));
    });
  }
}

const hourOf = ({ firsts }: Line, span: number, place: number): Instant =>
  instant((firsts[span] ?? 0) + place * HOUR_MS);

/** Drops the oldest spans, which no reader can request any longer. */
function shorten(line: Line): void {
  let gone = 0;
  for (const count of line.counts) {
    if (line.count - count < POINTS_MAX) break;
    line.count -= count;
    gone++;
  }
  line.firsts = line.firsts.slice(gone);
  line.counts = line.counts.slice(gone);
  line.newest = line.newest.slice(gone);
  for (const market of line.usd.keys()) if (market < (line.firsts[0] ?? 0)) line.usd.delete(market);
}
