import { size, text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import type { Entry } from '../subledger.ts';
import { sourceOf } from './beancount.ts';
import type { PlainTextOptions } from './beancount.ts';
import { accountName, commodity } from './account-names.ts';

/** Yields the books for hledger. Postings of holdings state the total cost, and name their lot in a tag. */
export function* hledger(entries: Iterable<Entry>, { currency, about }: PlainTextOptions): Generator<string> {
  for (const line of about) yield `; ${line}\n`;
  for (const entry of entries) {
    const tags = [['at', isoOf(entry.at)] as const, ...sourceOf(entry)];
    yield `\n${isoOf(entry.at).slice(0, 10)} * (${code(entry.id)}) ${plain(entry.description)}\n`;
    for (const [key, value] of tags) yield `    ; ${key}: ${plain(value)}\n`;
    for (const posting of entry.postings) {
      const isCost = posting.lot !== undefined && posting.quantity.isZero();
      const units = isCost
        ? `${text(posting.value)} ${quotedCommodity(currency)}`
        : `${text(posting.quantity)} ${quotedCommodity(posting.currency)}`;
      const worth = `@@ ${text(size(posting.value))} ${quotedCommodity(currency)}`;
      const [amount, tag] =
        posting.lot === undefined || isCost
          ? [units, '']
          : [`${units} ${worth}`, `  ; lot: ${plain(posting.lot.id)}`];
      yield `    ${accountName(posting)}  ${amount}${tag}\n`;
    }
  }
}

/** Returns the commodity, in quotes if it contains digits, as hledger requires. */
const quotedCommodity = (currency: string): string => {
  const name = commodity(currency);
  return /\d/u.test(name) ? `"${name}"` : name;
};

const plain = (words: string): string =>
  words
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp};|]/gu, ' ')
    .replaceAll(/ {2,}/gu, ' ')
    .trim();

const code = (id: string): string => plain(id).replaceAll(/[()]/gu, ' ').trim();
