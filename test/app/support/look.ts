import { Command, CommanderError, Option } from '@commander-js/extra-typings';
import { addLook } from '../../../src/app/look-cli.ts';
import { OperatorError, exitCodes } from '../../../src/core/errors.ts';
import { instant } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export const NOON = instant(Date.UTC(2026, 10, 21, 12));

/** Runs `tranche plan` or `tranche why` as the command line does: arguments read by commander, errors made exit codes. */
export async function look(
  cwd: string,
  line: readonly string[],
  { now = NOON, env = {} }: { readonly now?: Instant; readonly env?: Record<string, string> } = {},
): Promise<Ran> {
  const ran = { code: -1, out: '', err: '' };
  const stdout = { write: (text: string): unknown => (ran.out += text) };
  const stderr = { write: (text: string): unknown => (ran.err += text) };
  const cli = new Command('tranche')
    .exitOverride()
    .configureOutput({ writeErr: (text) => stderr.write(text), writeOut: (text) => stdout.write(text) });
  addLook(cli, {
    io: { stdout, stderr, env, cwd, now, colour: false },
    config: () => new Option('--config <file>', 'config file').default('config/paper.yaml'),
    done: (code) => (ran.code = code),
  });
  try {
    await cli.parseAsync(['node', 'tranche', ...line]);
  } catch (error) {
    if (error instanceof CommanderError) ran.code = exitCodes.usage;
    else if (error instanceof OperatorError) {
      ran.err += error.message;
      ran.code = exitCodes[error.exit];
    } else throw error;
  }
  return ran;
}
