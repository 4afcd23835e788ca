import type {
  OrderAnswer,
  OrderRequest,
  QuoteAnswer,
  QuoteRequest,
  Transaction,
} from '../../../src/core/venue.ts';
import { price, quantity } from '../../../src/core/money.ts';
import {
  BLACKOUT,
  ORDER_ANSWER,
  ORDER_GATEWAY,
  ORDER_REQUEST,
  QUOTE_ANSWER,
  QUOTE_REQUEST,
  READ,
} from './menu.ts';
import type { Venue, VenueQuote } from './venue.ts';
import type { World } from './world.ts';

interface Dark {
  readonly from: number;
  readonly until: number;
  readonly requests: boolean;
  readonly answers: boolean;
}

const error = (status: number, text: string): { kind: 'error'; status: number; error: string } => ({
  kind: 'error',
  status,
  error: text,
});

/** Everything between desk and venue. It forgets nobody: what has left may arrive long after its sender died. */
export class Network {
  readonly #world: World;
  readonly #venue: Venue;
  readonly #dark: Dark[] = [];
  #lastOrder: OrderAnswer | undefined;
  #pages = 0;
  /** Orders on their way to the venue. */
  flying = 0;

  constructor(world: World, venue: Venue, faultyMs: number) {
    this.#world = world;
    this.#venue = venue;
    for (let i = 0; i < 3; i++) {
      const fault = world.chance.at(BLACKOUT, i);
      if (fault === undefined) continue;
      const from = faultyMs * world.chance.draw('blackout', i);
      this.#dark.push({
        from,
        until: Math.min(faultyMs, from + 10_000 + 600_000 * fault.value ** 2),
        requests: fault.kind !== 'answers',
        answers: fault.kind !== 'requests',
      });
    }
  }

  quote(
    request: QuoteRequest,
    key: string,
    answered: (answer: QuoteAnswer, quote?: VenueQuote) => void,
  ): void {
    const { chance } = this.#world;
    const fault = chance.at(QUOTE_REQUEST, key);
    if (fault?.kind === 'unsent') {
      this.#world.in(5, () => {
        answered({ kind: 'lost', sent: false, why: 'connection refused' });
      });
      return;
    }
    if (fault?.kind === 'lost' || this.#isDark('requests')) return;
    this.#world.in(this.#way(`quote ${key}`) + (fault?.kind === 'late' ? 9_000 * fault.value : 0), () => {
      const [answer, quote] = this.#quoted(request, key);
      const back = chance.at(QUOTE_ANSWER, `${key} way`);
      if (back?.kind === 'lost' || this.#isDark('answers')) return;
      this.#world.in(this.#way(`quoted ${key}`), () => {
        answered(answer, quote);
      });
    });
  }

  #quoted(request: QuoteRequest, key: string): [QuoteAnswer, VenueQuote?] {
    const fault = this.#world.chance.at(QUOTE_ANSWER, key);
    switch (fault?.kind) {
      case 'failed':
        return [error(502, 'bad gateway')];
      case 'none':
        return [error(503, 'no quotes')];
      case 'limited':
        return [error(429, 'slow down')];
      case 'unauthorised':
        return [error(401, 'who are you')];
      default:
    }
    // A venue that quotes more than was asked for would also execute more.
    const size =
      fault?.kind === 'more' && request.size.by === 'quantity'
        ? { by: 'quantity' as const, quantity: quantity(request.size.quantity.times(3).toFixed()) }
        : request.size;
    const quote = this.#venue.quote(
      { ...request, size },
      fault?.kind === 'short_life' ? 0.2 + 0.5 * fault.value : 1,
    );
    const told = this.#venue.told(quote);
    switch (fault?.kind) {
      case 'other_side':
        return [{ kind: 'quote', quote: { ...told, side: told.side === 'buy' ? 'sell' : 'buy' } }, quote];
      case 'other_pair':
        return [{ kind: 'quote', quote: { ...told, pair: 'xrpusd' } }, quote];
      case 'sum':
        return [
          { kind: 'quote', quote: { ...told, amount: told.amount.times(2) as typeof told.amount } },
          quote,
        ];
      case 'gap':
        return [{ kind: 'quote', quote: this.#venue.dearer(quote, fault.value) }, quote];
      default:
        return [{ kind: 'quote', quote: told }, quote];
    }
  }

  /** Returns whether a byte left. `answered` is called for each answer that comes back, perhaps for none. */
  order(request: OrderRequest, key: string, answered: (answer: OrderAnswer) => void): boolean {
    const world = this.#world;
    const fault = world.chance.at(ORDER_REQUEST, key);
    if (fault?.kind === 'unsent') {
      world.in(5, () => {
        answered({ kind: 'lost', sent: false, why: 'connection refused' });
      });
      return false;
    }
    if (fault?.kind === 'lost' || this.#isDark('requests')) return true;
    const late = fault?.kind === 'late' ? 1_000 + 39_000 * fault.value : 0;
    if (late > 8_000) world.probe('order arrives after the desk gave up');
    this.#arrive(request, key, { ms: this.#way(`order ${key}`) + late, answered });
    if (fault?.kind === 'twice') {
      const ms = this.#way(`order ${key}`) + 28_000 * fault.value ** 2;
      // The proxy hands on whichever answer comes first.
      this.#arrive(request, `${key} again`, { ms, answered });
    }
    return true;
  }

  #arrive(request: OrderRequest, key: string, { ms, answered }: Arrival): void {
    const world = this.#world;
    this.flying++;
    world.in(ms, () => {
      this.flying--;
      const gate = world.chance.at(ORDER_GATEWAY, key)?.kind;
      const isBefore =
        gate === 'failed_before' || gate === 'limited_before' || gate === 'unauthorised' || gate === 'moved';
      const truth = isBefore ? undefined : this.#venue.order(request, key);
      const answer = this.#through(gate, truth, key);
      if (answer === undefined) return;
      const back = world.chance.at(ORDER_ANSWER, `${key} way`);
      if (back?.kind === 'lost' || this.#isDark('answers')) return;
      world.in(this.#way(`ordered ${key}`) + (back?.kind === 'late' ? 30_000 * back.value : 0), () => {
        answered(answer);
      });
    });
  }

  #through(gate: string | undefined, truth: OrderAnswer | undefined, key: string): OrderAnswer | undefined {
    if (truth === undefined || gate !== undefined) {
      if (gate === 'unauthorised') return error(401, 'who are you');
      if (gate === 'moved') return error(307, 'elsewhere');
      if (gate === 'conflict_after') return error(409, 'conflict');
      return gate?.startsWith('limited') === true ? error(429, 'slow down') : error(502, 'bad gateway');
    }
    const before = this.#lastOrder;
    this.#lastOrder = truth;
    switch (this.#world.chance.at(ORDER_ANSWER, key)?.kind) {
      case 'cut':
        return { kind: 'garbled', status: 200, why: 'ends early' };
      case 'page':
        return { kind: 'garbled', status: 200, why: 'a page for people' };
      case 'other':
        return before ?? truth;
      case 'unnamed':
        return truth.kind === 'order'
          ? { ...truth, order: { ...truth.order, clientId: 'tr-of-nobody' } }
          : truth;
      case 'unquoted':
        return truth.kind === 'order' ? { ...truth, order: { ...truth.order, quoteId: 'q0' } } : truth;
      case 'pending':
        return truth.kind === 'order'
          ? {
              ...truth,
              order: { ...truth.order, status: 'Pending', filled: quantity('0'), vwap: price('0') },
            }
          : truth;
      default:
        return truth;
    }
  }

  /** One page of the account's rows, or why there is none. */
  page(
    from: number,
    window: { readonly offset: number; readonly limit: number },
    answered: (rows: readonly Transaction[] | undefined, status: number) => void,
  ): void {
    const world = this.#world;
    const number = this.#pages++;
    const fault = world.chance.at(READ, window.offset === 0 ? number : `${number} more`);
    if (fault?.kind === 'lost' || this.#isDark('requests') || this.#isDark('answers')) {
      world.in(8_000, () => {
        answered(undefined, 0);
      });
      return;
    }
    world.in(this.#way(`read ${number}`), () => {
      // Rows that move while the pages are read show twice; none is lost.
      const start = window.offset > 0 && fault?.kind === 'repeated' ? window.offset - 1 : window.offset;
      const rows = this.#venue.rows(from).slice(start, start + window.limit);
      const isFailed =
        fault?.kind === 'failed' ||
        fault?.kind === 'limited' ||
        (fault?.kind === 'second_page' && window.offset > 0);
      world.in(this.#way(`rows ${number}`), () => {
        if (isFailed) answered(undefined, fault.kind === 'limited' ? 429 : 502);
        else answered(rows, 200);
      });
    });
  }

  #isDark(way: 'requests' | 'answers'): boolean {
    const { now, chance } = this.#world;
    if (chance.isHealed) return false;
    for (const each of this.#dark) if (each[way] && each.from <= now && now < each.until) return true;
    return false;
  }

  #way(what: string): number {
    const draw = this.#world.chance.draw('way', what);
    return 15 + 150 * draw * draw;
  }
}

interface Arrival {
  readonly ms: number;
  readonly answered: (answer: OrderAnswer) => void;
}
