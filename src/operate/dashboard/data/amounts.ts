/** Exact sums of decimal texts, so that amounts never become floats. */
export function addText(a: string, b: string): string {
  const scale = Math.max(decimals(a), decimals(b));
  return textOf(unitsOf(a, scale) + unitsOf(b, scale), scale);
}

/** Share of `part` in `whole` for a bar, 0 to 1; only for drawing, not for money. */
export function shareOf(part: string | number | undefined, whole: string | number | undefined): number {
  const share = Number(part ?? 0) / Number(whole ?? 0);
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
}

const decimals = (text: string): number => text.split('.')[1]?.length ?? 0;

function unitsOf(text: string, scale: number): bigint {
  if (!/^-?\d+(?:\.\d+)?$/u.test(text)) return 0n;
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(scale, '0'));
}

function textOf(units: bigint, scale: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const fraction = scale === 0 ? '' : digits.slice(-scale).replace(/0+$/u, '');
  const whole = scale === 0 ? digits : digits.slice(0, -scale);
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
