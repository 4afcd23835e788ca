import { fixedEven, size, text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import type { BookMethod } from '../jurisdictions.ts';
import type { Entry, Posting } from '../subledger.ts';
import { accountName, commodity, quoted } from './account-names.ts';

export interface PlainTextOptions {
  /** Currency of the books. */
  readonly currency: string;
  readonly method: BookMethod;
  /** First lines, as comments. */
  readonly about: readonly string[];
}

/**
 * Decimals of amounts. Beancount tolerates a difference of one unit of the last decimal. It stores the cost of a lot per unit, to
 * 28 digits, and these books the cost of the whole lot; the sums differ by less than the tolerance.
 */
const DECIMALS = 8;

/**
 * Yields the books for beancount 2 and later. Each lot has a label, and a disposal names the lots that it takes, so
 * that beancount can track them. Averages and pools have no lots, so their postings state the total cost.
 */
export function* beancount(entries: Iterable<Entry>, options: PlainTextOptions): Generator<string> {
  const { currency, about } = options;
  for (const line of about) yield `; ${line}\n`;
  yield `option "operating_currency" "${commodity(currency)}"\n`;
  yield 'option "inferred_tolerance_multiplier" "1"\n';
  const known = new Set<string>();
  for (const entry of entries) {
    const date = isoOf(entry.at).slice(0, 10);
    for (const posting of entry.postings) {
      const name = accountName(posting);
      if (known.has(name)) continue;
      known.add(name);
      yield `1970-01-01 open ${name}\n`;
    }
    yield `\n${date} * ${quoted(entry.id)} ${quoted(entry.description)}\n`;
    yield `  at: "${isoOf(entry.at)}"\n`;
    for (const [key, value] of sourceOf(entry)) yield `  ${key}: ${quoted(value)}\n`;
    for (const posting of entry.postings) yield `  ${accountName(posting)}  ${amountOf(posting, options)}\n`;
  }
}

function amountOf(posting: Posting, { currency, method }: PlainTextOptions): string {
  const units = `${text(posting.quantity)} ${commodity(posting.currency)}`;
  const { lot, value } = posting;
  if (lot === undefined || posting.quantity.isZero())
    return `${fixedEven(value, DECIMALS)} ${commodity(currency)}`;
  if (method === 'average' || method === 'pool')
    return `${units} @@ ${text(size(value))} ${commodity(currency)}`;
  const label = `${isoOf(lot.acquiredAt).slice(0, 10)}, ${quoted(lot.id)}`;
  return lot.isNew
    ? `${units} {{${text(size(value))} ${commodity(currency)}, ${label}}}`
    : `${units} {${label}}`;
}

/** Returns the source of an entry, and whether it is final. */
export function sourceOf({
  source,
  closing,
  provisionalUntil,
}: Entry): readonly (readonly [string, string])[] {
  const tags: [string, string][] = [];
  if (source !== undefined && 'seq' in source)
    tags.push(['record', String(source.seq)], ['hash', source.hash]);
  else if (source !== undefined) tags.push(['transactions', source.transactions.join(' ')]);
  if (closing !== undefined) tags.push(['closing', String(closing)]);
  if (provisionalUntil !== undefined) tags.push(['provisional_until', isoOf(provisionalUntil)]);
  return tags;
}
