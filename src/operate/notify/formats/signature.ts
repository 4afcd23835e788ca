import { createHmac } from 'node:crypto';

/**
 * The signature of a webhook: HMAC-SHA256, hex, over the time in Unix seconds, a full stop and the body. A receiver computes the same
 * and refuses old times, so that nobody can send the message again later.
 */
export const signatureOf = (key: string, seconds: number, body: string): string =>
  `v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`;
