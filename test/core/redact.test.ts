import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeMarks, forTerminal } from '../../src/core/escape.ts';
import { redactor } from '../../src/core/redact.ts';
import { disguises, leaksOf } from '../custody/leaks.ts';

const TOKEN = 'sim-3d8cxerrq9k9mg9nyhqum6t2jgk4da9s';
const CODES = Array.from({ length: 94 }, (_, place) => String.fromCharCode(0x21 + place));
const tokens = fc.string({ unit: fc.constantFrom(...CODES), minLength: 16, maxLength: 64 });
const texts = fc.string({ unit: 'grapheme-ascii', maxLength: 30 });

describe('a redactor', () => {
  it('takes a token out of whatever text, in whatever spelling', () => {
    const { clean, holds } = redactor([TOKEN]);
    fc.assert(
      fc.property(fc.constantFrom(...disguises), texts, texts, (disguise, before, after) => {
        const text = disguise(TOKEN, before, after);
        expect(leaksOf(text, TOKEN)).not.toEqual([]);
        const cleaned = clean(text);
        expect(holds(cleaned) ? [] : leaksOf(cleaned, TOKEN)).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });

  it('does so for whatever token', () => {
    fc.assert(
      fc.property(tokens, fc.constantFrom(...disguises), texts, (token, disguise, around) => {
        const { clean, holds } = redactor([token]);
        const cleaned = clean(disguise(token, around, around));
        expect(holds(cleaned) ? [] : leaksOf(cleaned, token)).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });

  it('knows of escapes that it cannot take out', () => {
    const { clean, holds } = redactor([TOKEN]);
    const mixed = `\\u0073im-${TOKEN.slice(4)}`;
    expect(clean(mixed)).toBe(mixed);
    expect(holds(mixed)).toBe(true);
    expect(holds(encodeURIComponent(mixed))).toBe(true);
    expect(holds(`\\u0073im-${TOKEN.slice(5)}`)).toBe(false);
  });

  it('leaves text without a token as it is', () => {
    const { clean, holds } = redactor([TOKEN]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(clean(text)).toBe(text);
        expect(holds(text)).toBe(false);
      }),
    );
  });

  it('takes the longer of two secrets out whole', () => {
    expect(redactor(['sim-abcdefgh', 'sim-abcdefgh-long']).clean('x sim-abcdefgh-long y')).toBe(
      'x [redacted] y',
    );
  });

  it('does nothing without a secret, and looks for a short one as it is', () => {
    expect(redactor([]).clean('text')).toBe('text');
    expect(redactor(['']).clean('text')).toBe('text');
    expect(redactor(['ab']).clean('ab 6162 YWI')).toBe('[redacted] 6162 YWI');
  });
});

/** What terminals, editors and readers of logs act on. */
const ODD = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('text of somebody else', () => {
  it('moves no terminal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        expect(forTerminal(text)).not.toMatch(ODD);
        expect(Array.from(forTerminal(text))).toHaveLength(Array.from(text).length);
      }),
    );
  });

  it('stays what it is in JSON, on one line of harmless characters', () => {
    const marks = fc.constantFrom(
      ...Array.from(
        '\u001b\u007f\u009b\u00ad\u061c\u180e\u200b\u200f\u2028\u2029\u202e\u2066\ufeff\n\r\ta"\\',
      ),
    );
    fc.assert(
      fc.property(fc.string({ unit: marks, maxLength: 50 }), (text) => {
        const written = escapeMarks(JSON.stringify({ text }));
        expect(written).not.toMatch(ODD);
        expect(JSON.parse(written)).toEqual({ text });
      }),
    );
  });
});
