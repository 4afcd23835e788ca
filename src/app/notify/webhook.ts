import { createHmac } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { Clock } from '../../engine/ports.ts';
import { Undelivered } from '../../operate/notify/channel.ts';
import type { Channel } from '../../operate/notify/channel.ts';
import { jsonBody, slackBody, teamsBody } from '../../operate/notify/formats.ts';
import type { Secret } from '../config/secret.ts';
import { exchange, whyUnanswered } from '../daemon/post-outside.ts';
import type { Reply } from '../daemon/post-outside.ts';

export interface WebhookOptions {
  readonly format: 'slack' | 'teams' | 'json';
  readonly url: Secret;
  /** Key that signs the body; `undefined`: the body is not signed. */
  readonly key: Secret | undefined;
}

/**
 * The signature of a webhook: HMAC-SHA256, hex, over the time in Unix seconds, a full stop and the body. A receiver computes the same
 * and refuses old times, so that nobody can send the message again later.
 */
export const signatureOf = (key: string, seconds: number, body: string): string =>
  `v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`;

const BODIES = { slack: slackBody, teams: teamsBody, json: jsonBody } as const;
const WAIT_MAX_MS = 10 * MINUTE_MS;

/** Posts each message once. The URL is a secret, because anyone who knows it can post messages as the desk. */
export const webhook = ({ format, url, key }: WebhookOptions, clock: Pick<Clock, 'wall'>): Channel['send'] =>
  async function post(message) {
    const body = JSON.stringify(BODIES[format](message));
    const seconds = Math.floor(clock.wall() / SECOND_MS);
    let reply: Reply;
    try {
      reply = await exchange(url.reveal(), {
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'idempotency-key': message.key,
          ...(key === undefined
            ? {}
            : {
                'x-tranche-timestamp': String(seconds),
                'x-tranche-signature': signatureOf(key.reveal(), seconds, body),
              }),
        },
        body,
      });
    } catch (cause) {
      throw new Undelivered(whyUnanswered(cause)); // omits the cause, which may contain the address
    }
    if (reply.status >= 200 && reply.status < 300) return;
    throw new Undelivered(`status ${reply.status}`, {
      isRefused: [400, 413, 415, 422].includes(reply.status),
      waitMs: waitOf(reply.headers.get('retry-after')),
    });
  };

function waitOf(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,6}$/u.test(retryAfter)
    ? Math.min(WAIT_MAX_MS, Number(retryAfter) * SECOND_MS)
    : undefined;
}
