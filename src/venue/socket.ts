import { Observable, retry, share, tap, timer } from 'rxjs';
import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';
import type { RawData } from 'ws';
import { MINUTE_MS } from '../core/time.ts';
import type { Monotonic } from '../core/time.ts';
import type { Clock, Random } from '../engine/ports.ts';
import { readFeed } from '../wire/feeds/feed.ts';
import type { FeedData, FeedMessage } from '../wire/feeds/feed.ts';
import { FeedGuard } from './socket-guard.ts';
import type { buildConnector } from 'undici';
import { CertificateRefused, certificateOf, judgedConnector, refusalOf } from './certificate.ts';
import { lookupHere, venueUrl } from './origin.ts';
import { throughProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';
import { sanitize, secretsOf } from './sanitize.ts';
import type { VenueToken } from './sanitize.ts';

export interface FeedOptions {
  readonly wsUrl: string;
  readonly token: VenueToken;
  /** Names of all feeds, such as `ticker.sfox.btcusd`. */
  readonly feeds: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  /** As of `HttpOptions`. */
  readonly ca?: string | undefined;
  readonly proxy?: Proxy | undefined;
  /** Closes a connection whose feeds are silent for this long; default: never. */
  readonly quietMs?: number | undefined;
  readonly onEvent?: ((event: SocketEvent) => void) | undefined;
}

/** Signals of the feeds. */
export type FeedSignal =
  | { readonly signal: 'data'; readonly feed: string; readonly data: FeedData }
  /** Messages may have been missed, so state derived from the feeds must be read again over REST. */
  | { readonly signal: 'resync'; readonly why: 'connected' | 'gap' };

/** Events of the feeds for the operator. */
export type SocketEvent =
  | { readonly event: 'open' }
  | { readonly event: 'closed'; readonly why: string; readonly retryMs: number }
  /** The server responded, but did not prove that it is the venue. */
  | { readonly event: 'certificate_refused'; readonly why: string; readonly retryMs: number }
  /** `head`: its first 4 KiB, sanitized, for diagnosis. */
  | { readonly event: 'unreadable'; readonly why: string; readonly head: string }
  | { readonly event: 'gap'; readonly order: 'gap' | 'late'; readonly sequence: number };

const MESSAGE_BYTES_MAX = 1024 * 1024;
const QUARANTINE_MAX = 4_096;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** From the handshake to the response to the subscription. */
const ANSWER_TIMEOUT_MS = 10_000;
/** After this time without a byte, the client sends a ping; after twice that time, it closes the connection. */
const SILENCE_MS = 15_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/** Feeds per subscription message. Requests are limited to 40 a minute; a limit on feeds is not documented. */
const BATCH = 100;

/**
 * The venue's WebSocket feeds, over one connection for all subscribers, which is open while there are subscribers.
 * Authenticates, subscribes, and reconnects 1 to 60 s after each disconnection. Never errors. Feeds are hints: no
 * decision depends only on them.
 *
 * @throws OperatorError `config` when the address cannot be used.
 */
export function venueFeed(options: FeedOptions): Observable<FeedSignal> {
  const url = venueUrl('venue.ws_url', options.wsUrl, 'ws');
  const { clock, random, onEvent } = options;
  let failures = 0;
  return connection(url, options).pipe(
    // Only data proves that a connection works, so a connection that is refused after the handshake also backs off.
    tap(({ signal }) => {
      if (signal === 'data') failures = 0;
    }),
    retry({
      delay: (error: unknown) => {
        if (!(error instanceof Closed)) throw error;
        if (error.lastedMs >= RETRY_MAX_MS) failures = 0;
        const drawnMs = retryDelayMs(failures++, random);
        const retryMs = error.isPoison ? MINUTE_MS + drawnMs : drawnMs;
        const event = error.isRefusal ? 'certificate_refused' : 'closed';
        onEvent?.({ event, why: sanitize(error.message, secretsOf(options.token)), retryMs });
        return timer(retryMs, clock.scheduler);
      },
    }),
    share(),
  );
}

/** Full jitter between 1 s and a bound that doubles from 2 s to 60 s, so that clients do not return in step. */
export function retryDelayMs(failures: number, random: Random): number {
  const bound = Math.min(RETRY_MAX_MS, 2 * RETRY_MIN_MS * 2 ** Math.min(failures, 10));
  return Math.round(RETRY_MIN_MS + random.next() * (bound - RETRY_MIN_MS));
}

/** The end of one connection, for any reason. */
class Closed extends Error {
  override readonly name = 'Closed';
  readonly lastedMs: number;
  /** Whether it was closed because of its messages, so that the next attempt waits at least a minute. */
  readonly isPoison: boolean;
  /** The certificate was refused. */
  readonly isRefusal: boolean;

  constructor(why: string | Error, lastedMs: number, isPoison: boolean) {
    super(typeof why === 'string' ? why : why.message);
    this.isRefusal = why instanceof CertificateRefused;
    this.lastedMs = lastedMs;
    this.isPoison = isPoison;
  }
}

type End = (why: string | Error, isPoison?: boolean) => void;

/** `lookup` and a connection that opens later reach the socket, although the types of the library ws do not name them. */
function socketOptions(
  url: URL,
  { ca, proxy }: Pick<FeedOptions, 'ca' | 'proxy'>,
): ClientOptions & { readonly lookup?: typeof lookupHere } {
  const secure = { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) } as const;
  const options = {
    ...secure,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    followRedirects: false,
    ...(url.protocol === 'ws:' ? { lookup: lookupHere } : {}),
  };
  if (proxy === undefined) return options;
  const timeoutMs = HANDSHAKE_TIMEOUT_MS;
  const connect = judgedConnector({ ...secure, timeout: timeoutMs, allowH2: false });
  const through = throughProxy(connect, { proxy, venue: url, timeoutMs });
  const { hostname, host, port } = url;
  const createConnection = (_: unknown, done: buildConnector.Callback): void =>
    through({ hostname, host, protocol: 'https:', port }, done);
  return Object.assign<ClientOptions, object>(options, { createConnection });
}

