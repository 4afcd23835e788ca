import { defer, NEVER, Observable, retry, share, tap, timer } from 'rxjs';
import { WebSocket } from 'ws';
import type { ReferencePrice } from '../core/market.ts';
import type { Clock, MarketPort, Random } from '../engine/ports.ts';
import { readFeed } from '../wire/feed.ts';
import type { FeedMessage } from '../wire/feed.ts';
import { venueUrl } from './origin.ts';
import { cleaned } from './said.ts';

export interface TickerOptions {
  readonly wsUrl: string;
  readonly token: { reveal(): string };
  readonly pairs: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly onEvent?: ((event: SocketEvent) => void) | undefined;
}

/** What the operator may want to know of the feed. */
export type SocketEvent =
  | { readonly event: 'open' }
  | { readonly event: 'closed'; readonly why: string; readonly retryMs: number }
  | { readonly event: 'unreadable'; readonly why: string };

const MESSAGE_BYTES_MAX = 1024 * 1024;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** After this long without a byte we ask; after twice as long the connection is given up. */
const SILENCE_MS = 15_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;

/**
 * The venue's ticker as reference prices: the last price of each pair, stamped with the time of its arrival. One
 * connection for all subscribers, open while there is one. Never errors: it reconnects, 1 to 60 s later.
 *
 * Gaps in the sequence are let pass: every ticker message replaces the one before, so that none is missed for long.
 *
 * @throws OperatorError `config` when the address cannot be used.
 */
export function tickerMarket(options: TickerOptions): MarketPort {
  const url = venueUrl('venue.ws_url', options.wsUrl, 'ws');
  if (options.pairs.length === 0) return { prices$: NEVER };
  const { clock, random, onEvent } = options;
  let failures = 0;
  const prices$ = defer(() => connection(url, options)).pipe(
    // Only a price proves that a connection is worth having: one that is refused after the handshake backs off too.
    tap(() => (failures = 0)),
    retry({
      delay: (error: unknown) => {
        if (!(error instanceof Closed)) throw error;
        const retryMs = retryDelayMs(failures++, random);
        onEvent?.({ event: 'closed', why: cleaned(error.message, options.token.reveal()), retryMs });
        return timer(retryMs, clock.scheduler);
      },
    }),
    share(),
  );
  return { prices$ };
}

/** Full jitter between 1 s and a bound that doubles from 2 s to 60 s, so that clients do not return in step. */
export function retryDelayMs(failures: number, random: Random): number {
  const bound = Math.min(RETRY_MAX_MS, 2 * RETRY_MIN_MS * 2 ** Math.min(failures, 10));
  return Math.round(RETRY_MIN_MS + random.next() * (bound - RETRY_MIN_MS));
}

/** The end of one connection, for whatever reason. */
class Closed extends Error {
  override readonly name = 'Closed';
}

/** One connection: authenticate, subscribe to all pairs at once, then prices. Errors with `Closed` when it ends. */
function connection(url: URL, { token, pairs, clock, onEvent }: TickerOptions): Observable<ReferencePrice> {
  return new Observable((subscriber) => {
    const socket = new WebSocket(url, {
      maxPayload: MESSAGE_BYTES_MAX,
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      followRedirects: false,
    });
    const feeds = new Map(pairs.map((pair) => [`ticker.sfox.${pair}`, pair]));
    const tell = (message: object): void => socket.send(JSON.stringify(message));
    const end = (why: string): void => subscriber.error(new Closed(why));
    const receive = (message: FeedMessage): void => {
      if (message.kind === 'ticker') {
        const pair = feeds.get(message.feed);
        if (pair !== undefined)
          subscriber.next({ pair, mid: message.last, at: clock.wall(), source: 'ticker' });
      } else if (message.kind === 'error') end(`the venue refused to ${message.action}`);
      else if (message.kind === 'success' && message.action === 'authenticate') {
        tell({ type: 'subscribe', feeds: [...feeds.keys()] });
        onEvent?.({ event: 'open' });
      } else if (message.kind === 'unreadable') {
        onEvent?.({ event: 'unreadable', why: cleaned(message.why, token.reveal()) });
      }
    };

    const heard = watch(socket, clock, end);
    socket.on('open', () => tell({ type: 'authenticate', apiKey: token.reveal() }));
    socket.on('message', (data, isBinary) => {
      heard();
      if (!isBinary && Buffer.isBuffer(data)) receive(readFeed(data.toString('utf8')));
    });
    socket.on('error', (error) => end(error.message));
    socket.on('close', (code, reason) => end(`closed with ${code} ${reason.toString('utf8')}`));
    subscriber.add(() => socket.terminate());
  });
}

/** Ends a connection that has gone silent. Returns what to call whenever something was heard. */
function watch(socket: WebSocket, clock: Clock, end: (why: string) => void): () => void {
  let heardAt = clock.monotonic();
  const heard = (): void => {
    heardAt = clock.monotonic();
  };
  const check = clock.scheduler.schedule(function again() {
    const silentMs = clock.monotonic() - heardAt;
    if (silentMs >= 2 * SILENCE_MS) {
      end(`silent for ${Math.round(silentMs / 1000)} s`);
      return;
    }
    if (silentMs >= SILENCE_MS && socket.readyState === WebSocket.OPEN) socket.ping();
    this.schedule(undefined, SILENCE_MS / 3);
  }, SILENCE_MS / 3);
  socket.on('open', heard).on('ping', heard).on('pong', heard);
  socket.on('close', () => check.unsubscribe());
  return heard;
}
