import { z } from 'zod';
import { roles } from '../../core/roles.ts';
import { Refusal } from '../api/refusal.ts';
import { CEREMONY_ID_MAX } from './ceremonies.ts';

const text = z.string().max(500);
const secret = z.string().max(100);
const ceremony = z.string().max(CEREMONY_ID_MAX);
const why = text.refine((given) => given.trim() !== '', 'give the reason');
/** A passkey response of the browser; the package that verifies it knows its shape. */
const response = z.looseObject({ id: z.string().max(1_000) });

/** Bodies of the sign-in routes, by path. */
export const bodies = {
  '/api/v1/sign-in/link': z.strictObject({ link: secret.describe('The secret of the link') }),
  '/api/v1/sign-in/new-link': z.strictObject({ role: z.enum(roles).optional() }),
  '/api/v1/sign-in/passkey/options': z.strictObject({}),
  '/api/v1/sign-in/passkey': z.strictObject({ id: ceremony, response }),
  '/api/v1/enrol/options': z.strictObject({ invitation: secret }),
  '/api/v1/enrol': z.strictObject({ id: ceremony, response }),
  '/api/v1/sign-out': z.strictObject({}),
  '/api/v1/sessions/revoke': z.strictObject({ session: secret, why: text.optional() }),
  '/api/v1/people/invite': z.strictObject({ name: text, role: z.enum(roles), why, by: text.optional() }),
  '/api/v1/people/remove': z.strictObject({ name: text, why, by: text.optional() }),
} as const;

export type Bodies = { readonly [P in keyof typeof bodies]: z.output<(typeof bodies)[P]> };

/** The body of a request. @throws Refusal with a message for an invalid body. */
export function bodyOf<P extends keyof Bodies>(path: P, given: unknown): Bodies[P] {
  const read = bodies[path].safeParse(given);
  if (read.success) return read.data as Bodies[P]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the schema of that path
  const [issue] = read.error.issues;
  const where =
    issue === undefined || issue.path.length === 0 ? '' : `"${issue.path.map(String).join('.')}": `;
  throw new Refusal(400, `${where}${issue?.message ?? 'expected a JSON object'}`);
}
