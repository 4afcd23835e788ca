import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/core/errors.ts';
import type { StoredRecord } from '../../src/core/record.ts';
import { after, instant, monotonic } from '../../src/core/time.ts';
import { authenticatorOf } from '../../src/operate/access.ts';
import { WrongTokens } from '../../src/operate/wrong-tokens.ts';
import type { Role } from '../../src/operate/access.ts';
import { EventStream } from '../../src/operate/events.ts';
import type { OperatedDesk, Order, RefusedAccess } from '../../src/operate/api/operated-desk.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import { startOperate } from '../../src/operate/server.ts';
import type { OperateOptions } from '../../src/operate/server.ts';

const HASH = 'a'.repeat(64);

const clock = { now: monotonic(0) };
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const tokenOf = (role: Role): string => `token-of-a-${role}`;
const bearers = (['viewer', 'operator', 'approver', 'admin'] as const).map((role) => ({
  name: role === 'admin' ? 'local' : `${role}@desk`,
  role,
  kind: role === 'admin' ? ('machine' as const) : ('person' as const),
  token: { reveal: () => tokenOf(role) },
}));

interface Served {
  readonly url: string;
  readonly orders: Order[];
  readonly refused: RefusedAccess[];
  readonly events: EventStream;
}

async function serve(over: Partial<OperateOptions> = {}, given: Partial<OperatedDesk> = {}): Promise<Served> {
  const metrics = createMetrics({ version: '1', mode: 'paper', desk: 'main', now: () => instant(0) });
  const orders: Order[] = [];
  const refused: RefusedAccess[] = [];
  const events = new EventStream();
  const desk: OperatedDesk = {
    desk: 'main',
    mode: 'paper',
    hasApprovals: false,
    needsApproval: () => false,
    status: () => ({ state: 'active' }),
    approvals: () => [],
    doubts: () => [{ client_order_id: 'c' }],
    open: () => ({ orders_in_flight: ['c'], open_doubts: [] }),
    obey: (order) => (orders.push(order), { isDone: order.do !== 'resume', says: 'so be it' }),
    runNow: async () => await Promise.resolve({ isDone: true, says: 'so be it' }),
    refused: (attempt) => refused.push(attempt),
    ...given,
  };
  const operate = await startOperate({
    listen: '127.0.0.1:0',
    version: '1',
    metrics,
    ready: () => [],
    api: { desk, events, bearers, now: () => clock.now },
    ...over,
  });
  closers.push(() => {
    metrics.close();
  });
  closers.push(async () => await operate.close());
  return { url: operate.url, orders, refused, events };
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function ask(
  url: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<{ status: number; body: string }> {
  return await new Promise((resolve, reject) => {
    const exchange = request(url, { method, headers, agent: false }, (response: IncomingMessage) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: text });
      });
    });
    exchange.on('error', reject);
    exchange.end(body);
  });
}

const as = (role: Role): Readonly<Record<string, string>> => ({ authorization: `Bearer ${tokenOf(role)}` });
const GUARDS = { 'content-type': 'application/json', 'x-tranche': '1' };
const posting = (role: Role, body: object, headers: object = GUARDS): Asked => ({
  method: 'POST',
  headers: { ...as(role), ...headers },
  body: JSON.stringify(body),
});

