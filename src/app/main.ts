import { fstatSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, Help } from '@commander-js/extra-typings';
import { OperatorError, exitCodes } from '../core/errors.ts';
import { forTerminal, onTerminal } from '../core/text/escape.ts';
import { redactor } from '../core/text/redact.ts';
import type { Redactor } from '../core/text/redact.ts';
import { instant } from '../core/time.ts';
import type { RunIo } from './commands/io.ts';
import type { Screen } from './cli/progress.ts';
import { groupsFor } from './cli/groups.ts';
import { version } from './version.ts';
import { writeWhole } from './daemon/write-whole.ts';

/** Runs the command line: parses arguments, loads the requested command, sets the exit code. */
export async function main(argv: readonly string[] = process.argv): Promise<void> {
  guard();
  const bugs = new Set<(error: unknown) => void>();
  const isShort = SHORT.has(argv[2]);
  const opened = new Set<NodeJS.WriteStream>();
  const isDesk = DESK.has(argv[2]) && !argv.some((each) => HELP.has(each));
  const io = processIo({ bugs, opened, isShort, isDesk });
  // An unhandled error ends the process as any other error does: with a message, without the token, and with a failure code.
  process.on('uncaughtException', (error) => {
    try {
      for (const told of bugs) told(error);
    } finally {
      process.exit(report(error, io));
    }
  });
  try {
    if (isShort) (await import('./cli/read-once.ts')).readOnce();
    const cli = await program(io, argv[2]);
    await cli.parseAsync([...argv]);
    if (isShort) leaveAfter([...opened]);
  } catch (error) {
    process.exitCode = report(error, io);
  }
}

/** Makes the files of this process private, keeps SIGUSR1 from opening the debugger, and omits the environment from diagnostic reports. */
function guard(): void {
  process.umask(0o077);
  // On this signal Node opens its debugger, which can read the token in memory; a listener replaces that behaviour.
  process.on('SIGUSR1', () => undefined);
  if (process.report !== undefined) process.report.excludeEnv = true;
}

function report(error: unknown, io: RunIo): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  if (error instanceof OperatorError) {
    io.stderr.write(`${inLines(error.message)}\n`);
    return exitCodes[error.exit];
  }
  if (isSystemError(error)) {
    io.stderr.write(`${inLines(error.message)}\n`);
    return error.code === 'EADDRINUSE' || error.code === 'EADDRNOTAVAIL'
      ? exitCodes.unavailable
      : exitCodes.storage;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  io.stderr.write(`bug in Tranche ${version}; please report it:\n${inLines(text)}\n`);
  return exitCodes.software;
}

/** Removes control characters except line breaks, because part of the text may come from elsewhere. */
const inLines = (text: string): string => text.split('\n').map(forTerminal).join('\n');

/**
 * Returns whether an error comes from the system (a port in use, a folder not writable). Such an error is not a bug in
 * this program; its message names the cause and the place.
 */
const isSystemError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';

/** Commands that leave nothing running when they end. */
const SHORT: ReadonlySet<string | undefined> = new Set(['backtest', 'validate']);

/** Commands that continue even if their output is lost. */
const DESK: ReadonlySet<string | undefined> = new Set(['run', 'venue']);
const HELP: ReadonlySet<string> = new Set(['-h', '--help']);

/**
 * Exits once the output is written, without freeing the heap first, because that would take a tenth of the time of a
 * short command.
 */
function leaveAfter([first, ...others]: readonly NodeJS.WriteStream[]): void {
  if (first === undefined) process.exit();
  first.write('', () => {
    // The stream reports a failed write right after this callback.
    setImmediate(leaveAfter, others);
  });
}

function done(code: number): void {
  process.exitCode = code;
}

