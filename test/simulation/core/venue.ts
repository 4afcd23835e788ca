import { money, price, quantity } from '../../../src/core/money.ts';
import { instant } from '../../../src/core/time.ts';
import type {
  OrderAnswer,
  OrderRequest,
  Quote,
  QuoteRequest,
  Side,
  Transaction,
} from '../../../src/core/venue.ts';
import { VENUE_BREACH, VENUE_ORDER, VENUE_ROWS } from './menu.ts';
import type { World } from './world.ts';

/**
 * A venue of its own: nothing of the engine, nothing of the product's simulated venue. Quantities are whole hundredths of
 * the base currency, prices whole dollars, amounts and fees whole cents, so that every sum is an exact integer.
 */

/** How many decimals the whole numbers stand for. */
export const decimal = (whole: number): string => {
  const digits = String(Math.abs(whole)).padStart(3, '0');
  return `${whole < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

/** `0.5` as 50. Throws for what is no whole number of hundredths: a venue that guesses is no reference. */
export const whole = (text: string): number => {
  const value = Math.round(Number(text) * 100);
  if (!Number.isSafeInteger(value) || Math.abs(value / 100 - Number(text)) > 1e-9)
    throw new Error(`venue: ${text}`);
  return value;
};

export interface VenueQuote {
  readonly id: string;
  readonly clientId: string;
  readonly pair: string;
  readonly side: Side;
  readonly hundredths: number;
  readonly price: number;
  readonly cents: number;
  readonly expiresAt: number;
  /** What became of it: one order a quote. */
  used: 'no' | 'done' | 'canceled';
  answer: OrderAnswer | undefined;
}

/** What was executed: the truth that everything else is judged by. */
export interface Trade {
  readonly clientId: string;
  readonly quoteId: string;
  readonly orderId: string;
  readonly pair: string;
  readonly side: Side;
  readonly hundredths: number;
  readonly cents: number;
  readonly fees: number;
  readonly at: number;
  readonly isBreach: boolean;
}

interface Row {
  readonly row: Transaction;
  /** With the client id of its trade, for after the venue has mended what it left out. */
  readonly named: Transaction;
  readonly bookedAt: number;
}

/** Longest from a trade to its first row, as the venue promises. */
export const LAG_MAX_MS = 8_000;
const FEE_BPS = 8;
const refusal = (status: number, error: string): OrderAnswer => ({ kind: 'error', status, error });

export class Venue {
  readonly trades: Trade[] = [];
  readonly quotes = new Map<string, VenueQuote>();
  readonly #world: World;
  readonly #rows: Row[] = [];
  readonly #startsAt: number;
  /** A second order on a quote: 0 the first answer again, 1 a refusal, 2 a new order that is cancelled. */
  readonly #duplicates: number;
  /** An order on a quote that is over: 0 cancelled, 1 refused. */
  readonly #expired: number;
  readonly #lifeMs: number;
  readonly #lagMs: number;
  readonly #isBreaching: boolean;
  /** Of the rows; no document tells: 0 oldest first, 1 newest first, 2 none. */
  readonly #rowOrder: number;
  /** Rows tell when they were booked, not when their trade was executed. */
  readonly #stampsAsBooked: boolean;
  /** Time of the last second execution that is to come. */
  #executesUntil = 0;
  /** Rows may come without the client id of their trade. Nothing could tell such a row after the journal went back. */
  readonly isForgetful: boolean;
  #ids = 0;
  /** Clocks of venue and desk differ by so much. */
  readonly skewMs: number;
  isMended = false;
  onTrade: (trade: Trade) => void = () => undefined;

  constructor(world: World, startsAt: number) {
    const { chance } = world;
    this.#world = world;
    this.#startsAt = startsAt;
    this.#duplicates = chance.setting('duplicates', 0, 2);
    this.#expired = chance.setting('expired', 0, 1);
    this.#lifeMs = chance.setting('lifeMs', 10_000, 30_000);
    this.#lagMs = chance.setting('lagMs', 0, LAG_MAX_MS);
    this.#rowOrder = chance.setting('rowOrder', 0, 2);
    this.#stampsAsBooked = chance.setting('stampsAsBooked', 0, 3) === 3;
    this.isForgetful = chance.setting('forgetful', 0, 2) === 2;
    this.#isBreaching = chance.setting('breach', -9, 1) > 0;
    this.skewMs = chance.setting('skewMs', -60_000, 60_000);
  }

  get isBreaching(): boolean {
    return this.#isBreaching;
  }

  /** Dollars for one of the base currency: stays for five seconds, then moves by up to 0.3 %. */
  mid(pair: string): number {
    const base = pair === 'btcusd' ? 60_000 : 3_000;
    const move = this.#world.chance.draw(`mid ${pair}`, Math.floor(this.#world.now / 5_000)) - 0.5;
    return Math.round(base * (1 + move * 0.006));
  }

  quote({ pair, side, size, clientId = '' }: QuoteRequest, life = 1): VenueQuote {
    const hundredths = size.by === 'quantity' ? whole(size.quantity.toFixed()) : 0;
    const mid = this.mid(pair);
    const spread = Math.max(1, Math.round(mid / 2_000));
    const each = side === 'buy' ? mid + spread : mid - spread;
    const quote: VenueQuote = {
      id: `q${++this.#ids}`,
      clientId,
      pair,
      side,
      hundredths,
      price: each,
      cents: hundredths * each,
      expiresAt: this.#world.now + Math.round(this.#lifeMs * life),
      used: 'no',
      answer: undefined,
    };
    this.quotes.set(quote.id, quote);
    return quote;
  }

  /** The quote as its answer tells it. */
  told(quote: VenueQuote): Quote {
    const at = this.#stamp(this.#world.now);
    const lifeMs = quote.expiresAt - this.#world.now;
    return {
      quoteId: quote.id,
      pair: quote.pair,
      side: quote.side,
      quantity: quantity(decimal(quote.hundredths)),
      amount: money(decimal(quote.cents)),
      price: price(String(quote.price)),
      quotedAt: instant(at),
      expiresAt: instant(at + lifeMs),
      lifeMs,
    };
  }

  /** The same quote at a price that is far away: what it would execute at. */
  dearer(quote: VenueQuote, value: number): Quote {
    const away = Math.round(quote.price * (0.02 + 0.08 * value)) * (quote.side === 'buy' ? 1 : -1);
    const moved: VenueQuote = {
      ...quote,
      price: quote.price + away,
      cents: quote.hundredths * (quote.price + away),
    };
    this.quotes.set(quote.id, moved);
    return this.told(moved);
  }

  /** Whether an order on this quote could still execute. */
  isAlive(quote: VenueQuote): boolean {
    return quote.used === 'no' && this.#world.now <= quote.expiresAt;
  }

  /** An order has arrived. `key` names its attempt and copy. */
  order(request: OrderRequest, key: string): OrderAnswer {
    const quote = this.quotes.get(request.quoteId);
    if (quote === undefined || quote.clientId !== request.clientId) return refusal(404, 'no such quote');
    if (quote.used !== 'no') return this.#again(quote, request);
    const fault = this.#world.chance.at(VENUE_ORDER, key)?.kind;
    if (this.#world.now > quote.expiresAt) {
      const isBreach = this.#isBreaching && this.#world.chance.at(VENUE_BREACH, key)?.kind === 'after_expiry';
      if (isBreach) return this.#execute(quote, request, { fault: undefined, key, isBreach });
      if (this.#expired === 1) return refusal(400, 'quote has expired');
      return this.#cancel(quote, request);
    }
    if (fault === 'refused') return refusal(422, 'not now');
    if (fault === 'canceled') return this.#cancel(quote, request);
    if (fault === 'canceled_copy') return this.#canceled(quote, request);
    return this.#execute(quote, request, { fault, key, isBreach: false });
  }

  /** Rows that show, oldest or newest first. */
  rows(from: number): readonly Transaction[] {
    const { now } = this.#world;
    const shown = this.#rows
      .filter(({ row, bookedAt }) => bookedAt <= now && row.at >= from)
      .map(({ row, named }) => (this.isMended ? named : row));
    if (this.#rowOrder === 1) return shown.toReversed();
    if (this.#rowOrder === 0) return shown;
    const place = ({ id }: Transaction): number => this.#world.chance.draw('place', id);
    return shown.toSorted((a, b) => place(a) - place(b));
  }

  /** When the last row of all trades so far shows. */
  get bookedUntil(): number {
    return this.#rows.reduce((latest, { bookedAt }) => Math.max(latest, bookedAt), this.#executesUntil);
  }

  #stamp(at: number): number {
    return this.#startsAt + at + this.skewMs;
  }

  #again(quote: VenueQuote, request: OrderRequest): OrderAnswer {
    this.#world.probe('second order on one quote');
    if (this.#duplicates === 0 && quote.answer !== undefined) return quote.answer;
    if (this.#duplicates === 1) return refusal(422, 'quote was used');
    return this.#canceled(quote, request);
  }

  #cancel(quote: VenueQuote, request: OrderRequest): OrderAnswer {
    quote.used = 'canceled';
    quote.answer = this.#canceled(quote, request);
    return quote.answer;
  }

  /** Leaves the quote as it is. */
  #canceled(quote: VenueQuote, request: OrderRequest): OrderAnswer {
    return answerOf(quote, request, { orderId: `o${++this.#ids}`, hundredths: 0, cents: 0, fees: 0 });
  }

  #execute(quote: VenueQuote, request: OrderRequest, how: Execution): OrderAnswer {
    const { fault, isBreach } = how;
    const hundredths = fault === 'short' && quote.hundredths > 1 ? quote.hundredths - 1 : quote.hundredths;
    const cents = hundredths * quote.price;
    const trade: Trade = {
      clientId: request.clientId,
      quoteId: quote.id,
      orderId: `o${++this.#ids}`,
      pair: quote.pair,
      side: quote.side,
      hundredths,
      cents,
      fees: Math.floor((cents * FEE_BPS) / 10_000),
      at: this.#world.now,
      isBreach,
    };
    quote.used = 'done';
    quote.answer = answerOf(quote, request, trade);
    this.trades.push(trade);
    this.#book(trade, how);
    this.#world.note('executed', trade.clientId);
    this.onTrade(trade);
    this.#executeAgain(trade, how);
    return quote.answer;
  }

  /** A venue that breaks its word executes a quote twice: under the same client id, as an order of its own or as the same. */
  #executeAgain(trade: Trade, { key }: Execution): void {
    const { chance } = this.#world;
    if (!this.#isBreaching) return;
    const breach = chance.at(VENUE_BREACH, `${key} twice`);
    if (breach?.kind !== 'twice') return;
    const ms = Math.round(60_000 * breach.value);
    this.#executesUntil = Math.max(this.#executesUntil, this.#world.now + ms);
    this.#world.in(ms, () => {
      const orderId = chance.draw('second order', key) < 0.5 ? `o${++this.#ids}` : trade.orderId;
      const second: Trade = { ...trade, orderId, at: this.#world.now, isBreach: true };
      this.trades.push(second);
      this.#book(second, { fault: undefined, key: `${key} again`, isBreach: true });
      this.#world.note('executed again', second.clientId);
      this.#world.probe('quote executed twice');
      this.onTrade(second);
    });
  }

  /** The trades that an order is booked as. Their amounts and fees sum to its own. */
  #partsOf(trade: Trade, { fault, key }: Execution): readonly Part[] {
    const { chance } = this.#world;
    const { hundredths: all, cents, fees } = trade;
    const sizes = fault === 'split' && all > 1 ? [1, all - 1] : [];
    if (fault === 'parts') {
      let left = all;
      const wanted = 2 + Math.floor(4 * chance.draw('parts', key));
      for (let part = 1; part < wanted && left > 1; part++) {
        const size = 1 + Math.floor((left - 1) * chance.draw('part', `${key}.${part}`));
        sizes.push(Math.min(size, left - 1));
        left -= Math.min(size, left - 1);
      }
      sizes.push(left);
    }
    if (sizes.length < 2) return [{ hundredths: all, cents, fees, price: cents / all }];
    if (fault === 'parts') this.#world.probe('order booked in parts');
    const each = cents / all;
    // A few cents more for the first, so many less for the last.
    const uneven = fault === 'parts' ? Math.floor(50 * chance.draw('uneven', key)) : 0;
    const isShared = fault === 'parts' && chance.draw('fees', key) < 0.5;
    let feesLeft = fees;
    return sizes.map((hundredths, part) => {
      const isLast = part === sizes.length - 1;
      const share = isShared ? Math.floor((fees * hundredths) / all) : part === 0 ? fees : 0;
      const fee = isLast ? feesLeft : share;
      feesLeft -= fee;
      const more = part === 0 ? uneven : isLast ? -uneven : 0;
      return { hundredths, cents: hundredths * each + more, fees: fee, price: each };
    });
  }

  /** Two rows a trade; an order may be several trades. Each row shows when it is booked. */
  #book(trade: Trade, how: Execution): void {
    const { chance } = this.#world;
    const { fault, key } = how;
    const parts = this.#partsOf(trade, how);
    const odd = chance.at(VENUE_ROWS, key);
    const breach = this.#isBreaching ? chance.at(VENUE_BREACH, `${key} rows`)?.kind : undefined;
    parts.forEach(({ hundredths, cents, fees, price: each }, part) => {
      const tradeId = `t${++this.#ids}`;
      const isLast = part === parts.length - 1;
      const isLate = breach === 'booked_late' || (breach === 'part_late' && isLast);
      const [into, out] = trade.side === 'buy' ? [1, -1] : [-1, 1];
      const legs = [
        { currency: trade.pair.slice(0, 3), amount: into * hundredths, fees: 0 },
        { currency: 'usd', amount: out * cents, fees },
      ];
      legs.forEach((leg, index) => {
        const lag = isLate ? 90_000 : this.#lagMs * chance.draw('lag', `${key}.${part}.${index}`);
        // The second leg may take its time; the first is what the venue promises.
        const isLagging = index === 1 && odd?.kind === 'one_leg';
        const bookedAt = trade.at + Math.round(isLagging ? 10_000 + 140_000 * odd.value : lag);
        if (isLate && breach === 'part_late' && part > 0) this.#world.probe('part booked too late');
        const named: Transaction = {
          id: String(++this.#ids),
          orderId: trade.orderId,
          clientId: trade.clientId,
          tradeId,
          at: instant(this.#stamp(this.#stampsAsBooked ? bookedAt : trade.at)),
          action: trade.side,
          currency: leg.currency,
          amount: quantity(decimal(leg.amount)),
          price: price(String(each)),
          fees: quantity(decimal(leg.fees)),
          status: 'done',
          balance: quantity('0'),
        };
        this.#rows.push({
          named,
          // Without its id only a row of the whole order can be known again.
          row:
            odd?.kind === 'unnamed' && fault === undefined && this.isForgetful
              ? { ...named, clientId: undefined }
              : named,
          bookedAt,
        });
      });
    });
  }
}

/** One trade of an order. */
interface Part {
  readonly hundredths: number;
  readonly cents: number;
  readonly fees: number;
  readonly price: number;
}

interface Execution {
  readonly fault: string | undefined;
  readonly key: string;
  readonly isBreach: boolean;
}

function answerOf(
  quote: VenueQuote,
  { clientId }: OrderRequest,
  done: Pick<Trade, 'orderId' | 'hundredths' | 'cents' | 'fees'>,
): OrderAnswer {
  return {
    kind: 'order',
    status: 200,
    order: {
      orderId: done.orderId,
      clientId,
      quoteId: quote.id,
      pair: quote.pair,
      side: quote.side,
      status: done.hundredths === 0 ? 'Canceled' : 'Done',
      filled: quantity(decimal(done.hundredths)),
      filledAmount: money(decimal(done.cents)),
      vwap: price(done.hundredths === 0 ? '0' : String(quote.price)),
      fees: money(decimal(done.fees)),
    },
  };
}
