import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { interval, takeWhile } from 'rxjs';
import type { Clock } from '../../engine/ports.ts';
import { Written } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';

/** An HTTP response, ready to be sent. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Default: JSON. */
  readonly type?: string | undefined;
  /** Seconds. Only faults set it, because no document names the header. */
  readonly retryAfterS?: number | undefined;
  /** Allowed methods of the path, for status 405. */
  readonly allow?: string | undefined;
  /** Offset of the header `Date`, ms. */
  readonly skewMs?: number | undefined;
}

/** Faults that a drill applies while a response is sent. */
export interface Manner {
  /** Part of the body that is sent before the connection is dropped. */
  readonly keep?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
}

const JSON_TYPE = 'application/json; charset=utf-8';
/** Delay between two chunks of a slow body. */
const PIECE_MS = 50;

export function answerOf(reply: Reply<object>): Answer {
  if (reply.ok) {
    const { status, value } = reply;
    return { status, body: value instanceof Written ? value.text : JSON.stringify(value) };
  }
  return { status: reply.status, body: JSON.stringify({ error: reply.error }) };
}

/** Sends the response. Every response has a header that marks it as simulated. */
export function deliver(
  response: ServerResponse,
  answer: Answer,
  { clock, ...manner }: Manner & { clock: Clock },
): void {
  if (response.headersSent || response.destroyed) return;
  const length = Buffer.byteLength(answer.body);
  const headers = ['content-type', answer.type ?? JSON_TYPE, 'content-length', String(length), 'x-simulated', 'tranche'];
  // Node would take it from a clock of its own.
  headers.push('date', new Date(clock.wall() + (answer.skewMs ?? 0)).toUTCString());
  if (answer.retryAfterS !== undefined) headers.push('retry-after', String(answer.retryAfterS));
  if (answer.allow !== undefined) headers.push('allow', answer.allow);
  response.writeHead(answer.status, headers);
  if (manner.keep !== undefined) truncate(response, answer.body, manner.keep);
  else if (manner.bytesPerSecond !== undefined) drip(response, answer.body, { clock, perSecond: manner.bytesPerSecond });
  // The body has as many bytes as characters, so it is ASCII and needs no encoding.
  else response.end(answer.body, length === answer.body.length ? 'latin1' : 'utf8');
} // prettier-ignore

/** Sends valid headers and part of the body, then drops the connection. */
function truncate(response: ServerResponse, body: string, keep: number): void {
  const bytes = Buffer.from(body);
  // Omits at least one byte; otherwise the response would be complete.
  const part = bytes.subarray(0, Math.min(Math.floor(bytes.length * keep), bytes.length - 1));
  response.write(part, () => {
    response.destroy();
  });
  response.flushHeaders();
}

function drip(
  response: ServerResponse,
  body: string,
  { clock, perSecond }: { clock: Clock; perSecond: number },
): void {
  const bytes = Buffer.from(body);
  const piece = Math.max(1, Math.round((perSecond * PIECE_MS) / 1000));
  const every = piece === 1 ? 1000 / perSecond : PIECE_MS;
  response.flushHeaders();
  interval(every, clock.scheduler)
    .pipe(takeWhile((turn) => turn * piece < bytes.length && !response.destroyed))
    .subscribe({
      next: (turn) => {
        response.write(bytes.subarray(turn * piece, (turn + 1) * piece));
      },
      complete: () => {
        response.end();
      },
    });
}

/** Responds on a socket that has no response object, then closes it. */
export function endRaw(socket: Duplex, refusal: Refusal): void {
  // No other listener is left; without this one, a client that hangs up would crash the process.
  socket.on('error', () => {
    socket.destroy();
  });
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body } = answerOf(refusal);
  socket.end(
    `HTTP/1.1 ${status} Refused\r\ncontent-type: ${JSON_TYPE}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nx-simulated: tranche\r\nconnection: close\r\n\r\n${body}`,
  );
}