async function program(io: RunIo, first: string | undefined): Promise<Command> {
  const cli = new Command('tranche')
    .description('Executes YAML strategies by request for quote; an order executes at most once.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .showHelpAfterError(`(${io.self} --help lists commands and options)`)
    .exitOverride()
    .configureOutput({
      outputError: (message, write) => {
        write(message);
      },
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .configureHelp({
      // The list of commands fits a screen without it.
      visibleCommands: (command) =>
        new Help().visibleCommands(command).filter((each) => each.name() !== 'help'),
    })
    .addHelpText('after', AFTER);
  for (const group of groupsFor(first)) await group.add(cli, { io, done });
  return cli;
}

const AFTER = `Exit codes: 0 done, 64 usage, 65 damaged data, 69 venue unavailable, 70 halted or bug, 74 storage, 75 temporary, 78 configuration.`;

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const;

interface Around {
  readonly bugs: Set<(error: unknown) => void>;
  /** Streams that this process has opened. */
  readonly opened: Set<NodeJS.WriteStream>;
  readonly isShort: boolean;
  readonly isDesk: boolean;
}

function processIo({ bugs, opened, isShort, isDesk }: Around): RunIo {
  const hidden: string[] = [];
  let redact: Redactor | undefined;
  // Streams and the inspector are loaded only when a command needs them, because each takes milliseconds of the start.
  const guarded = (name: 'stdout' | 'stderr'): Screen => {
    let stream: NodeJS.WriteStream | undefined;
    let isRegular: boolean | undefined;
    let isScreen: boolean | undefined;
    const open = (): NodeJS.WriteStream => {
      if (stream !== undefined) return stream;
      stream = process[name];
      // A reader that closes the pipe must not stop a trade.
      stream.on('error', (error: NodeJS.ErrnoException) => {
        if (name === 'stdout' && error.code !== 'EPIPE' && !isDesk) tellLost(error);
      });
      opened.add(stream);
      return stream;
    };
    return {
      write(text) {
        // No output should contain the token; this removes it from any that does.
        const redacted = redact === undefined ? text : redact.clean(text);
        isScreen ??= isDevice(name);
        const cleaned = isScreen ? onTerminal(redacted) : redacted;
        // A file stream treats a partial write as complete, for example on a nearly full disk.
        isRegular ??= isFile(name);
        const isPast = isRegular || (isShort && stream === undefined && !isDevice(name));
        // A stream takes milliseconds to open, so it writes only what is left, for example because a pipe is full or
        // closed.
        const rest = isPast ? writeWhole(FD[name], Buffer.from(cleaned)).left : cleaned;
        return rest.length === 0 || open().write(rest);
      },
      // A dumb terminal cannot move the cursor.
      get isTTY() {
        return process.env['TERM'] !== 'dumb' && isDevice(name) && open().isTTY;
      },
      get columns() {
        return open().columns;
      },
    };
  };
  const stderr = guarded('stderr');
  let isLost = false;
  const tellLost = ({ message }: Error): void => {
    if (isLost) return;
    isLost = true;
    stderr.write(`output is incomplete: ${message}\n`);
    process.on('exit', (code) => {
      if (code === 0) process.exitCode = exitCodes.storage;
    });
  };
  return {
    stdout: guarded('stdout'),
    stderr,
    // A copy, so that it keeps variables that `forget` later removes from the process.
    env: { ...process.env },
    cwd: process.cwd(),
    now: instant(Date.now()),
    get colour() {
      const { NO_COLOR, TERM } = process.env;
      return NO_COLOR === undefined && TERM !== 'dumb' && isDevice('stderr') && process.stderr.isTTY;
    },
    onSignal(listener) {
      for (const signal of SIGNALS) process.on(signal, listener);
      return () => {
        for (const signal of SIGNALS) process.off(signal, listener);
      };
    },
    onBug(listener) {
      bugs.add(listener);
      return () => {
        bugs.delete(listener);
      };
    },
    self: fileURLToPath(import.meta.url).startsWith(`${process.cwd()}/`) ? 'npx tranche' : 'tranche',
    exitNow: (code) => process.exit(code),
    program: process.argv[1] ?? '',
    nodeOptions: process.execArgv,
    get debuggerUrl() {
      return process.getBuiltinModule('node:inspector').url();
    },
    forget(secret) {
      if (secret === undefined) return;
      const texts = secret.revealAll();
      hidden.push(...texts);
      redact = redactor(hidden);
      for (const [name, value] of Object.entries(process.env))
        if (texts.some((text) => value?.includes(text) === true)) Reflect.deleteProperty(process.env, name);
    },
  };
}

const FD = { stdout: 1, stderr: 2 } as const;

function isFile(name: 'stdout' | 'stderr'): boolean {
  try {
    return fstatSync(FD[name]).isFile();
  } catch {
    return false;
  }
}

/** Returns whether an output is a character device, as a terminal is, without opening the stream. */
function isDevice(name: 'stdout' | 'stderr'): boolean {
  try {
    return fstatSync(FD[name]).isCharacterDevice();
  } catch {
    return false;
  }
}
