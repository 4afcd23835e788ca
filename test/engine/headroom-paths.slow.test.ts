import process from 'node:process';
import { expect, it } from 'vitest';
import { paths } from './credit.ts';

/** CI plays fewer. */
const PATHS = Number(process.env['PATHS'] ?? 10_000);

it('leaves no forced settlement on random paths, except where one step jumps over the buffer', () => {
  const [bare, kept] = [paths(PATHS, false), paths(PATHS, true)];
  process.stdout.write(`forced settlements on ${PATHS} paths: ${bare.settled} without min_headroom, ${kept.settled} with it, ${kept.jumped} of these in one step over the buffer\n`); // prettier-ignore
  expect(kept.settled - kept.jumped).toBe(0);
});
