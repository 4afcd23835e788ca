import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { VenueError } from '../core/errors.ts';
import type { VenueErrorCode } from '../core/errors.ts';
import { monotonic } from '../core/time.ts';
import type { Monotonic } from '../core/time.ts';
import { ROUTE_COOL_DOWN_MS } from '../wire/constants.ts';
import { CertificateRefused } from './certificate.ts';
import type { Route } from './routes.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A complete response. Every status except 3xx is a response; the caller interprets it. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  /** Names in lower case. */
  readonly headers: Headers;
  /** From `retry-after`, if that is a number of seconds above 0, at most 300 s; otherwise the documented pause after a 429. */
  readonly retryAfterMs: number | undefined;
  /** When the first byte of the request left. */
  readonly sentAt: Monotonic;
  /** When the last byte of the response arrived. */
  readonly lastByteAt: Monotonic;
}

export interface CallOptions {
  readonly route: Route;
  /** Description for errors: `GET /v1/currency`. */
  readonly attempt: string;
  readonly capBytes: number;
  readonly now: () => Monotonic;
  /** Removes the token from a body; `undefined` if it cannot be removed. */
  readonly scrub: (body: string) => string | undefined;
  /** Called right before the first byte is sent, because a request may have waited for its connection. */
  readonly mayLeave: () => boolean;
  /** Sanitizes text from the network for display. */
  readonly clean: (text: string) => string;
  readonly done: (reply: Reply) => void;
  readonly failed: (error: VenueError) => void;
}

/**
 * One exchange, as undici reports it. Settles once: with a complete response, or with an error that states whether
 * money may have moved. The library undici calls `onRequestStart` right before it writes, so a call that never started
 * sent nothing.
 */
export class Call implements Dispatcher.DispatchHandler {
  readonly #options: CallOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #phase: 'waiting' | 'sent' | 'answering' | 'settled' = 'waiting';
  #sent = false;
  #sentAt = monotonic(0);
  #status = 0;
  #headers: Headers = {};
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(options: CallOptions) {
    this.#options = options;
  }

  /** Cancels the call silently. A call that has not been sent is never sent. */
  abandon(): void {
    if (this.#phase === 'settled') return;
    this.#phase = 'settled';
    this.#hangUp('abandoned');
  }

  /** The time limit of the whole exchange has passed. */
  expire(): void {
    const why = {
      waiting: 'no connection in time',
      sent: 'no answer in time',
      answering: 'no complete answer in time',
      settled: '',
    };
    this.#fail(this.#sent ? 'timeout' : 'connect', why[this.#phase]);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown before the first byte: undici drops the request and keeps the connection.
    if (this.#phase === 'settled') throw new Error('abandoned before it was sent');
    if (!this.#options.mayLeave()) {
      this.#fail('forbidden_route', 'halted before it was sent');
      throw new Error('halted before it was sent');
    }
    this.#controller = controller;
    this.#phase = 'sent';
    this.#sent = true;
    this.#sentAt = this.#options.now();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (this.#phase === 'settled' || status < 200) return;
    this.#phase = 'answering';
    this.#status = status;
    this.#headers = headers;
    if (status >= 300 && status < 400) {
      this.#fail('redirect', 'the venue redirected the request');
      return;
    }
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      this.#fail('unreadable', `content-encoding ${String(encoding)}, identity was requested`);
      return;
    }
    if (Number(headers['content-length'] ?? 0) > this.#options.capBytes) this.#failTooLarge();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase === 'settled') return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.capBytes) this.#failTooLarge();
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#phase === 'settled') return;
    const [first] = this.#chunks;
    const bytes = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    if (!isUtf8(bytes)) {
      this.#fail('unreadable', 'the answer is not UTF-8');
      return;
    }
    const body = this.#options.scrub(bytes.toString('utf8'));
    if (body === undefined) {
      this.#fail('unreadable', 'the answer contains the token in encoded form');
      return;
    }
    this.#phase = 'settled';
    this.#options.done({
      status: this.#status,
      body,
      headers: this.#headers,
      retryAfterMs: retryAfterMs(this.#status, this.#headers),
      sentAt: this.#sentAt,
      lastByteAt: this.#options.now(),
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (error instanceof CertificateRefused) {
      this.#fail('certificate', error.message);
      return;
    }
    const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
    this.#fail(this.#sent ? failureOf(code) : 'connect', `${code} ${error.message}`);
  }

  #failTooLarge(): void {
    this.#fail('too_large', `the answer is larger than ${this.#options.capBytes} bytes`);
  }

  #fail(code: VenueErrorCode, why: string): void {
    if (this.#phase === 'settled') return;
    this.#phase = 'settled';
    const { route, attempt, clean, failed } = this.#options;
    const hasAnswer = this.#status !== 0;
    // undici's own error is dropped, because it may contain bytes of the response or of the socket.
    const cause = new Error(clean(why));
    const error = new VenueError({
      code,
      applied: route.movesMoney === true && this.#sent ? 'unknown' : 'no',
      attempt,
      sent: this.#sent,
      status: hasAnswer ? this.#status : undefined,
      retryAfterMs: hasAnswer ? retryAfterMs(this.#status, this.#headers) : undefined,
      said: code === 'certificate' ? cause.message : undefined,
      cause,
    });
    this.#hangUp(code);
    failed(error);
  }

  #hangUp(why: string): void {
    this.#chunks = [];
    const controller = this.#controller;
    if (controller !== undefined && !controller.aborted) controller.abort(new Error(why));
  }
}

function failureOf(undiciCode: string): VenueErrorCode {
  if (undiciCode === 'UND_ERR_HEADERS_TIMEOUT' || undiciCode === 'UND_ERR_BODY_TIMEOUT') return 'timeout';
  if (undiciCode === 'UND_ERR_HEADERS_OVERFLOW') return 'too_large';
  return 'broken';
}

/** A longer pause counts as this one, s: a false header must not stop the desk for a day. */
const RETRY_AFTER_MAX = 300;

/** The date form of `retry-after` is ignored, because it would require our clock to agree with the venue's. */
function retryAfterMs(status: number, headers: Headers): number | undefined {
  const stated = headers['retry-after'];
  const isNumber = typeof stated === 'string' && /^\d{1,9}(?:\.\d{1,3})?$/u.test(stated);
  const seconds = isNumber ? Number(stated) : 0;
  if (seconds > 0) return Math.ceil(Math.min(seconds, RETRY_AFTER_MAX) * 1000);
  return status === 429 ? ROUTE_COOL_DOWN_MS : undefined;
}
