import { Command, CommanderError } from '@commander-js/extra-typings';
import { accountIo, addAccount } from '../../../src/app/cli/account/account-cli.ts';
import type { AccountIo } from '../../../src/app/commands/account/account-session.ts';
import { exitCodes, OperatorError } from '../../../src/core/errors.ts';
import { overheard } from '../../custody/watch.ts';
import { systemClock } from '../../simulator/world.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Answers of the person at the terminal; without it, there is no terminal. */
  readonly answer?: (question: string) => string;
}

/** Runs `tranche account …` in this process like the command line, with arguments read by commander and exit codes for errors. */
export async function run(
  args: readonly string[],
  { env = {}, cwd = '/', answer }: RunOptions = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  let code = 0;
  const stdout = { write: (text: string): unknown => (out += text) };
  const stderr = { write: (text: string): unknown => (err += text) };
  const io: AccountIo = {
    ...accountIo(
      { stdout, stderr, env, cwd, now: systemClock.wall(), colour: false },
      { input: process.stdin, output: process.stderr },
    ),
    ask: answer === undefined ? undefined : async (question) => await Promise.resolve(answer(question)),
  };
  const cli = new Command('tranche')
    .exitOverride()
    .configureOutput({ writeErr: (text) => stderr.write(text), writeOut: (text) => stdout.write(text) });
  addAccount(cli, { io, done: (each) => (code = each) });
  try {
    await cli.parseAsync(['node', 'tranche', 'account', ...args]);
  } catch (error) {
    if (error instanceof CommanderError) code = error.exitCode === 0 ? 0 : exitCodes.usage;
    else if (error instanceof OperatorError) {
      stderr.write(`${error.message}\n`);
      code = exitCodes[error.exit];
    } else throw error;
  }
  overheard(`stdout of account ${args.join(' ')}`, out);
  overheard(`stderr of account ${args.join(' ')}`, err);
  return { code, out, err };
}

/** Replaces times and ids, which differ between runs, by placeholders of the same width. */
export const steady = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/gu, 'YYYY-MM-DDTHH:MM:SS.mmmZ')
    .replaceAll(/\b\d{4}-\d\d-\d\d\b/gu, 'YYYY-MM-DD')
    .replaceAll(/\b1\d{12}\b/gu, '#############')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gu, 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx')
    .replaceAll(/op-[0-9a-z]{8}-[0-9a-z]{6}/gu, 'op-########-######')
    .replaceAll(/"cursor":"[^"]*"/gu, '"cursor":"…"')
    .replaceAll(/127\.0\.0\.1:\d+/gu, '127.0.0.1:PORT');
