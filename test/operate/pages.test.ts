import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageUrls } from '../../src/operate/listen.ts';
import type { OperateOptions } from '../../src/operate/server.ts';
import { aFolder, put } from '../support/folder.ts';
import type { Answer } from '../support/http.ts';
import { servedSignIn } from './sign-in/served-sign-in.ts';

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'",
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

const aDashboard = (): string =>
  aFolder({
    'index.html': '<!doctype html><title>Tranche</title>',
    'assets/index-1.js': 'void 0;',
    'assets/index-1.css': 'body{}',
    'secret.txt': 'not for browsers',
  });
const withPages = async (over: Partial<OperateOptions> = {}): ReturnType<typeof servedSignIn> =>
  await servedSignIn({ operate: { pages: aDashboard(), ...over } });

const securityOf = ({ headers }: Answer): object =>
  Object.fromEntries(Object.keys(HEADERS).map((name) => [name, headers[name]]));

describe('the pages of the dashboard', () => {
  it('are served at /, /sign-in and /enrol with security headers, which require TLS once it was used', async () => {
    const served = await withPages();
    for (const path of ['/', '/sign-in?link=x', '/enrol?invitation=x']) {
      const page = await served.browser().get(path);
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.text).toContain('<title>Tranche</title>');
      expect(securityOf(page)).toEqual(HEADERS);
      expect(page.headers['cache-control']).toBe('no-store');
      expect(page.headers['strict-transport-security']).toBeUndefined();
    }
    const secure = await served.browser().get('/', { 'x-forwarded-proto': 'https' });
    expect(secure.headers['strict-transport-security']).toBe('max-age=31536000');
  });

  it('include scripts and styles, which a browser may cache', async () => {
    const served = await withPages();
    const script = await served.browser().get('/assets/index-1.js');
    expect([script.status, script.headers['content-type'], script.text]).toEqual([200, 'text/javascript; charset=utf-8', 'void 0;']); // prettier-ignore
    expect(securityOf(script)).toEqual(HEADERS);
    expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const style = await served.browser().get('/assets/index-1.css');
    expect(style.headers['content-type']).toBe('text/css; charset=utf-8');
  });

  it.each(['/assets/../secret.txt', '/assets/..%2fsecret.txt', '/assets/', '/assets/other.js', '/secret.txt', '/index.html'])(
    'do not include %s',
    async (path) => {
      const served = await withPages();
      const { status, text } = await served.browser().get(path);
      expect(status).toBe(404);
      expect(text).not.toContain('not for browsers');
    },
  ); // prettier-ignore

  it('explain how to build the dashboard until it is built', async () => {
    const later = join(aFolder(), 'later');
    const served = await withPages({ pages: later });
    const page = await served.browser().get('/');
    expect([page.status, page.headers['content-type']]).toEqual([503, 'text/html; charset=utf-8']);
    expect(page.text).toContain('npm run build:dashboard');
    expect(securityOf(page)).toEqual(HEADERS);
    put(later, { 'index.html': 'built', 'assets/index.js': '' });
    expect((await served.browser().get('/')).text).toBe('built');
  });

  it('are public on a network, but no data of the desk is served without a sign-in', async () => {
    const served = await withPages({ listen: '0.0.0.0:0', allowNetwork: true });
    const at = async (path: string): Promise<number> => {
      const { port } = new URL(served.url);
      return (await served.browser().get(path, { host: `localhost:${port}` })).status;
    };
    const open = ['/', '/sign-in', '/enrol', '/assets/index-1.js', '/healthz'];
    expect(await Promise.all(open.map(at))).toEqual(open.map(() => 200));
    const closed = ['/metrics', '/api/v1/me', '/api/v1/status', '/api/v1/events', '/api/v1/people', '/api/v1/sessions', '/api/v1/openapi.json', '/other']; // prettier-ignore
    expect(await Promise.all(closed.map(at))).toEqual(closed.map(() => 401));
  });

  it('share their security headers with answers of the API and refusals', async () => {
    const served = await servedSignIn();
    for (const path of ['/api/v1/me', '/nowhere', '/metrics'])
      expect(securityOf(await served.browser().get(path))).toEqual(HEADERS);
  });
});

describe('the address of the pages', () => {
  it.each([
    ['http://127.0.0.1:8321', [], 'http://localhost:8321', 'http://localhost:8321'],
    ['http://[::1]:8321', [], 'http://localhost:8321', 'http://localhost:8321'],
    ['http://127.0.0.1:8321', ['desk.example'], 'http://localhost:8321', 'https://desk.example'],
    ['https://0.0.0.0:8321', ['desk.example:8321'], 'https://desk.example:8321', 'https://desk.example:8321'],
    ['https://127.0.0.1:8321', ['desk.example'], 'https://desk.example', 'https://desk.example'],
    ['https://0.0.0.0:8321', [], 'https://localhost:8321', 'https://localhost:8321'],
    ['http://0.0.0.0:8321', [], 'http://localhost:8321', 'http://localhost:8321'],
    ['http://[::]:8321', ['desk.example'], 'http://localhost:8321', 'https://desk.example'],
    ['https://10.0.0.5:8321', [], 'https://10.0.0.5:8321', 'https://10.0.0.5:8321'],
  ])('at %s with the hosts %j is %s locally and %s in invitations', (url, hosts, pageUrl, invitationUrl) => {
    expect(pageUrls(url, { hosts })).toEqual({ pageUrl, invitationUrl });
  });
});
