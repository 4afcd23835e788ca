import { NO_MONEY, NO_QUANTITY, add, counted, decimalsOf, fixedEven, isBelowZero, least, negate, shareEven, size, subtract, text } from '../../core/money.ts'; // prettier-ignore
import type { Money, Quantity } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import { sha256 } from '../proof/link.ts';
import { ACCOUNTS } from './entries.ts';
import type { Booking, Cost, Entry, Posting, Sum } from './entries.ts';
import type { Ledger } from './ledger.ts';

/**
 * The fewest decimals of amounts in the ledger's currency. Beancount rounds the gains that it computes to the decimals of these amounts,
 * and tolerates half a unit of the last, because it stores costs per unit, to 28 digits.
 */
const DECIMALS = 8;

/**
 * Returns the ledger as texts for beancount 2 and later, and the ids of entries that bring units at an unknown cost, which counts as 0.
 * Units of every currency but the ledger's are held at cost. Units that leave name no lot, so that beancount takes lots
 * by the method of the account and computes the gain.
 */
export function beancount(
  { currency, entries, costs }: Pick<Ledger, 'currency' | 'entries' | 'costs'>,
  booking: Booking,
): { readonly texts: Iterable<string>; readonly unpriced: readonly string[] } {
  const opens = ACCOUNTS.map((name) => `1970-01-01 open ${name}${name === 'Assets:Venue' ? ` "${booking.toUpperCase()}"` : ''}\n`);
  const texts = [`option "operating_currency" "${commodity(currency)}"\n`, ...opens];
  const unpriced: string[] = [];
  const holdings = new Holdings(currency);
  for (const entry of entries) {
    const { id, at, description, tags } = entry;
    const { lines, isUnpriced } = holdings.book(entry, costs.get(id));
    if (isUnpriced) unpriced.push(id);
    const rows = Object.entries({ at: isoOf(at), ...tags, ...(isUnpriced ? { cost: 'unknown' } : {}) }).map(([key, each]) => `${key}: ${quoted(each)}`);
    const head = `${isoOf(at).slice(0, 10)} ${isUnpriced ? '!' : '*'} ${quoted(id)} ${quoted(description)}`;
    texts.push(`\n${[head, ...rows, ...lines].join('\n  ')}\n`);
  }
  return { texts, unpriced };
} // prettier-ignore

/** Postings of units at the venue. */
interface Held {
  readonly lines: readonly string[];
  /** Whether the units close lots, whose cost beancount knows. */
  readonly isClosing: boolean;
  /** The cost of the lots that the units open, with the sign of the units; `undefined`: unknown. */
  readonly opened: Money | undefined;
}

/** What the account holds, by currency: units that bring a holding closer to zero close lots, all others open lots. */
class Holdings {
  readonly #currency: string;
  readonly #held = new Map<string, Quantity>();

  constructor(currency: string) {
    this.#currency = currency;
  }

  /** Returns the postings of an entry, and whether it opens lots at an unknown cost. */
  book({ postings }: Entry, cost: Cost | undefined): { readonly lines: readonly string[]; readonly isUnpriced: boolean } {
    const total = postings[0]?.total;
    // A trade has the value of the side that is in the ledger's currency.
    const own = total && (this.#own(postings[0]) ?? this.#own(total));
    const value = own === undefined ? cost?.value : size(own);
    const valueOf = (posting: Posting): Money | undefined =>
      this.#own(posting) ?? (value && (posting.currency === total?.currency ? shareOf(value, posting.quantity, size(total.quantity)) : value));
    const atVenue = postings.filter(({ account }) => account === 'Assets:Venue');
    const held = atVenue.map((posting) => this.#hold(posting, valueOf(posting), posting === postings[0] ? cost?.acquired : undefined));
    const isClosing = held.some((each) => each.isClosing);
    const counters = postings.filter(({ account }) => account !== 'Assets:Venue').map((posting) => {
      if (total === undefined && isClosing) return posting.account;
      const worth = total === undefined ? negate(held[0]?.opened ?? NO_MONEY) : valueOf(posting);
      return `${posting.account}  ${this.#worth(worth ?? NO_MONEY)}`;
    });
    const gains = total !== undefined && isClosing ? ['Income:Gains'] : [];
    return {
      lines: [...held.flatMap(({ lines }) => lines), ...counters, ...gains],
      isUnpriced: held.some(({ opened }) => opened === undefined),
    };
  }

  #hold(posting: Posting, value: Money | undefined, acquired: string | undefined): Held {
    const { account, currency, quantity: change } = posting;
    const own = this.#own(posting);
    if (own !== undefined) return { lines: [`${account}  ${this.#worth(own)}`], isClosing: false, opened: own };
    const before = this.#held.get(currency) ?? NO_QUANTITY;
    this.#held.set(currency, add(before, change));
    const isOut = isBelowZero(change);
    const closing = isBelowZero(before) === isOut ? NO_QUANTITY : least(size(before), size(change));
    const opening = subtract(size(change), closing);
    const valueOf = (units: Quantity): Money => shareOf(size(value ?? NO_MONEY), units, size(change));
    const line = (units: Quantity, rest: string): readonly string[] =>
      units.isZero() ? [] : [`${account}  ${text(isOut ? negate(units) : units)} ${commodity(currency)} ${rest}`];
    const opened = isOut ? negate(valueOf(opening)) : valueOf(opening);
    return {
      lines: [
        ...line(closing, value === undefined ? '{}' : `{} @@ ${this.#worth(valueOf(closing))}`),
        ...line(opening, `{{${this.#worth(valueOf(opening))}${acquired === undefined ? '' : `, ${acquired}`}}}`),
      ],
      isClosing: !closing.isZero(),
      opened: value === undefined && !opening.isZero() ? undefined : opened,
    };
  }

  /** Returns an amount in the ledger's currency; `undefined` in any other. */
  readonly #own = (sum: Sum | undefined): Money | undefined =>
    sum?.currency === this.#currency ? counted(sum.quantity) : undefined;

  readonly #worth = (amount: Money): string =>
    `${decimalsOf(amount) < DECIMALS ? fixedEven(amount, DECIMALS) : text(amount)} ${commodity(this.#currency)}`;
} // prettier-ignore

/** Returns the exact value of the whole, and the value of a part to the nearest unit of the last decimal. */
const shareOf = (value: Money, part: Quantity, whole: Quantity): Money =>
  part.eq(whole) || whole.isZero()
    ? value
    : shareEven(value, part, whole, Math.max(DECIMALS, decimalsOf(value)));

const quoted = (words: string): string =>
  `"${words.toWellFormed().replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').replaceAll(/["\\]/gu, String.raw`\$&`)}"`; // prettier-ignore

/** Words that beancount reads as values. */
const VALUES = new Set(['TRUE', 'FALSE', 'NULL']);

/**
 * Returns a currency as a commodity of beancount: 2 to 24 capital letters and digits, of which the first is a letter. Any other name, such as
 * `s` or `1inch`, begins with `X-`, and its other characters become their codes, so that no two currencies share a commodity.
 */
export function commodity(currency: string): string {
  const name = currency.toUpperCase();
  const isValid = /^[a-z][a-z\d]{1,23}$/u.test(currency) && !VALUES.has(name);
  const coded = currency.replaceAll(/[^a-z\d]/gu, (each) => `-${(each.codePointAt(0) ?? 0).toString(16).padStart(6, '0')}`);
  return isValid ? name : `X-${(coded.length > 22 ? sha256(currency).slice(0, 22) : coded).toUpperCase()}`;
} // prettier-ignore
