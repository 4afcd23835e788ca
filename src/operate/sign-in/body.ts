import type { Bodies } from './bodies.ts';

/**
 * The body of a request, checked. The schemas are built for the first browser: a start does not wait for them.
 *
 * @throws Refusal in words when it is another.
 */
export async function readBody<P extends keyof Bodies>(path: P, given: unknown): Promise<Bodies[P]> {
  const { bodyOf } = await import('./bodies.ts');
  return bodyOf(path, given);
}
