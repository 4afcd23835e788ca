import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { onTestFinished } from 'vitest';
import { instant, monotonic } from '../../../src/core/time.ts';
import { deskApi } from '../../../src/app/desk-api/desk-api.ts';
import { peopleDesk } from '../../../src/app/desk-api/people-desk.ts';
import type { Bearer, Role } from '../../../src/operate/access.ts';
import { EventStream } from '../../../src/operate/events.ts';
import type { OperateOptions } from '../../../src/operate/server.ts';
import { newLink, signInOf } from '../../../src/operate/sign-in/sign-in.ts';
import type { SignIn } from '../../../src/operate/sign-in/sign-in.ts';
import { readsOf } from '../../app/api/served.ts';
import { aTwap, started } from '../../engine/harness.ts';
import type { Bench } from '../../engine/harness.ts';
import { ask, postAs } from '../../support/http.ts';
import type { Answer } from '../../support/http.ts';
import { operating } from '../../support/operate.ts';
import { aPasskey } from './soft-passkey.ts';
import type { SoftPasskey } from './soft-passkey.ts';

export const MACHINE_TOKEN = 'token-of-the-machine';
const bearers: readonly Bearer[] = [
  { name: 'local', role: 'admin', kind: 'machine', token: { reveal: () => MACHINE_TOKEN } },
  { name: 'bot', role: 'admin', kind: 'program', token: { reveal: () => 'token-of-a-program' } },
  { name: 'olga', role: 'operator', kind: 'person', token: { reveal: () => 'token-of-olga-here' } },
];

