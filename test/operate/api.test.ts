import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../src/core/record.ts';
import { after, instant, monotonic } from '../../src/core/time.ts';
import { authenticatorOf } from '../../src/operate/access.ts';
import { WrongTokens } from '../../src/operate/wrong-tokens.ts';
import type { Role } from '../../src/operate/access.ts';
import { EventStream } from '../../src/operate/events.ts';
import type { OperatedDesk, Order, RefusedAccess } from '../../src/operate/api/operated-desk.ts';
import type { OperateOptions } from '../../src/operate/server.ts';
import { ask, rawRequest } from '../support/http.ts';
import type { Answer, Asked } from '../support/http.ts';
import { bearers, operating, roles, tokenOf } from '../support/operate.ts';

const HASH = 'a'.repeat(64);

interface Served {
  readonly url: string;
  readonly clock: { now: ReturnType<typeof monotonic> };
  readonly orders: Order[];
  readonly refused: RefusedAccess[];
  readonly events: EventStream;
  /** Sends a command below `/api/v1/`. */
  readonly post: (role: Role, path: string, body: unknown, headers?: object) => Promise<Answer>;
  readonly read: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
}

async function serve(over: Partial<OperateOptions> = {}, given: Partial<OperatedDesk> = {}): Promise<Served> {
  const clock = { now: monotonic(0) };
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
  const { url } = await operating({ api: { desk, events, bearers, now: () => clock.now }, ...over });
  return {
    url,
    clock,
    orders,
    refused,
    events,
    post: async (role, path, body, headers = GUARDS) =>
      await ask(`${url}/api/v1/${path}`, { method: 'POST', headers: { ...as(role), ...headers }, body }),
    read: async (path, headers = as('viewer')) => await ask(`${url}/api/v1/${path}`, { headers }),
  };
}

const as = (role: Role): Readonly<Record<string, string>> => ({ authorization: `Bearer ${tokenOf(role)}` });
const GUARDS = { 'content-type': 'application/json', 'x-tranche': '1' };