/** One connection. Errors with `Closed` when it ends. */
function connection(url: URL, options: FeedOptions): Observable<FeedSignal> {
  return new Observable((subscriber) => {
    const { clock } = options;
    const beganAt = clock.monotonic();
    let seen: ReturnType<typeof certificateOf> | undefined;
    const socket = new WebSocket(url, {
      ...socketOptions(url, options),
      finishRequest(request) {
        request.once('socket', (connected) => {
          seen = certificateOf(connected);
        });
        request.end();
      },
    });
    const end: End = (why, isPoison = false) => {
      subscriber.error(new Closed(why, clock.monotonic() - beganAt, isPoison));
    };
    const watch = new Watch(clock, options.quietMs);
    const talk = new Talk(options, {
      watch,
      end,
      say: (message) => socket.send(JSON.stringify(message)),
      next: (signal) => subscriber.next(signal),
    });
    socket.on('open', () => {
      watch.heard();
      talk.begin();
    });
    socket.on('ping', () => watch.heard()).on('pong', () => watch.heard());
    socket.on('message', (data, isBinary) => {
      watch.heard();
      // Frames that arrived together are delivered one by one, even after the end.
      if (!subscriber.closed) talk.receive(textOf(data, isBinary));
    });
    socket.on('error', (error) => end(refusalOf(error, url.hostname, seen?.())));
    socket.on('close', (code, reason) => end(`closed with ${code} ${reason.toString('utf8')}`));
    const ask = (): void => {
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    };
    subscriber.add(watch.start(ask, end));
    subscriber.add(() => socket.terminate());
  });
}

const textOf = (data: RawData, isBinary: boolean): string | undefined =>
  !isBinary && Buffer.isBuffer(data) ? data.toString('utf8') : undefined;

interface TalkWorld {
  readonly watch: Watch;
  readonly end: End;
  readonly say: (message: object) => void;
  readonly next: (signal: FeedSignal) => void;
}

/** The protocol on one connection: authenticate, subscribe, then data. */
class Talk {
  private readonly options: FeedOptions;
  private readonly world: TalkWorld;
  private readonly guard: FeedGuard;
  private readonly wanted: ReadonlySet<string>;
  private unanswered = 0;

  constructor(options: FeedOptions, world: TalkWorld) {
    this.options = options;
    this.world = world;
    this.guard = new FeedGuard(options.clock);
    this.wanted = new Set(options.feeds);
  }

  begin(): void {
    this.world.say({ type: 'authenticate', apiKey: this.options.token.reveal() });
  }

