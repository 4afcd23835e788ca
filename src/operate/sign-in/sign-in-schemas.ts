import { z } from 'zod';
import { roles } from '../../core/roles.ts';
import type { Role } from '../../core/roles.ts';
import * as desk from '../api/schema-desk.ts';
import { list, time } from '../api/schema-parts.ts';
import { inputOf } from '../api/input.ts';
import type { ApiRoute } from '../api/routes.ts';
import { text } from '../api/schema-commands.ts';
import { CEREMONY_ID_MAX } from './ceremonies.ts';

const role = z.enum(roles);
const done = z.strictObject({ done: z.literal(true), says: z.string() });
const lifeS = z.number().describe('Seconds until it expires');
const ceremony = {
  id: z.string().describe('Send it back with the signature of the device'),
  options: z.looseObject({}).describe('Options of WebAuthn, as JSON, for `navigator.credentials`'),
};

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

const secret = z.string().max(100);
/** A passkey response of the browser; the package that verifies it knows its shape. */
const response = z.looseObject({ id: z.string().max(1_000) });
const signed = z.strictObject({ id: z.string().max(CEREMONY_ID_MAX), response });
const nothing = z.strictObject({});
const by = text.optional();

const reads = <A extends z.ZodType>(summary: string, item: A) =>
  ({ method: 'GET', role: 'viewer', summary, answer: z.strictObject({ items: list(item) }) }) as const;
const post = <B extends z.ZodType, R extends Role | undefined = undefined>(
  summary: string,
  body: B,
  answer: z.ZodType,
  least?: R,
) => ({ method: 'POST', summary, body, answer, role: least }) as const;

/** Routes of the sign-in, of people and of sessions. */
export const signInRoutes = {
  '/api/v1/sign-in/link': post(
    'Signs in with a link of the machine; sets the cookie',
    z.strictObject({ link: secret.describe('The secret of the link') }),
    desk.me,
  ),
  '/api/v1/sign-in/passkey/options': post(
    'The challenge that a device signs',
    nothing,
    z.strictObject(ceremony),
  ),
  '/api/v1/sign-in/passkey': post('Signs in with a passkey; sets the cookie', signed, desk.me),
  '/api/v1/enrol/options': post(
    'Options with which a device creates a passkey',
    z.strictObject({ invitation: secret }),
    z.strictObject({ ...ceremony, name: z.string(), role }),
  ),
  '/api/v1/enrol': post('Enrols a passkey by invitation; sets the cookie', signed, desk.me),
  '/api/v1/sign-in/new-link': post(
    'Creates a new link; only with the token of this machine',
    z.strictObject({ role: role.optional() }),
    z.strictObject({ link: z.string(), life_s: lifeS }),
    'admin',
  ),
  '/api/v1/sign-out': post('Ends the session of this request', nothing, done, 'viewer'),
  '/api/v1/sessions': reads('Sessions of the caller; for an admin, all sessions', session),
  '/api/v1/sessions/revoke': post(
    'Ends a session of the caller; for an admin, any session',
    z.strictObject({ session: secret, why: text.optional() }),
    done,
    'viewer',
  ),
  '/api/v1/people': reads('Who may sign in', desk.person),
  '/api/v1/people/invite': post(
    'Invites a person; roles above viewer only on the machine of the desk',
    z.strictObject({ name: text, role, why: text, by }),
    z.strictObject({ ...done.shape, link: z.string(), life_s: lifeS }),
    'admin',
  ),
  '/api/v1/people/remove': post(
    'Removes a person; passkeys and sessions end at once',
    z.strictObject({ name: text, why: text, by }),
    done,
    'admin',
  ),
} as const satisfies Readonly<Record<string, ApiRoute>>;

type Routes = typeof signInRoutes;
export type Posted = {
  [P in keyof Routes]: Routes[P] extends { readonly body: z.ZodType } ? P : never;
}[keyof Routes];
export type BodyOf<P extends Posted> = z.output<Routes[P]['body']>;

/** The body of a request. @throws Refusal with a message for an invalid body. */
export const bodyOf = <P extends Posted>(path: P, given: unknown): BodyOf<P> =>
  inputOf(signInRoutes[path].body as unknown as z.ZodType<BodyOf<P>>, given); // oxlint-disable-line typescript/no-unsafe-type-assertion -- the schema of that path
