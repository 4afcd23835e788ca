import { createInterface } from 'node:readline';
import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { firstValueFrom } from 'rxjs';
import { OperatorError } from '../../../core/errors.ts';
import { forTerminal } from '../../../core/text/escape.ts';
import { routeNames, venueRoutes } from '../../../wire/routes.ts';
import type { RouteName, VenueRoute } from '../../../wire/routes.ts';
import { fieldsOf, inKebab, requestOf } from './account-fields.ts';
import type { CommandIo } from '../io.ts';
import type { CliWorld } from '../../cli/options.ts';
import type { GivenField } from './account-fields.ts';
import { printResponse } from './account-print.ts';
import { withAccount } from './account-session.ts';
import type { AccountIo, AccountOptions } from './account-session.ts';

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
  { stdin: input, stderr: output }: Pick<NodeJS.Process, 'stdin' | 'stderr'>,
): AccountIo {
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

/**
 * Calls a route of the venue once and prints the response. A route that may move money, or change who may do so, is called after a
 * confirmation. Exit codes: 0 done or declined, and those of `withAccount`.
 */
async function callRoute(
  name: RouteName,
  given: readonly GivenField[],
  options: AccountOptions,
  io: AccountIo,
): Promise<number> {
  const route: VenueRoute = venueRoutes[name];
  const request = requestOf(route, given);
  return await withAccount(options, io, async (call) => {
    if (route.movesMoney === true && !(await isConfirmed(inFull(route, given), options, io))) return 0;
    printResponse(await firstValueFrom(call(name, request)), { json: options.json ?? false, out: io.stdout });
    return 0;
  });
}

/** What the request asks for, with amounts in digits and words. */
function inFull({ summary, method, path }: VenueRoute, given: readonly GivenField[]): string {
  const width = Math.max(...given.map(({ field }) => field.name.length));
  const lines = given.map(({ field, text }) => {
    const words = field.kind === 'amount' ? ` (${inWords(text)})` : '';
    return `  ${field.name.padEnd(width)}  ${forTerminal(text)}${words}\n`;
  });
  return `${summary} (${method} ${path})\n${lines.join('')}`;
}

/** Asks a person to confirm the request. @throws OperatorError `usage` when nobody can be asked. */
async function isConfirmed(what: string, { yes }: AccountOptions, io: AccountIo): Promise<boolean> {
  io.stderr.write(what);
  if (yes === true) return true;
  if (io.ask === undefined)
    throw new OperatorError('usage', 'This command needs confirmation: add --yes, or run it in a terminal.');
  const answer = await io.ask('Type "yes" to continue: ');
  if (answer.trim().toLowerCase() === 'yes') return true;
  io.stderr.write('Nothing was done.\n');
  return false;
}

const ONES = [
  'zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve', 'thirteen',
  'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen',
] as const; // prettier-ignore
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'] as const;
const POWERS = ['trillion', 'billion', 'million', 'thousand', ''] as const;

/**
 * Returns an amount in words, as on a cheque, so that the reader notices a misplaced decimal point or an extra zero:
 * 1250.05 is "one thousand two hundred fifty point zero five". Amounts of 10^15 and more remain in digits.
 */
export function inWords(amount: string): string {
  const [whole = '', decimals] = amount.split('.');
  if (whole.length > POWERS.length * 3) return amount;
  const groups = whole.padStart(POWERS.length * 3, '0').match(/\d{3}/gu) ?? [];
  const words = groups.flatMap((group, at) => (Number(group) === 0 ? [] : [hundredsInWords(Number(group)), POWERS[at]])); // prettier-ignore
  const digits = Array.from(decimals ?? '', (digit) => ONES[Number(digit)]);
  const all = [...(words.length === 0 ? ['zero'] : words), ...(digits.length === 0 ? [] : ['point', ...digits])]; // prettier-ignore
  return all.filter((word) => word !== '').join(' ');
}

function hundredsInWords(value: number): string {
  const rest = value % 100;
  const hundreds = value >= 100 ? [`${ONES[Math.floor(value / 100)] ?? ''} hundred`] : [];
  if (rest === 0) return hundreds.join(' ');
  const ten = rest < 20 ? (ONES[rest] ?? '') : [TENS[Math.floor(rest / 10)], ONES[rest % 10]].filter((word) => word !== 'zero').join('-'); // prettier-ignore
  return [...hundreds, ten].join(' ');
}