describe('the API', () => {
  it('answers 401 without a token of this desk, on any route, and reports that without the token', async () => {
    const { read, refused } = await serve();
    const wrong = ['', 'Bearer ', 'Bearer of-another-desk', `Basic ${tokenOf('admin')}`, tokenOf('admin')];
    for (const authorization of wrong)
      for (const path of ['doubts', 'events', `status?token=${tokenOf('admin')}`]) {
        const { status, text } = await read(path, { authorization });
        expect([path, status]).toEqual([path, 401]);
        expect(text + JSON.stringify(refused)).not.toContain('of-another-desk');
      }
    expect(refused[0]).toEqual({
      path: '/api/v1/doubts',
      by: 'none',
      address: '127.0.0.1',
      role: undefined,
      needed: 'viewer',
    });
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
    const { post, orders, refused } = await serve();
    const lesser = roles.slice(0, roles.indexOf(least));
    for (const role of roles) {
      const allowed = path === 'resume' ? 409 : 200;
      const { status } = await post(role, path, body);
      expect([role, status]).toEqual([role, lesser.includes(role as never) ? 403 : allowed]);
    }
    expect(orders).toHaveLength(roles.length - lesser.length);
    expect(orders[0]?.by).toBe(`${least}@desk`);
    expect(refused).toEqual(
      lesser.map((role) => ({
        path: `/api/v1/${path}`,
        by: `${role}@desk`,
        address: '127.0.0.1',
        role,
        needed: least,
      })),
    );
  });

  it('takes the name of a caller only from the token, and shows a name sent with the machine token in parentheses', async () => {
    const { post, orders } = await serve();
    await post('admin', 'halt', { why: 'w', by: 'ann' });
    await post('approver', 'approvals/approve', { id: 'ap-1', hash: HASH, why: 'w', by: 'ben' });
    expect(orders).toMatchObject([
      { do: 'halt', by: 'local (ann)', token: { name: 'local', kind: 'machine' } },
      { do: 'approve', by: 'approver@desk', token: { name: 'approver@desk', kind: 'person' } },
    ]);
  });

  it('refuses a name that belongs to the token of another person', async () => {
    const { post, orders } = await serve();
    for (const by of ['approver@desk', ' Approver@Desk '])
      for (const role of ['admin', 'operator'] as const)
        expect(await post(role, 'halt', { why: 'w', by })).toMatchObject({ status: 403 });
    expect(orders).toEqual([]);
  });

  it('lets an operator request a rearm or the end of a doubt only if another person must approve it', async () => {
    const rearm = { why: 'w', confirm: 'main' };
    const filled = { client_order_id: 'c', verdict: 'filled', evidence: 'e', order_id: 'o' };
    const statuses = async (isNeeded: boolean, role: Role): Promise<readonly number[]> => {
      const { post } = await serve({}, { needsApproval: () => isNeeded });
      const all = [
        ['rearm', rearm],
        ['doubts/resolve', filled],
        ['doubts/resolve', { client_order_id: 'c', verdict: 'not_executed', evidence: 'e' }],
      ] as const;
      return await Promise.all(all.map(async ([path, body]) => (await post(role, path, body)).status));
    };
    expect(await statuses(false, 'operator')).toEqual([403, 403, 403]);
    expect(await statuses(true, 'operator')).toEqual([200, 200, 403]);
    expect(await statuses(true, 'viewer')).toEqual([403, 403, 403]);
  });

  it('does not find paths with percent-encoded letters', async () => {
    const { url, orders } = await serve();
    const asked = { method: 'POST', headers: { ...as('operator'), ...GUARDS }, body: { why: 'w' } };
    const halts = [
      '/api/v1/%68alt',
      '/api/v1/hal%74',
      '/api%2fv1%2fhalt',
      '/api/v1/halt%00',
      '/%61pi/v1/halt',
    ];
    for (const path of halts) expect(await ask(`${url}${path}`, asked)).toMatchObject({ status: 404 });
    for (const path of ['/%68ealthz', '/metric%73'])
      expect(await ask(`${url}${path}`)).toMatchObject({ status: 404 });
    expect(orders).toEqual([]);
  });

  it('blocks an address for some seconds after ten wrong tokens, except for known tokens and the machine token', async () => {
    const { read, clock } = await serve();
    const status = async (token: string): Promise<number> =>
      (await read('status', { authorization: `Bearer ${token}` })).status;
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
  });

  it('answers a halt with the orders in flight and the open doubts', async () => {
    const { post, orders } = await serve();
    const body = { done: true, says: 'so be it', orders_in_flight: ['c'], open_doubts: [] };
    const halt = { why: 'now', kill: true };
    expect(await post('operator', 'halt', halt)).toMatchObject({ status: 200, body });
    const token = { name: 'operator@desk', kind: 'person' };
    expect(orders).toEqual([{ do: 'halt', by: 'operator@desk', token, why: 'now', isKill: true }]);
  });

  it.each<readonly [string, object, string]>([
    [
      'resume',
      { straategy: 'twap' },
      '"straategy" is unknown; known fields are by, pair, parent, strategy, why',
    ],
    ['resume', { strategy: '' }, '"strategy": expected a text'],
    ['resume', { for: 'PT1M' }, '"for" is unknown'],
    ['pause', { pair: 7 }, '"pair": expected a text'],
    ['pause', { for: 'soon' }, '"for"'],
    ['pause', { reducing: 'yes' }, '"reducing": expected true or false'],
    ['halt', { Kill: true }, '"Kill" is unknown'],
    ['halt', { kill: 'yes' }, '"kill": expected true or false'],
    ['halt', { why: undefined }, '"why": expected a text'],
    ['halt', { why: '  ' }, '"why": expected a text'],
    ['reload', { dryrun: true }, '"dryrun" is unknown'],
    ['rearm', { confirm: 'main', force: true }, '"force" is unknown'],
    ...[undefined, '', 'Main', true].map((confirm) => ['rearm', { confirm }, '"confirm"'] as const),
    ['approvals/approve', { id: 'ap-1', hash: HASH, side: 'buy' }, '"side" is unknown'],
    [
      'doubts/resolve',
      { why: undefined, client_order_id: 'c', verdict: 'filled', evidence: 'e', fee: '2' },
      '"fee" is unknown',
    ],
  ])('complaint 19: names the invalid field of %s %j', async (path, body, field) => {
    const { post, orders } = await serve();
    const { status, text } = await post('admin', path, { why: 'w', ...body });
    expect([status, text]).toEqual([400, expect.stringContaining(JSON.stringify(field).slice(1, -1))]);
    expect(orders).toEqual([]);
  });

  const admin = { method: 'POST', headers: { ...as('admin'), ...GUARDS } };
  const foreign = { ...admin.headers, origin: 'https://evil.example' };
  it.each<readonly [string, number, Asked]>([
    ['from another origin', 403, { ...admin, headers: foreign, body: { why: 'w' } }],
    ['without the guard header', 403, { ...admin, headers: { ...admin.headers, 'x-tranche': '' }, body: {} }],
    ['that is not JSON', 400, { ...admin, body: '{"why":' }],
    ['without a body', 400, { ...admin, body: '' }],
    ['that is not an object', 400, { ...admin, body: ['w'] }],
    ['with a duplicate key', 400, { ...admin, body: '{"why":"w","kill":false,"kill":true}' }],
    ['with an escaped duplicate key', 400, { ...admin, body: '{"why":"w","wh\\u0079":"v"}' }],
    ['with a __proto__ key', 400, { ...admin, body: '{"why":"w","__proto__":{"kill":true}}' }],
    ['by GET', 405, { headers: admin.headers }],
    ['by preflight', 403, { method: 'OPTIONS', headers: foreign }],
  ])('refuses a command %s and does not execute it', async (_, status, asked) => {
    const { url, orders } = await serve();
    expect(await ask(`${url}/api/v1/halt`, asked)).toMatchObject({ status });
    expect(orders).toEqual([]);
  });

  it('accepts a command of its own page, and no read of another', async () => {
    const { url, post, read, orders } = await serve();
    expect(await post('admin', 'halt', { why: 'w' }, { ...GUARDS, origin: url })).toMatchObject({
      status: 200,
    });
    expect(orders).toHaveLength(1);
    expect(await read('status', foreign)).toMatchObject({ status: 403 });
  });
});

