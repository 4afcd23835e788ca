import { config } from 'zod';

/**
 * For a process that reads a few documents, once each: zod writes and compiles a program for each shape that it meets, which takes
 * longer than reading without one. Called before any shape is made.
 */
export function readOnce(): void {
  config({ jitless: true });
}
