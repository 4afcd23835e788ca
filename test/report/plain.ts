/**
 * Arithmetic of its own for what a report states: whole numbers with a fixed number of decimals, and nothing of the engine. A
 * product of two amounts of up to 20 decimals is exact.
 */
const DECIMALS = 20;
const ONE = 10n ** BigInt(DECIMALS);

/** An amount, in 1e-20; a product of two, in 1e-40. */
export const units = (text: string): bigint => {
  const [, sign = '', whole = '', after = ''] = /^(-?)(\d+)(?:\.(\d{0,20}))?$/u.exec(text) ?? [];
  if (whole === '') throw new Error(`not an amount of at most 20 decimals: ${text}`);
  return BigInt(`${sign}${whole}${after.padEnd(DECIMALS, '0')}`);
};

/** `quantity × price`, in 1e-40. */
export const times = (a: bigint, b: bigint): bigint => a * b;
/** An amount as a product: in 1e-40. */
export const wide = (a: bigint): bigint => a * ONE;

/** The text of a product, exact. */
export function wideText(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(2 * DECIMALS + 1, '0');
  const cut = digits.length - 2 * DECIMALS;
  const plain = `${digits.slice(0, cut)}.${digits.slice(cut)}`.replace(/\.?0+$/u, '');
  return value < 0n ? `-${plain}` : plain;
}

/** `part / whole` in basis points with four decimals, halves to even. */
export function bps(part: bigint, whole: bigint): string {
  const sign = part < 0n === whole < 0n ? 1n : -1n;
  const [a, b] = [(part < 0n ? -part : part) * 100_000_000n, whole < 0n ? -whole : whole];
  const [down, rest] = [a / b, a % b];
  const up = rest * 2n > b || (rest * 2n === b && down % 2n === 1n);
  const value = sign * (down + (up ? 1n : 0n));
  const digits = String(value < 0n ? -value : value).padStart(5, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

/** `amount / quantity`, cut down to 18 decimals: what an amount buys. */
export const boughtFor = (amount: bigint, each: bigint): bigint => ((amount * ONE) / each / 100n) * 100n;

/** A price that is the mean `sum / weight` of whole numbers, to twelve significant digits. */
export function meanText(sum: number, weight: number): string {
  return String(Number((sum / weight).toPrecision(12)));
}
