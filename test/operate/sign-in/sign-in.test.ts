import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts';
import { signInRoutes } from '../../../src/operate/sign-in/sign-in-schemas.ts';
import { cookiesIn } from '../../../src/operate/sign-in/cookie.ts';
import { aBench, aTwap, nextProcess } from '../../engine/harness.ts';
import {
  MACHINE_TOKEN,
  enrolWith,
  invitationIn,
  servedSignIn,
  signInWith,
  signedIn,
} from './served-sign-in.ts';
import type { FakeBrowser } from './served-sign-in.ts';
import { aPasskey } from './soft-passkey.ts';

const LINK = '/api/v1/sign-in/link';
const ME = '/api/v1/me';
const PEOPLE = '/api/v1/people';
const INVITE = `${PEOPLE}/invite`;

/** The statuses of an answer, and that it is refused with these words. */
const refusedWith = (status: number, words: string): object => ({
  status,
  body: { error: expect.stringContaining(words) as unknown },
});

describe('a sign-in link of the machine', () => {
  it('signs a browser in with a cookie that scripts and other pages cannot use', async () => {
    const served = await servedSignIn();
    const browser = served.browser();
    const entered = await browser.post(LINK, { link: served.link() });
    const me = { name: 'local', role: 'admin', kind: 'machine', via: 'session', desk: 'main' };
    expect(entered.body).toMatchObject(me);
    const cookie = `^tranche-${served.port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200$`;
    expect(entered.headers['set-cookie']?.[0]).toMatch(new RegExp(cookie, 'u'));
    expect(await browser.get(ME)).toMatchObject({ status: 200, body: entered.body });
  });

  it.each([
    ['desk.example', '__Host-tranche'],
    ['desk.example:8443', '__Host-tranche-8443'],
  ])(
    'sets a cookie with the prefix __Host- over TLS, of its own name for each desk: %s',
    async (host, name) => {
      const served = await servedSignIn({ operate: { hosts: [host] } });
      const browser = served.browser(`https://${host}`);
      const entered = await browser.post(LINK, { link: served.link() });
      const cookie = `^${name}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=43200$`;
      expect(entered.headers['set-cookie']?.[0]).toMatch(new RegExp(cookie, 'u'));
      expect(await browser.get(ME)).toMatchObject({ status: 200 });
      // The same secret under a name that plain HTTP may set.
      const plain = browser.cookie?.replace('__Host-', '') ?? '';
      expect(await served.browser().get(ME, { cookie: plain })).toMatchObject({ status: 401 });
    },
  );

  it('does not sign in over an unencrypted network', async () => {
    const served = await servedSignIn({ operate: { hosts: ['desk.example:8321'] } });
    const entered = await served.browser('http://desk.example:8321').post(LINK, { link: served.link() });
    expect(entered).toMatchObject(refusedWith(403, 'TLS'));
  });

  it('works once, within ten minutes', async () => {
    const served = await servedSignIn();
    const [link, late] = [served.link(), served.link()];
    served.clock.now = 10 * MINUTE_MS - 1;
    expect((await served.browser().post(LINK, { link })).status).toBe(200);
    const again = await served.browser().post(LINK, { link });
    expect(again).toMatchObject(refusedWith(401, 'tranche sign-in'));
    expect(again.headers['set-cookie']).toBeUndefined();
    expect(served.alerts).toEqual([`none ${LINK}`]);
    served.clock.now += 1;
    expect((await served.browser().post(LINK, { link: late })).status).toBe(401);
  });

  it('is created only with the machine token, not by a browser or a program', async () => {
    const served = await servedSignIn();
    const made = await served.machine('/api/v1/sign-in/new-link', {});
    expect(made.body['link']).toMatch(/^http:\/\/localhost:\d+\/sign-in\?link=[\w-]{43}$/u);
    expect((await served.machine('/api/v1/sign-in/new-link', {}, 'token-of-a-program')).status).toBe(403);
    expect((await (await signedIn(served)).post('/api/v1/sign-in/new-link', {})).status).toBe(403);
  });

  it('can be guessed ten times, then once every five seconds, and works in spite of guesses', async () => {
    const served = await servedSignIn();
    const wrong = { link: 'x'.repeat(43) };
    const tries: number[] = [];
    for (let n = 0; n < 12; n += 1) tries.push((await served.browser().post(LINK, wrong)).status);
    expect(tries).toEqual([...Array<number>(10).fill(401), 429, 429]);
    expect((await served.browser().post(LINK, { link: served.link() })).status).toBe(200);
    served.clock.now += 5_000;
    expect((await served.browser().post(LINK, wrong)).status).toBe(401);
  });
});

