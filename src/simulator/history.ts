import { add, NO_MONEY, roundDown } from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { DAY_MS, HOUR_MS, instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { ValuationPoint } from '../core/venue.ts';
import type { Ledger } from './ledger.ts';
import type { Market } from './market.ts';

/** Most points kept of an account: more than a year of hours. */
const POINTS_MAX = 10_000;

/** What an account holds, in the order of the currencies. */
interface Held {
  readonly currencies: readonly string[];
  readonly amounts: readonly Quantity[];
  /** Count of the ledger at which it was so. */
  readonly moves: number;
}

/** Points that follow each other by an hour of the market, with what was held at all of them. */
interface Span {
  /** Market time of the first, which decides whether it is a daily one. */
  readonly market: Instant;
  /** Real time of the first, where that is not what the market says: the beginning of the account. */
  readonly at: Instant | undefined;
  readonly held: Held;
  count: number;
  /** Values by place in the span. Worked out when somebody asks: few do. */
  usd: Map<number, Money> | undefined;
}

/** The points of an account, oldest first. */
interface Line {
  spans: Span[];
  /** In all spans together. */
  count: number;
}

/** USD value of an account at the real time `now`, cents, rounded down. */
export const accountValue = (
  account: string,
  { ledger, market, now }: { ledger: Ledger; market: Market; now: Instant },
): Money => {
  let total = NO_MONEY;
  for (const [currency, amount] of ledger.balances(account))
    total = add(total, market.usdValue(currency, amount, now));
  return roundDown(total, 2);
};

function valueOf({ currencies, amounts }: Held, market: Market, now: Instant): Money {
  let total = NO_MONEY;
  for (const [place, amount] of amounts.entries())
    total = add(total, market.usdValue(currencies[place] ?? '', amount, now));
  return roundDown(total, 2);
}

/**
 * The value of every account at its start and at each full hour of the market. `advance` must be called before every
 * change of what is held, so that a point has the holdings of its own time, and `settle` before prices are other than they were.
 */
export class ValueHistory {
  private readonly lines = new Map<string, Line>();
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
    const held = this.heldBy(account, undefined);
    const span = { market: this.market.timeAt(now), at: now, held, count: 1, usd: undefined };
    this.lines.set(account, { spans: [span], count: 1 });
  }

  /** Notes all full hours of the market up to the real time `now`. */
  advance(now: Instant): void {
    const market = this.market.timeAt(now);
    if (this.nextHour > market) return;
    const oldest = market - POINTS_MAX * HOUR_MS;
    if (this.nextHour < oldest) this.nextHour = instant(Math.floor(oldest / HOUR_MS) * HOUR_MS);
    const first = this.nextHour;
    const count = Math.floor((market - first) / HOUR_MS) + 1;
    for (const [account, line] of this.lines) {
      const last = line.spans.at(-1);
      const held = this.heldBy(account, last?.held);
      const goesOn = last?.held === held && last.at === undefined && hourOf(last, last.count) === first;
      if (goesOn) last.count += count;
      else line.spans.push({ market: first, at: undefined, held, count, usd: undefined });
      line.count += count;
      if (line.count > 2 * POINTS_MAX) shorten(line);
    }
    this.nextHour = instant((Math.floor(market / HOUR_MS) + 1) * HOUR_MS);
  }

  /** Values every point by the prices as they are told now. */
  settle(): void {
    for (const { spans } of this.lines.values())
      for (const span of spans) for (let i = 0; i < span.count; i++) this.valued(span, i);
  }

  /** Points from `from` to `to`, real time, oldest first: all, or with a whole day of the market between them. */
  read(
    account: string,
    { from, to, interval }: { from: Instant; to: Instant; interval: 'hour' | 'day' },
  ): readonly ValuationPoint[] {
    const { spans, count } = this.lines.get(account) ?? { spans: [], count: 0 };
    const found: ValuationPoint[] = [];
    // From the newest back: who asks mostly asks for few hours of years.
    let left = Math.min(count, POINTS_MAX);
    for (let at = spans.length - 1; at >= 0; at--) {
      const span = spans[at];
      if (span === undefined) break;
      for (let i = span.count - 1; i >= 0 && left > 0; i--, left--) {
        const stamp = instant(Math.floor(this.timeOf(span, i)));
        if (stamp < from) return found.toReversed();
        const isDaily = left === 1 || hourOf(span, i) % DAY_MS === 0;
        if (stamp <= to && (interval === 'hour' || isDaily))
          found.push({ at: stamp, usd: this.valued(span, i) });
      }
    }
    return found.toReversed();
  }

  /** Real time of a point. */
  private timeOf(span: Span, place: number): Instant {
    return span.at ?? this.market.realTimeOf(hourOf(span, place));
  }

  private valued(span: Span, place: number): Money {
    const known = span.usd?.get(place);
    if (known !== undefined) return known;
    const usd = valueOf(span.held, this.market, this.timeOf(span, place));
    span.usd ??= new Map();
    span.usd.set(place, usd);
    return usd;
  }

  /** What an account holds now: the same object as before while nothing has changed. */
  private heldBy(account: string, before: Held | undefined): Held {
    const moves = this.ledger.moves(account);
    if (before?.moves === moves) return before;
    const now = this.ledger.balances(account);
    // Currencies come and never go.
    const currencies = before?.currencies.length === now.size ? before.currencies : [...now.keys()];
    return { currencies, amounts: [...now.values()], moves };
  }
}

const hourOf = ({ market }: Span, place: number): Instant => instant(market + place * HOUR_MS);

/** Drops the oldest spans that no reader sees any more. */
function shorten(line: Line): void {
  let gone = 0;
  for (const { count } of line.spans) {
    if (line.count - count < POINTS_MAX) break;
    line.count -= count;
    gone++;
  }
  line.spans = line.spans.slice(gone);
}
