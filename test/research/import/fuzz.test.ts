import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { importTape } from '../../../src/research/import/read.ts';
import { faultIn } from '../../../src/research/tape/tape.ts';
import { OperatorError } from '../../../src/core/errors.ts';
import { packed, samples } from './samples.ts';

const table = (name: string): Buffer =>
  readFileSync(new URL(`../../fixtures/tables/${name}`, import.meta.url));
const files: readonly (readonly [string, Uint8Array])[] = [
  ...Object.values(samples).map(({ name, text }) => [name, Buffer.from(text)] as const),
  ...Object.values(samples).slice(0, 3).map(({ name, text }) => [`${name}.gz`, packed(text)] as const),
  ...['float32-brotli.parquet'].map((name) => [name, table(name)] as const),
]; // prettier-ignore

const LETTERS = Buffer.from('0123456789.,-;:\n\r"eE x[]{}\u0000TZ+');

describe('a file with random changes', () => {
  it('is imported as a valid tape or refused with a message that names it', async () => {
    const change = fc.record({
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      what: fc.constantFrom('change', 'insert', 'remove', 'cut', 'repeat'),
      letter: fc.constantFrom(...LETTERS, 0xff),
      length: fc.integer({ min: 1, max: 40 }),
    });
    let [taken, refused] = [0, 0];
    const nameless: string[] = [];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.array(change, { minLength: 1, maxLength: 2 }),
        async ([name, whole], changes) => {
          let bytes = Buffer.from(whole);
          for (const { at, what, letter, length } of changes) {
            const place = Math.floor(at * bytes.length);
            const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
            if (what === 'cut') bytes = Buffer.from(before);
            else if (what === 'remove') bytes = Buffer.concat([before, after.subarray(length)]);
            else if (what === 'repeat') bytes = Buffer.concat([before, after.subarray(0, length), after]);
            else
              bytes = Buffer.concat([
                before,
                Buffer.of(letter),
                what === 'insert' ? after : after.subarray(1),
              ]);
          }
          try {
            const { tape, report } = await importTape([{ name, bytes }], { pair: 'btcusd' });
            expect(faultIn(tape, tape.barMs)).toBeUndefined();
            expect(report.rows).toBe(tape.rows);
            taken += 1;
          } catch (error) {
            if (!(error instanceof OperatorError)) throw error;
            refused += 1;
            if (!error.message.includes(name)) nameless.push(error.message);
          }
        },
      ),
      { numRuns: 4_000, seed: 1 },
    );
    expect(nameless).toEqual([]);
    expect(Math.min(taken, refused)).toBeGreaterThan(300);
  });
});
