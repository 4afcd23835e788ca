import type { Refusal } from '../http/reply.ts';

const refusal = (status: number, error: string): Refusal => ({ ok: false, status, error });

/**
 * What the server refuses before a route is reached. The statuses 405 and 406 are those of the venue's public documentation
 * ("Error codes"), the others those of HTTP; every text is chosen here.
 */
export const refused = {
  malformed: (why: string): Refusal => refusal(400, `invalid request: ${why}`),
  timeout: (): Refusal => refusal(408, 'the request took too long to arrive'),
  method: (): Refusal => refusal(405, 'method not allowed'),
  accept: (): Refusal => refusal(406, 'only JSON answers are available'),
  body: (): Refusal => refusal(413, 'the body is too large'),
  address: (): Refusal => refusal(414, 'the address is too long'),
  type: (): Refusal => refusal(415, 'only application/json is accepted'),
  expectation: (): Refusal => refusal(417, 'only the expectation 100-continue is supported'),
  /** What happens beyond the connections of an address is not documented. */
  connections: (): Refusal => refusal(429, 'too many connections'),
  headers: (): Refusal => refusal(431, 'the headers are too large'),
  broken: (): Refusal => refusal(500, 'internal error'),
} as const;
