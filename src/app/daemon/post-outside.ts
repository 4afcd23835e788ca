import { OperatorError } from '../../core/errors.ts';
import { addressProblem } from '../../venue/origin.ts';

/** What is posted to a server that is not the venue: a webhook, or a time-stamping authority. Nothing of it is secret. */
export interface Outside {
  readonly contentType: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

const ANSWER_MS = 20_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/**
 * Posts once, without following redirects, and gives the answer: at most 64 KiB, within 20 seconds. HTTPS, but for this machine.
 *
 * @throws OperatorError `config` for an address that is not fit, `again` for anything but a good answer.
 */
export async function postOutside(address: string, { contentType, body }: Outside): Promise<Buffer> {
  const problem = addressProblem(address, 'http');
  if (problem !== undefined) throw new OperatorError('config', `${address}: ${problem}`);
  try {
    const reply = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const pieces: Uint8Array[] = [];
    let size = 0;
    const answer: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = reply.body ?? [];
    for await (const piece of answer) {
      size += piece.length;
      if (size > ANSWER_BYTES_MAX) throw new Error(`an answer of more than ${ANSWER_BYTES_MAX} bytes`);
      pieces.push(piece);
    }
    if (!reply.ok) throw new Error(`status ${reply.status}`);
    return Buffer.concat(pieces);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new OperatorError('again', `${address} did not accept the request: ${why}`, cause);
  }
}
