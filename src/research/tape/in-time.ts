import { runInNewContext } from 'node:vm';

/** The limit assumes a slow 100 MB a second, and adds a few seconds for a busy machine. */
const LEAST_MS = 3_000;
const BYTES_A_MS = 100_000;

/**
 * Runs `work` over this many bytes, and ends it if it takes far longer than reading them, because a library for a file format may loop up to
 * a number in a damaged file, and fill memory in the meantime. Only a timer of the JavaScript engine can end such a loop.
 *
 * @throws Error when the time is over, and any error of `work`.
 */
export const inTime = <T>(bytes: number, work: () => T): T =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the context only calls the function
  runInNewContext('work()', { work }, { timeout: LEAST_MS + Math.ceil(bytes / BYTES_A_MS) }) as T;
