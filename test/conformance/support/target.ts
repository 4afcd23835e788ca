import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { asyncScheduler } from 'rxjs';
import { afterAll, beforeAll, expect } from 'vitest';
import type { TestContext } from 'vitest';
import { instant, monotonic } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import type { VenueInput } from '../../../src/simulator/options/options.ts';
import { startVenue } from '../../../src/simulator/venue.ts';
import type { RunningVenue } from '../../../src/simulator/venue.ts';
import { fieldsOf, readJson } from './json.ts';

/**
 * The server under test. With `VENUE_URL` and `VENUE_TOKEN` set, it is that server (`VENUE_WS_URL` is its WebSocket,
 * and `VENUE_PAIR`, `VENUE_QUANTITY` and `VENUE_AMOUNT` define the trades); otherwise every file starts a simulated venue.
 */
const env = process.env;
const foreignUrl = env['VENUE_URL']?.replace(/\/+$/u, '');

export const pair = env['VENUE_PAIR'] ?? 'btcusd';
/** Base quantity of one trade. */
export const quantity = env['VENUE_QUANTITY'] ?? '0.01';
/** Quote amount of one trade. */
export const amount = env['VENUE_AMOUNT'] ?? '100';

export interface Answer {
  readonly status: number;
  readonly type: string;
  /** The unchanged text. */
  readonly text: string;
  /** The parsed body, whose numbers keep their text; `undefined` if it is not JSON. */
  readonly body: unknown;
}

export interface Asked {
  readonly body?: string;
  /** Replaces the token of the account; `undefined` omits the header. */
  readonly authorization?: string | undefined;
}

export interface Target {
  readonly baseUrl: string;
  /** `undefined` if no URL was given for a foreign server. */
  readonly wsUrl: string | undefined;
  readonly token: string;
  /** The controls of the simulated venue; `undefined` for a foreign server. */
  readonly own: OwnVenue | undefined;
  get(path: string, asked?: Asked): Promise<Answer>;
  post(path: string, body: string, asked?: Asked): Promise<Answer>;
  delete(path: string, asked?: Asked): Promise<Answer>;
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
}

export interface OwnVenue extends RunningVenue {
  /** Advances the clock of the venue. */
  pass(ms: number): void;
  /** Time of the venue. */
  now(): Instant;
  /** Request headers of another account in `settings`. */
  as(account: number): { readonly authorization: string };
}

/** Prices are constant and no limit is enforced, unless a file sets other options. */
const settings: VenueInput = {
  accounts: [
    { name: 'desk', balances: { usd: '1000000', btc: '25', eth: '400' } },
    { name: 'other', balances: { usd: '1000', btc: '1' } },
  ],
  pairs: {
    btcusd: { startPrice: '60000', volatilityPctYear: 0, halfSpreadBps: 0, impactBps: 0 },
    ethusd: { startPrice: '3000', volatilityPctYear: 0, halfSpreadBps: 0, impactBps: 0 },
  },
  limits: { enforced: false },
};

/** Starts the server under test before the tests of a file and stops it after them. The result can be used inside tests. */
export function useVenue(input: VenueInput = {}): Target {
  let own: OwnVenue | undefined;
  beforeAll(async () => {
    if (foreignUrl === undefined) own = await startOwn(input);
    else if (env['VENUE_TOKEN'] === undefined) throw new Error('VENUE_URL needs VENUE_TOKEN');
  });
  afterAll(async () => {
    await own?.close();
  });
  const target: Target = {
    get baseUrl() {
      return foreignUrl ?? own?.baseUrl ?? '';
    },
    get wsUrl() {
      return foreignUrl === undefined ? own?.wsUrl : env['VENUE_WS_URL'];
    },
    get token() {
      return foreignUrl === undefined ? (own?.tokens[0] ?? '') : (env['VENUE_TOKEN'] ?? '');
    },
    get own() {
      return own;
    },
    get: async (path, asked) => await target.ask('GET', path, asked),
    post: async (path, body, asked) => await target.ask('POST', path, { ...asked, body }),
    delete: async (path, asked) => await target.ask('DELETE', path, asked),
    async ask(method, path, asked = {}) {
      if (own === undefined) await rateLimiter.turn(method, path);
      const authorization = 'authorization' in asked ? asked.authorization : `Bearer ${target.token}`;
      return await send(`${target.baseUrl}${path}`, method, { authorization, body: asked.body });
    },
  };
  return target;
}

