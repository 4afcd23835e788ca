import { z } from 'zod';
import { roles } from '../../core/roles.ts';
import type { Role } from '../../core/roles.ts';
import * as desk from '../api/schema-desk.ts';
import { list, time } from '../api/schema-parts.ts';
import { bodies } from './bodies.ts';

/** A sign-in route, for the document of the API. */
export interface SignInRoute {
  readonly method: 'GET' | 'POST';
  /** Lowest role that may call it. Omitted: anybody, because the caller signs in with it. */
  readonly role?: Role | undefined;
  readonly summary: string;
  readonly body?: z.ZodType | undefined;
  readonly answer: z.ZodType;
}

const role = z.enum(roles);
const done = z.strictObject({ done: z.literal(true), says: z.string() });
const lifeS = z.number().describe('Seconds until it expires');
const ceremony = {
  id: z.string().describe('Send it back with the signature of the device'),
  options: z.looseObject({}).describe('Options of WebAuthn, as JSON, for `navigator.credentials`'),
};

const person = z.strictObject({
  name: z.string(),
  role,
  state: z.enum(['invited', 'active', 'removed']),
  passkeys: list(z.strictObject({ id: z.string(), enrolled_at: time })),
  invited_by: z.string(),
});

const session = z.strictObject({
  session: z.string().describe('Identifies the session; not its secret'),
  name: z.string(),
  role,
  via: z.enum(['link', 'passkey']),
  begun_at: time,
  used_at: time,
  ends_at: time,
  is_own: z.boolean().describe('Whether it is the session of this request'),
});

const post = (path: keyof typeof bodies, summary: string, answer: z.ZodType, least?: Role): SignInRoute => ({
  method: 'POST',
  summary,
  body: bodies[path],
  answer,
  role: least,
});

/** Routes of the sign-in, of people and of sessions. */
export const signInRoutes = {
  '/api/v1/sign-in/link': post('/api/v1/sign-in/link', 'Signs in with a link of the machine; sets the cookie', desk.me),
  '/api/v1/sign-in/passkey/options': post('/api/v1/sign-in/passkey/options', 'The challenge that a device signs', z.strictObject(ceremony)),
  '/api/v1/sign-in/passkey': post('/api/v1/sign-in/passkey', 'Signs in with a passkey; sets the cookie', desk.me),
  '/api/v1/enrol/options': post('/api/v1/enrol/options', 'Options with which a device creates a passkey', z.strictObject({ ...ceremony, name: z.string(), role })),
  '/api/v1/enrol': post('/api/v1/enrol', 'Enrols a passkey by invitation; sets the cookie', desk.me),
  '/api/v1/sign-in/new-link': post('/api/v1/sign-in/new-link', 'Creates a new link; only with the token of this machine', z.strictObject({ link: z.string(), life_s: lifeS }), 'admin'),
  '/api/v1/sign-out': post('/api/v1/sign-out', 'Ends the session of this request', done, 'viewer'),
  '/api/v1/sessions': { method: 'GET', role: 'viewer', summary: 'Sessions of the caller; for an admin, all sessions', answer: z.strictObject({ items: list(session) }) },
  '/api/v1/sessions/revoke': post('/api/v1/sessions/revoke', 'Ends a session of the caller; for an admin, any session', done, 'viewer'),
  '/api/v1/people': { method: 'GET', role: 'viewer', summary: 'Who may sign in', answer: z.strictObject({ items: list(person) }) },
  '/api/v1/people/invite': post('/api/v1/people/invite', "Invites a person; roles above viewer only on the machine of the desk", z.strictObject({ ...done.shape, link: z.string(), life_s: lifeS }), 'admin'),
  '/api/v1/people/remove': post('/api/v1/people/remove', 'Removes a person; passkeys and sessions end at once', done, 'admin'),
} as const satisfies Readonly<Record<string, SignInRoute>>; // prettier-ignore
