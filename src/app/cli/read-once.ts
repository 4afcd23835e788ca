import { config } from 'zod';

/**
 * For a process that parses a few documents once each: by default zod compiles a validator for each schema, which takes longer
 * than interpreting it. Call this before creating any schema.
 */
export function readOnce(): void {
  config({ jitless: true });
}
