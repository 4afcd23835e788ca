import { seededRandom } from '../../src/simulator/market/random.ts';

/** `FUZZ=100` runs each fuzzer a hundred times as long, from other seeds. */
export const runs = (count: number): readonly number[] =>
  Array.from({ length: count * Number(process.env['FUZZ'] ?? 1) }, (_, seed) => seed);

const LETTERS = '0123456789.,-+:;{}[]"\'\\/ eE\n\r\t\u0000\u001b\u202e\u00e9%&=?#@tfn';
const PIECES = [
  'null', 'true', '1e999', '-0', '9'.repeat(60), '""', '{}', '[]', '"__proto__":1', '..', '%2e%2e', '\ud800', '1e-400', '0x1', 'NaN',
]; // prettier-ignore

/** The text with one to four things done to it, which follow from the seed. */
export function mutated(text: string, seed: number, what = 'text'): string {
  const random = seededRandom(`${what} ${seed}`);
  const below = (count: number): number => Math.floor(random.next() * count);
  let made = text;
  for (let left = 1 + below(4); left > 0; left--) {
    const at = below(made.length + 1);
    const [before, after] = [made.slice(0, at), made.slice(at)];
    const piece = PIECES[below(PIECES.length)] ?? '';
    const letter = LETTERS[below(LETTERS.length)] ?? '';
    const length = 1 + below(20);
    made =
      [
        () => before + letter + after.slice(1),
        () => before + letter + after,
        () => before + after.slice(length),
        () => before,
        () => before + after.slice(0, length) + after,
        () => before + piece + after,
        () => before + piece + after.slice(length),
        () => made.replace(/-?\d+(?:\.\d+)?/u, piece),
      ][below(8)]?.() ?? made;
  }
  return made;
}
