import { OperatorError } from '../../core/errors.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Journal } from '../../journal/journal.ts';
import { methodAt } from './accounting-settings.ts';
import type { AccountingSettings } from './accounting-settings.ts';
import type { Closing } from './closed-periods.ts';

/**
 * Returns the closed periods of a journal, oldest first.
 *
 * @throws OperatorError `data` if closings are not consecutive or belong to another chain, `config` if the settings differ from those of
 * the closed books.
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
      fail(`its period does not start where the previous one ends, at ${isoOf(before?.until ?? body.until)}`);
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

/** Checks that the settings agree with a closed period, which must not change. @throws OperatorError `config` */
function checkSettings(
  { from, until, currency, method, jurisdiction }: Closing,
  settings: AccountingSettings,
): void {
  const end = isoOf(until);
  const fail = (why: string): never => {
    throw new OperatorError('config', `the books until ${end} were closed ${why}`);
  };
  if (currency !== settings.currency)
    fail(
      `in ${currency}, but the settings say ${settings.currency}: the currency of books with closed periods cannot change`,
    );
  if (jurisdiction !== settings.jurisdiction)
    fail(
      `${jurisdiction === undefined ? 'without a jurisdiction' : `for ${jurisdiction}`}, but the settings say ${settings.jurisdiction ?? 'none'}: it cannot change`,
    );
  const said = new Set<string>([
    methodAt(settings, from ?? instant(0)),
    methodAt(settings, instant(until - 1)),
  ]);
  const isInside = settings.earlierMethods.some(
    (earlier) => earlier.until > (from ?? 0) && earlier.until < until,
  );
  if (isInside || said.size !== 1 || !said.has(method))
    fail(
      `by ${method}, but the settings say ${[...said].join(' and ')} for them. A method can change only from an open period on: set method to the new one, and add earlier_methods: [{ until: ${end}, method: ${method} }]`,
    );
}

/** Returns ascending numbers as a record stores them: the first number, then the differences, which take fewer digits. */
export const differencesOf = (numbers: readonly number[]): readonly number[] =>
  numbers.map((number, n) => number - (n === 0 ? 0 : (numbers[n - 1] ?? 0)));

/** Returns the numbers that a record stores as differences. */
export function numbersOf(differences: readonly number[]): readonly number[] {
  let last = 0;
  return differences.map((difference) => (last += difference));
}
