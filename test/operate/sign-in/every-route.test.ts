import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HOUR_MS } from '../../../src/core/time.ts';
import { apiRoutes } from '../../../src/operate/api/routes.ts';
import type { ApiRoute } from '../../../src/operate/api/routes.ts';
import { signInRoutes } from '../../../src/operate/sign-in/sign-in-schemas.ts';
import { servedSignIn, signedIn } from './served-sign-in.ts';
import type { FakeBrowser, ServedSignIn } from './served-sign-in.ts';

/** Every route in the tables of the API. */
const routes = Object.entries<Pick<ApiRoute, 'method' | 'role'>>({ ...apiRoutes, ...signInRoutes });
const posts = routes.flatMap(([path, { method, role }]) => (method === 'POST' ? [{ path, role }] : []));
/** Commands: every POST that is not a sign-in route. */
const commands = posts.flatMap(({ path, role }) => (role === undefined ? [] : [{ path, role }]));
const waysIn = posts.flatMap(({ path, role }) => (role === undefined ? [path] : []));

/** Routes for which the caller must have signed in. */
const guarded = routes.filter(([, { role }]) => role !== undefined);

/** A viewer can end their own sessions and do nothing else. */
const OF_A_VIEWER = ['/api/v1/sessions/revoke', '/api/v1/sign-out'];

/** The routes of a server, whether they are in a table or not. */
async function routesOfServer(): Promise<readonly string[]> {
  const found: string[] = [];
  const listen = (message: unknown): void => {
    const { fastify } = message as { readonly fastify: FastifyInstance };
    fastify.addHook('onRoute', ({ method, path }) => {
      found.push(`${String(method)} ${path}`);
    });
  };
  subscribe('fastify.initialization', listen);
  onTestFinished(() => {
    unsubscribe('fastify.initialization', listen);
  });
  await servedSignIn();
  return found.filter((route) => route.includes(' /api/'));
}

describe('the route tables of the API', () => {
  it('contain every command of the server', async () => {
    const served = await routesOfServer();
    const known = posts.map(({ path }) => `POST ${path}`);
    expect(served.filter((route) => route.startsWith('POST ')).toSorted()).toEqual(known.toSorted());
    const others = served.filter((route) => !/^(?:GET|POST) /u.test(route));
    expect(others).toEqual([]);
  });
});

describe('every command of the API', () => {
  it('is refused to a viewer session, unless it ends that session', async () => {
    const served = await servedSignIn();
    const { browser: vera } = await served.enrolled('vera', 'viewer');
    const guest = await signedIn(served, 'viewer');
    const before = served.bench.records().length;
    const bodies = [{}, { why: 'w', confirm: 'main', name: 'vera', role: 'admin' }];
    for (const { path } of commands.filter((each) => !OF_A_VIEWER.includes(each.path)))
      for (const browser of [vera, guest])
        for (const body of bodies)
          expect([path, (await browser.post(path, body)).status]).toEqual([path, 403]);
    expect(commands.length).toBeGreaterThan(14);
    expect(served.bench.records()).toHaveLength(before);
    // The same session may end itself, so the refusals above are due to its role alone.
    for (const path of OF_A_VIEWER) expect([200, 400, 404]).toContain((await guest.post(path, {})).status);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['without the CSRF token', { 'x-tranche-csrf': '' }],
    ['with another CSRF token', { 'x-tranche-csrf': 'x'.repeat(43) }],
    ['without Origin', { origin: '' }],
    ['with the Origin of another page', { origin: 'http://evil.example' }],
    ['with the Origin of another port', { origin: 'http://localhost:1' }],
    ['with the Origin "null"', { origin: 'null' }],
    ['without the x-tranche header', { 'x-tranche': '' }],
  ])('is refused %s, even to the session of an admin', async (_how, headers) => {
    const served = await servedSignIn();
    const admin = await signedIn(served, 'admin');
    const before = served.bench.records().length;
    const statuses = async (paths: typeof commands, more = {}): Promise<ReadonlySet<number>> =>
      new Set(await Promise.all(paths.map(async ({ path }) => (await admin.post(path, {}, more)).status)));
    expect(await statuses(commands, headers)).toEqual(new Set([403]));
    expect(served.bench.records()).toHaveLength(before);
    // With all headers, the desk checks the command itself, so the refusals above are due to the headers.
    const read = commands.filter(({ path }) => !path.endsWith('/new-link') && !path.endsWith('/sign-out'));
    expect([...(await statuses(read))].filter((status) => status !== 400 && status !== 409)).toEqual([]);
  });

  it('is refused as a form and as plain text', async () => {
    const served = await servedSignIn();
    const admin = await signedIn(served, 'admin');
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])
      for (const { path } of posts)
        expect([path, (await admin.post(path, 'why=w', { 'content-type': type })).status]).toEqual([
          path,
          415,
        ]);
  });
});

describe('every sign-in route', () => {
  it('refuses requests from other origins and without an origin', async () => {
    const served = await servedSignIn();
    const stranger = served.browser();
    for (const path of waysIn)
      for (const origin of ['', 'null', 'http://evil.example'])
        expect([path, (await stranger.post(path, {}, { origin })).status]).toEqual([path, 403]);
    expect(waysIn).toHaveLength(5);
  });
});

describe('every route of the API', () => {
  it('is refused for an unknown Host, before any other check', async () => {
    const served = await servedSignIn();
    const admin = await signedIn(served, 'admin');
    for (const [path, { method }] of [
      ...routes,
      ['/', { method: 'GET' }],
      ['/metrics', { method: 'GET' }],
    ] as const)
      for (const host of ['evil.example', 'localhost', `localhost.evil.example:${served.port}`]) {
        const { status } =
          method === 'GET' ? await admin.get(path, { host }) : await admin.post(path, {}, { host });
        expect([path, host, status]).toEqual([path, host, 421]);
      }
  });

  it.each<[string, (browser: FakeBrowser, served: ServedSignIn) => unknown]>([
    ['without a cookie', (browser) => (browser.cookie = undefined)],
    [
      'with an unknown cookie',
      (browser) => (browser.cookie = `${browser.cookie?.split('=', 1)[0] ?? ''}=${'x'.repeat(43)}`),
    ],
    ['with an expired session', (_browser, { clock }) => (clock.now += HOUR_MS)],
    [
      'after a sign-out',
      async (browser) => {
        const { cookie } = browser;
        await browser.post('/api/v1/sign-out', {});
        browser.cookie = cookie;
      },
    ],
  ])('is refused %s', async (_how, spoil) => {
    const served = await servedSignIn();
    const admin = await signedIn(served, 'admin');
    await spoil(admin, served);
    const before = served.bench.records().length;
    for (const [path, { method }] of guarded) {
      const { status } = method === 'GET' ? await admin.get(path) : await admin.post(path, {});
      expect([path, status]).toEqual([path, 401]);
    }
    expect(guarded.length).toBeGreaterThan(35);
    expect(served.bench.records()).toHaveLength(before);
  });

  it('refuses a body above 16 KiB from any caller', async () => {
    const served = await servedSignIn();
    const before = served.bench.records().length;
    const large = { why: 'w'.repeat(16 * 1024) };
    for (const browser of [await signedIn(served, 'admin'), served.browser()])
      for (const { path } of posts)
        expect([path, (await browser.post(path, large)).status]).toEqual([path, 413]);
    expect(served.bench.records()).toHaveLength(before);
  });
});
