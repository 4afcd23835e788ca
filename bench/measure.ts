export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (i: number): number => sorted[i] ?? Number.NaN;
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
}

/** Formats rows as columns of text. */
export function table(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => String(row[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) => line.map((cell, i) => cell.padStart(widths[i] ?? 0)).join('  ')).join('\n');
}

/** Returns the value below which the share `q` of `values` lies: the nearest measured one. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}
