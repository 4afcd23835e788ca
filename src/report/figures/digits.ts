/**
 * Rounds numbers like `toPrecision` and `toFixed`, mostly without converting them to text. Scaling by an exact power of
 * ten causes an error of less than a ten-millionth of the rounded digit, so only a number that near to the middle
 * between two digits is left to those methods. The quotient of two exact numbers is again the nearest double.
 */

/** Powers of ten that a double represents exactly. */
const TENS = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
const NINE = 1e9;
/** Exceeds the error of a few products and quotients with at most nine digits before the point. */
const NEAR_HALF = 1e-6;

/** Rounds to nine significant digits, to the nearest. */
export function nineDigits(value: number): number {
  if (value === 0) return 0;
  const size = Math.abs(value);
  // Starts with the smallest power that can give nine digits before the point.
  let power = size < 1 ? 9 : size < 10_000 ? 5 : 0;
  while (power < TENS.length && size * (TENS[power] ?? NINE) < NINE / 10) power++;
  return roundedAt(value, power) ?? Number(value.toPrecision(9));
}

/** Rounds to four decimals, to the nearest. */
export function fourDecimals(value: number): number {
  if (value === 0) return 0;
  return roundedAt(value, 4) ?? Number(value.toFixed(4));
}

/** Like `toFixed`, but zero has no minus sign. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace('-', '') : text;
}

/** A number of ten thousandths as text, with all four decimals. */
export function withFourDecimals(units: number): string {
  const size = Math.abs(units);
  const whole = Math.trunc(size / 10_000);
  return `${units < 0 ? '-' : ''}${whole}.${String(size - whole * 10_000).padStart(4, '0')}`;
}

/** Rounds to this many decimals. */
function roundedAt(value: number, decimals: number): number | undefined {
  const tens = TENS[decimals];
  if (tens === undefined) return undefined;
  const whole = nearestWhole(value * tens);
  return whole === undefined ? undefined : whole / tens;
}

/**
 * The nearest whole number; `undefined` if it has more than nine digits, or if `value` is so near to the middle between
 * two numbers that rounding errors decide.
 */
export function nearestWhole(value: number): number | undefined {
  const whole = Math.round(value);
  const isClear = 0.5 - Math.abs(value - whole) > NEAR_HALF;
  return isClear && Math.abs(value) < NINE - 1 ? whole : undefined;
}