describe('clients that request many challenges', () => {
  it('do not prevent others from signing in or enrolling', async () => {
    const served = await servedSignIn();
    const { passkey } = await served.enrolled('ann', 'approver');
    const began = served.browser();
    const asked = await began.post('/api/v1/sign-in/passkey/options', {});
    const { challenge } = asked.body['options'] as { readonly challenge: string };
    for (let n = 0; n < 110; n += 1) await served.browser().post('/api/v1/sign-in/passkey/options', {});
    const response = passkey.assert({ challenge, origin: began.origin, rpId: 'localhost' });
    const sent = { id: asked.body['id'], response };
    expect((await began.post('/api/v1/sign-in/passkey', sent)).status).toBe(200);
    expect((await signInWith(served.browser(), passkey)).status).toBe(200);
    await served.enrolled('bob', 'approver');
  });

  it('cannot alter or reuse a challenge, nor use one that has expired or belongs to another process', async () => {
    const served = await servedSignIn();
    const { passkey } = await served.enrolled('ann', 'approver');
    const page = served.browser();
    const { ceremonies } = served.signIn;
    const asked = { does: 'sign_in', challenge: 'YQ', origin: page.origin, rpId: 'localhost' } as const;
    const send = async (id: string): Promise<number> => {
      const response = passkey.assert({ challenge: asked.challenge, origin: page.origin, rpId: 'localhost' });
      return (await page.post('/api/v1/sign-in/passkey', { id, response })).status;
    };
    const [text = '', seal = ''] = ceremonies.ask({ ...asked, challenge: 'Yg' }).split('.');
    const body = JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
    const changed = Buffer.from(JSON.stringify({ ...body, challenge: 'YQ' })).toString('base64url');
    expect(await send(`${changed}.${seal}`)).toBe(401);
    expect(await send(`${text}.`)).toBe(401);
    const other = await servedSignIn();
    expect(await send(other.signIn.ceremonies.ask(asked))).toBe(401);
    const late = ceremonies.ask(asked);
    served.clock.now += 5 * MINUTE_MS;
    expect(await send(late)).toBe(401);
    const good = ceremonies.ask(asked);
    expect([await send(good), await send(good)]).toEqual([200, 401]);
  });
});

describe('the name of a person', () => {
  it('is refused in commands with the token of another person, in upper and lower case', async () => {
    const served = await servedSignIn();
    await served.enrolled('ann', 'approver');
    const pause = async (by: string, token?: string) =>
      await served.machine('/api/v1/pause', { why: 'w', by }, token);
    const words = 'is a person of this desk: only their own sign-in may use the name';
    for (const by of ['ann', ' ANN '])
      expect(await pause(by, 'token-of-olga-here')).toMatchObject(refusedWith(403, words));
    expect((await pause('olga', 'token-of-olga-here')).status).toBe(200);
    expect((await pause('ann')).status).toBe(200);
    expect(served.bench.bodies('control').at(-1)).toMatchObject({
      token: { kind: expect.any(String) as string },
    });
  });
});

