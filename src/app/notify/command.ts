import { spawn } from 'node:child_process';
import { Undelivered } from '../../operate/notify/channel.ts';
import type { Channel } from '../../operate/notify/channel.ts';
import { jsonBody } from '../../operate/notify/formats.ts';

export interface CommandOptions {
  /** Absolute path of the program, and its arguments. */
  readonly run: readonly [string, ...string[]];
}

/** The only environment variables that the program receives: those that it needs to find programs and its own files. */
const PASSED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ'] as const;

/**
 * Runs a program for each message and writes the message to its stdin as JSON, without a shell and without secrets in the environment. Kills
 * the program after `timeoutMs`. Exit code 0 means that the message was delivered.
 */
export const command = (
  { run: [program, ...args] }: CommandOptions,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs = 10_000,
): Channel['send'] =>
  async function send(message) {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const child = spawn(program, args, {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: Object.fromEntries(PASSED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    child.once('error', (cause) => {
      const code = 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : '';
      reject(new Undelivered(`the command cannot be run${code}`));
    });
    child.once('exit', (code, signal) => {
      if (code === 0) resolve(undefined);
      else if (signal === 'SIGKILL')
        reject(new Undelivered(`the command did not finish within ${timeoutMs} ms`));
      else
        reject(
          new Undelivered(`the command ended with ${code === null ? String(signal) : `exit code ${code}`}`),
        );
    });
    // A program that does not read stdin may exit before the whole message is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(jsonBody(message))}\n`);
    await promise;
  };
