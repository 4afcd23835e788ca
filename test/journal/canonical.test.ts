import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonical, canonicalValue } from '../../src/journal/format/canonical.ts';

describe('the canonical text', () => {
  it('is one text for a body, with its kind first and all other keys sorted at every depth', () => {
    const body = {
      why: 'ü\n\u{1F600}',
      10: { b: [1, { z: 1, a: -0 }], a: true },
      9: null,
      kind: 'x',
      gone: undefined,
    };
    expect(canonical(body)).toBe(
      `{"kind":"x","10":{"a":true,"b":[1,{"a":0,"z":1}]},"9":null,"why":"ü\\n\u{1F600}"}`,
    );
  });

  it('sorts by code units, not by the language of the machine', () => {
    expect(canonicalValue({ ä: 1, Z: 2, a: 3, '\u{1F600}': 4, '\uFB00': 5 })).toBe(
      '{"Z":2,"a":3,"ä":1,"\u{1F600}":4,"\uFB00":5}',
    );
  });

  it('reads back as what it was, for any plain JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown; // without -0
        const read = JSON.parse(canonicalValue(plain)) as unknown;
        expect(read).toEqual(plain);
        expect(canonicalValue(read)).toBe(canonicalValue(plain));
      }),
    );
  });

  it('escapes half a character, which a database would replace', () => {
    expect(canonicalValue('\uD800')).toBe(String.raw`"\ud800"`);
  });

  it.each([
    ['a bigint', 1n],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a hole in a list', [undefined]],
    ['a function', { f: () => 0 }],
    [
      'a raw number, which would come back rounded',
      (JSON as unknown as { rawJSON: (text: string) => object }).rawJSON('1.10'),
    ],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalValue(value)).toThrow('not plain JSON');
  });
});
