/** Cells of tables as the decimals that they stand for. */

/** `60000125` with a scale of 3 as `60000.125`. A negative scale adds zeros. */
export function decimalOf(units: bigint, scale: number): string {
  if (scale <= 0) return String(units * 10n ** BigInt(-scale));
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** An integer in two's complement, its largest byte first, as Parquet keeps long decimals. */
export function integerOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

const DIGITS_32 = 9;

/** The shortest decimal that a 32-bit float stands for: 60012.35, where its double says 60012.3515625. */
export function shortest32(value: number): number {
  for (let digits = 6; digits <= DIGITS_32; digits++) {
    const decimal = Number(value.toPrecision(digits));
    if (Math.fround(decimal) === value) return decimal;
  }
  return value;
}
