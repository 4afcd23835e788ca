import { EMPTY } from 'rxjs';
import { Buffer } from 'node:buffer';
import type { Answer } from '../../../src/simulator/http/deliver.ts';
import type { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import type { Call } from '../../../src/venue/call.ts';
import { exchanges } from '../../../src/venue/http.ts';
import type { Outgoing, VenueHttp } from '../../../src/venue/http.ts';
import type { Route } from '../../../src/venue/routes.ts';
import { sanitize } from '../../../src/venue/sanitize.ts';
import type { ByteVenue } from './byte-venue.ts';
import { site } from '../chance.ts';
import type { Chance } from '../chance.ts';
import { between } from './draws.ts';
import type { ProcessClock } from './process-clock.ts';

/** A request on its way, as the tap on the wire sees it. */
export interface Flight {
  /** Logical name of the request, such as `order p0/2/0 copy 1`. */
  readonly point: string;
  readonly outgoing: Outgoing;
  /** True time at which its first byte left. */
  readonly sentAt: number;
  /** When it arrived at the venue, true time; several times when it was duplicated. */
  readonly arrivedAt: number[];
  /** Something of the fault menu happened to the request or its answer. */
  fault: string | undefined;
  /** The sender has closed the connection, or the answer is there. */
  isOver: boolean;
}

/** Who listens to the wire. */
export interface Tap {
  /** Before the first byte leaves. */
  leaving(flight: Flight): void;
  /** A request has reached the venue. */
  arrived(flight: Flight): void;
  /** Something happens to the answer. */
  spoilt(flight: Flight, kind: string): void;
  /** The venue has answered, before anything happens to the answer. */
  answered(flight: Flight, answer: Answer): void;
}

export interface NetworkOptions {
  readonly truth: VirtualClock;
  readonly chance: Chance;
  readonly venue: ByteVenue;
  readonly tap: Tap;
  /** Whether requests, or answers, get through at this moment. */
  readonly isOpen: (way: 'requests' | 'answers', point: string) => boolean;
  readonly latencyMs: number;
  /** Answers with quotes say the time. */
  readonly tellsDate: boolean;
}

const CONNECT = site('connect', { refused: 0.15, 'no connection': 0.05, 'stale connection': 0.15 });
const REQUEST = site('request', {
  'request lost': 0.2,
  'request late': 0.2,
  duplicated: 0.15,
  'gateway error before': 0.1,
  'rate limited before': 0.05,
  redirect: 0.03,
  'slow to arrive': 0.2,
});
const ANSWER = site('answer', {
  'answer lost': 0.25,
  'answer late': 0.15,
  truncated: 0.1,
  garbled: 0.1,
  'not text': 0.05,
  html: 0.1,
  'of another request': 0.1,
  'gateway error after': 0.2,
  'rate limited after': 0.05,
  reset: 0.15,
});
const READ = 'account/transactions';
const ELSEWHERE = 'currency';
/** Only orders and quotes: a read that lies in well-formed words cannot be told from the truth. */
const LIES = site('words', { 'wrong ids': 0.15, 'wrong numbers': 0.1, 'unknown status': 0.1, nonsense: 0.1 });

/** A venue, or somebody on the way to it, that takes another size than was asked for, and says so in its quote. */
const SIZE = site('size', { 'another size': 0.1 });

/** Messages between one process and the venue, each with a fate of its own. Connections are not kept. */
export class Network {
  readonly #options: NetworkOptions;
  readonly #lastBodies = new Map<string, string>();
  /** Requests whose answer is awaited. */
  open = 0;
  delivered = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** The way of one process to the venue: everything of the product's own client above the sockets. */
  clientOf(process: {
    readonly clock: ProcessClock;
    readonly token: string;
    readonly routes: readonly Route[];
    readonly pointOf: (outgoing: Outgoing) => string;
    readonly yieldAt: (point: string) => void;
  }): VenueHttp {
    const clean = (text: string): string => sanitize(text, [process.token]);
    let isShut = false;
    const carried = exchanges(
      { token: { reveal: () => process.token }, clock: process.clock, version: 'simulated', routes: process.routes, mayMoveMoney: () => !isShut },
      clean,
      (outgoing, _request, call) => {
        if (!process.clock.isDead) this.#send(process, outgoing, call);
      },
    ); // prettier-ignore
    return {
      ...carried,
      shut() {
        isShut = true;
      },
      warm: () => EMPTY,
      clean,
      close: async () => await Promise.resolve(),
    };
  }

  #send(
    process: {
      readonly clock: ProcessClock;
      readonly pointOf: (outgoing: Outgoing) => string;
      readonly yieldAt: (point: string) => void;
    },
    outgoing: Outgoing,
    call: Call,
  ): void {
    const { truth, chance, tap, isOpen } = this.#options;
    const point = process.pointOf(outgoing);
    process.yieldAt(`${point}, before`);
    if (process.clock.isDead) return;
    const faulty = chance.at(CONNECT, point);
    const connecting = faulty?.kind;
    if (connecting === 'no connection') return;
    if (connecting === 'refused' || (connecting === undefined && !isOpen('requests', point))) {
      // A dead link: half of the time the connection is refused, else nothing is heard.
      if (connecting === undefined && chance.draw('link', point) < 0.5) return;
      this.#later(process.clock, 20, () => {
        call.onResponseError(null, Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })); // prettier-ignore
      });
      return;
    }
    const flight: Flight = {
      point,
      outgoing,
      sentAt: truth.now(),
      arrivedAt: [],
      fault: connecting,
      isOver: false,
    };
    tap.leaving(flight);
    this.open++;
    const over = (): void => {
      if (!flight.isOver) this.open--;
      flight.isOver = true;
    };
    call.onRequestStart({
      get aborted() {
        return flight.isOver;
      },
      abort: over,
      get paused() {
        return false;
      },
      get reason() {
        return null;
      },
      pause: () => undefined,
      resume: () => undefined,
    });
    process.yieldAt(`${point}, after`);
    const connection: Connection = { flight, call, clock: process.clock, over, yieldAt: process.yieldAt };
    if (connecting === 'stale connection') {
      // The peer had closed it: what was written may have been read all the same.
      if ((faulty?.value ?? 0) < 0.5) this.#arriveIn(connection, 5, () => undefined);
      this.#breakOff(connection, 10);
      return;
    }
    this.#request(connection);
  }

  #request(connection: Connection): void {
    const { chance, latencyMs } = this.#options;
    const { flight } = connection;
    const { point } = flight;
    const wayMs = 2 + between(chance.draw('way', point), 0, latencyMs, 2);
    const { kind, value = 0 } = chance.at(REQUEST, point) ?? {};
    flight.fault ??= kind;
    const answer = (given: Dated): void => {
      this.#answer(connection, given);
    };
    switch (kind) {
      case 'request lost':
        return;
      case 'request late':
        // Outlives its sender, as a packet does.
        this.#arriveIn(connection, between(value, 1_000, 40_000), answer);
        return;
      case 'slow to arrive':
        this.#arriveIn(connection, between(value, 500, 9_000), answer);
        return;
      case 'duplicated':
        this.#arriveIn(connection, wayMs, () => undefined);
        this.#arriveIn(connection, wayMs + 2_000 * value ** 2, answer);
        return;
      case 'gateway error before':
        this.#deliver(connection, 2 * wayMs, { status: 502, body: '{"error":"bad gateway"}' });
        return;
      case 'rate limited before':
        this.#deliver(connection, 2 * wayMs, {
          status: 429,
          body: '{"error":"too many requests"}',
          retryAfterS: 2,
        });
        return;
      case 'redirect':
        this.#deliver(connection, 2 * wayMs, { status: 307, body: '' });
        return;
      default:
        this.#arriveIn(connection, wayMs, answer);
    }
  }

  #arriveIn({ flight }: Connection, ms: number, answered: (answer: Dated) => void): void {
    const { truth, venue, tap, tellsDate } = this.#options;
    truth.push(ms, () => {
      flight.arrivedAt.push(truth.now());
      tap.arrived(flight);
      // Of quotes alone: a desk whose clock is off does not start where the venue says the time, and that is not to be seen here.
      const date =
        tellsDate && flight.point.startsWith('quote ') ? new Date(venue.wall).toUTCString() : undefined;
      const answer: Dated = { ...venue.receive(this.#resized(flight)), date };
      tap.answered(flight, answer);
      answered(answer);
    });
  }

  #resized({ point, outgoing }: Flight): Outgoing {
    const { chance } = this.#options;
    const isQuote = point.startsWith('quote ') && outgoing.body !== undefined;
    const fault = isQuote ? chance.at(SIZE, point) : undefined;
    if (fault === undefined) return outgoing;
    const body = outgoing.body?.replace(
      /("(?:quantity|amount)":"?)(?<size>[\d.]+)/u,
      (_, before: string, size: string) =>
        `${before}${(Number(size) * (0.5 + fault.value)).toFixed(before.includes('amount') ? 2 : 6)}`,
    );
    return { ...outgoing, body };
  }

  #answer(connection: Connection, answer: Dated): void {
    const { chance, latencyMs, isOpen, tap } = this.#options;
    const { flight } = connection;
    const { point } = flight;
    const backMs = 2 + between(chance.draw('back', point), 0, latencyMs, 2);
    const route = point.split(' ', 1)[0] ?? '';
    const lies = route === 'order' || route === 'quote' ? LIES : undefined;
    const { kind, value = 0 } = chance.at(ANSWER, point) ?? (lies && chance.at(lies, point)) ?? {};
    flight.fault ??= kind;
    if (kind !== undefined) tap.spoilt(flight, kind);
    if (!isOpen('answers', point)) return;
    // An older answer to the same read would be a read that lies in well-formed words.
    const another = this.#lastBodies.get(route === READ ? ELSEWHERE : route);
    this.#lastBodies.set(route, answer.body);
    switch (kind) {
      case 'answer lost':
        return;
      case 'answer late':
        this.#deliver(connection, between(value, 1_000, 40_000), answer);
        return;
      case 'truncated':
        this.#deliver(connection, backMs, answer, 'breaks');
        return;
      case 'reset':
        this.#breakOff(connection, backMs);
        return;
      case 'gateway error after':
        this.#deliver(connection, backMs, { status: 504, body: '{"error":"gateway timeout"}' });
        return;
      case 'rate limited after':
        this.#deliver(connection, backMs, { status: 429, body: '{"error":"too many requests"}' });
        return;
      default:
        this.#deliver(connection, backMs, { ...answer, body: spoilt(answer.body, kind, another) });
    }
  }

  /** Hands an answer over. `breaks`: half of it, then the connection ends. */
  #deliver(connection: Connection, ms: number, answer: Dated, manner: 'whole' | 'breaks' = 'whole'): void {
    const { flight, call, over, yieldAt } = connection;
    const bytes = answer.body === NOT_TEXT ? Buffer.from([0x7b, 0xff, 0xfe]) : Buffer.from(answer.body);
    this.#later(connection.clock, ms, () => {
      if (flight.isOver) return;
      yieldAt(`${flight.point}, answer`);
      if (connection.clock.isDead) return;
      this.delivered++;
      const headers: Record<string, string> = { 'content-length': String(bytes.length) };
      if (answer.date !== undefined) headers['date'] = answer.date;
      if (answer.retryAfterS !== undefined) headers['retry-after'] = String(answer.retryAfterS);
      call.onResponseStart(NOBODY, answer.status, headers);
      if (manner === 'breaks') {
        call.onResponseData(NOBODY, bytes.subarray(0, bytes.length >> 1));
        over();
        call.onResponseError(null, Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
        return;
      }
      call.onResponseData(NOBODY, bytes);
      over();
      call.onResponseEnd();
    });
  }

  #breakOff({ flight, call, clock, over }: Connection, ms: number): void {
    this.#later(clock, ms, () => {
      if (flight.isOver) return;
      over();
      call.onResponseError(null, Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    });
  }

  #later(clock: ProcessClock, ms: number, work: () => void): void {
    this.#options.truth.push(ms, () => {
      clock.deliver(work);
    });
  }
}

