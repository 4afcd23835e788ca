import type { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import { answerOf } from '../../../src/simulator/http/deliver.ts';
import type { Answer } from '../../../src/simulator/http/deliver.ts';
import type { Reply } from '../../../src/simulator/http/reply.ts';
import { assumed } from '../../../src/simulator/http/reply.ts';
import type { OrderDrill } from '../../../src/simulator/faults/drill-overrides.ts';
import type { BookingOptions } from '../../../src/simulator/options/options-booking.ts';
import { routes } from '../../../src/simulator/http/routes.ts';
import { Router } from '../../../src/simulator/http/router.ts';
import { strictProblem } from '../../../src/simulator/http/strict-request.ts';
import { NO_MONEY, NO_QUANTITY, price } from '../../../src/core/money.ts';
import { after, instant, isoOf } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import type { Outgoing } from '../../../src/venue/http.ts';
import { orderBody } from '../../../src/wire/order-body.ts';
import { readPlain } from '../../../src/wire/plain.ts';
import { site } from '../chance.ts';
import type { Chance } from '../chance.ts';
import type { Fault } from '../scenario.ts';
import { EPOCH, between } from './draws.ts';
import { AS_ONE, BOOKED_MS, CHANGES_MAX_MS, ROWS, bookedWith } from './manners.ts';

/** What the venue does with an order whose client id it has seen. `executes`: it breaks its word that a quote is used once. */
export type OnDuplicate = 'refuses' | 'cancels' | 'replays' | 'executes';

export interface ByteVenueOptions {
  readonly exchange: Exchange;
  readonly chance: Chance;
  /** True time. */
  readonly now: () => number;
  /** How far the clock of the venue is ahead. */
  readonly skewMs: number;
  readonly onDuplicate: OnDuplicate;
  readonly bookingLagMs: number;
  /** Runs `work`, in which orders are booked in another way. */
  readonly drilling: <T>(drill: OrderDrill, work: () => T) => T;
  readonly sometimes: (name: string) => void;
  /** An order was worked. */
  readonly onWorked: () => void;
}

const router = new Router(routes);

/** How a trade shows in the account's transactions. */
interface Showing {
  readonly baseAt: number;
  readonly quoteAt: number;
  readonly idAt: number;
}

/** What the venue makes of an order. `executed twice`: it breaks its word that a quote is used once. */
const TRADES = site('trades', { 'executed twice': 0.2, 'nearly all, and a rest': 1.5, 'in parts': 0.9 });
/** What the second trade has of an order that is nearly whole with the first. */
const REST_SHARE = '0.9995';
/** The rest is booked within the margin. */
const REST_MAX_MS = 9_500;
const SECOND_MAX_MS = 60_000;

const BOOKING = site('booking', { 'one leg first': 0.4, 'client id late': 0.2, 'beyond the margin': 0.05 });

/** The simulated venue behind its interface: bytes come in, bytes go out, and its books may lag behind what it did. */
export class ByteVenue {
  /** Requests are refused with 401 until then; true time. */
  refusesTokenUntil = 0;
  readonly #options: ByteVenueOptions;
  readonly #account: string;
  readonly #showings = new Map<string, Showing>();
  /** The venue showed a trade later than it may. */
  hasBrokenBooking = false;
  hasBrokenQuote = false;
  /** Rows of a trade change after they were booked. */
  hasChangedRows = false;
  /** By the id of a quote, the time at which it ends. */
  readonly #ends = new Map<string, Instant>();
  #orders = 0;
  readonly #order: 'newest first' | 'oldest first' | 'none';
  /** Rows tell when they were booked, not when their trade was executed. */
  readonly #stampsAsBooked: boolean;

  constructor(options: ByteVenueOptions) {
    this.#options = options;
    const drawn = options.chance.draw('order of rows', 0);
    this.#order = drawn < 0.7 ? 'newest first' : drawn < 0.85 ? 'oldest first' : 'none';
    this.#stampsAsBooked = options.chance.draw('stamps', 0) < 0.2;
    this.#account = options.exchange.accounts[0]?.name ?? '';
  }

  get wall(): Instant {
    return instant(EPOCH + this.#options.now() + this.#options.skewMs);
  }

  /** Works a request that has arrived. */
  receive(outgoing: Outgoing): Answer {
    const { exchange, onWorked } = this.#options;
    const at = this.wall;
    const cut = outgoing.path.indexOf('?');
    const path = cut === -1 ? outgoing.path : outgoing.path.slice(0, cut);
    const { route, params } = { params: {}, ...router.find(outgoing.method, path) };
    const headers = headersOf(outgoing);
    const token = /^Bearer (?<token>\S+)$/u.exec(headers['authorization'] ?? '')?.groups?.['token'] ?? '';
    const owner = exchange.authenticate(token, at);
    if (!owner.ok) return answerOf(owner);
    if (this.#options.now() < this.refusesTokenUntil)
      return answerOf({ ok: false, status: 401, error: 'invalid token. check authorization header.' });
    const busy = exchange.admitAddress('here', at);
    if (busy !== undefined) return answerOf(busy);
    if (route === undefined) return answerOf(assumed.unknownRoute());
    const limited = route.limit === undefined ? undefined : exchange.admit(route.limit, this.#account, at);
    if (limited !== undefined) return answerOf(limited);
    const body = outgoing.body ?? '';
    const query = cut === -1 ? {} : Object.fromEntries(new URLSearchParams(outgoing.path.slice(cut + 1)));
    const plain = body === '' ? undefined : readPlain(body);
    const problem = strictProblem(route, { headers, query, body, plain });
    if (problem !== undefined) return answerOf(problem);
    const work = (): Reply<object> =>
      route.answer(exchange, { account: this.#account, now: at, query, params, body, plain });
    if (route.limit === 'order') {
      const seen = this.#seenBefore(body, at);
      const answer = answerOf(seen ?? this.#booked(work, body));
      onWorked();
      return answer;
    }
    const reply = work();
    if (reply.ok && reply.status === 201) this.#noteEnd(JSON.parse(answerOf(reply).body) as QuoteText);
    if (route.limit === 'transactions' && reply.ok && Array.isArray(reply.value))
      return answerOf({ ...reply, value: this.#ordered(this.#shown(reply.value as readonly Row[])) });
    return answerOf(reply);
  }

  #noteEnd({ quote_id: id, date_expiry: end }: QuoteText): void {
    if (id !== undefined && end !== undefined) this.#ends.set(id, instant(Date.parse(end)));
  }

  /** Works an order that the venue may book in parts, or otherwise than usual, or execute twice. */
  #booked(work: () => Reply<object>, body: string): Reply<object> {
    const { chance, exchange, drilling, sometimes, bookingLagMs } = this.#options;
    const { lists } = exchange.options;
    const point = this.#orders++;
    const drawn = chance.at(TRADES, point);
    // A second execution under another order id is known to nobody where rows do not show our ids.
    const parts = drawn?.kind === 'executed twice' && lists !== undefined ? undefined : drawn;
    const rows = chance.at(ROWS, point);
    if (parts === undefined && rows === undefined && lists === undefined) return work();
    let how = parts === undefined ? AS_ONE : bookingOf(parts, chance.draw('uneven', point));
    const idsMs = lists?.idsAfterMs ?? 0;
    // Rows that are listed otherwise are late by the venue's own settings, and have their ids by the margin.
    if (lists !== undefined && how.delaysMs.length === 1)
      how = {
        ...how,
        legSpreadMs: Math.floor(Math.min(bookingLagMs, BOOKED_MS - idsMs)),
        stamps: this.#stampsAsBooked ? 'booked' : 'executed',
      };
    how = { ...how, delaysMs: how.delaysMs.map((ms) => Math.max(0, ms - idsMs)) };
    const quoteId = /"quote_id":"(?<id>[^"]+)"/u.exec(body)?.groups?.['id'] ?? '';
    const restMs = Math.max(0, (this.#ends.get(quoteId) ?? this.wall) - this.wall);
    const bookedMs = restMs + BOOKED_MS - idsMs;
    if (rows !== undefined) how = bookedWith(how, rows, { bookedMs, drawn: chance.draw('rows', point) });
    const newest = exchange.ledger.newestId(this.#account);
    const reply = drilling({ booking: how }, work);
    if (exchange.ledger.newestId(this.#account) === newest) return reply;
    if (rows !== undefined) sometimes(`rows: ${rows.kind}`);
    this.hasChangedRows ||= rows?.kind === 'amended' || rows?.kind === 'renumbered';
    if (parts?.kind === 'executed twice') {
      this.hasBrokenQuote = true;
      sometimes('a quote executed twice');
    } else if (parts !== undefined) sometimes('an order booked in parts');
    return reply;
  }

  /** True time at which the last row of all trades so far shows, with its id. */
  shownUntil(): number {
    const { exchange, now } = this.#options;
    exchange.advance(after(this.wall, Math.max(SECOND_MAX_MS, CHANGES_MAX_MS)));
    let latest = now() + Math.max(SECOND_MAX_MS, CHANGES_MAX_MS);
    if (exchange.options.lists !== undefined) return latest;
    for (const { tradeId, at } of exchange.ledger.rows(this.#account)) {
      if (tradeId === undefined) continue;
      const { baseAt, quoteAt, idAt } = this.#showing({ trade_id: tradeId, timestamp: at });
      latest = Math.max(latest, baseAt + REST_MAX_MS, quoteAt + REST_MAX_MS, idAt);
    }
    return latest;
  }

  /** What an order gets whose client id was used; `undefined` to let the exchange say. */
  #seenBefore(body: string, at: Instant): Reply<object> | undefined {
    const { exchange, onDuplicate } = this.#options;
    const id = /"client_order_id":"(?<id>[^"]+)"/u.exec(body)?.groups?.['id'];
    const before = id === undefined ? undefined : exchange.registry.find(this.#account, id);
    if (before === undefined || onDuplicate === 'refuses') return undefined;
    // As above.
    if (onDuplicate === 'executes' && exchange.options.lists !== undefined) return undefined;
    if (onDuplicate === 'replays') return { ok: true, status: 201, value: orderBody(before) };
    if (onDuplicate === 'cancels') {
      const canceled = {
        ...before,
        status: 'Canceled',
        filled: NO_QUANTITY,
        filledAmount: NO_MONEY,
        vwap: price('0'),
        fees: NO_MONEY,
      };
      return { ok: true, status: 201, value: orderBody(canceled) };
    }
    if (before.status !== 'Done') return undefined;
    this.hasBrokenQuote = true;
    const listing = exchange.market.listings.get(before.pair);
    const again = { ...before, orderId: exchange.registry.nextNumber() };
    exchange.ledger.book(this.#account, {
      orderId: again.orderId,
      tradeId: exchange.registry.nextNumber(),
      at: instant(Math.floor(at)),
      clientId: before.clientId,
      pair: before.pair,
      base: listing?.base ?? '',
      quote: listing?.quote ?? '',
      side: before.side,
      quantity: before.filled,
      amount: before.filledAmount,
      fees: before.fees,
      price: before.vwap,
    });
    return { ok: true, status: 201, value: orderBody(again) };
  }

  /** The rows as a replica tells them that lags behind the books. */
  #shown(rows: readonly Row[]): readonly Row[] {
    const { now: trueTime, skewMs } = this.#options;
    const now = trueTime();
    const shown: Row[] = [];
    for (const row of rows) {
      if (row.trade_id === null || this.#options.exchange.options.lists !== undefined) {
        shown.push(row);
        continue;
      }
      const { baseAt, quoteAt, idAt } = this.#showing(row);
      const isBase = row.symbol?.startsWith(row.currency) === true;
      const shownAt = isBase ? baseAt : quoteAt;
      if (now < shownAt) continue;
      const told = this.#stampsAsBooked ? { ...row, ...stampOf(EPOCH + skewMs + shownAt) } : row;
      shown.push(now < idAt ? { ...told, client_order_id: '' } : told);
    }
    return shown;
  }

  /** No document says in which order rows come. */
  #ordered(rows: readonly Row[]): readonly Row[] {
    const { chance } = this.#options;
    switch (this.#order) {
      case 'newest first':
        return rows;
      case 'oldest first':
        return rows.toReversed();
      case 'none':
        return rows.toSorted(
          (a, b) => chance.draw('place', JSON.stringify(a.id)) - chance.draw('place', JSON.stringify(b.id)),
        );
    }
  }

  #showing(row: Pick<Row, 'trade_id' | 'timestamp'>): Showing {
    const key = String(row.trade_id);
    const known = this.#showings.get(key);
    if (known !== undefined) return known;
    const { chance, bookingLagMs, skewMs } = this.#options;
    const at = row.timestamp - EPOCH - skewMs;
    const point = this.#showings.size;
    const lag = bookingLagMs === 0 ? 0 : between(chance.draw('booking', point), 0, bookingLagMs);
    const { kind, value = 0 } = chance.at(BOOKING, point) ?? {};
    if (kind === 'beyond the margin') this.hasBrokenBooking = true;
    const late = kind === 'beyond the margin' ? 15_000 + 45_000 * value : lag;
    const showing = {
      baseAt: at + late,
      quoteAt: at + (kind === 'one leg first' ? Math.max(late, 9_500 * value) : late),
      idAt: kind === 'client id late' ? at + 60_000 * value : 0,
    };
    this.#showings.set(key, showing);
    return showing;
  }
}

/** Element of the transactions as it is written, as far as it is looked at here. */
interface Row {
  readonly id: unknown;
  readonly trade_id: unknown;
  readonly client_order_id: string;
  readonly symbol: string | null;
  readonly currency: string;
  readonly timestamp: number;
}

/** A quote, as far as it is looked at here. */
interface QuoteText {
  readonly quote_id?: string;
  readonly date_expiry?: string;
}

const stampOf = (at: number): { readonly day: string; readonly timestamp: number } => {
  const timestamp = Math.floor(at);
  return { day: isoOf(instant(timestamp)), timestamp };
};

/** An order in several trades, or one that is executed twice; `drawn` tells in what they differ. */
function bookingOf({ kind, value }: Fault, drawn: number): BookingOptions {
  const how: BookingOptions = {
    ...AS_ONE,
    tradesPerOrder: 2 + Math.floor(value * 3),
    prices: drawn < 0.4 ? 'uneven' : 'quoted',
    fees: drawn > 0.3 && drawn < 0.7 ? 'first' : 'shared',
  };
  switch (kind) {
    case 'executed twice':
      return {
        ...how,
        tradesPerOrder: drawn < 0.3 ? 2 : 1,
        secondExecution: 1,
        secondExecutionMs: Math.floor(SECOND_MAX_MS * value),
      };
    case 'nearly all, and a rest':
      return {
        ...how,
        tradesPerOrder: 2,
        shares: [REST_SHARE],
        delaysMs: [0, Math.floor(REST_MAX_MS * (0.5 + value / 2))],
      };
    default:
      return how;
  }
}

function headersOf({ headers }: Outgoing): Record<string, string> {
  const all: Record<string, string> = {};
  for (let i = 0; i + 1 < headers.length; i += 2) all[headers[i] ?? ''] = headers[i + 1] ?? '';
  return all;
}
