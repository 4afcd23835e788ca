import type { z } from 'zod';
import { Refusal } from './refusal.ts';
import { routeSchemas } from './schemas.ts';
import type { RouteSchema } from './schemas.ts';
import type { ApiPath } from './routes.ts';

/** Parses the parameters of a request. @throws Refusal with the name of the invalid parameter. */
export function queryOf(path: ApiPath, given: unknown): unknown {
  const { query }: RouteSchema = routeSchemas[path];
  if (query === undefined) return {};
  const read = query.safeParse(given);
  if (read.success) return read.data;
  const known = Object.keys(query.shape).toSorted().join(', ');
  throw new Refusal(400, read.error.issues.map((issue) => wordsOf(issue, known)).join('; '));
}

function wordsOf(issue: z.core.$ZodIssue, known: string): string {
  if (issue.code === 'unrecognized_keys')
    return `"${issue.keys.join('", "').slice(0, 80)}" is unknown; known parameters are ${known === '' ? 'none' : known}`;
  return `"${issue.path.join('.')}": ${issue.message}`;
}
