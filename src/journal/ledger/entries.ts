import { negate, subtract } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';

/** The accounts. Their first words are the types that beancount and hledger know. */
export const ACCOUNTS = [
  'Assets:Venue', 'Equity:Deposits', 'Equity:Opening-Balances', 'Equity:Other', 'Equity:Withdrawals', 'Expenses:Charges',
  'Expenses:Interest', 'Expenses:Trading-Fees', 'Expenses:Transfer-Fees', 'Income:Credits', 'Income:Gains',
] as const; // prettier-ignore
export type Account = (typeof ACCOUNTS)[number];

/** Methods of beancount that take lots without a person (`hifo` since beancount 3), and `strict`, which refuses an ambiguous sale. */
export const BOOKINGS = ['fifo', 'lifo', 'hifo', 'strict'] as const;
export type Booking = (typeof BOOKINGS)[number];

export interface Sum {
  readonly currency: string;
  readonly quantity: Quantity;
}

/** A debit above zero or a credit below zero, with every digit and the sign that journal and account state. */
export interface Posting extends Sum {
  readonly account: Account;
  /** What the units of a trade were traded for, with the sign of `quantity`. */
  readonly total?: Sum | undefined;
}

/** An entry. In each currency, totals, and quantities of postings without a total, sum to zero. */
export interface Entry {
  /** Client order id, or `transaction N`, `transaction N fee` or `opening CURRENCY` from the account's history. */
  readonly id: string;
  readonly at: Instant;
  readonly description: string;
  /** The first posting changes the account at the venue; in a trade it has a total. */
  readonly postings: readonly Posting[];
  /** Number of the fill in the journal, ids of rows in the account's history, and so on. */
  readonly tags: Readonly<Record<string, string>>;
}

/** Value of the units that an entry brings, in the ledger's currency. */
export interface Cost {
  readonly value: Money;
  /** The day of acquisition, `2024-05-01`, if it is not the day of the entry. */
  readonly acquired?: string | undefined;
}

/** Returns the postings of a trade: units for an amount of the opposite sign, and a fee in the currency of the amount. */
export function tradePostings(base: Sum, { currency, quantity: amount }: Sum, fee: Quantity): readonly Posting[] {
  return [
    { account: 'Assets:Venue', ...base, total: { currency, quantity: negate(amount) } },
    { account: 'Assets:Venue', currency, quantity: subtract(amount, fee) },
    ...(fee.isZero() ? [] : [{ account: 'Expenses:Trading-Fees' as const, currency, quantity: fee }]),
  ];
} // prettier-ignore

/** Returns the postings of a movement between the account at the venue and another account. */
export const movementPostings = (
  currency: string,
  change: Quantity,
  counter: Account,
): readonly Posting[] => [
  { account: 'Assets:Venue', currency, quantity: change },
  { account: counter, currency, quantity: negate(change) },
];
