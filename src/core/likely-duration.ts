/** ISO 8601 unit letters, and the spellings that people use. */
const UNITS = [
  ['W', 'w|wks?|weeks?'],
  ['D', 'd|days?'],
  ['H', 'h|hrs?|hours?'],
  ['M', 'm|mins?|minutes?'],
  ['S', 's|secs?|seconds?'],
] as const;
/** Larger units first; each unit at most once, after a number. */
const PEOPLE = new RegExp(
  `^${UNITS.map(([, words]) => `(?:(\\d+(?:\\.\\d+)?)\\s*(?:${words})\\s*)?`).join('')}$`,
  'iu',
);

/**
 * The ISO 8601 duration that a text such as `4h`, `1d 12h`, `90 minutes` or `P5M` means; `undefined` if that is not clear.
 */
export function likelyDuration(text: string): string | undefined {
  const own = text.trim().replace(/^p?t?(?=\d)/iu, '');
  const found = PEOPLE.exec(own);
  if (found === null || own === '') return undefined;
  const [weeks = '', days = '', ...clock] = UNITS.map(([letter], i) => {
    const count = found[i + 1];
    return count === undefined ? '' : `${count}${letter}`;
  });
  // Only the smallest ISO 8601 unit present may have decimals, and days may not.
  return `P${weeks}${days}${clock.every((part) => part === '') ? '' : `T${clock.join('')}`}`;
}