describe('the listen address of the operate server', () => {
  it.each(['0.0.0.0:0', '[::]:0', '192.168.1.1:0', 'example.org:0'])(
    'is refused beyond loopback unless operate.allow_network is set: %s',
    async (listen) => {
      await expect(serve({ listen })).rejects.toThrow('operate.allow_network');
    },
  );
});

const aRecord = (seq: number, why: string): StoredRecord => ({
  seq,
  at: instant(0),
  body: { kind: 'stopped', why, open_doubts: 0 },
  hash: '',
});

describe('the event stream of the API', () => {
  it('accepts at most four listeners of one name and keeps answering other requests', async () => {
    const { url, events, read } = await serve();
    const listen = (): unknown => rawRequest(url, '/api/v1/events', tokenOf('viewer'));
    for (let n = 0; n < 4; n++) listen();
    await expect.poll(() => events.listeners).toBe(4);
    // A flood of the same caller changes nothing for others.
    for (let n = 0; n < 60; n++) listen();
    expect(await read('events')).toMatchObject({ status: 429 });
    expect(await read('status')).toMatchObject({ status: 200 });
    expect(events.refusal('operator@desk')).toBeUndefined();
    expect(events.listeners).toBe(4);
  });

  it.each(['after=-1', 'after=1e9', 'after=x', 'after=1&after=2', 'kinds=', 'since=1'])(
    'refuses the invalid query %s',
    async (query) => {
      const { read, events } = await serve();
      const { status } = await read(`events?${query}`);
      expect([status, events.listeners]).toEqual([400, 0]);
    },
  );

  it('drops a listener that does not read, without waiting for it', async () => {
    const { url, events } = await serve();
    rawRequest(url, '/api/v1/events', tokenOf('viewer')).pause();
    await expect.poll(() => events.listeners).toBe(1);
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
    const whole = tokenOf('admin');
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
  });
});
