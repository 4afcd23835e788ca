import { text } from '../../../core/money.ts';
import type { AnyAmount } from '../../../core/money.ts';

const ONES = [
  'zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve', 'thirteen',
  'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen',
] as const; // prettier-ignore
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'] as const;
const POWERS = ['', 'thousand', 'million', 'billion', 'trillion'] as const;

/**
 * Returns an amount in words, as on a cheque, so that the reader notices a misplaced decimal point or an extra zero:
 * 1250.05 is "one thousand two hundred fifty point zero five". Amounts of 10^15 and more remain in digits.
 */
export function inWords(amount: AnyAmount): string {
  const [whole = '0', decimals] = text(amount).replace('-', '').split('.');
  if (whole.length > POWERS.length * 3) return text(amount);
  const sign = amount.isNegative() && !amount.isZero() ? 'minus ' : '';
  const digits = Array.from(decimals ?? '', (digit) => ONES[Number(digit)] ?? '');
  return `${sign}${wholeInWords(whole)}${digits.length === 0 ? '' : ` point ${digits.join(' ')}`}`;
}

/** Returns, for example, `1.5 btc (one point five btc)`. */
export const amountInWords = (amount: AnyAmount, currency: string): string =>
  `${text(amount)} ${currency} (${inWords(amount)} ${currency})`;

function wholeInWords(digits: string): string {
  const groups: number[] = [];
  for (let end = digits.length; end > 0; end -= 3)
    groups.push(Number(digits.slice(Math.max(0, end - 3), end)));
  const words = groups.flatMap((group, power) =>
    group === 0 ? [] : [[hundreds(group), POWERS[power] ?? ''].filter((word) => word !== '').join(' ')],
  );
  return words.length === 0 ? ONES[0] : words.toReversed().join(' ');
}

function hundreds(value: number): string {
  const rest = value % 100;
  const over = value >= 100 ? [`${ONES[Math.floor(value / 100)] ?? ''} hundred`] : [];
  if (rest === 0) return over.join(' ');
  const small =
    ONES[rest] ?? `${TENS[Math.floor(rest / 10)] ?? ''}${rest % 10 === 0 ? '' : `-${ONES[rest % 10] ?? ''}`}`;
  return [...over, small].join(' ');
}
