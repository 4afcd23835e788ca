import type { Exchange } from '../../../src/simulator/exchange.ts';
import { answerOf } from '../../../src/simulator/deliver.ts';
import type { Answer } from '../../../src/simulator/deliver.ts';
import type { Reply } from '../../../src/simulator/reply.ts';
import { assumed } from '../../../src/simulator/reply.ts';
import { routes } from '../../../src/simulator/routes.ts';
import { Router } from '../../../src/simulator/routing.ts';
import { strictProblem } from '../../../src/simulator/strict.ts';
import { NO_MONEY, NO_QUANTITY, price } from '../../../src/core/money.ts';
import { instant } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import type { Outgoing } from '../../../src/venue/http.ts';
import { orderBody } from '../../../src/wire/order-body.ts';
import { readPlain } from '../../../src/wire/plain.ts';
import { site } from '../chance.ts';
import type { Chance } from '../chance.ts';
import { EPOCH, between } from './draws.ts';

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

  constructor(options: ByteVenueOptions) {
    this.#options = options;
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
    const owner = exchange.access.identify(token, at);
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
      const answer = answerOf(seen ?? work());
      onWorked();
      return answer;
    }
    const reply = work();
    if (route.limit === 'transactions' && reply.ok && Array.isArray(reply.value))
      return answerOf({ ...reply, value: this.#shown(reply.value as readonly Row[]) });
    return answerOf(reply);
  }

  /** What an order gets whose client id was used; `undefined` to let the exchange say. */
  #seenBefore(body: string, at: Instant): Reply<object> | undefined {
    const { exchange, onDuplicate } = this.#options;
    const id = /"client_order_id":"(?<id>[^"]+)"/u.exec(body)?.groups?.['id'];
    const before = id === undefined ? undefined : exchange.registry.find(this.#account, id);
    if (before === undefined || onDuplicate === 'refuses') return undefined;
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
    const now = this.#options.now();
    const shown: Row[] = [];
    for (const row of rows) {
      if (row.trade_id === null) {
        shown.push(row);
        continue;
      }
      const { baseAt, quoteAt, idAt } = this.#showing(row);
      const isBase = row.symbol?.startsWith(row.currency) === true;
      if (now < (isBase ? baseAt : quoteAt)) continue;
      shown.push(now < idAt ? { ...row, client_order_id: '' } : row);
    }
    return shown;
  }

  #showing(row: Row): Showing {
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
  readonly trade_id: unknown;
  readonly client_order_id: string;
  readonly symbol: string | null;
  readonly currency: string;
  readonly timestamp: number;
}

function headersOf({ headers }: Outgoing): Record<string, string> {
  const all: Record<string, string> = {};
  for (let i = 0; i + 1 < headers.length; i += 2) all[headers[i] ?? ''] = headers[i + 1] ?? '';
  return all;
}