  /** `source`: text of a message; `undefined` for a binary message. */
  receive(source: string | undefined): void {
    const flooded = this.guard.flood();
    if (flooded !== undefined) {
      this.world.end(flooded, true);
      return;
    }
    const message: FeedMessage =
      source === undefined
        ? { kind: 'unreadable', why: 'not text', sequence: undefined, sentAt: undefined }
        : readFeed(source);
    this.count(message);
    if (message.kind === 'data') this.deliver(message);
    else if (message.kind === 'error')
      this.world.end(`the venue refused to ${message.action}${message.why === '' ? '' : `: ${message.why}`}`);
    else if (message.kind === 'success') this.answered(message.action);
    else this.quarantine(message.why, source ?? '');
  }

  private count({ sequence }: FeedMessage): void {
    const order = this.guard.follow(sequence);
    if (sequence === undefined || (order !== 'gap' && order !== 'late')) return;
    this.options.onEvent?.({ event: 'gap', order, sequence });
    this.world.next({ signal: 'resync', why: 'gap' });
  }

  private deliver({ feed, data, sentAt }: FeedMessage & { readonly kind: 'data' }): void {
    if (!this.wanted.has(feed) || this.guard.isOutdated(feed, sentAt)) return;
    this.world.watch.told();
    this.world.next({ signal: 'data', feed, data });
  }

  private answered(action: string): void {
    if (action === 'authenticate') {
      const { feeds } = this.options;
      for (let from = 0; from < feeds.length; from += BATCH) {
        this.world.say({ type: 'subscribe', feeds: feeds.slice(from, from + BATCH) });
        this.unanswered += 1;
      }
      return;
    }
    if (action !== 'subscribe' || this.unanswered === 0) return;
    this.unanswered -= 1;
    if (this.unanswered > 0) return;
    this.world.watch.ready();
    this.options.onEvent?.({ event: 'open' });
    this.world.next({ signal: 'resync', why: 'connected' });
  }

  private quarantine(why: string, source: string): void {
    const secrets = secretsOf(this.options.token);
    this.options.onEvent?.({
      event: 'unreadable',
      why: sanitize(why, secrets),
      head: sanitize(source.slice(0, 2 * QUARANTINE_MAX), secrets, QUARANTINE_MAX),
    });
    const poisoned = this.guard.poisoned();
    if (poisoned !== undefined) this.world.end(poisoned, true);
  }
}

/** Ends a connection that does not respond, or on which nothing, or no data, arrives for too long. */
class Watch {
  private readonly clock: Clock;
  private readonly quietMs: number | undefined;
  private readonly beganAt: Monotonic;
  private heardAt: Monotonic;
  private toldAt: Monotonic;
  private isReady = false;

  constructor(clock: Clock, quietMs: number | undefined) {
    this.clock = clock;
    this.quietMs = quietMs;
    this.beganAt = clock.monotonic();
    this.heardAt = this.beganAt;
    this.toldAt = this.beganAt;
  }

  /** Bytes arrived. */
  heard(): void {
    this.heardAt = this.clock.monotonic();
  }

  /** Data arrived. */
  told(): void {
    this.toldAt = this.clock.monotonic();
  }

  /** The connection is subscribed to all feeds. */
  ready(): void {
    this.isReady = true;
    this.told();
  }

  start(ask: () => void, end: End): { unsubscribe(): void } {
    const check = (): void => {
      const silentMs = this.clock.monotonic() - this.heardAt;
      const why = this.whyOver(silentMs);
      if (why !== undefined) end(why);
      else if (silentMs >= SILENCE_MS) ask();
    };
    return this.clock.scheduler.schedule(function again() {
      check();
      this.schedule(undefined, SILENCE_MS / 3);
    }, SILENCE_MS / 3);
  }

  private whyOver(silentMs: number): string | undefined {
    const now = this.clock.monotonic();
    if (silentMs >= 2 * SILENCE_MS) return `silent for ${Math.round(silentMs / 1000)} s`;
    if (!this.isReady && now - this.beganAt >= HANDSHAKE_TIMEOUT_MS + ANSWER_TIMEOUT_MS)
      return 'the venue did not answer the subscription';
    if (this.isReady && this.quietMs !== undefined && now - this.toldAt >= this.quietMs)
      return `no data for ${Math.round((now - this.toldAt) / 1000)} s`;
    return undefined;
  }
}
