import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { OperatorError } from '../../core/errors.ts';
import { parseDuration, parseTime } from '../../core/time.ts';
import type { CommandIo, Given, RunIo } from '../commands/io.ts';

/** What the commands share: their world, common options, and parsers of option values. */

export interface CliWorld<Io = CommandIo> {
  readonly io: Io;
  readonly config: () => Option<'--config <file>', undefined, string>;
  /** Sets the exit code. */
  readonly done: (code: number) => void;
}

type Chosen<Flags extends string, Choice> = Option<Flags, undefined, undefined, undefined, false, Choice>;

/** Returns the option `--mode`; the description states whose mode it is. */
export const modeOption = (
  description = 'mode, instead of the one in the config',
): Chosen<'--mode <mode>', 'paper' | 'dry_run' | 'live'> =>
  new Option('--mode <mode>', description).choices(['paper', 'dry_run', 'live']);

/** Default folder of imported market history; `--cache` overrides it. */
export const TAPES = './var/tapes';

/** Returns the option that all commands that read market history share, so that each finds the imports of the others. */
export const cacheOption = (): Option<'--cache <folder>', undefined, string> =>
  new Option('--cache <folder>', 'cache folder for imported market history')
    .env('TRANCHE_CACHE')
    .default(TAPES);

/** Adds one or more commands to the program. */
export type AddCommands = (cli: Command, world: CliWorld<RunIo>) => void;

/** Returns a function that adds a command with the options for finding the daemon. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- options are typed by inference
export const daemonCommand = (config: CliWorld['config']) => (parent: Command, name: string, does: string) =>
  parent
    .command(name)
    .description(does)
    .addOption(config())
    .option('--journal <journal>', 'journal of the desk, instead of a config')
    .addOption(modeOption('mode of the desk'))
    .option('--url <url>', "URL of another machine's API; the token is read from TRANCHE_OPERATOR_TOKEN")
    .option('--json', 'print one JSON object to stdout');

/** Options by which a command finds its daemon. */
export type DaemonOptions = OptionsOf<ReturnType<typeof daemonCommand>>;

/** The option of a command that the journal records, with the person who gave it. */
export const WHY = ['--why <reason>', 'reason, recorded in the journal'] as const;
export const BY = ['--by <name>', 'name of the operator (default: user name on this machine)'] as const;

/** Returns a function that adds a command that reads a journal, which an argument names or the config. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- options are typed by inference
export const journalCommand = (config: CliWorld['config']) => (cli: Command, name: string, does: string) =>
  cli
    .command(name)
    .description(does)
    .argument(
      '[journal]',
      'journal: a file, or a location such as sqlite:./var/journal.db (default: the journal in the config)',
    )
    .addOption(config())
    .option('--journal <journal>', 'journal; the same as the argument')
    .addOption(modeOption('mode that wrote the journal'));

/** Options by which a command finds a journal, and whether it prints JSON. */
export type JournalOptions = OptionsOf<ReturnType<typeof journalCommand>> & Given<'file', 'json'>;

type OptionsOf<
  Add extends (...args: never[]) => { opts(): unknown },
  Opts = ReturnType<ReturnType<Add>['opts']>,
> = {
  readonly [Name in keyof Opts]: Opts[Name] extends true | undefined
    ? boolean | undefined
    : {} extends Pick<Opts, Name>
      ? Opts[Name] | undefined
      : Opts[Name];
};

/** Collects the values of a repeatable option. */
export const collect = (value: string, before: readonly string[]): string[] => [...before, value];

export function numberFrom0(text: string): number {
  if (!/^\d{1,9}(?:\.\d{1,9})?$/u.test(text)) throw new InvalidArgumentError('expected a number such as 0.5');
  return Number(text);
}

export function numberAbove0(text: string): number {
  const value = numberFrom0(text);
  if (value === 0) throw new InvalidArgumentError('expected a number above zero');
  return value;
}

/** Parses a whole number with a limited number of digits. */
export const wholeNumber =
  (digits: number) =>
  (text: string): number => {
    if (!new RegExp(`^\\d{1,${digits}}$`, 'u').test(text))
      throw new InvalidArgumentError('expected a whole number');
    return Number(text);
  };

/** Parses a whole number within bounds. */
export const wholeFrom =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,6}$/u.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most))
      throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}`);
    return value;
  };

/** Parses a time with its zone into ms. */
export function timeOption(text: string): number {
  try {
    return parseTime(text);
  } catch (cause) {
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : 'expected a time');
  }
}

/**
 * Parses an ISO 8601 duration into ms; zero only if allowed. @throws OperatorError `usage` that names the
 * option.
 */
export function durationOf(option: string, text: string, { mayBeZero = false } = {}): number {
  let ms: number;
  try {
    ms = parseDuration(text);
  } catch (cause) {
    throw new OperatorError(
      'usage',
      `${option}: ${cause instanceof Error ? cause.message : 'unreadable'}`,
      cause,
    );
  }
  if (ms === 0 && !mayBeZero)
    throw new OperatorError('usage', `${option} ${text}: expected a length above zero`);
  return ms;
}
