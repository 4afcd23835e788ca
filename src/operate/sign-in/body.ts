import type { Bodies } from './bodies.ts';

/**
 * The validated body of a request. The schemas are created for the first browser, so that a start does not wait for
 * them.
 *
 * @throws Refusal with a message for an invalid body.
 */
export async function readBody<P extends keyof Bodies>(path: P, given: unknown): Promise<Bodies[P]> {
  const { bodyOf } = await import('./bodies.ts');
  return bodyOf(path, given);
}