describe('a session', () => {
  it('ends 30 minutes after its last use and twelve hours after its start', async () => {
    const served = await servedSignIn();
    const [idle, busy] = [await signedIn(served), await signedIn(served)];
    for (let at = 0; at < 12 * HOUR_MS; at += 29 * MINUTE_MS) {
      served.clock.now = at;
      expect((await busy.get(ME)).status).toBe(200);
    }
    expect((await idle.get(ME)).status).toBe(401);
    served.clock.now = 12 * HOUR_MS;
    expect((await busy.get(ME)).status).toBe(401);
  });

  it('ends with a sign-out, after which its cookie is refused', async () => {
    const served = await servedSignIn();
    const browser = await signedIn(served);
    const { cookie = '' } = browser;
    const out = await browser.post('/api/v1/sign-out', {});
    expect(out.headers['set-cookie']?.[0]).toMatch(
      /^tranche-\d+=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/u,
    );
    expect((await served.browser().get(ME, { cookie })).status).toBe(401);
  });

  it('can be listed and revoked by its own person and by an admin, and by nobody else', async () => {
    const served = await servedSignIn();
    const { browser: ann } = await served.enrolled('ann', 'approver');
    const { browser: ben } = await served.enrolled('ben', 'approver');
    const [admin, viewer] = [await signedIn(served), await signedIn(served, 'viewer')];
    const listed = async (of: FakeBrowser) =>
      (await of.get('/api/v1/sessions')).body['items'] as {
        name: string;
        session: string;
        is_own: boolean;
      }[];
    const revoked = async (by: FakeBrowser, session = ''): Promise<number> =>
      (await by.post('/api/v1/sessions/revoke', { session })).status;
    expect((await listed(ann)).map(({ name }) => name)).toEqual(['ann']);
    const all = await listed(admin);
    expect(new Set(all.map(({ name }) => name))).toEqual(new Set(['ann', 'ben', 'local']));
    expect(await revoked(viewer, all.find(({ is_own: isOwn }) => isOwn)?.session)).toBe(404);
    const [own] = await listed(ann);
    expect(await revoked(ben, own?.session)).toBe(404);
    expect(await revoked(ann, own?.session)).toBe(200);
    expect(await revoked(admin, all.find(({ name }) => name === 'ben')?.session)).toBe(200);
    for (const [browser, status] of [
      [ann, 401],
      [ben, 401],
      [admin, 200],
    ] as const)
      expect((await browser.get(ME)).status).toBe(status);
  });

  it('closes its event stream when it ends for any reason', async () => {
    const served = await servedSignIn();
    const { browser: ann } = await served.enrolled('ann', 'viewer');
    const { browser: ben } = await served.enrolled('ben', 'viewer');
    const [signedOut, removed, idle] = [
      await ann.stream(),
      await ben.stream(),
      await (await signedIn(served)).stream(),
    ];
    await ann.post('/api/v1/sign-out', {});
    await expect.poll(signedOut.hasEnded).toBe(true);
    await served.machine('/api/v1/people/remove', { name: 'ben', why: 'left' });
    await expect.poll(removed.hasEnded).toBe(true);
    expect(idle.hasEnded()).toBe(false);
    served.clock.now = 30 * MINUTE_MS;
    await ann.get(ME);
    await expect.poll(idle.hasEnded).toBe(true);
  });

  it('does not expose its secrets in any list', async () => {
    const served = await servedSignIn();
    const browser = await signedIn(served);
    const secret = browser.cookie?.split('=')[1] ?? '';
    for (const path of ['/api/v1/sessions', '/api/v1/people', '/api/v1/status', ME]) {
      const { text, status } = await browser.get(path);
      expect(status).toBe(200);
      expect(text).not.toContain(secret);
      expect(text).not.toContain(MACHINE_TOKEN);
      expect(path === ME || !text.includes(browser.csrf ?? '')).toBe(true);
    }
  });

  it('is stored only in memory, so that another process refuses it', async () => {
    const { cookie = '' } = await signedIn(await servedSignIn());
    expect((await (await servedSignIn()).browser().get(ME, { cookie })).status).toBe(401);
  });

  it('is limited to ten per person: the oldest one ends', async () => {
    const served = await servedSignIn();
    const first = await signedIn(served);
    for (let n = 0; n < 10; n += 1) await signedIn(served);
    expect((await first.get(ME)).status).toBe(401);
    expect(served.signIn.sessions.all()).toHaveLength(10);
  });
});

describe('a command of a session', () => {
  const COMMAND = '/api/v1/pause';
  const BODY = { why: 'lunch' };

  it('is executed in the name of the person who signed in', async () => {
    const served = await servedSignIn();
    const { browser } = await served.enrolled('ann', 'operator');
    expect((await browser.post(COMMAND, BODY)).status).toBe(200);
    expect(served.bench.records().at(-1)?.body).toMatchObject({
      kind: 'control', state: 'paused', by: 'ann', token: { name: 'ann', kind: 'person' },
    }); // prettier-ignore
  });

  it('is refused with the CSRF token of another session', async () => {
    const served = await servedSignIn();
    const [one, other] = [await signedIn(served), await signedIn(served)];
    expect((await one.post(COMMAND, BODY, { 'x-tranche-csrf': other.csrf ?? '' })).status).toBe(403);
  });

  it('is refused if its body names another person', async () => {
    const served = await servedSignIn();
    const { browser } = await served.enrolled('ann', 'operator');
    const refused = refusedWith(403, 'comes from the sign-in');
    const machine = await signedIn(served);
    for (const one of [browser, machine])
      expect(await one.post(COMMAND, { ...BODY, by: 'ben' })).toMatchObject(refused);
    const invited = { name: 'cy', role: 'viewer', why: 'w', by: 'ben' };
    expect((await machine.post(INVITE, invited)).status).toBe(403);
  });

  it('is refused if it manages people and the caller is not an admin', async () => {
    const served = await servedSignIn();
    const { browser } = await served.enrolled('ann', 'approver');
    const invited = { name: 'cy', role: 'viewer', why: 'w' };
    expect((await browser.post(INVITE, invited)).status).toBe(403);
    expect((await browser.post('/api/v1/people/remove', { name: 'ann', why: 'w' })).status).toBe(403);
  });
});

