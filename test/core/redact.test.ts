import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeMarks, forTerminal } from '../../src/core/text/escape.ts';
import { redactor } from '../../src/core/text/redact.ts';
import { expectCleanTexts, expectCleanTokens } from '../custody/redactor.ts';

const TOKEN = 'sim-3d8cxerrq9k9mg9nyhqum6t2jgk4da9s';

describe('a redactor', () => {
  it('removes a token from any text, in any encoding', () => {
    expectCleanTexts(TOKEN, 3_000);
    expect.assertions(6_000);
  });

  it('removes any token', () => {
    expectCleanTokens(3_000);
    expect.assertions(3_000);
  });

  it('detects escapes that it cannot remove', () => {
    const { clean, holds } = redactor([TOKEN]);
    const mixed = `\\u0073im-${TOKEN.slice(4)}`;
    expect(clean(mixed)).toBe(mixed);
    expect(holds(mixed)).toBe(true);
    expect(holds(encodeURIComponent(mixed))).toBe(true);
    expect(holds(`\\u0073im-${TOKEN.slice(5)}`)).toBe(false);
  });

  it('leaves text without a token unchanged', () => {
    const { clean, holds } = redactor([TOKEN]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(clean(text)).toBe(text);
        expect(holds(text)).toBe(false);
      }),
    );
  });

  it('removes the longer of two secrets completely', () => {
    expect(redactor(['sim-abcdefgh', 'sim-abcdefgh-long']).clean('x sim-abcdefgh-long y')).toBe(
      'x [redacted] y',
    );
  });

  it('does nothing without a secret, and removes a short secret only in its plain form', () => {
    expect(redactor([]).clean('text')).toBe('text');
    expect(redactor(['']).clean('text')).toBe('text');
    expect(redactor(['ab']).clean('ab 6162 YWI')).toBe('[redacted] 6162 YWI');
  });
});

/** Characters that affect terminals, editors and log readers. */
const ODD = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('foreign text', () => {
  it('cannot control a terminal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        expect(forTerminal(text)).not.toMatch(ODD);
        expect(Array.from(forTerminal(text))).toHaveLength(Array.from(text).length);
      }),
    );
  });

  it('keeps its value in JSON, on one line of harmless characters', () => {
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
