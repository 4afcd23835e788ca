import { beforeAll, describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../src/core/time.ts';
import { openApi } from '../../../src/operate/api/openapi.ts';
import { apiRoutes } from '../../../src/operate/api/routes.ts';
import type { ApiPath } from '../../../src/operate/api/routes.ts';
import { signInRoutes } from '../../../src/operate/sign-in/sign-in-schemas.ts';
import { aBench, aTwap, started } from '../../engine/harness.ts';
import type { Bench } from '../../engine/harness.ts';
import { served } from './served.ts';

/** A desk in the middle of its day, with two running strategies. */
const aBusyDesk = (): Bench =>
  started(
    {
      strategies: [aTwap('one'), aTwap('two', { side: 'sell', slices: 4, duration: 'PT20M' })],
      venue: { accounts: [{ balances: { usd: '100000', btc: '0.3' } }] },
    },
    6 * MINUTE_MS,
  );

const problemsOf = (path: ApiPath, body: unknown): string =>
  JSON.stringify(apiRoutes[path].answer.safeParse(body).error?.issues ?? []);

const paths = Object.keys(apiRoutes) as ApiPath[];

/** Lists that must not be empty for this desk: an empty list conforms to any schema. */
const LISTS = new Set<string>(
  ['strategies', 'parents', 'slices', 'wakes', 'why', 'fills', 'prices', 'limits', 'records'].map(
    (name) => `/api/v1/${name}`,
  ),
);

describe('the OpenAPI document', () => {
  let document: Record<string, Record<string, unknown>> = {};
  beforeAll(() => {
    document = openApi('1') as typeof document;
  });

  it('contains every route with its method and response schema', () => {
    expect(Object.keys(document['paths'] ?? {})).toEqual([...paths, ...Object.keys(signInRoutes)]);
    for (const path of paths) {
      const operations = document['paths']?.[path] as Record<string, { responses: Record<number, object> }>;
      expect(Object.keys(operations)).toEqual([apiRoutes[path].method.toLowerCase()]);
      expect(operations[apiRoutes[path].method.toLowerCase()]?.responses[200]).toHaveProperty('content');
    }
  });

  it('contains the target of every reference', () => {
    const names = [...JSON.stringify(document).matchAll(/"\$ref":"(?<to>[^"]+)"/gu)].map(
      ({ groups }) => groups?.['to'] ?? '',
    );
    expect(names.length).toBeGreaterThan(0);
    for (const name of new Set(names)) {
      const [, ...steps] = name.split('/');
      expect(name).toMatch(/^#\//u);
      expect(
        steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document),
      ).toBeDefined();
    }
  });

  it('gives each operation a unique operationId', () => {
    const ids = [...JSON.stringify(document).matchAll(/"operationId":"(?<id>[^"]+)"/gu)].map(
      ({ groups }) => groups?.['id'],
    );
    expect(new Set(ids).size).toBe(paths.length + Object.keys(signInRoutes).length);
  });
});

describe('an API response', () => {
  it('conforms to its schema for each read route', async () => {
    const { ask } = await served(aBusyDesk());
    for (const path of paths) {
      if (apiRoutes[path].method !== 'GET' || 'isStream' in apiRoutes[path]) continue;
      const { status, body } = await ask(path);
      const isEmpty = LISTS.has(path) && (body['items'] as unknown[]).length === 0;
      expect([path, status, isEmpty, problemsOf(path, body)]).toEqual([path, 200, false, '[]']);
    }
  });

  it('conforms to its schema for each command, whether successful or refused', async () => {
    const { send } = await served(aBusyDesk());
    const decision = { id: 'ap-1', hash: '0'.repeat(64), why: 'w' };
    const bodies: Partial<Record<ApiPath, object>> = {
      '/api/v1/rearm': { why: 'w', confirm: 'main' },
      '/api/v1/stop': { why: 'w', strategy: 'two' },
      '/api/v1/strategies/run': { why: 'w', strategy: 'one' },
      '/api/v1/doubts/resolve': { client_order_id: 'c', verdict: 'filled', evidence: 'e' },
      '/api/v1/approvals/approve': decision,
      '/api/v1/approvals/reject': decision,
    };
    for (const path of paths.filter((each) => apiRoutes[each].method === 'POST')) {
      const { status, body } = await send(path, bodies[path] ?? { why: 'w' });
      expect([200, 409]).toContain(status);
      expect(`${path} ${problemsOf(path, body)}`).toBe(`${path} []`);
    }
  });
});

describe('/api/v1/me', () => {
  it('names the caller, how the caller signed in, and the desk', async () => {
    const { ask } = await served(aBench({ strategies: [aTwap()] }));
    const caller = { name: 'approver@desk', role: 'approver', kind: 'person', via: 'token' };
    const { body } = await ask('/api/v1/me', 'approver');
    expect(body).toEqual({ ...caller, desk: 'main', mode: 'paper', version: '1' });
  });
});
