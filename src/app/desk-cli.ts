import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { OperatorError } from '../core/errors.ts';
import type { RunIo } from './commands/run.ts';
import type { ControlCli } from './control-cli.ts';
import { wholeNumber } from './option-values.ts';

export interface DeskCli extends ControlCli {
  readonly io: RunIo;
}

/** `tranche run` and `validate`. */
export function addDesk(cli: Command, world: DeskCli): void {
  addRun(cli, world);
  addValidate(cli, world);
}

/** `tranche schema` and `init`: files to begin with. */
export function addFiles(cli: Command, world: Pick<DeskCli, 'io' | 'done'>): void {
  addSchema(cli, world);
  addInit(cli, world);
}

const modeOption = (): Option<
  '--mode <mode>',
  undefined,
  undefined,
  undefined,
  false,
  'paper' | 'dry_run' | 'live'
> => new Option('--mode <mode>', 'instead of the mode in the config').choices(['paper', 'dry_run', 'live']);

function addRun(cli: Command, { io, config, done }: DeskCli): void {
  cli
    .command('run')
    .description('run the desk: recover from the journal, then trade until stopped')
    .addOption(config())
    .addOption(modeOption())
    .option('--until-done', 'end when every strategy has finished')
    .option('--no-closing-read', 'end without the read of the account that confirms the last fills')
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
      done(await run(options, io));
    });
}

function addValidate(cli: Command, { io, config, done }: DeskCli): void {
  cli
    .command('validate')
    .description('check config and strategies; every problem with its place and what to write instead')
    .argument('[files...]', 'strategy files instead of those that the config names')
    .addOption(config())
    .addOption(modeOption())
    .option('--json', 'print the result as JSON on stdout')
    .action(async (files, options) => {
      const { validate } = await import('./commands/validate.ts');
      done(validate({ ...options, files }, io));
    });
}

/** `tranche venue`. */
export function addVenue(cli: Command, { io, done }: Pick<DeskCli, 'io' | 'done'>): void {
  cli
    .command('venue')
    .description('serve the simulated venue; prints its address and tokens as JSON when it is ready')
    .option('--config <file>', 'options of the venue, as in config/venue.yaml')
    .option('--port <port>', 'port to listen on, 0 for any free one', portNumber)
    .option('--host <address>', 'address to listen on (127.0.0.1)', notEmpty)
    .option('--speed <times>', 'speed of the market; quote life and limits stay real', positiveNumber)
    .option('--seed <text>', 'everything random follows from it')
    .option(
      '--prices <pair=file>',
      'prices of a pair: a tape, or a file that data import reads; may be given again',
      collect,
      [],
    )
    .option('--start <time>', 'market time to start at, such as 2018-10-01T00:00:00Z')
    .option('--spec-only', 'only the routes of the interface specification')
    .option('--lenient', 'take what clients are known to send: numbers as text, sides in capitals, forms')
    .option('--faults <file>', 'what goes wrong, for drills, as in config/faults')
    .option('--admin-port <port>', 'port of the admin API on this machine, 0 for any free one', portNumber)
    .option('--state <file>', 'file that accounts, orders, quotes and ids survive a restart in')
    .action(async (options) => {
      const { venue } = await import('./commands/venue.ts');
      done(await venue(options, io));
    });
}

function addSchema(cli: Command, { io, done }: Pick<DeskCli, 'io' | 'done'>): void {
  cli
    .command('schema')
    .description('print the JSON Schema of a kind of file, for editors; of report.json for who reads it')
    .argument('[name]', 'config, strategy, venue or report', 'config')
    .option('--write <folder>', 'write all schemas into a folder instead')
    .option('--openapi', 'print the REST interface of the venue as an OpenAPI 3.1 document instead')
    .option('--asyncapi', 'print its WebSocket interface as an AsyncAPI 3 document instead')
    .action(async (name, { write, openapi, asyncapi }) => {
      const { interfaceDocument, schema, writeSchemas } = await import('./commands/schema.ts');
      const { isSchemaName } = await import('./schema.ts');
      if (openapi === true) done(interfaceDocument('openapi', io));
      else if (asyncapi === true) done(interfaceDocument('asyncapi', io));
      else if (write !== undefined) done(writeSchemas(write, io));
      else if (isSchemaName(name)) done(schema({ name }, io));
      else
        throw new OperatorError('usage', `there is no schema "${name}": config, strategy, venue or report`);
    });
}

function addInit(cli: Command, { io, done }: Pick<DeskCli, 'io' | 'done'>): void {
  cli
    .command('init')
    .description('write commented configs and example strategies; never overwrites')
    .argument('[folder]', 'folder to fill', '.')
    .action(async (folder) => {
      const { init } = await import('./commands/init.ts');
      done(init({ folder }, io));
    });
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

function portNumber(text: string): number {
  const port = wholeNumber(9)(text);
  if (port > 65_535) throw new InvalidArgumentError('expected a port from 0 to 65535');
  return port;
}

function positiveNumber(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('expected a number above zero');
  return value;
}

/** Nothing at all would be every address of this machine. */
function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('expected an address such as 127.0.0.1');
  return text;
}
