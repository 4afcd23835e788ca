import { z } from 'zod';
import type { ApiRoute } from '../api/routes.ts';
import { firmLimit, openWork } from '../api/schema-desk.ts';
import type { RouteSchema } from '../api/schemas.ts';

const name = z.string().min(1).max(200);

/** Routes of a fleet daemon that no desk has. */
export const fleetRoutes = {
  '/api/v1/fleet/limits': {
    method: 'GET',
    role: 'viewer',
    summary:
      'On a fleet daemon: the firm limits, their use, and who set them. Needs a role on every desk, because the figures cover all desks',
    answer: z.strictObject({ items: z.array(firmLimit) }),
  },
  '/api/v1/fleet/command': {
    method: 'POST',
    role: 'operator',
    summary:
      'On a fleet daemon: the owner of a desk executes a command; the caller needs the role of the command on that desk. A halt also binds the next owner',
    body: z.strictObject({
      desk: name,
      command: name.describe('Route of the desk, as in `pause` or `doubts/resolve`'),
      body: z.looseObject({}).describe('Body of that route'),
    }),
    answer: z.strictObject({ done: z.boolean(), says: z.string(), ...z.object(openWork).partial().shape }),
  },
} as const satisfies Readonly<Record<string, ApiRoute & RouteSchema>>;
