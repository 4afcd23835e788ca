import { text } from '../../src/core/money.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { routes } from '../../src/simulator/http/routes.ts';
import type { Route } from '../../src/simulator/http/routes.ts';
import { wireFields } from '../../src/wire/documents/json-schema.ts';
import type { VenueUnderTest } from './client.ts';
import { RawClient, rawRequest } from './raw.ts';

export interface Findings {
  /** Requests by status of their answer. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Requests whose answer is not what a client may count on, at most a few. */
  readonly problems: readonly string[];
}

/** Values as careless and hostile clients write them into JSON. */
const VALUES = [
  '0', '-0', '-1', '1', '0.5', '1e400', '-1e400', '1e-400', '1e2', '0.000000001', '0.123456789012345678',
  '99999999999999999999999999999999999999999999', '1'.repeat(400), 'NaN', 'Infinity', '0x10', '01', '1.', '.5', '+1', 'null', 'true',
  'false', '[]', '{}', '[1]', '{"a":1}', '""', '"1"', '"1.5"', '"-1"', '"1e400"', '"buy"', '"BUY"', '"sell"', '"btcusd"', '"BTCUSD"',
  '"dogeusd"', '"usd"', '"btc"', '"__proto__"', '"constructor"', '"toString"', '"\\u0000"', '"\\ud800"', '"../../etc/passwd"',
  '"\' OR 1=1 --"', '"; DROP TABLE orders"', '"<script>alert(1)</script>"', '"${jndi:ldap://x}"', '"%00%0d%0aX: y"', '"=1+1"',
  '"\\r\\nset-cookie: a=b"', `"${'x'.repeat(300)}"`, '"\u202e\u0000"', `${'['.repeat(300)}${']'.repeat(300)}`,
] as const; // prettier-ignore
const BODIES = [
  '', '{', '}', 'null', '[]', '"text"', '1', 'true', '{"a"', '{"a":}', '{"pair":"btcusd",}', "{'pair':'btcusd'}", '<xml/>',
  'pair=btcusd&side=buy&quantity=1', '\u0000', '{}{}', '[{}]', '{"__proto__":{"isAdmin":true}}', `{"a":${'{"a":'.repeat(500)}1${'}'.repeat(501)}`,
  '{"quantity":1,"quantity":2,"pair":"btcusd","side":"buy"}', '\uFEFF{"pair":"btcusd","side":"buy","quantity":1}',
] as const; // prettier-ignore
const TYPES = ['application/json', 'application/json; charset=utf-8', 'text/plain', 'text/html', 'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x', 'application/xml', '', 'application/jsonp', 'APPLICATION/JSON'] as const; // prettier-ignore
const PATHS = ['%00', '..%2f..%2fetc', '-1', '0', '1', '9'.repeat(30), 'btc', 'usd', 'btcusd', '__proto__', '%ff', '%E0%A4%A', 'a'.repeat(200),
  "1'%20OR%20'1'='1", '<script>', 'done', 'open', 'true', 'null', '%2e%2e'] as const; // prettier-ignore
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'] as const;

/** What a refusal may say: nothing else is an answer to bad input. */
const REFUSALS = new Set([400, 401, 403, 404, 405, 406, 409, 413, 414, 415, 422, 431]);
const PROBLEMS_MAX = 10;

/**
 * Asks `count` hostile requests, one after the other, and looks at the answer and the ledger after each. Every route
 * draws from a source of its own, so that a new route leaves the requests to the others as they are.
 */
export async function fuzz(
  venue: VenueUnderTest,
  { seed, count }: { seed: string; count: number },
): Promise<Findings> {
  const sources = routes.map((route) => {
    const random = seededRandom(`${seed} ${route.method} ${route.path}`);
    return { route, next: (): number => random.next() };
  });
  const statuses = new Map<number, number>();
  const problems: string[] = [];
  using client = new RawClient(venue.baseUrl);
  let books = booksOf(venue);
  for (let turn = 0; turn < count && problems.length < PROBLEMS_MAX; turn++) {
    const { route, next } = sources[turn % sources.length] as (typeof sources)[number];
    const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T;
    const request = requestFor(route, { pick, next, token: pick([...venue.tokens, venue.partnerToken]) });
    const answer = await client.send(request);
    const after = booksOf(venue);
    const status = answer?.status ?? 0;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const isHead = request.startsWith('HEAD ');
    const problem =
      status >= 200 && status < 300
        ? undefined
        : refusalProblem(status, isHead ? '{"error":""}' : (answer?.body ?? ''), after === books);
    if (problem !== undefined) problems.push(`${problem}: ${JSON.stringify(request)} -> ${JSON.stringify(answer?.body)}`);
    books = after;
  }
  return { statuses, problems };
} // prettier-ignore