describe('the API', () => {
  it('answers 401 without a token of this desk, on any route', async () => {
    const { url } = await serve();
    for (const path of ['status', 'doubts', 'events']) {
      for (const authorization of [
        undefined,
        'Bearer ',
        'Bearer wrong',
        `Basic ${tokenOf('admin')}`,
        tokenOf('admin'),
      ]) {
        const headers = authorization === undefined ? {} : { authorization };
        expect(await ask(`${url}/api/v1/${path}`, { headers })).toMatchObject({ status: 401 });
      }
    }
    expect(await ask(`${url}/api/v1/status?token=${tokenOf('admin')}`)).toMatchObject({ status: 401 });
  });

  it('shows the status and the doubts to a viewer', async () => {
    const { url } = await serve();
    const status = await ask(`${url}/api/v1/status`, { headers: as('viewer') });
    expect([status.status, JSON.parse(status.body)]).toEqual([200, { state: 'active' }]);
    const doubts = await ask(`${url}/api/v1/doubts`, { headers: as('viewer') });
    expect(JSON.parse(doubts.body)).toEqual({ doubts: [{ client_order_id: 'c' }] });
  });

  it.each<readonly [string, Role, object]>([
    ['pause', 'operator', { why: 'w' }],
    ['resume', 'operator', { why: 'w' }],
    ['halt', 'operator', { why: 'w' }],
    ['rearm', 'approver', { why: 'w', confirm: 'main' }],
    ['approvals/approve', 'approver', { id: 'ap-1', hash: HASH, why: 'w' }],
    ['approvals/reject', 'operator', { id: 'ap-1', hash: HASH, why: 'w' }],
    ['doubts/resolve', 'approver', { client_order_id: 'c', verdict: 'filled', evidence: 'e' }],
  ])('accepts %s from a role of at least %s and refuses every lower role', async (path, least, body) => {
    const { url, orders, refused } = await serve();
    const ranked: readonly Role[] = ['viewer', 'operator', 'approver', 'admin'];
    for (const role of ranked) {
      const { status } = await ask(`${url}/api/v1/${path}`, posting(role, body));
      const isAllowed = ranked.indexOf(role) >= ranked.indexOf(least);
      expect(`${role} ${status}`).toBe(`${role} ${isAllowed ? (path === 'resume' ? 409 : 200) : 403}`);
    }
    expect(orders).toHaveLength(ranked.length - ranked.indexOf(least));
    expect(orders[0]?.by).toBe(`${least}@desk`);
    const lesser = ranked.slice(0, ranked.indexOf(least));
    expect(refused).toEqual(
      lesser.map((role) => ({ path: `/api/v1/${path}`, by: `${role}@desk`, role, needed: least })),
    );
  });

  it('reports a request with an unknown token, without repeating the token', async () => {
    const { url, refused } = await serve();
    const authorization = 'Bearer of-another-desk';
    const { status, body } = await ask(`${url}/api/v1/status`, { headers: { authorization } });
    expect(status).toBe(401);
    expect(refused).toEqual([{ path: '/api/v1/status', by: 'none', role: undefined, needed: 'viewer' }]);
    expect(body + JSON.stringify(refused)).not.toContain('of-another-desk');
  });

  it('takes the name of a caller only from the token, and shows a name sent with the machine token in parentheses', async () => {
    const { url, orders } = await serve();
    await ask(`${url}/api/v1/halt`, posting('admin', { why: 'w', by: 'ann' }));
    await ask(
      `${url}/api/v1/approvals/approve`,
      posting('approver', { id: 'ap-1', hash: HASH, why: 'w', by: 'ben' }),
    );
    expect(orders).toMatchObject([
      { do: 'halt', by: 'local (ann)', token: { name: 'local', kind: 'machine' } },
      { do: 'approve', by: 'approver@desk', token: { name: 'approver@desk', kind: 'person' } },
    ]);
  });

  it('refuses a name that belongs to the token of another person', async () => {
    const { url, orders } = await serve();
    for (const by of ['approver@desk', ' Approver@Desk '])
      for (const role of ['admin', 'operator'] as const)
        expect(await ask(`${url}/api/v1/halt`, posting(role, { why: 'w', by }))).toMatchObject({
          status: 403,
        });
    expect(orders).toEqual([]);
  });

  it('lets an operator request a rearm or the end of a doubt only if another person must approve it', async () => {
    const rearm = { why: 'w', confirm: 'main' };
    const filled = { client_order_id: 'c', verdict: 'filled', evidence: 'e', order_id: 'o' };
    const statuses = async (isNeeded: boolean, role: Role): Promise<readonly number[]> => {
      const { url } = await serve({}, { needsApproval: () => isNeeded });
      const all = [
        ['rearm', rearm],
        ['doubts/resolve', filled],
        ['doubts/resolve', { client_order_id: 'c', verdict: 'not_executed', evidence: 'e' }],
      ] as const;
      return await Promise.all(
        all.map(async ([path, body]) => (await ask(`${url}/api/v1/${path}`, posting(role, body))).status),
      );
    };
    expect(await statuses(false, 'operator')).toEqual([403, 403, 403]);
    expect(await statuses(true, 'operator')).toEqual([200, 200, 403]);
    expect(await statuses(true, 'viewer')).toEqual([403, 403, 403]);
  });

  it('does not find paths with percent-encoded letters', async () => {
    const { url, orders } = await serve();
    for (const path of [
      '/api/v1/%68alt',
      '/api/v1/hal%74',
      '/api%2fv1%2fhalt',
      '/api/v1/halt%00',
      '/%61pi/v1/halt',
    ])
      expect(await ask(`${url}${path}`, posting('operator', { why: 'w' }))).toMatchObject({ status: 404 });
    for (const path of ['/%68ealthz', '/metric%73'])
      expect(await ask(`${url}${path}`)).toMatchObject({ status: 404 });
    expect(orders).toEqual([]);
  });

  it('refuses a body with a duplicate key or invalid JSON and executes no command', async () => {
    const { url, orders } = await serve();
    for (const body of [
      '{"why":"w","kill":false,"kill":true}',
      '{"why":"w","wh\\u0079":"v"}',
      '{"why":"w"',
      '',
    ]) {
      const headers = { ...as('operator'), ...GUARDS };
      expect(await ask(`${url}/api/v1/halt`, { method: 'POST', headers, body })).toMatchObject({
        status: 400,
      });
    }
    expect(orders).toEqual([]);
  });

  it('blocks an address for some seconds after ten wrong tokens, except for known tokens and the machine token', async () => {
    const { url } = await serve();
    const status = async (token: string): Promise<number> =>
      (await ask(`${url}/api/v1/status`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await status(tokenOf('operator'))).toBe(200);
    const wrong: number[] = [];
    for (let n = 0; n < 12; n++) wrong.push(await status(`wrong-${n}`));
    expect(wrong).toEqual([...Array<number>(9).fill(401), 429, 429, 429]);
    expect(await status(tokenOf('viewer'))).toBe(429);
    // This token was used from this address before: wrong tokens of others must not prevent a halt.
    expect(await status(tokenOf('operator'))).toBe(200);
    expect(await status(tokenOf('admin'))).toBe(200);
    clock.now = after(clock.now, 6_000);
    expect(await status(tokenOf('viewer'))).toBe(200);
    clock.now = after(clock.now, 3_600_000);
  });

  it('answers a halt with the orders in flight and the open doubts', async () => {
    const { url, orders } = await serve();
    const { status, body } = await ask(`${url}/api/v1/halt`, posting('operator', { why: 'now', kill: true }));
    expect([status, JSON.parse(body)]).toEqual([
      200,
      { done: true, says: 'so be it', orders_in_flight: ['c'], open_doubts: [] },
    ]);
    expect(orders).toEqual([
      {
        do: 'halt',
        by: 'operator@desk',
        token: { name: 'operator@desk', kind: 'person' },
        why: 'now',
        isKill: true,
      },
    ]);
  });

  it('complaint 19: names the invalid field of a command and refuses unknown fields', async () => {
    const { url, orders } = await serve();
    for (const [path, body, field] of [
      [
        'resume',
        { why: 'w', straategy: 'twap' },
        '"straategy" is unknown; known fields are by, pair, parent, strategy, why',
      ],
      ['resume', { why: 'w', strategy: '' }, '"strategy": expected a text'],
      ['resume', { why: 'w', for: 'PT1M' }, '"for" is unknown'],
      ['pause', { why: 'w', pair: 7 }, '"pair": expected a text'],
      ['pause', { why: 'w', for: 'soon' }, '"for"'],
      ['pause', { why: 'w', reducing: 'yes' }, '"reducing": expected true or false'],
      ['halt', { why: 'w', Kill: true }, '"Kill" is unknown'],
      ['reload', { why: 'w', dryrun: true }, '"dryrun" is unknown'],
      ['rearm', { why: 'w', confirm: 'main', force: true }, '"force" is unknown'],
      ['halt', {}, '"why": expected a text'],
      ['approvals/approve', { id: 'ap-1', hash: HASH, why: 'w', side: 'buy' }, '"side" is unknown'],
      [
        'doubts/resolve',
        { client_order_id: 'c', verdict: 'filled', evidence: 'e', order_id: '7', quantity: '1', amount: '1', fee: '2' }, // prettier-ignore
        '"fee" is unknown',
      ],
    ] as const) {
      const { status, body: said } = await ask(`${url}/api/v1/${path}`, posting('admin', body));
      expect([path, status, said]).toEqual([
        path,
        400,
        expect.stringContaining(JSON.stringify(field).slice(1, -1)) as unknown,
      ]);
    }
    expect(orders).toEqual([]);
  });

  it('re-arms the desk only if the caller types its name', async () => {
    const { url, orders } = await serve();
    for (const confirm of [undefined, '', 'Main', true])
      expect(await ask(`${url}/api/v1/rearm`, posting('admin', { why: 'w', confirm }))).toMatchObject({
        status: 400,
      });
    expect(orders).toEqual([]);
  });

  it.each<readonly [string, number, Asked]>([
    [
      'from another origin',
      403,
      posting('admin', { why: 'w' }, { ...GUARDS, origin: 'https://evil.example' }),
    ],
    ['without the guard header', 403, posting('admin', { why: 'w' }, { 'content-type': 'application/json' })],
    ['that is not JSON', 400, { ...posting('admin', {}), body: '{"why":' }],
    ['that is not an object', 400, posting('admin', ['w'])],
    ['with a __proto__ key', 400, { ...posting('admin', {}), body: '{"why":"w","__proto__":{"kill":true}}' }],
    ['without a reason', 400, posting('admin', {})],
    ['with an empty reason', 400, posting('admin', { why: '  ' })],
    ['with a flag that is not a boolean', 400, posting('admin', { why: 'w', kill: 'yes' })],
    ['by GET', 405, { headers: { ...as('admin'), ...GUARDS } }],
  ])('refuses a command %s and does not execute it', async (_, status, asked) => {
    const { url, orders } = await serve();
    expect(await ask(`${url}/api/v1/halt`, asked)).toMatchObject({ status });
    expect(orders).toEqual([]);
  });

  it('accepts a command of its own page', async () => {
    const { url, orders } = await serve();
    const own = { ...GUARDS, origin: url };
    expect(await ask(`${url}/api/v1/halt`, posting('admin', { why: 'w' }, own))).toMatchObject({
      status: 200,
    });
    expect(orders).toHaveLength(1);
  });

  it('refuses the preflight of another origin', async () => {
    const { url } = await serve();
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    expect(await ask(`${url}/api/v1/halt`, { method: 'OPTIONS', headers })).toMatchObject({ status: 403 });
  });
});

describe('the listen address of the operate server', () => {
  it.each(['0.0.0.0:0', '[::]:0', '192.168.1.1:0', 'example.org:0'])(
    'is refused beyond loopback unless operate.allow_network is set: %s',
    async (listen) => {
      const failure: unknown = await serve({ listen }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(OperatorError);
      expect(String(failure)).toContain('operate.allow_network');
    },
  );

  it('requires a token for every path except the probes if operate.allow_network is set', async () => {
    const { url } = await serve({ listen: '0.0.0.0:0', allowNetwork: true });
    const here = url.replace('0.0.0.0', '127.0.0.1');
    expect(await ask(`${here}/healthz`)).toMatchObject({ status: 200 });
    for (const path of ['/metrics', '/nowhere']) {
      expect(await ask(here + path)).toMatchObject({ status: 401 });
    }
    expect(await ask(`${here}/metrics`, { headers: as('viewer') })).toMatchObject({ status: 200 });
  });
});

const aRecord = (seq: number, why: string): StoredRecord => ({
  seq,
  at: instant(0),
  body: { kind: 'stopped', why, open_doubts: 0 },
  hash: '',
});

describe('the event stream of the API', () => {
  it('sends each record to its listeners', async () => {
    const { url, events } = await serve();
    const text = new Promise<string>((resolve, reject) => {
      const exchange = request(
        `${url}/api/v1/events`,
        { headers: as('viewer'), agent: false },
        (response) => {
          let all = '';
          response.on('data', (chunk: Buffer) => {
            all += chunk.toString();
            if (all.includes('\n\n') && events.listeners === 1 && !all.includes('id:'))
              events.publish(aRecord(7, 'x'));
            if (all.includes('data:')) {
              exchange.destroy();
              resolve(all);
            }
          });
        },
      );
      exchange.on('error', reject);
      exchange.end();
    });
    expect(await text).toContain('id: 7\ndata: {"seq":7,"at":"1970-01-01T00:00:00.000Z","kind":"stopped",');
  });

  it('accepts at most four listeners of one name and keeps answering other requests', async () => {
    const { url, events } = await serve();
    const { hostname, port, host } = new URL(url);
    const listeners = Array.from({ length: 4 }, () => connect(Number(port), hostname));
    closers.push(() => {
      for (const one of listeners) one.destroy();
    });
    for (const one of listeners) {
      one.on('error', () => undefined);
      one.write(
        `GET /api/v1/events HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${tokenOf('viewer')}\r\n\r\n`,
      );
    }
    while (events.listeners < 4) await new Promise((resolve) => setImmediate(resolve));
    expect(await ask(`${url}/api/v1/events`, { headers: as('viewer') })).toMatchObject({ status: 429 });
    expect(await ask(`${url}/api/v1/status`, { headers: as('viewer') })).toMatchObject({ status: 200 });
    expect(events.refusal('operator@desk')).toBeUndefined();
    expect(events.listeners).toBe(4);
  });

  it.each(['after=-1', 'after=1e9', 'after=x', 'after=1&after=2', 'kinds=', 'since=1'])(
    'refuses the invalid query %s',
    async (query) => {
      const { url, events } = await serve();
      const { status } = await ask(`${url}/api/v1/events?${query}`, { headers: as('viewer') });
      expect([status, events.listeners]).toEqual([400, 0]);
    },
  );

  it('drops a listener that does not read, without waiting for it', async () => {
    const { url, events } = await serve();
    const { hostname, port, host } = new URL(url);
    const deaf = connect(Number(port), hostname);
    deaf.on('error', () => undefined);
    closers.push(() => {
      deaf.destroy();
    });
    deaf.pause();
    deaf.write(
      `GET /api/v1/events HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${tokenOf('viewer')}\r\n\r\n`,
    );
    while (events.listeners === 0) await new Promise((resolve) => setImmediate(resolve));
    const why = 'x'.repeat(10_000);
    for (let i = 0; i < 5_000 && events.dropped === 0; i++) {
      events.publish(aRecord(i, why));
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect([events.dropped, events.listeners]).toEqual([1, 0]);
  });
});

describe('the counter of wrong tokens', () => {
  it('counts each address separately and stores at most 1,001 addresses', () => {
    let now = monotonic(0);
    const wrong = new WrongTokens(() => now);
    for (let n = 0; n < 10; n++) wrong.count('10.0.0.1');
    expect([wrong.isBlocked('10.0.0.1'), wrong.isBlocked('10.0.0.2')]).toEqual([true, false]);
    for (let n = 0; n < 5_000; n++) wrong.count(`address ${n}`);
    expect(wrong.size).toBe(1_001);
    expect(wrong.isBlocked('somebody new')).toBe(true);
    now = after(now, 24 * 3_600_000);
    wrong.count('somebody new');
    expect([wrong.size, wrong.isBlocked('somebody new')]).toEqual([1, false]);
  });
});

describe('a token of the API', () => {
  it('is accepted only in full and in the exact spelling', () => {
    const authenticator = authenticatorOf(bearers, () => monotonic(0));
    const who = (header: string) =>
      authenticator.caller({ authorization: header, cookie: undefined, address: '10.0.0.1' });
    const [whole] = [tokenOf('admin')];
    expect(who(`Bearer ${whole}`)).toEqual({ name: 'local', role: 'admin', kind: 'machine', via: 'token' });
    for (const other of [
      whole.slice(1),
      whole.slice(0, -1),
      `${whole} `,
      `${whole}x`,
      whole.toUpperCase(),
      '',
    ])
      expect(who(`Bearer ${other}`)).toBeUndefined();
    expect(
      authenticatorOf([], () => monotonic(0)).caller({
        authorization: 'Bearer x',
        cookie: undefined,
        address: '10.0.0.1',
      }),
    ).toBeUndefined();
  });
});
