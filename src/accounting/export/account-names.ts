import type { Account, Posting } from '../subledger.ts';

/** Account names for plain-text accounting. Their five types are a convention of beancount and hledger. */
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

/** Returns a currency as a commodity: upper case, beginning with a letter. */
export function commodity(currency: string): string {
  const known = commodities.get(currency);
  if (known !== undefined) return known;
  const name = currency.toUpperCase().replaceAll(/[^A-Z\d]/gu, '');
  const made = /^[A-Z]/u.test(name) ? name : `X${name}`;
  commodities.set(currency, made);
  return made;
}

/** Cached, because each currency occurs in many lines. */
const commodities = new Map<string, string>();

/**
 * Returns a name such as `Assets:Venue:BTC`. A cost without units, which a correction by share pooling creates, has a
 * sub-account, because beancount and hledger attach prices only to units.
 */
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

/** Returns a text in quotation marks, on one line. */
export const quoted = (text: string): string =>
  `"${text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')}"`;