describe('an invitation', () => {
  const INVITED = { name: 'ann', role: 'approver', why: 'joins the desk' };

  it('lets one person enrol a passkey, sign in with it, and act with their role', async () => {
    const served = await servedSignIn();
    const { browser, passkey } = await served.enrolled('ann', 'approver');
    const ann = { name: 'ann', role: 'approver' };
    expect((await browser.get(ME)).body).toMatchObject({ ...ann, kind: 'person', via: 'session' });
    const elsewhere = served.browser();
    expect(await signInWith(elsewhere, passkey)).toMatchObject({ status: 200, body: ann });
    const steps = served.bench.bodies('person').map(({ step, by, role }) => [step, by, role].join(' '));
    expect(steps).toEqual(['invited local approver', 'enrolled ann approver', 'signed_in ann approver']);
    expect((await elsewhere.get('/api/v1/people')).body).toEqual({
      items: [{ name: 'ann', role: 'approver', state: 'active', invited_by: 'local',
        passkeys: [{ id: passkey.id, enrolled_at: expect.stringMatching(/^2026-/u) as unknown }] }],
    }); // prettier-ignore
  });

  it('works once, also if two people enrol at the same time', async () => {
    const served = await servedSignIn();
    const { body } = await served.machine(INVITE, INVITED);
    const invitation = invitationIn(body['link']);
    const enrol = async (): Promise<number> =>
      (await enrolWith(served.browser(), invitation, aPasskey())).status;
    expect(new Set(await Promise.all([enrol(), enrol()]))).toEqual(new Set([200, 401]));
  });

  it('works for one day, and ends with a newer invitation or the removal of the person', async () => {
    const served = await servedSignIn();
    const invite = async (): Promise<string> =>
      invitationIn((await served.machine(INVITE, INVITED)).body['link']);
    const first = await invite();
    const second = await invite();
    expect((await enrolWith(served.browser(), first, aPasskey())).status).toBe(401);
    served.clock.now = 24 * HOUR_MS;
    expect((await enrolWith(served.browser(), second, aPasskey())).status).toBe(401);
    const third = await invite();
    await served.machine('/api/v1/people/remove', { name: 'ann', why: 'left' });
    expect((await enrolWith(served.browser(), third, aPasskey())).status).toBe(401);
  });

  it('does not appear in the journal, and neither does a sign-in link', async () => {
    const served = await servedSignIn();
    const { body } = await served.machine(INVITE, INVITED);
    const link = served.link();
    await served.browser().post(LINK, { link });
    const journal = JSON.stringify(served.bench.records());
    expect(journal).toContain('"invited"');
    expect(journal).not.toContain(invitationIn(body['link']));
    expect(journal).not.toContain(link);
  });

  it('is refused for the name of a program or the machine', async () => {
    const served = await servedSignIn();
    for (const name of ['bot', 'LOCAL'])
      expect((await served.machine(INVITE, { ...INVITED, name })).status).toBe(409);
    // A person may have a token and a passkey: both are the same person.
    expect((await served.machine(INVITE, { ...INVITED, name: 'olga' })).status).toBe(200);
  });

  it('is accepted only from the machine for roles that can act, not from an admin elsewhere', async () => {
    const served = await servedSignIn();
    const { browser: admin } = await served.enrolled('ada', 'admin');
    for (const role of ['operator', 'approver', 'admin']) {
      const invited = { ...INVITED, role };
      expect((await admin.post(INVITE, invited)).status).toBe(403);
      expect((await served.machine(INVITE, invited, 'token-of-a-program')).status).toBe(403);
      expect((await served.machine(INVITE, invited)).status).toBe(200);
    }
    expect((await admin.post(INVITE, { ...INVITED, name: 'vera', role: 'viewer' })).status).toBe(200); // prettier-ignore
    // A passkey under the name of a token would act for its owner, even one of a viewer.
    expect((await admin.post(INVITE, { ...INVITED, name: 'Olga', role: 'viewer' })).status).toBe(403); // prettier-ignore
  });

  it('is accepted only from the command on the machine for every role, where changes need approval', async () => {
    const served = await servedSignIn({ hasApprovals: true });
    const { browser: admin } = await served.enrolled('ada', 'admin');
    const link = await signedIn(served);
    for (const role of ['viewer', 'approver']) {
      const invited = { ...INVITED, role };
      for (const browser of [admin, link]) expect((await browser.post(INVITE, invited)).status).toBe(403);
      expect((await served.machine(INVITE, invited)).status).toBe(200);
    }
  });

  it('can be created in a browser that signed in with a link of the machine', async () => {
    const free = await servedSignIn();
    const { browser: ada } = await free.enrolled('ada', 'admin');
    expect((await ada.post(INVITE, INVITED)).status).toBe(403);
    const made = await (await signedIn(free)).post(INVITE, INVITED);
    expect(made.body['link']).toMatch(/^http:\/\/localhost:\d+\/enrol\?invitation=[\w-]{43}$/u);
  });

  it('requires a page with a host name, as passkeys do', async () => {
    const served = await servedSignIn();
    const { body } = await served.machine(INVITE, INVITED);
    const page = served.browser(`http://127.0.0.1:${served.port}`);
    const refused = await enrolWith(page, invitationIn(body['link']), aPasskey());
    expect(refused).toMatchObject(refusedWith(400, 'http://localhost:'));
  });
});

