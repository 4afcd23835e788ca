/**
 * Numbers to so many digits, as `toPrecision` and `toFixed` would have them, mostly without writing them down as text. Scaled by
 * an exact power of ten a number is wrong by less than a ten millionth of the digit that is rounded: only a number that near
 * to the middle between two is left to them. The quotient of two numbers that are exact is again the nearest double.
 */

/** Powers of ten that a double holds exactly. */
const TENS = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
const NINE = 1e9;
/** Beyond the error of a few products and quotients, of at most nine digits before the point. */
const NEAR_HALF = 1e-6;

/** To nine significant digits, to the nearest. */
export function nineDigits(value: number): number {
  if (value === 0) return 0;
  const size = Math.abs(value);
  // From the first power that gives nine digits before the point.
  let power = size < 1 ? 9 : size < 10_000 ? 5 : 0;
  while (power < TENS.length && size * (TENS[power] ?? NINE) < NINE / 10) power++;
  return roundedAt(value, power) ?? Number(value.toPrecision(9));
}

/** To four decimals, to the nearest. */
export function fourDecimals(value: number): number {
  if (value === 0) return 0;
  return roundedAt(value, 4) ?? Number(value.toFixed(4));
}

/** As `toFixed`, without a minus before nothing. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace('-', '') : text;
}

/** So many ten thousandths as text, with all four decimals. */
export function withFourDecimals(units: number): string {
  const size = Math.abs(units);
  const whole = Math.trunc(size / 10_000);
  return `${units < 0 ? '-' : ''}${whole}.${String(size - whole * 10_000).padStart(4, '0')}`;
}

/** To this many decimals. */
function roundedAt(value: number, decimals: number): number | undefined {
  const tens = TENS[decimals];
  if (tens === undefined) return undefined;
  const whole = nearestWhole(value * tens);
  return whole === undefined ? undefined : whole / tens;
}

/** The nearest whole number; `undefined` when it has more than nine digits, or `value` is so near to the middle between two that its last bits decide. */
export function nearestWhole(value: number): number | undefined {
  const whole = Math.round(value);
  const isClear = 0.5 - Math.abs(value - whole) > NEAR_HALF;
  return isClear && Math.abs(value) < NINE - 1 ? whole : undefined;
}