function refusalProblem(status: number, body: string, isUnmoved: boolean): string | undefined {
  if (!isUnmoved) return 'the ledger moved';
  if (!REFUSALS.has(status)) return `status ${status}`;
  try {
    const { error } = JSON.parse(body) as { readonly error?: unknown };
    return typeof error === 'string' && error.length < 1_000 ? undefined : 'no error text';
  } catch {
    return 'not JSON';
  }
}

/** Everything that the accounts hold, as text. */
const booksOf = ({ exchange }: VenueUnderTest): string =>
  exchange.accounts
    .map(({ name }) => `${name} ${[...exchange.ledger.balances(name)].map(([currency, held]) => `${currency} ${text(held)}`).join()}`)
    .join('\n'); // prettier-ignore

interface Dice {
  readonly pick: <T>(of: readonly T[]) => T;
  readonly next: () => number;
  readonly token: string;
}

function requestFor(route: Route, { pick, next, token }: Dice): string {
  const method = next() < 0.05 ? pick(METHODS) : route.method;
  const path = route.path.replaceAll(/:\w+/gu, () => pick(PATHS));
  const names = [...(route.query === undefined ? [] : wireFields(route.query).keys()), 'colour'];
  const pairs = names.filter(() => next() < 0.4).map((name) => `${name}=${encodeURIComponent(unquoted(pick(VALUES)))}`);
  const target = `${path}${next() < 0.03 ? '/x' : ''}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`;
  const isBare = method === 'HEAD' || (route.body === undefined && next() < 0.9);
  return rawRequest(`${method} ${target}`, {
    token: next() < 0.03 ? pick(['wrong', '', 'x'.repeat(500), '"; --']) : token,
    ...(isBare ? {} : { body: bodyFor(route, { pick, next }) }),
    headers: isBare ? [] : [`content-type: ${next() < 0.85 ? 'application/json' : pick(TYPES)}`],
  });
} // prettier-ignore

function bodyFor(route: Route, { pick, next }: Pick<Dice, 'pick' | 'next'>): string {
  // A part gets past the first checks, so that what lies behind them is met as well.
  const isMild = next() < 0.3;
  if (!isMild && next() < 0.15) return pick(BODIES);
  // The venue takes one of the two sizes only.
  const omitted = isMild ? pick(['quantity', 'amount']) : undefined;
  const names = [...(route.body === undefined ? [] : wireFields(route.body).keys())].filter((name) => name !== omitted);
  const members = names.filter(() => next() < (isMild ? 0.8 : 0.7)).map((name) => `"${name}":${isMild || next() < 0.5 ? likely(name, pick) : pick(VALUES)}`);
  if (!isMild && next() < 0.1) members.push(`"${pick(['colour', '__proto__', 'quantity', 'amount', 'constructor'])}":${pick(VALUES)}`);
  return `{${members.join(',')}}`;
} // prettier-ignore

/** A value of the right kind. */
function likely(name: string, pick: Dice['pick']): string {
  if (/pair/u.test(name)) return pick(['"btcusd"', '"ethusd"']);
  if (name === 'side') return pick(['"buy"', '"sell"']);
  if (name.startsWith('currency')) return pick(['"btc"', '"usd"', '"eth"']);
  if (/quantity|amount|price|threshold/u.test(name))
    return pick(['0.5', '1', '100', '0.00000001', '-1', '0', '1e400', '1e9']);
  if (name === 'algorithm_id') return pick(['200', '201', '307']);
  if (/_id$|memo|address|alias/u.test(name)) return pick(['"a"', '"c-1"', '"bc1qexample"', '""']);
  if (name === 'isWire') return pick(['0', '1', 'true']);
  return pick(['"a"', '1', 'true', '"WITHDRAW"', '"bc1qexample"']);
}

const unquoted = (value: string): string => value.replaceAll(/[\p{Cs}]/gu, '?').replaceAll('"', '');