/** A browser: it keeps its cookie and sends the headers of the page. */
export interface FakeBrowser {
  readonly origin: string;
  cookie: string | undefined;
  csrf: string | undefined;
  /** Opens the stream of events; resolves once its answer has begun. */
  stream(): Promise<{ readonly hasEnded: () => boolean }>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** `headers` replace those of the page; an empty one is omitted. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

export interface ServedSignIn {
  readonly bench: Bench;
  readonly signIn: SignIn;
  readonly url: string;
  readonly port: string;
  readonly clock: { now: number };
  readonly alerts: string[];
  /** A browser at `http://localhost:PORT`, or at another page of the desk. */
  browser(origin?: string): FakeBrowser;
  /** The secret of a new link. */
  link(role?: Role): string;
  /** A command of the machine. */
  machine(path: string, body: unknown, token?: string): Promise<Answer>;
  /** Invites a person, who enrols a passkey. */
  enrolled(
    name: string,
    role: Role,
  ): Promise<{ readonly browser: FakeBrowser; readonly passkey: SoftPasskey }>;
}

export interface ServedOptions {
  readonly bench?: Bench | undefined;
  readonly hasApprovals?: boolean | undefined;
  readonly operate?: Partial<OperateOptions> | undefined;
}

/** A desk of a bench with its sign-in, on a separate port and with a stopped clock. */
export async function servedSignIn({
  bench = started({ strategies: [aTwap('t')] }),
  hasApprovals = false,
  operate: over = {},
}: ServedOptions = {}): Promise<ServedSignIn> {
  const clock = { now: 0 };
  const alerts: string[] = [];
  const send = (command: Parameters<Bench['operator$']['next']>[0]): void => {
    bench.operator$.next(command);
  };
  const signIn = signInOf({
    people: peopleDesk(bench.desk, send),
    now: () => monotonic(clock.now),
    wall: () => instant(clock.now),
    newSecret: () => randomBytes(32).toString('base64url'),
  });
  const desk = deskApi(bench.desk, send);
  const operate = await operating({
    api: {
      desk: {
        ...desk,
        hasApprovals,
        refused: ({ path, by }) => alerts.push(`${by} ${path}`),
      },
      reads: readsOf(bench, desk).reads,
      events: new EventStream(),
      bearers,
      signIn,
      now: () => monotonic(clock.now),
    },
    ...over,
  });
  const { port } = new URL(operate.url);
  signIn.pageUrl = `http://localhost:${port}`;
  signIn.invitationUrl = signIn.pageUrl;

  const browser = (origin = signIn.pageUrl): FakeBrowser => {
    const page: FakeBrowser = {
      origin,
      cookie: undefined,
      csrf: undefined,
      get: async (path, headers = {}) =>
        await ask(`${operate.url}${path}`, { headers: { ...cookieOf(page), ...headers } }),
      stream: async () =>
        await new Promise((resolve, reject) => {
          let hasEnded = false;
          const headers = { ...cookieOf(page) };
          const exchange = request(`${operate.url}/api/v1/events`, { headers, agent: false }, (response) => {
            response.on('error', () => undefined).on('close', () => (hasEnded = true));
            response.resume();
            if (response.statusCode === 200) resolve({ hasEnded: () => hasEnded });
            else reject(new Error(`answer ${response.statusCode}`));
          });
          exchange.on('error', reject);
          exchange.end();
          onTestFinished(() => {
            exchange.destroy();
          });
        }),
      post: async (path, body, headers = {}) => {
        const own = {
          'content-type': 'application/json',
          'x-tranche': '1',
          origin,
          ...cookieOf(page),
          ...(page.csrf === undefined ? {} : { 'x-tranche-csrf': page.csrf }),
          ...headers,
        };
        const answer = await ask(`${operate.url}${path}`, { method: 'POST', headers: own, body });
        const [set] = answer.headers['set-cookie'] ?? [];
        if (set !== undefined) page.cookie = set.split(';', 1)[0];
        if (typeof answer.body['csrf'] === 'string') page.csrf = answer.body['csrf'];
        return answer;
      },
    };
    return page;
  };
  const machine = async (path: string, body: unknown, token = MACHINE_TOKEN): Promise<Answer> =>
    await postAs(`${operate.url}${path}`, token, body);
  return {
    bench,
    signIn,
    url: operate.url,
    port,
    clock,
    alerts,
    browser,
    machine,
    link: (role) => new URL(newLink(signIn, role) ?? '').searchParams.get('link') ?? '',
    enrolled: async (name, role) => {
      const { body } = await machine('/api/v1/people/invite', { name, role, why: 'new' });
      const passkey = aPasskey();
      const page = browser();
      const { status, text } = await enrolWith(page, invitationIn(body['link']), passkey);
      if (status !== 200) throw new Error(text);
      return { browser: page, passkey };
    },
  };
}

/** A browser that signed in by a link of the machine. */
export async function signedIn(served: ServedSignIn, role?: Role): Promise<FakeBrowser> {
  const browser = served.browser();
  const { status, text } = await browser.post('/api/v1/sign-in/link', { link: served.link(role) });
  if (status !== 200) throw new Error(text);
  return browser;
}

export const invitationIn = (link: unknown): string =>
  new URL(String(link)).searchParams.get('invitation') ?? '';

const ceremonyAt = (
  page: FakeBrowser,
  challenge: unknown,
): { challenge: string; origin: string; rpId: string } => ({
  challenge: String(challenge),
  origin: page.origin,
  rpId: new URL(page.origin).hostname,
});

/** A complete enrolment, as the page does it. */
export async function enrolWith(
  page: FakeBrowser,
  invitation: string,
  passkey: SoftPasskey,
): Promise<Answer> {
  const asked = await page.post('/api/v1/enrol/options', { invitation });
  const options = asked.body['options'] as { readonly challenge?: string } | undefined;
  if (options === undefined) return asked;
  const response = passkey.register(ceremonyAt(page, options.challenge));
  return await page.post('/api/v1/enrol', { id: asked.body['id'], response });
}

/** A complete sign-in by passkey; `tamper` changes the assertion. */
export async function signInWith(
  page: FakeBrowser,
  passkey: SoftPasskey,
  tamper: (at: ReturnType<typeof ceremonyAt>) => object = (at) => passkey.assert(at),
): Promise<Answer> {
  const asked = await page.post('/api/v1/sign-in/passkey/options', {});
  const options = asked.body['options'] as { readonly challenge?: string } | undefined;
  if (options === undefined) return asked;
  const response = tamper(ceremonyAt(page, options.challenge));
  return await page.post('/api/v1/sign-in/passkey', { id: asked.body['id'], response });
}

const cookieOf = ({ cookie }: FakeBrowser): Readonly<Record<string, string>> =>
  cookie === undefined ? {} : { cookie };
