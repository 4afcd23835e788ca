import { url as inspectorUrl } from 'node:inspector';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { OperatorError, exitCodes } from '../core/errors.ts';
import { forTerminal } from '../core/escape.ts';
import { redactor } from '../core/redact.ts';
import type { Redactor } from '../core/redact.ts';
import { instant, parseTime } from '../core/time.ts';
import type { RunIo } from './commands/run.ts';
import type { Screen } from './progress.ts';
import { accountIo, addAccount } from './account-cli.ts';
import { addBacktest } from './backtest-cli.ts';
import { systemClock } from './clock.ts';
import { addControl } from './control-cli.ts';
import { addData } from './data-cli.ts';
import { addLook } from './look-cli.ts';
import { addSweep } from './sweep-cli.ts';
import { version } from './version.ts';

/** The command line: reads arguments, loads the one command that is wanted, sets the exit code. */
export async function main(argv: readonly string[] = process.argv): Promise<void> {
  guard();
  const bugs = new Set<(error: unknown) => void>();
  const io = processIo(bugs);
  // What nobody awaits ends the process like everything else: in words, without the token, and not as good.
  process.on('uncaughtException', (error) => {
    try {
      for (const told of bugs) told(error);
    } finally {
      process.exit(report(error, io));
    }
  });
  try {
    await program(io).parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error, io);
  }
}

/** Before anything else: what this process writes is its owner's alone, and nobody opens a debugger or reads a report of it. */
function guard(): void {
  process.umask(0o077);
  // Node opens its debugger at this signal, with the token in the memory behind it; a listener takes its place.
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
  io.stderr.write(`this is a bug in Tranche ${version}, please report it:\n${inLines(text)}\n`);
  return exitCodes.software;
}

/** Some of it may be somebody else's words: their lines stay, and nothing else that moves a cursor. */
const inLines = (text: string): string => text.split('\n').map(forTerminal).join('\n');

/** What the system refused (a port taken, a folder not writable) is not our bug: its message says what and where. */
const isSystemError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';

const DEFAULT_CONFIG = 'config/paper.yaml';

