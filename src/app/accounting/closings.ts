import { OperatorError } from '../../core/errors.ts';
import { isoOf } from '../../core/time.ts';
import type { Journal } from '../../journal/journal.ts';
import type { AccountingSettings } from './accounting-settings.ts';
import type { Closing } from './closed-periods.ts';

/**
 * The closed periods of a journal, oldest first.
 *
 * @throws OperatorError `data` for closings that do not follow one another or rest on another chain, `config` where the settings are not those of the closed books.
 */
export function closingsOf(journal: Journal, settings: AccountingSettings): readonly Closing[] {
  const closings: Closing[] = [];
  for (const { seq, body } of journal.select({ kinds: ['closing'], order: 'oldest' })) {
    if (body.kind !== 'closing') continue;
    const fail = (why: string): never => {
      throw new OperatorError('data', `record ${seq} closes the books until ${isoOf(body.until)}: ${why}`);
    };
    const before = closings.at(-1);
    if (body.from !== before?.until)
      fail(`its period does not follow the one before, which ends at ${isoOf(before?.until ?? body.until)}`);
    const [head] = journal.select({
      after: body.head.seq - 1,
      before: body.head.seq + 1,
      order: 'oldest',
    });
    if (body.head.seq >= seq || (body.head.seq > 0 && head?.hash !== body.head.hash))
      fail(`it was made from record ${body.head.seq} of another chain`);
    closings.push({ ...body, seq });
  }
  for (const closing of closings) checkSettings(closing, settings);
  return closings;
}

function checkSettings(
  { until, currency, method }: Closing,
  settings: Pick<AccountingSettings, 'currency' | 'method'>,
): void {
  const end = isoOf(until);
  if (currency !== settings.currency)
    throw new OperatorError(
      'config',
      `the books until ${end} were closed in ${currency}, and the settings say ${settings.currency}: the currency of books with closed periods cannot change`,
    );
  if (method !== settings.method)
    throw new OperatorError(
      'config',
      `the books until ${end} were closed by ${method}, and the settings say ${settings.method} for them: a method changes from an open period on`,
    );
}

/** Ascending numbers as the record has them: the first, then differences, which are short. */
export const differencesOf = (numbers: readonly number[]): readonly number[] =>
  numbers.map((number, n) => number - (n === 0 ? 0 : (numbers[n - 1] ?? 0)));

/** The numbers of a record. */
export function numbersOf(differences: readonly number[]): readonly number[] {
  let last = 0;
  return differences.map((difference) => (last += difference));
}
