import { createInterface } from 'node:readline';
import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { routeNames, venueRoutes } from '../../wire/routes.ts';
import type { RouteName, VenueRoute } from '../../wire/routes.ts';
import { callRoute } from '../commands/account/account-call.ts';
import { fieldsOf, inKebab } from '../commands/account/account-fields.ts';
import type { AccountIo } from '../commands/account/account-session.ts';
import type { CommandIo } from '../commands/io.ts';
import type { CliWorld } from './options.ts';

type AccountCli = Omit<CliWorld<AccountIo>, 'config'>;

/** Adds `tranche account ROUTE`: one command for each route of the venue, with its fields as options. */
export function addAccount(cli: Command, world: AccountCli): void {
  const account = cli
    .command('account')
    .description("call the venue's routes by hand; needs a separate operator token")
    .addHelpText('after', HELP);
  for (const name of routeNames) addRoute(account, name, world);
}

const HELP = `
Token: TRANCHE_OPERATOR_TOKEN or --token-file; the desk's token is never used. URL of the venue: --base-url, or --config (TRANCHE_CONFIG).
Routes that may move money or change who may do so ask for confirmation; --yes skips the prompt, for scripts.
Exit codes: 0 done, 64 usage, 69 the venue refused or did not respond, 75 try again, 78 no token or URL.`;

function addRoute(account: Command, name: RouteName, { io, done }: AccountCli): void {
  const route: VenueRoute = venueRoutes[name];
  const command = account
    .command(inKebab(name))
    .description(route.kind === 'spec' ? route.summary : `${route.summary} (a venue may lack this)`);
  const fields = fieldsOf(route).map((field) => {
    const about =
      field.kind === 'time' ? 'a time such as 2026-12-01T09:00:00Z, or Unix ms' : field.description;
    const option = new Option(`--${inKebab(field.name)} <value>`, about);
    if (field.choices.length > 0) option.choices(field.choices);
    command.addOption(option.makeOptionMandatory(field.isRequired));
    return { field, key: option.attributeName() };
  });
  if (route.movesMoney === true) command.option('--yes', 'skip the confirmation prompt, for scripts');
  command
    .option('--json', "print the venue's response as one line of JSON; amounts are text")
    .option('--base-url <address>', 'URL of the venue')
    .option('--config <file>', 'config that contains venue.base_url')
    .option('--token-file <file>', 'file with the operator token, mode 0600')
    .action(async (options) => {
      const values = new Map<string, unknown>(Object.entries(options));
      const given = fields.flatMap(({ field, key }) => {
        const text = values.get(key);
        return typeof text === 'string' ? [{ field, text }] : [];
      });
      done(await callRoute(name, given, options, io));
    });
}

/** Adds prompts to `io`. They go to stderr, so that stdout carries only data. */
export function accountIo(
  io: CommandIo,
  terminal: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream },
): AccountIo {
  const { input, output } = terminal;
  return {
    ...io,
    ask:
      input.isTTY && output.isTTY
        ? async (question) =>
            await new Promise((resolve) => {
              const lines = createInterface({ input, output });
              lines.once('SIGINT', () => lines.close());
              // Ctrl-C and Ctrl-D mean no.
              lines.once('close', () => resolve(''));
              lines.question(question, (said) => {
                resolve(said);
                lines.close();
              });
            })
        : undefined,
  };
}
