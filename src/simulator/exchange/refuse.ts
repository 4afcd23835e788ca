import type { Refusal } from '../http/reply.ts';

const refusal = (status: number, error: string): Refusal => ({ ok: false, status, error });

/**
 * Refusals of the server before it reaches a route. The statuses 405 and 406 come from the venue's public documentation
 * ("Error codes"), the others from HTTP; every text is chosen here.
 */
export const refused = {
  malformed: (why: string): Refusal => refusal(400, `invalid request: ${why}`),
  timeout: (): Refusal => refusal(408, 'the request took too long to arrive'),
  method: (): Refusal => refusal(405, 'method not allowed'),
  accept: (): Refusal => refusal(406, 'only JSON responses are available'),
  body: (): Refusal => refusal(413, 'the body is too large'),
  address: (): Refusal => refusal(414, 'the URL is too long'),
  type: (): Refusal => refusal(415, 'only application/json is accepted'),
  expectation: (): Refusal => refusal(417, 'only the expectation 100-continue is supported'),
  /** The response to too many connections of an address is not documented. */
  connections: (): Refusal => refusal(429, 'too many connections'),
  headers: (): Refusal => refusal(431, 'the headers are too large'),
  broken: (): Refusal => refusal(500, 'internal error'),
} as const;
