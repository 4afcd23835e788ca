import { quantity, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';

/** Amounts of the generator are whole numbers of 1e-8, so that its sums are not those of the product. */
export const UNIT = 100_000_000;
/** One cent. */
export const CENT = 1_000_000;

const made = new Map<number, Quantity>();
const MADE_MAX = 100_000;

/** The amount as the product has it. The same object for the same number. */
export function amount(units: number): Quantity {
  const known = made.get(units);
  if (known !== undefined) return known;
  const [sign, whole] = [units < 0 ? '-' : '', Math.abs(units)];
  const digits = `${Math.trunc(whole / UNIT)}.${String(whole % UNIT).padStart(8, '0')}`;
  const one = quantity(whole === 0 ? '0' : `${sign}${digits}`);
  if (made.size >= MADE_MAX) made.clear();
  made.set(units, one);
  return one;
}

const written = new Map<number, string>();

/** The amount as the journal writes it. */
export function written8(units: number): string {
  const known = written.get(units);
  if (known !== undefined) return known;
  if (written.size >= MADE_MAX) written.clear();
  const one = text(amount(units));
  written.set(units, one);
  return one;
}