describe('a passkey', () => {
  type Own = ReturnType<typeof aPasskey>;
  it.each<[string, (own: Own) => Parameters<typeof signInWith>[2]]>([
    ['with another challenge', (own) => (at) => own.assert({ ...at, challenge: 'b3RoZXI' })],
    ['on another page', (own) => (at) => own.assert({ ...at, origin: 'http://localhost:1' })],
    ['for another host', (own) => (at) => own.assert({ ...at, rpId: 'evil.example' })],
    ['with the same counter again', (own) => (at) => own.assert(at, { counter: 5 })],
    ['with a lower counter', (own) => (at) => own.assert(at, { counter: 1 })],
    ['without verification of the person', (own) => (at) => own.assert(at, { isUnverified: true })],
    ['with another private key', (own) => (at) => own.assert(at, { signWith: aPasskey().privateKey })],
    ['inside a page of another origin', (own) => (at) => own.assert(at, { crossOrigin: true })],
    ['with an enrolment', (own) => (at) => own.assert(at, { type: 'webauthn.create' })],
    ['if it was not enrolled', () => (at) => aPasskey().assert(at)],
    ['without an assertion', () => () => ({})],
    ['with an id that is no text', () => () => ({ id: 5 })],
    [
      'with an empty response',
      (own) => () => ({ id: own.id, rawId: own.id, type: 'public-key', response: {} }),
    ],
    [
      'with a malformed response',
      ({ id }) =>
        () => ({ id, rawId: id, type: 'public-key', response: { clientDataJSON: 'AA' } }),
    ],
  ])('does not sign in %s', async (_how, tamper) => {
    const served = await servedSignIn();
    const { passkey } = await served.enrolled('ann', 'approver');
    const first = await signInWith(served.browser(), passkey, (at) => passkey.assert(at, { counter: 5 }));
    expect(first.status).toBe(200);
    const browser = served.browser();
    const answer = await signInWith(browser, passkey, tamper(passkey));
    expect([400, 401]).toContain(answer.status);
    expect([browser.cookie, served.alerts.length <= 1]).toEqual([undefined, true]);
  });

  it('signs in as often as its person wants if its device does not count', async () => {
    const served = await servedSignIn();
    const { passkey } = await served.enrolled('ann', 'approver');
    for (let n = 0; n < 2; n++) {
      const uncounted = await signInWith(served.browser(), passkey, (at) =>
        passkey.assert(at, { counter: 0 }),
      );
      expect(uncounted.status).toBe(200);
    }
  });

  it.each<[string, (own: Own, at: Parameters<Own['register']>[0]) => object]>([
    ['another challenge', (own, at) => own.register({ ...at, challenge: 'b3RoZXI' })],
    ['another page', (own, at) => own.register({ ...at, origin: 'https://evil.example' })],
    ['another host', (own, at) => own.register({ ...at, rpId: 'evil.example' })],
    ['a sign-in', (own, at) => own.assert(at)],
    ['a page inside another origin', (own, at) => own.register(at, { crossOrigin: true })],
  ])('is not enrolled with an answer to %s', async (_of, answer) => {
    const served = await servedSignIn();
    const { body } = await served.machine(INVITE, { name: 'ann', role: 'viewer', why: 'w' });
    const [page, own] = [served.browser(), aPasskey()];
    const tampered = { ...own, register: (at: Parameters<Own['register']>[0]) => answer(own, at) };
    expect((await enrolWith(page, invitationIn(body['link']), tampered)).status).toBe(401);
    expect(page.cookie).toBeUndefined();
  });

  it('is revoked with its sessions when its person is removed', async () => {
    const served = await servedSignIn();
    const { browser, passkey } = await served.enrolled('ann', 'approver');
    const removed = await served.machine('/api/v1/people/remove', { name: 'ANN', why: 'left', by: 'ops' });
    expect(removed.body).toEqual({ done: true, says: 'ann can no longer sign in' });
    expect((await browser.get(ME)).status).toBe(401);
    expect((await signInWith(served.browser(), passkey)).status).toBe(401);
    expect(served.bench.bodies('person').at(-1)).toMatchObject({
      step: 'removed',
      person: 'ann',
      by: 'local (ops)',
    });
  });

  it('signs in to the next process, which reads the person from the journal', async () => {
    const before = await servedSignIn();
    const { passkey } = await before.enrolled('ann', 'approver');
    const bench = nextProcess(before.bench, 1_000, { strategies: [aTwap('t')] });
    const next = await servedSignIn({ bench });
    expect(await signInWith(next.browser(), passkey)).toMatchObject({ status: 200, body: { name: 'ann' } });
  });

  it('cannot be prepared by an invitation before the desk has read its journal', async () => {
    const served = await servedSignIn({ bench: aBench({ strategies: [aTwap('t')] }) });
    const invited = { name: 'ann', role: 'viewer', why: 'w' };
    expect((await served.machine(INVITE, invited)).status).toBe(409);
  });
});