interface Dated extends Answer {
  /** When it was given, by the clock of the venue. */
  readonly date?: string | undefined;
}

interface Connection {
  readonly flight: Flight;
  readonly call: Call;
  readonly clock: ProcessClock;
  readonly over: () => void;
  readonly yieldAt: (point: string) => void;
}

type Controller = Parameters<Call['onResponseStart']>[0];
/** `Call` looks at the controller of `onRequestStart` alone. */
const NOBODY: Controller = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
};

/** Stands for bytes that are no UTF-8. */
const NOT_TEXT = '\u0000not text';

/** What becomes of the body of an answer. */
function spoilt(body: string, fault: string | undefined, another: string | undefined): string {
  switch (fault) {
    case 'garbled':
      return body.slice(0, Math.floor(body.length * 0.6));
    case 'not text':
      return NOT_TEXT;
    case 'html':
      return '<html><body>One moment, please</body></html>';
    case 'of another request':
      return another ?? body;
    case 'wrong ids':
      return body
        .replace(/"client_order_id":"[^"]*"/u, '"client_order_id":"tr-somebody-else"')
        .replace(/"pair":"[^"]*"/u, '"pair":"xyzusd"');
    case 'wrong numbers':
      return body.replace(/"(?<name>filled_amount|amount)":(?<figure>[1-9][\d.]*)/u, '"$<name>":9$<figure>');
    case 'unknown status':
      return body
        .replace(/"status":"[^"]*"/u, '"status":"Pending Review"')
        .replace(/"side":"[^"]*"/u, '"side":"HOLD"');
    case 'nonsense':
      return body
        .replaceAll(/"(?<name>filled|price|quantity|buy_price|sell_price)":[\d.]+/gu, '"$<name>":-1')
        .replace(/"date_expiry":"[^"]*"/u, '"date_expiry":"1970-01-01T00:00:00.000Z"');
    default:
      return body;
  }
}
