import { config } from 'zod';

/**
 * Makes zod interpret schemas, for a process that parses a few documents once each. By default zod compiles a validator for each
 * schema, which takes longer. Call this before creating any schema.
 */
export function readOnce(): void {
  config({ jitless: true });
}
