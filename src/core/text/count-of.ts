import { withSeparators } from './with-separators.ts';

/** A count with its noun, for people: `1 slice`, `2,000 slices`. */
export const countOf = (count: number, what: string): string =>
  `${withSeparators(String(count))} ${what}${count === 1 ? '' : 's'}`;
