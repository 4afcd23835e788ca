import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { isAmountText, price, quantity, text } from '../../core/money.ts';
import { after } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Clock } from '../../engine/ports.ts';
import { transactionBody } from '../../wire/account-bodies.ts';
import { answerOf, deliver } from './deliver.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { faultPlanSchema } from '../faults/faults.ts';
import type { Faults } from '../faults/fault-plan.ts';
import { refused } from '../exchange/refuse.ts';
import { assumed, found } from './reply.ts';
import type { Reply } from './reply.ts';

export interface AdminSetup {
  readonly exchange: Exchange;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly now: () => Instant;
  /** Bearer token that every request must carry. */
  readonly token: string;
}

export interface RunningAdmin {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 1_048_576;
/** Drill overrides by account. */
const CONNECTIONS_MAX = 64;
const TIMEOUT_MS = 10_000;
const HOST = '127.0.0.1';

/**
 * The admin API for drills: faults, risk modes, availability, prices, deposits, and the ledger as it is. It listens on a
 * separate loopback port. The token grants every operation. Host and Origin are checked, so that a page in a browser cannot
 * use the API.
 */
export async function startAdmin(setup: AdminSetup, port = 0): Promise<RunningAdmin> {
  const server = createServer((request, response) => {
    void answer(setup, request, response);
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.headersTimeout = TIMEOUT_MS;
  server.requestTimeout = TIMEOUT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, resolve);
  });
  const address = server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${HOST}:${listening}`,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
    },
  };
}

async function answer(setup: AdminSetup, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let reply: Reply<object>;
  try {
    reply = isAllowed(setup, request)
      ? act(setup, request, await bodyOf(request))
      : { ok: false, status: 401, error: 'expected the admin token of the ready line, from this machine' };
  } catch (error) {
    reply = refused.malformed(error instanceof z.ZodError ? z.prettifyError(error) : 'unreadable');
  }
  deliver(response, answerOf(reply), setup);
}

const isAllowed = ({ token }: AdminSetup, { headers }: IncomingMessage): boolean =>
  headers.authorization === `Bearer ${token}` &&
  headers.origin === undefined &&
  /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/u.test(headers.host ?? '');

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let body = '';
  request.setEncoding('utf8');
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > BODY_BYTES_MAX) throw new RangeError('too large');
  }
  return body === '' ? {} : (JSON.parse(body) as unknown);
}

const amount = z
  .string()
  .refine((value) => isAmountText(value), { error: 'expected an amount as a quoted string, such as "1.5"' });
const modes = ['Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only', 'Reduce_Only'] as const;

type Lever = (setup: AdminSetup, name: string, body: unknown) => Reply<object>;

/** All admin routes: method and path, in which `*` matches a name. */
const levers: readonly (readonly [string, Lever])[] = [
  ['GET /admin/faults', ({ faults }) => found({ rules: faults.counts() })],
  [
    'PUT /admin/faults',
    ({ faults, clock }, _, body) => {
      faults.replace(faultPlanSchema.parse(body), clock.monotonic());
      return found({ rules: faults.counts() });
    },
  ],
  [
    'DELETE /admin/faults',
    ({ faults, clock }) => {
      faults.replace({}, clock.monotonic());
      return found({});
    },
  ],
  [
    'PATCH /admin/faults/*',
    ({ faults }, name, body) => {
      const { enabled } = z.strictObject({ enabled: z.boolean() }).parse(body);
      return faults.enable(name, enabled ? 'on' : 'off') ? found({ rules: faults.counts() }) : unknown(name);
    },
  ],
  [
    'PUT /admin/risk-modes/*',
    ({ exchange }, pair, body) => {
      const { mode } = z.strictObject({ mode: z.enum(modes) }).parse(body);
      if (!exchange.market.listings.has(pair)) return unknown(pair);
      exchange.setRiskMode(pair, mode);
      return found({ pair, mode });
    },
  ],
  [
    'PUT /admin/availability/*',
    ({ exchange }, scope, body) => {
      const { state } = z.strictObject({ state: z.enum(['available', 'unavailable']) }).parse(body);
      if (scope !== 'all' && !exchange.market.listings.has(scope)) return unknown(scope);
      exchange.setAvailability(scope, state);
      return found({ scope, state });
    },
  ],
  [
    'PUT /admin/prices/*',
    ({ exchange, now }, pair, body) => {
      const { mid } = z.strictObject({ mid: amount }).parse(body);
      if (!exchange.market.listings.has(pair)) return unknown(pair);
      const pinned = price(mid);
      if (!pinned.gt(0)) return refused.malformed('mid must be above zero');
      exchange.pin(pair, pinned, now());
      return found({ pair, mid: text(exchange.market.mid(pair, now())) });
    },
  ],
  [
    'DELETE /admin/prices/*',
    ({ exchange, now }, pair) => {
      if (!exchange.market.listings.has(pair)) return unknown(pair);
      exchange.pin(pair, undefined, now());
      return found({ pair, mid: text(exchange.market.mid(pair, now())) });
    },
  ],
  [
    'POST /admin/deposits/*',
    ({ exchange, now }, account, body) => {
      const asked = z
        .strictObject({ currency: z.string(), amount, held_ms: z.int().positive().optional() })
        .parse(body);
      if (!exchange.accounts.some(({ name }) => name === account)) return unknown(account);
      if (!exchange.market.currencies.has(asked.currency)) return unknown(asked.currency);
      const arrived = quantity(asked.amount);
      if (!arrived.gt(0)) return refused.malformed('amount must be above zero');
      const until = asked.held_ms === undefined ? undefined : after(now(), asked.held_ms);
      return found({ id: exchange.deposit(account, asked.currency, arrived, now(), until) });
    },
  ],
  [
    'GET /admin/ledger/*',
    ({ exchange, now }, account) => {
      if (!exchange.accounts.some(({ name }) => name === account)) return unknown(account);
      exchange.advance(now());
      return found(exchange.ledger.rows(account).map((row) => transactionBody(row)));
    },
  ],
  [
    'POST /admin/renumber/*',
    ({ exchange, now }, account) => {
      if (!exchange.accounts.some(({ name }) => name === account)) return unknown(account);
      exchange.renumber(account, now());
      return found({});
    },
  ],
];

const unknown = (name: string): Reply<object> => ({
  ...assumed.unknownRoute(),
  error: `there is no ${name.slice(0, 64)}`,
});

function act(setup: AdminSetup, { method = '', url = '' }: IncomingMessage, body: unknown): Reply<object> {
  const asked = `${method} ${url}`;
  for (const [pattern, lever] of levers) {
    if (pattern === asked) return lever(setup, '', body);
    const stem = pattern.slice(0, -1);
    const name = asked.slice(stem.length);
    if (pattern.endsWith('*') && asked.startsWith(stem) && /^[\w.@-]{1,128}$|^[\w.%-]{1,256}$/u.test(name))
      return lever(setup, decodeURIComponent(name), body);
  }
  return assumed.unknownRoute();
}
