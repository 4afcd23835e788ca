/** Exact sums for the judge, without the arithmetic of the product: integers of 10^-18. */
export type Units = bigint;

const DIGITS = 18;
const ONE = 10n ** BigInt(DIGITS);

/** `text` is a plain decimal. */
export function units(text: string): Units {
  const groups = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<part>\d*))?$/u.exec(text)?.groups;
  if (groups === undefined) throw new RangeError(`not a plain decimal: ${text}`);
  const part = (groups['part'] ?? '').padEnd(DIGITS, '0').slice(0, DIGITS);
  const size = BigInt(groups['whole'] ?? '0') * ONE + BigInt(part);
  return groups['sign'] === '-' ? -size : size;
}

export const shown = (amount: Units): string => {
  const size = amount < 0n ? -amount : amount;
  const part = (size % ONE).toString().padStart(DIGITS, '0').replace(/0+$/u, '');
  return `${amount < 0n ? '-' : ''}${size / ONE}${part === '' ? '' : `.${part}`}`;
};

export const times = (a: Units, b: Units): Units => (a * b) / ONE;
