import { describe, expect, it } from 'vitest';
import { readNumbersAsText } from '../../src/wire/message.ts';

describe('a body with its numbers read as text', () => {
  it('keeps every digit and the contents of strings', () => {
    const source = String.raw`{"a":[[1.10,-2e-8,"3 \"4\" \\"]],"b":"5","c":12345678901234567890,"d":true}`;
    expect(readNumbersAsText(source)).toStrictEqual({
      a: [['1.10', '-2e-8', String.raw`3 "4" \ `.trimEnd()]],
      b: '5',
      c: '12345678901234567890',
      d: true,
    });
  });

  it.each(['[01]', '{"a":', '[1 2]', `"${String.raw`\"`.repeat(500_000)}`])(
    'is refused if it is not JSON: %.20s',
    (source) => {
      expect(() => readNumbersAsText(source)).toThrow(SyntaxError);
    },
  );
});
