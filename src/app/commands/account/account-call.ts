import { firstValueFrom } from 'rxjs';
import { OperatorError } from '../../../core/errors.ts';
import { forTerminal } from '../../../core/text/escape.ts';
import { venueRoutes } from '../../../wire/routes.ts';
import type { RouteName, VenueRoute } from '../../../wire/routes.ts';
import { requestOf } from './account-fields.ts';
import type { GivenField } from './account-fields.ts';
import { printResponse } from './account-print.ts';
import { withAccount } from './account-session.ts';
import type { AccountIo, AccountOptions } from './account-session.ts';

/**
 * Calls a route of the venue once and prints the response. A route that may move money, or change who may do so, is called after a
 * confirmation. Exit codes: 0 done or declined, and those of `withAccount`.
 */
export async function callRoute(
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
