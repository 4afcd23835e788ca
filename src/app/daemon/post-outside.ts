import { OperatorError } from '../../core/errors.ts';
import { addressProblem, lookupHere } from '../../venue/origin.ts';

/** A request to a server other than the venue: a webhook or a time-stamping authority. It contains no secret. */
export interface Outside {
  readonly contentType: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

const ANSWER_MS = 20_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/**
 * Posts once, without following redirects. Returns the response, at most 64 KiB, if it arrives within 20 seconds.
 * Requires HTTPS except for this machine.
 *
 * @throws OperatorError `config` for an unusable address, `again` for an error or a status other than 2xx.
 */
export async function postOutside(address: string, { contentType, body }: Outside): Promise<Buffer> {
  const problem = addressProblem(address, 'http');
  if (problem !== undefined) throw new OperatorError('config', `${address}: ${problem}`);
  try {
    return await exchange(address, { method: 'POST', headers: { 'content-type': contentType }, body });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new OperatorError('again', `${address} did not accept the request: ${why}`, cause);
  }
}

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Longest wait for the whole response, ms; default: 20 seconds. */
  readonly timeoutMs?: number;
}

class Refused extends Error {}

/**
 * Sends one request to a server other than the venue, without following redirects, and unencrypted only to this machine, whatever its
 * name resolves to. Returns the body of the response. Rejects if it is incomplete, longer than 64 KiB, or has a status other than 2xx.
 */
export async function exchange(
  address: string,
  { method, headers = {}, body, timeoutMs = ANSWER_MS }: Request,
): Promise<Buffer> {
  const { Agent, fetch } = await import('undici');
  const connect = address.startsWith('https:') ? {} : { lookup: lookupHere };
  const dispatcher = new Agent({ connect });
  try {
    const reply = await fetch(address, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      dispatcher,
    });
    const pieces: Uint8Array[] = [];
    let size = 0;
    const answer: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = reply.body ?? [];
    for await (const piece of answer) {
      size += piece.length;
      if (size > ANSWER_BYTES_MAX) throw new Error(`a response of more than ${ANSWER_BYTES_MAX} bytes`);
      pieces.push(piece);
    }
    if (!reply.ok) throw new Refused(`status ${reply.status}`);
    return Buffer.concat(pieces);
  } finally {
    await dispatcher.destroy();
  }
}

/** Returns why there was no response, without any part of the URL, because a webhook's URL is a secret. */
export function whyUnanswered(cause: unknown): string {
  if (!(cause instanceof Error)) return 'no answer';
  if (cause instanceof Refused) return cause.message;
  if (cause.name === 'TimeoutError') return 'no answer in time';
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  if ('code' in inner && typeof inner.code === 'string') return `no answer (${inner.code})`;
  return inner.message === 'unexpected redirect'
    ? 'it redirects, and redirects are not followed'
    : 'no answer';
}
