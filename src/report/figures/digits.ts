/** Rounds to nine significant digits, to the nearest. */
export const nineDigits = (value: number): number => Number(value.toPrecision(9));

/** Like `toFixed`, but zero has no minus sign. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace('-', '') : text;
}
