import {
  add,
  fraction,
  greatest,
  least,
  NO_MONEY,
  NO_QUANTITY,
  priceOf,
  quantity,
  roundDown,
  roundEven,
  scale,
} from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import { DAY_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Filled, Fills, Trade } from '../exchange/fills.ts';
import { shownPrice } from '../exchange/listing.ts';
import type { PublicTrade, Ticker } from '../../wire/feeds/feed-bodies.ts';
import type { Market } from './market.ts';

const DAY = quantity(String(DAY_MS));

interface Day {
  readonly number: number;
  /** Real time. */
  readonly begins: Instant;
  /** Computed on first use, because most days are never read. */
  prices: Pick<Ticker, 'open' | 'high' | 'low'> | undefined;
  /** Excludes the fills in the columns from `uncounted` on; they are added on the next read. */
  volume: Quantity;
  amount: Money;
  uncounted: number;
}

/** Maintains the daily statistics of each pair. */
export class TickerBoard {
  private readonly days = new Map<string, Day>();
  private readonly market: Market;
  private readonly fills: Fills;

  constructor(market: Market, fills: Fills) {
    this.market = market;
    this.fills = fills;
  }

  /**
   * The statistics of the day of a pair at the real time `now`, after its last trade. The volume includes other venues if
   * configured; the average price is that of the trades here. `high` and `low` cover the times at which they were read.
   */
  look(trade: PublicTrade, now: Instant): Ticker {
    const { pair, price: last } = trade;
    const day = this.dayOf(pair, this.fills.count, now);
    for (; day.uncounted < this.fills.count; day.uncounted++) {
      const swap = this.fills.swap(day.uncounted);
      if (swap.pair === pair) count(day, swap);
    }
    const { volume: own, amount } = day;
    const { open, high, low } = this.pricesOf(pair, day);
    day.prices = { open, high: greatest(high, last), low: least(low, last) };
    const vwap = own.isZero() ? last : this.shown(pair, priceOf(amount, own));
    const volume = add(own, this.othersIn(pair, now));
    return { ...day.prices, trade, volume, vwap };
  }

  /** Volume that others have traded in a pair today: their daily volume multiplied by the elapsed fraction of the day. */
  private othersIn(pair: string, now: Instant): Quantity {
    const listing = this.market.listings.get(pair);
    if (listing === undefined) return NO_QUANTITY;
    const passed = fraction(quantity(String(Math.floor(this.market.timeAt(now) % DAY_MS))), DAY);
    return roundDown(scale(quantity(listing.options.volumePerDay), passed), listing.basePrecision);
  }

  /** Records the opening price of the day from the current prices. */
  settle(): void {
    for (const [pair, day] of this.days) day.prices = this.pricesOf(pair, day);
  }

  private pricesOf(pair: string, { prices, begins }: Day): Pick<Ticker, 'open' | 'high' | 'low'> {
    if (prices !== undefined) return prices;
    const open = this.shown(pair, this.market.mid(pair, begins));
    return { open, high: open, low: open };
  }

  /** Adds a trade of this venue to the day. `place` is its index in the columns. */
  traded({ listing, fill }: Filled, place: number | undefined, now: Instant): void {
    const day = this.dayOf(listing.pair, place ?? this.fills.count, now);
    if (place === undefined) count(day, fill);
  }

  private shown(pair: string, each: Price): Price {
    const listing = this.market.listings.get(pair);
    return listing === undefined ? roundEven(each, 8) : shownPrice(listing, each);
  }

  /** The day of a pair. A new day counts the fills in the columns from `from` on. */
  private dayOf(pair: string, from: number, now: Instant): Day {
    const number = Math.floor(this.market.timeAt(now) / DAY_MS);
    const known = this.days.get(pair);
    if (known?.number === number) return known;
    const begins = this.market.realTimeOf(instant(Math.max(number * DAY_MS, this.market.startsAt)));
    const opened: Day = {
      number,
      begins,
      prices: undefined,
      volume: NO_QUANTITY,
      amount: NO_MONEY,
      uncounted: from,
    };
    this.days.set(pair, opened);
    return opened;
  }
}

function count(day: Day, { quantity: traded, amount }: Pick<Trade, 'quantity' | 'amount'>): void {
  day.volume = add(day.volume, traded);
  day.amount = add(day.amount, amount);
}
