import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { OperatorError } from '../../core/errors.ts';
import type { RunIo } from '../commands/io.ts';
import { collect, modeOption, wholeNumber } from './options.ts';
import type { CliWorld } from './options.ts';

type DeskCli = CliWorld<RunIo>;

/** Adds `tranche run` and `validate`. */
export function addDesk(cli: Command, world: DeskCli): void {
  addRun(cli, world);
  addValidate(cli, world);
}

function addRun(cli: Command, { io, config, done }: DeskCli): void {
  cli
    .command('run')
    .description('run a desk: recover from the journal, then trade until stopped')
    .addOption(config())
    .addOption(modeOption())
    .option('--until-done', 'exit when every strategy has finished')
    .option('--no-closing-read', 'exit without the closing account read, which confirms the last fills')
    .option('--json', 'print one JSON object per event to stdout')
    .option('--rearm <reason>', 'lift a halt that the journal records, with this reason')
    .option('--with-open-doubts', 'with --rearm: proceed even if doubts are open')
    .option(
      '--account-changed <reason>',
      'continue a journal that was written with another token or venue URL of the same account',
    )
    .option('--adopt', 'book trades of this desk that are missing from the journal, without halting')
    .action(async (options) => {
      const { run } = await import('../commands/run.ts');
      done(await run(options, io));
    });
}

function addValidate(cli: Command, { io, config, done }: DeskCli): void {
  cli
    .command('validate')
    .description('check the config and strategies; report every problem with its location and a correction')
    .argument('[files...]', 'strategy files, instead of those in the config')
    .addOption(config())
    .addOption(modeOption())
    .option(
      '--connect',
      'check everything that a start needs: machine, permissions, token, venue, clock, channels, journal; changes nothing',
    )
    .option('--json', 'print the result as JSON to stdout')
    .action(async (files, { connect: isConnecting, ...options }) => {
      if (isConnecting === true) {
        if (files.length > 0)
          throw new OperatorError('usage', '--connect checks the strategies of the config: name no files');
        const { connect } = await import('../connect/connect.ts');
        done(await connect(options, io));
        return;
      }
      const { validate } = await import('../commands/validate.ts');
      done(validate({ ...options, files }, io));
    });
}

/** Adds `tranche venue`. */
export function addVenue(cli: Command, { io, done }: Pick<DeskCli, 'io' | 'done'>): void {
  cli
    .command('venue')
    .description('run a simulated venue; prints its URL and tokens as JSON once it is ready')
    .option('--config <file>', 'options of the venue; see config/venue.yaml')
    .option('--port <port>', 'port to listen on; 0 picks a free port', portNumber)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)', notEmpty)
    .option(
      '--speed <times>',
      'factor by which market time runs faster than real time; quote life and rate limits stay in real time',
      positiveNumber,
    )
    .option('--seed <text>', 'seed of all randomness')
    .option(
      '--prices <pair=file>',
      'prices of a pair: a tape or a file that data import reads; repeatable',
      collect,
      [],
    )
    .option('--start <time>', 'market time at the start, such as 2018-10-01T00:00:00Z')
    .option('--spec-only', 'serve only the routes of the interface specification')
    .option('--faults <file>', 'fault plan for drills; see config/faults')
    .option('--admin-port <port>', 'port of the admin API on loopback; 0 picks a free port', portNumber)
    .action(async (options) => {
      const { venue } = await import('../commands/venue.ts');
      done(await venue(options, io));
    });
}

/** Adds `tranche schema`. */
export function addSchema(cli: Command, { io, done }: Pick<DeskCli, 'io' | 'done'>): void {
  cli
    .command('schema')
    .description('print the JSON Schema of a file type, for editors and for programs that read report.json')
    .argument('[name]', 'config, strategy, venue, watch or report', 'config')
    .option('--write <folder>', 'write all schemas to this folder instead')
    .option('--openapi', "print the venue's REST interface as an OpenAPI 3.1 document instead")
    .option('--asyncapi', "print the venue's WebSocket interface as an AsyncAPI 3 document instead")
    .action(async (name, { write, openapi, asyncapi }) => {
      const { interfaceDocument, schema, writeSchemas } = await import('../commands/schema.ts');
      const { isSchemaName } = await import('../config/schema.ts');
      if (openapi === true) done(interfaceDocument('openapi', io));
      else if (asyncapi === true) done(interfaceDocument('asyncapi', io));
      else if (write !== undefined) done(writeSchemas(write, io));
      else if (isSchemaName(name)) done(schema({ name }, io));
      else
        throw new OperatorError(
          'usage',
          `there is no schema "${name}": config, strategy, venue, watch or report`,
        );
    });
}

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

/** Refuses an empty host, which would mean every address of this machine. */
function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('expected an address such as 127.0.0.1');
  return text;
}

/** Adds `tranche notify`, the commands for the channels of `operate.notify`. */
export function addNotify(cli: Command, { io, config, done }: CliWorld): void {
  cli
    .command('notify')
    .description('test the channels of operate.notify')
    .command('test')
    .description('send one message over a channel now')
    .argument('<channel>', 'name of the channel in operate.notify.channels')
    .addOption(config())
    .action(async (channel, options) => {
      const { notifyTest } = await import('../commands/notify/notify-test.ts');
      done(await notifyTest({ ...options, channel }, io));
    });
}