describe('every answer of the sign-in routes', () => {
  it('conforms to the document of the API', async () => {
    const served = await servedSignIn();
    const { passkey } = await served.enrolled('ann', 'viewer');
    const { body } = await served.machine(INVITE, { name: 'ben', role: 'viewer', why: 'w' });
    const invitation = invitationIn(body['link']);
    const page = served.browser();
    const answers: Partial<Record<keyof typeof signInRoutes, unknown>> = {
      [INVITE]: body,
      '/api/v1/sign-in/new-link': (await served.machine('/api/v1/sign-in/new-link', {})).body,
      '/api/v1/sign-in/passkey/options': (await page.post('/api/v1/sign-in/passkey/options', {})).body,
      '/api/v1/sign-in/passkey': (await signInWith(served.browser(), passkey)).body,
      '/api/v1/enrol/options': (await page.post('/api/v1/enrol/options', { invitation })).body,
      '/api/v1/enrol': (await enrolWith(served.browser(), invitation, aPasskey())).body,
      '/api/v1/sign-in/link': (await page.post(LINK, { link: served.link() })).body,
      '/api/v1/sessions': (await page.get('/api/v1/sessions')).body,
      '/api/v1/people': (await page.get('/api/v1/people')).body,
      '/api/v1/people/remove': (await page.post('/api/v1/people/remove', { name: 'ann', why: 'w' })).body,
      '/api/v1/sessions/revoke': (await page.post('/api/v1/sessions/revoke', { session: served.signIn.sessions.all()[0]?.session })).body,
      '/api/v1/sign-out': (await page.post('/api/v1/sign-out', {})).body,
    }; // prettier-ignore
    expect(Object.keys(answers).toSorted()).toEqual(Object.keys(signInRoutes).toSorted());
    const problems = Object.entries(signInRoutes).flatMap(([path, { answer }]) => {
      const read = answer.safeParse(answers[path as keyof typeof signInRoutes]);
      return read.success ? [] : [`${path} ${JSON.stringify(read.error.issues)}`];
    });
    expect(problems).toEqual([]);
  });
});

describe('cookies', () => {
  const secret = 'a'.repeat(43);

  it.each([
    ['', 0],
    ['tranche=short', 0],
    [`other=${secret}`, 0],
    [`xtranche=${secret}`, 0],
    [`tranche-8321=${secret}`, 1],
    [`a=b; tranche-1=${secret}; __Host-tranche=${secret}`, 2],
    [`__Host-tranche-1=${secret}${'x'.repeat(10_000)}`, 0],
    [Array(100).fill(`tranche=${secret}`).join('; '), 16],
  ])('in the header %j contain %i possible session cookies', (header, count) => {
    expect(cookiesIn(header)).toHaveLength(count);
  });
});
