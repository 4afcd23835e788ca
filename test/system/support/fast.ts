import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How much faster than real the clocks of a process run, unless a test says otherwise. */
export const SPEED = 10;

/** `hooks/faster.ts` with its numbers, to be loaded before the program. Processes that share the address share their clocks. */
export function fastClock(speed = SPEED): string {
  const url = pathToFileURL(join(import.meta.dirname, 'hooks/faster.ts'));
  url.search = String(new URLSearchParams({ speed: String(speed), from: String(Date.now()) }));
  return url.href;
}

/** A clock that stands at `from` until the process first listens on a port, and runs fast from there. */
export function fastClockFrom(from: number, speed: number): string {
  const url = pathToFileURL(join(import.meta.dirname, 'hooks/faster.ts'));
  url.search = String(new URLSearchParams({ speed: String(speed), from: String(from), begins: 'listening' }));
  return url.href;
}
