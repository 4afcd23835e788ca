const DIFFERENCES_MAX = 20;
const VALUE_MAX = 60;

/** The differences between two documents, one line each: `slices: 4 → 6`. */
export function differences(before: unknown, now: unknown): readonly string[] {
  const lines = [...compared(before, now, '')];
  const more = lines.length - DIFFERENCES_MAX;
  return more > 0 ? [...lines.slice(0, DIFFERENCES_MAX), `and ${more} more`] : lines;
}

function* compared(before: unknown, now: unknown, path: string): Iterable<string> {
  if (isGroup(before) && isGroup(now)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(now)]);
    for (const key of keys) yield* compared(before[key], now[key], path === '' ? key : `${path}.${key}`);
  } else if (shown(before) !== shown(now) || !isSame(before, now)) {
    yield `${path}: ${shown(before)} → ${shown(now)}`;
  }
}

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function shown(value: unknown): string {
  if (value === undefined) return '(nothing)';
  if (typeof value === 'string' && value.includes('\n')) return `(${value.split('\n').length} lines)`;
  const words = typeof value === 'string' ? value : JSON.stringify(value);
  return words.length > VALUE_MAX ? `${words.slice(0, VALUE_MAX)}…` : words;
}