function program(io: RunIo): Command {
  const cli = new Command('tranche')
    .description(
      'Executes orders of a treasury desk by request for quote: strategies in YAML, one fill at most for each slice.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .showHelpAfterError(`(${io.self} --help shows what there is)`)
    .exitOverride()
    .addHelpText('after', EXAMPLES.replaceAll(/^ {2}tranche /gmu, `  ${io.self} `));
  addRun(cli, io);
  addValidate(cli, io);
  const steering = { io, config: configOption, done: (code: number) => (process.exitCode = code) };
  addLook(cli, steering);
  addBacktest(cli, steering);
  addSweep(cli, steering);
  addControl(cli, steering);
  addVenue(cli, io);
  addJournal(cli, io);
  addData(cli, { io, done: (code) => (process.exitCode = code), recording: { io, config: configOption } });
  addAccount(cli, {
    io: accountIo(io, { input: process.stdin, output: process.stderr }),
    done: (code) => (process.exitCode = code),
  });
  addSchema(cli, io);
  addInit(cli, io);
  return cli;
}

const EXAMPLES = `
Start here:
  tranche run --until-done                     the demo: two strategies on a simulated venue, about a minute
  tranche init my-desk                         your own config and strategies, commented
  tranche validate --config my-desk/config/paper.yaml
  tranche plan --days 30                       every slot ahead, and whether the desk can do it
  tranche why --since PT4H                     why each slice did or did not trade
  tranche report --since P7D --out report      what was traded and what it cost
  tranche backtest my.yaml --data btcusd=btcusd.csv.gz   what it would have done over market history
  tranche sweep my.yaml --data btcusd=btcusd.csv.gz --vary slices=12,24,48   the same for many settings
  tranche status                               how the running desk is; pause, resume, halt, rearm, doubts steer it
  tranche venue --port 8400                    the simulated venue as a server of its own
  tranche journal export --format csv --kind fills var/live.db
  tranche data profile btcusd.csv.gz            how volume spreads over the day, for a vwap
  tranche account balances --base-url https://venue.example

Exit codes: 0 done, 64 usage, 65 damaged data, 69 venue unavailable, 70 halted or a bug, 74 storage, 75 try again, 78 configuration.
Environment: TRANCHE_CONFIG, TRANCHE_TOKEN; TRANCHE_OPERATOR_TOKEN for the account commands.`;

const configOption = (): Option<'--config <file>', undefined, string> =>
  new Option('--config <file>', 'config file').env('TRANCHE_CONFIG').default(DEFAULT_CONFIG);
const modeOption = (): Option<
  '--mode <mode>',
  undefined,
  undefined,
  undefined,
  false,
  'paper' | 'dry_run' | 'live'
> => new Option('--mode <mode>', 'instead of the mode in the config').choices(['paper', 'dry_run', 'live']);

function addRun(cli: Command, io: RunIo): void {
  cli
    .command('run')
    .description('run the desk: recover from the journal, then trade until stopped')
    .addOption(configOption())
    .addOption(modeOption())
    .option('--until-done', 'end when every strategy has finished')
    .option('--json', 'print one JSON object an event on stdout')
    .option('--rearm <reason>', 'lift a halt that the journal holds, for this reason')
    .option('--with-open-doubts', 'with --rearm: although the outcome of orders is unknown')
    .option(
      '--account-changed <reason>',
      'go on with a journal that another token or address of this account wrote',
    )
    .option('--adopt', 'book trades of this desk that the journal does not know, without halting')
    .action(async (options) => {
      const { run } = await import('./commands/run.ts');
      process.exitCode = await run(options, io);
    });
}

function addValidate(cli: Command, io: RunIo): void {
  cli
    .command('validate')
    .description('check config and strategies; every problem with its place and what to write instead')
    .argument('[files...]', 'strategy files instead of those that the config names')
    .addOption(configOption())
    .addOption(modeOption())
    .option('--json', 'print the result as JSON on stdout')
    .action(async (files, options) => {
      const { validate } = await import('./commands/validate.ts');
      process.exitCode = validate({ ...options, files }, io);
    });
}

function addVenue(cli: Command, io: RunIo): void {
  cli
    .command('venue')
    .description('serve the simulated venue; prints its address and tokens as JSON when it is ready')
    .option('--config <file>', 'options of the venue, as in config/venue.yaml')
    .option('--port <port>', 'port to listen on, 0 for any free one', portNumber)
    .option('--host <address>', 'address to listen on (127.0.0.1)')
    .option('--speed <times>', 'speed of the market; quote life and limits stay real', positiveNumber)
    .option('--seed <text>', 'everything random follows from it')
    .option(
      '--prices <pair=file>',
      'prices of a pair from a CSV file, plain or gzip; may be given again',
      collect,
      [],
    )
    .option('--start <time>', 'market time to start at, such as 2018-10-01T00:00:00Z')
    .option('--spec-only', 'only the routes of the interface specification')
    .option('--lenient', 'take what clients are known to send: numbers as text, sides in capitals, forms')
    .option('--faults <file>', 'what goes wrong, for drills, as in config/faults')
    .option('--admin-port <port>', 'port of the admin API on this machine, 0 for any free one', wholeNumber)
    .option('--state <file>', 'file that accounts, orders, quotes and ids survive a restart in')
    .action(async (options) => {
      const { venue } = await import('./commands/venue.ts');
      process.exitCode = await venue(options, io);
    });
}

function addJournal(cli: Command, io: RunIo): void {
  const journal = cli.command('journal').description('read what was done; works while the daemon runs');
  const where = 'the journal, such as sqlite:./var/journal.db or a file';
  const url = (text: string): string => (/^[a-z]+:/u.test(text) ? text : `sqlite:${text}`);
  const out = { stdout: process.stdout, stderr: process.stderr };
  journal
    .command('show')
    .description('print records, one line each')
    .argument('<journal>', where)
    .option('--kind <kind>', 'only records of this kind, such as fills or wakes')
    .option('--strategy <id>', 'only records of this strategy')
    .option('--since <time>', 'only from this time on, such as 2026-12-01T09:00:00Z', timeOption)
    .option('--limit <n>', 'only the newest n', wholeNumber)
    .option('--json', 'print one JSON object a record')
    .action(async (file, options) => {
      const { journalShow } = await import('./commands/journal.ts');
      const since = options.since === undefined ? undefined : instant(options.since);
      process.exitCode = await journalShow(url(file), { ...options, since }, out);
    });
  journal
    .command('export')
    .description('write records as CSV or JSON lines')
    .argument('<journal>', where)
    .addOption(
      new Option('--format <format>', 'csv or jsonl').choices(['csv', 'jsonl']).default('csv' as const),
    )
    .option('--kind <kind>', 'kind of record, or all (jsonl)', 'fills')
    .action(async (file, options) => {
      const { journalExport } = await import('./commands/journal.ts');
      process.exitCode = await journalExport(url(file), options, out);
    });
  journal
    .command('verify')
    .description('prove that no record was changed, removed or added')
    .argument('<journal>', where)
    .option('--json', 'print the result as JSON')
    .action(async (file, options) => {
      const { journalVerify } = await import('./commands/journal.ts');
      process.exitCode = await journalVerify(url(file), options, out);
    });
  journal
    .command('assess')
    .description('write the yearly self-assessment: limits, breaches, halts, doubts, overrides, peaks')
    .argument('<journal>', where)
    .option('--since <time>', 'from this time on, such as 2026-01-01T00:00:00Z', timeOption)
    .option('--config <file>', 'config whose limits are shown')
    .option('--simulation <file>', 'what "npm run simulate -- --json FILE" wrote')
    .option('--json', 'print it as JSON')
    .action(async (file, options) => {
      const { assessment } = await import('./commands/assess.ts');
      const since = options.since === undefined ? undefined : instant(options.since);
      process.exitCode = assessment({ ...options, journal: url(file), since }, io);
    });
}

function addSchema(cli: Command, io: RunIo): void {
  cli
    .command('schema')
    .description('print the JSON Schema of a kind of file, for editors')
    .argument('[name]', 'config, strategy or venue', 'config')
    .option('--write <folder>', 'write all schemas into a folder instead')
    .option('--openapi', 'print the REST interface of the venue as an OpenAPI 3.1 document instead')
    .option('--asyncapi', 'print its WebSocket interface as an AsyncAPI 3 document instead')
    .action(async (name, { write, openapi, asyncapi }) => {
      const { interfaceDocument, schema, writeSchemas } = await import('./commands/schema.ts');
      if (openapi === true) process.exitCode = interfaceDocument('openapi', io);
      else if (asyncapi === true) process.exitCode = interfaceDocument('asyncapi', io);
      else if (write !== undefined) process.exitCode = writeSchemas(write, io);
      else if (name === 'config' || name === 'strategy' || name === 'venue')
        process.exitCode = schema({ name }, io);
      else throw new OperatorError('usage', `there is no schema "${name}": config, strategy or venue`);
    });
}

function addInit(cli: Command, io: RunIo): void {
  cli
    .command('init')
    .description('write commented configs and example strategies; never overwrites')
    .argument('[folder]', 'folder to fill', '.')
    .action(async (folder) => {
      const { init } = await import('./commands/init.ts');
      process.exitCode = init({ folder }, io);
    });
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/u.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
}

function portNumber(text: string): number {
  if (wholeNumber(text) > 65_535) throw new InvalidArgumentError('expected a port from 0 to 65535');
  return Number(text);
}

function positiveNumber(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('expected a number above zero');
  return value;
}

function timeOption(text: string): number {
  try {
    return parseTime(text);
  } catch (cause) {
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : 'expected a time');
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const;

function processIo(bugs: Set<(error: unknown) => void>): RunIo {
  // A reader that went away must not stop a trade.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const hidden: string[] = [];
  let redact: Redactor | undefined;
  const guarded = (stream: NodeJS.WriteStream): Screen => ({
    // Nothing that is written should hold the token. Should it all the same, it ends here.
    write: (text) => stream.write(redact === undefined ? text : redact.clean(text)),
    isTTY: stream.isTTY,
    get columns() {
      return stream.columns;
    },
  });
  return {
    stdout: guarded(process.stdout),
    stderr: guarded(process.stderr),
    // A copy: what is taken out of the process later can still be read again from here.
    env: { ...process.env },
    cwd: process.cwd(),
    now: systemClock.wall(),
    colour: process.stderr.isTTY && process.env['NO_COLOR'] === undefined,
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
    nodeOptions: process.execArgv,
    debuggerUrl: inspectorUrl(),
    forget(secret) {
      if (secret === undefined) return;
      const text = secret.reveal();
      hidden.push(text);
      redact = redactor(hidden);
      for (const [name, value] of Object.entries(process.env))
        if (value?.includes(text) === true) Reflect.deleteProperty(process.env, name);
    },
  };
}
