import { Command, CommanderError, Option } from '@commander-js/extra-typings';
import { expect } from 'vitest';
import { groupsFor } from '../../src/app/cli/groups.ts';
import type { AddCommands } from '../../src/app/cli/options.ts';
import type { RunIo } from '../../src/app/commands/io.ts';
import { validate } from '../../src/app/commands/validate.ts';
import type { ValidateOptions } from '../../src/app/commands/validate.ts';
import { OperatorError, exitCodes } from '../../src/core/errors.ts';
import { instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { overheard } from '../custody/watch.ts';
import { aRunIo } from './run-io.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliWorld {
  readonly cwd: string;
  readonly now?: Instant;
  readonly env?: Readonly<Record<string, string>>;
  /** Config file if the line names none. */
  readonly config?: string;
  /** Registers a listener for signals; without it, no signal arrives. */
  readonly onSignal?: RunIo['onSignal'];
  /** Adds the commands, instead of the group of the first word. */
  readonly add?: AddCommands;
  /** Makes stderr a terminal and receives its text. */
  readonly watch?: (text: string) => void;
}

/** Runs a command like the command line, with arguments read by commander and exit codes for errors. */
export async function runLine(
  line: readonly string[],
  {
    cwd,
    now = instant(0),
    env = {},
    config = 'config.yaml',
    onSignal = () => () => undefined,
    watch,
    add,
  }: CliWorld,
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
  const world = {
    io: { ...aRunIo(), stdout, stderr, env, cwd, now, onSignal, exitNow: () => undefined },
    config: () => new Option('--config <file>', 'config file').default(config),
    done: (code: number): unknown => (ran.code = code),
  };
  if (add === undefined) for (const group of groupsFor(line[0])) await group.add(cli, world);
  else add(cli, world);
  try {
    await cli.parseAsync(['node', 'tranche', ...line]);
  } catch (error) {
    if (error instanceof CommanderError) ran.code = error.exitCode === 0 ? 0 : exitCodes.usage;
    else if (error instanceof OperatorError) {
      ran.err += error.message;
      ran.code = exitCodes[error.exit];
    } else throw error;
  }
  for (const stream of ['out', 'err'] as const) overheard(`std${stream} of ${line.join(' ')}`, ran[stream]);
  return ran;
}

/** Runs `tranche validate` in a folder. */
export function validated(
  cwd: string,
  options: ValidateOptions,
  over: Parameters<typeof aRunIo>[0] = {},
): Ran {
  const io = aRunIo({ cwd, ...over });
  const code = validate(options, io);
  return { code, ...io.printed };
}

/** Expects an exit code, and each text somewhere in the output. */
export function expectRan(
  { code, out, err }: Ran,
  expected: number,
  ...says: readonly (RegExp | string)[]
): void {
  for (const text of says) expect(out + err).toMatch(text);
  expect(code).toBe(expected);
}

/** Expects that a command ended with this exit code, explained itself on stderr, and printed nothing else. */
export function expectRefused(ran: Ran, expected: number, ...says: readonly (RegExp | string)[]): void {
  expectRan(ran, expected, ...says);
  expect(ran.out).toBe('');
}
