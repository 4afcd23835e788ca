import fc from 'fast-check';
import { expect } from 'vitest';
import { redactor } from '../../src/core/text/redact.ts';
import { disguises, leaksOf } from './leaks.ts';

const CODES = Array.from({ length: 94 }, (_, place) => String.fromCharCode(0x21 + place));
const tokens = fc.string({ unit: fc.constantFrom(...CODES), minLength: 16, maxLength: 64 });
const texts = fc.string({ unit: 'grapheme-ascii', maxLength: 30 });

/** Expects that one token is removed from `numRuns` texts, in every encoding. */
export function expectCleanTexts(token: string, numRuns: number): void {
  const { clean, holds } = redactor([token]);
  fc.assert(
    fc.property(fc.constantFrom(...disguises), texts, texts, (disguise, before, after) => {
      const text = disguise(token, before, after);
      expect(leaksOf(text, token)).not.toEqual([]);
      const cleaned = clean(text);
      expect(holds(cleaned) ? [] : leaksOf(cleaned, token)).toEqual([]);
    }),
    { numRuns },
  );
}

/** Expects the same of `numRuns` tokens, each in its own text. */
export function expectCleanTokens(numRuns: number): void {
  fc.assert(
    fc.property(tokens, fc.constantFrom(...disguises), texts, (token, disguise, around) => {
      const { clean, holds } = redactor([token]);
      const cleaned = clean(disguise(token, around, around));
      expect(holds(cleaned) ? [] : leaksOf(cleaned, token)).toEqual([]);
    }),
    { numRuns },
  );
}
