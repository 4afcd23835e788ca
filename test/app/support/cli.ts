import { Command, CommanderError, Option } from '@commander-js/extra-typings';
import type { SweepIo } from '../../../src/app/commands/sweep.ts';
import { OperatorError, exitCodes } from '../../../src/core/errors.ts';
import type { Instant } from '../../../src/core/time.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A part of the command line, as `addLook` and its like add it. */
type AddCommands = (
  cli: Command,
  world: {
    io: SweepIo;
    config: () => Option<'--config <file>', undefined, string>;
    done: (code: number) => void;
  },
) => unknown;

export interface CliWorld {
  readonly cwd: string;
  readonly now: Instant;
  readonly env?: Readonly<Record<string, string>>;
  /** Config file where the line names none. */
  readonly config: string;
  /** As of the system; left out: none ever comes. */
  readonly onSignal?: SweepIo['onSignal'];
  /** Makes stderr a terminal, and is told what is written there. */
  readonly watch?: (text: string) => void;
}

/** Runs a command as the command line does: arguments read by commander, errors made exit codes. */
export async function runLine(
  add: AddCommands,
  line: readonly string[],
  { cwd, now, env = {}, config, onSignal = () => () => undefined, watch }: CliWorld,
): Promise<Ran> {
  const ran = { code: -1, out: '', err: '' };
  const stdout = { write: (text: string): unknown => (ran.out += text) };
  const stderr = {
    isTTY: watch !== undefined,
    write(text: string): void {
      ran.err += text;
      watch?.(text);
    },
  };
  const cli = new Command('tranche')
    .exitOverride()
    .configureOutput({ writeErr: (text) => stderr.write(text), writeOut: (text) => stdout.write(text) });
  add(cli, {
    io: { stdout, stderr, env, cwd, now, colour: false, onSignal, exitNow: () => undefined },
    config: () => new Option('--config <file>', 'config file').default(config),
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
