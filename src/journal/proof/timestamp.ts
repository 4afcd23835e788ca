/**
 * Requests to a time-stamping authority (RFC 3161), encoded in DER without a library, because a request has forty bytes, and
 * this file reads only the status and the digest of an answer. `openssl ts -verify` checks the signature and the
 * certificates.
 */

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTETS = 0x04;

/** Only lengths below 128 bytes, which suffice here. */
const der = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const bytes = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
};

/** AlgorithmIdentifier of SHA-256, with its NULL. */
const SHA256 = Buffer.from('300d06096086480165030402010500', 'hex');

/** A `TimeStampReq` for a SHA-256 digest, in hex, that asks for the certificate of the authority. */
export function timestampRequest(digest: string): Buffer {
  return der(
    SEQUENCE,
    der(INTEGER, Buffer.from([1])),
    der(SEQUENCE, SHA256, der(OCTETS, Buffer.from(digest, 'hex'))),
    Buffer.from([0x01, 0x01, 0xff]),
  );
}

/** Why an answer is not a token for this digest; `undefined` if the authority granted one. */
export function timestampProblem(answer: Buffer, digest: string): string | undefined {
  const status = statusOf(answer);
  if (status === undefined) return 'it is not a TimeStampResp';
  if (status > 1) return `the authority refused: status ${status}`;
  return answer.includes(Buffer.from(digest, 'hex')) ? undefined : 'it was issued for another head';
}

/** Reads `SEQUENCE { SEQUENCE { INTEGER status …` at the beginning of an answer. */
function statusOf(answer: Buffer): number | undefined {
  const outer = contentAt(answer, 0);
  const info = outer === undefined || answer[0] !== SEQUENCE ? undefined : contentAt(answer, outer);
  if (outer === undefined || info === undefined || answer[outer] !== SEQUENCE) return undefined;
  return answer[info] === INTEGER && answer[info + 1] === 1 ? answer[info + 2] : undefined;
}

/** Where the content of the element at `at` starts. */
function contentAt(bytes: Buffer, at: number): number | undefined {
  const length = bytes[at + 1];
  return length === undefined ? undefined : at + 2 + (length < 0x80 ? 0 : length & 0x7f);
}
