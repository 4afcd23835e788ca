import { size, text } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import { commodity } from './beancount.ts';
import type { Entry, Sum } from './entries.ts';

/** Yields the ledger for hledger 1.25 and later. Units of a trade state what they were traded for. */
export function* hledger(entries: Iterable<Entry>): Generator<string> {
  yield 'decimal-mark .\n';
  for (const { id, at, description, tags, postings } of entries) {
    const lines = [
      ...Object.entries({ at: isoOf(at), ...tags }).map(([key, value]) => `; ${key}: ${plain(value)}`),
      ...postings.map((posting) => {
        const { account, total } = posting;
        const traded = total && ` @@ ${amountOf({ ...total, quantity: size(total.quantity) })}`;
        return `${account}  ${amountOf(posting)}${traded ?? ''}`;
      }),
    ];
    yield `\n${[`${isoOf(at).slice(0, 10)} * (${plain(id)}) ${plain(description)}`, ...lines].join('\n    ')}\n`;
  }
}

/** The commodity is in quotation marks if it contains anything but letters. */
function amountOf({ currency, quantity }: Sum): string {
  const name = commodity(currency);
  return `${text(quantity)} ${/^[A-Z]+$/u.test(name) ? name : `"${name}"`}`;
}

const plain = (words: string): string =>
  words
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp};|()]+/gu, ' ')
    .replaceAll(/ {2,}/gu, ' ')
    .trim();
