import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';

/** One piece of work, and the lines that it adds: a name, a tab, a hash. */
export interface Job {
  readonly name: string;
  /** Whether a line of this name is one of its lines. */
  adds(line: string): boolean;
  run(folder: string): Promise<readonly string[]>;
}

export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

/** Runs the command line as a user does. */
export const tranche = async (folder: string, args: readonly string[]): Promise<Output> =>
  await node(folder, [PROGRAM, ...args]);

/** Runs a program of Node in `folder`, in UTC and without settings of the person who runs it. */
export async function node(folder: string, args: readonly string[]): Promise<Output> {
  return await new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, TZ: 'UTC', NO_COLOR: '1' };
    execFile(
      process.execPath,
      [...args],
      { cwd: folder, env, maxBuffer: OUTPUT_BYTES_MAX },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr });
      },
    );
  });
}

/** Enough of SHA-256 to tell two texts apart. */
export const hashOf = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);

export const line = (name: string, hash: string): string => `${name}\t${hash}`;
