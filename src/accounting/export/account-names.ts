import type { Account, Posting } from '../subledger.ts';

/** Names of the accounts in plain-text accounting, whose five types are a convention of beancount and hledger. */
const NAMES: Readonly<Record<Account, string>> = {
  holdings: 'Assets:Venue',
  'opening balances': 'Equity:Opening-Balances',
  deposits: 'Equity:Deposits',
  withdrawals: 'Equity:Withdrawals',
  'realised gains': 'Income:Realised-Gains',
  credits: 'Income:Credits',
  'trading fees': 'Expenses:Trading-Fees',
  'transfer fees': 'Expenses:Transfer-Fees',
  interest: 'Expenses:Interest',
  charges: 'Expenses:Charges',
};

/** A currency as a commodity: upper case, begins with a letter. */
export function commodity(currency: string): string {
  const known = commodities.get(currency);
  if (known !== undefined) return known;
  const name = currency.toUpperCase().replaceAll(/[^A-Z\d]/gu, '');
  const made = /^[A-Z]/u.test(name) ? name : `X${name}`;
  commodities.set(currency, made);
  return made;
}

/** Each currency occurs in every other line. */
const commodities = new Map<string, string>();

/** Such as `Assets:Venue:BTC`. A cost without units, which share pooling corrects, has a sub-account: programs give units only a price. */
export const accountName = ({
  account,
  currency,
  quantity,
  lot,
}: Pick<Posting, 'account' | 'currency' | 'quantity' | 'lot'>): string => {
  if (account !== 'holdings') return NAMES[account];
  const name = `${NAMES.holdings}:${commodity(currency)}`;
  return lot !== undefined && quantity.isZero() ? `${name}:Cost` : name;
};

/** A text for one line between quotes. */
export const quoted = (text: string): string =>
  `"${text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')}"`;
