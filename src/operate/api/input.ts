import { z } from 'zod';
import { Refusal } from './refusal.ts';

/** Parses the parameters or the body of a request. @throws Refusal with the name of each invalid field. */
export function inputOf<T>(schema: z.ZodType<T>, given: unknown, what: 'field' | 'parameter' = 'field'): T {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape).toSorted().join(', ') : '';
  const wordsOf = (issue: z.core.$ZodIssue): string => {
    if (issue.path.length > 0) return `"${issue.path.join('.')}": ${issue.message}`;
    if (issue.code !== 'unrecognized_keys') return 'expected a JSON object';
    return `"${issue.keys.join('", "').slice(0, 80)}" is unknown; known ${what}s are ${known === '' ? 'none' : known}`;
  };
  throw new Refusal(400, read.error.issues.map(wordsOf).join('; '));
}
