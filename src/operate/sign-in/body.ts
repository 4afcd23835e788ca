import type { BodyOf, Posted } from './sign-in-schemas.ts';

/**
 * The validated body of a request. The schemas are created for the first browser, so that a start does not wait for
 * them.
 *
 * @throws Refusal with a message for an invalid body.
 */
export async function readBody<P extends Posted>(path: P, given: unknown): Promise<BodyOf<P>> {
  const { bodyOf } = await import('./sign-in-schemas.ts');
  return bodyOf(path, given);
}