async function startOwn(input: VenueInput): Promise<OwnVenue> {
  let ahead = 0;
  const began = Date.now() - performance.now();
  const now = (): Instant => instant(began + performance.now() + ahead);
  const clock = {
    scheduler: asyncScheduler,
    wall: now,
    monotonic: () => monotonic(performance.now() + ahead),
  };
  const venue = await startVenue({ ...settings, ...input }, { clock });
  return {
    ...venue,
    pass(ms) {
      ahead += ms;
    },
    now,
    as: (account) => ({ authorization: `Bearer ${venue.tokens[account] ?? ''}` }),
  };
}

/** Delays requests to a foreign server to the rate that the specification allows. */
class Pacer {
  /** The previous test file may have sent a request just before. */
  private readonly last = new Map([['/v1/account/transactions', Date.now()]]);

  async turn(method: string, path: string): Promise<void> {
    const route = path.split('?')[0] ?? path;
    const gapMs = method === 'GET' && route === '/v1/account/transactions' ? 10_500 : 120;
    const free = (this.last.get(route) ?? -Infinity) + gapMs;
    if (free > Date.now()) await wait(free - Date.now());
    this.last.set(route, Date.now());
  }
}

const rateLimiter = new Pacer();

async function send(
  url: string,
  method: string,
  { authorization, body }: { readonly authorization: string | undefined; readonly body: string | undefined },
): Promise<Answer> {
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  const headers = {
    accept: 'application/json',
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return await new Promise((resolve, reject) => {
    const asking = request(url, { method, headers, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        resolve({
          status: answer.statusCode ?? 0,
          type: answer.headers['content-type'] ?? '',
          text,
          body: jsonOrNothing(text),
        });
      });
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

function jsonOrNothing(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

/** The controls of our own venue; a foreign server cannot be controlled, so the test is skipped there. */
export function leversOf(target: Target, context: TestContext, why: string): OwnVenue {
  if (target.own === undefined) context.skip(`skipped: ${why}`);
  return target.own;
}

const isLocal = /^https?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$)/u.test(foreignUrl ?? '');
/** Whether tests may trade and withdraw: always on the simulated venue and on this computer, elsewhere only on request. */
export const mayMoveMoney = foreignUrl === undefined || isLocal || env['VENUE_MOVE_MONEY'] === 'yes';
export const noMoneyReason = 'skipped: it moves money; VENUE_MOVE_MONEY=yes allows it';

/** Skips a test that moves money if the server does not permit it. */
export function requireMoney(context: TestContext): void {
  if (!mayMoveMoney) context.skip(noMoneyReason);
}

/** Expects an error answer, a JSON object with one `error` string, and returns the string. */
export function expectError(answer: Answer, status: number | readonly [number, number]): string {
  const [least, most] = typeof status === 'number' ? [status, status] : status;
  expect(answer.status, answer.text).toBeGreaterThanOrEqual(least);
  expect(answer.status, answer.text).toBeLessThanOrEqual(most);
  const fields = fieldsOf(answer.body);
  expect(Object.keys(fields)).toStrictEqual(['error']);
  expect(fields['error']).toBeTypeOf('string');
  return String(fields['error']);
}

/** Any refusal of the request itself: the specification does not show which status. */
export const REFUSED = [400, 422] as const;

/** Expects a successful answer and returns it. */
export function expectGood(answer: Answer, ...statuses: readonly number[]): Answer {
  expect(statuses.length === 0 ? [200, 201] : statuses, answer.text).toContain(answer.status);
  return answer;
}
