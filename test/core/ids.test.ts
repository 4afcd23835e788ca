import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientId, deskMark, digest, parentId, parseClientId } from '../../src/core/ids.ts';
import type { AttemptName } from '../../src/core/ids.ts';

const word = fc.string({ maxLength: 40 });
const attemptName: fc.Arbitrary<AttemptName> = fc.record({
  desk: word,
  parent: fc.tuple(word, word, word, word, word).map((parts) => parentId(...parts)),
  slice: fc.nat({ max: 36 ** 5 - 1 }),
  attempt: fc.nat({ max: 36 ** 3 - 1 }),
});

describe('a client order id', () => {
  it('is a pure function of its parts, short and plain, and can be parsed', () => {
    fc.assert(
      fc.property(attemptName, (name) => {
        const id = clientId(name);
        expect(clientId({ ...name })).toBe(id);
        expect(id).toMatch(/^[a-z0-9-]{1,36}$/u);
        expect(parseClientId(id)).toEqual({
          mark: deskMark(name.desk),
          parent: name.parent,
          slice: name.slice,
          attempt: name.attempt,
        });
      }),
    );
  });

  it('keeps its format, so that old journals can still be read', () => {
    const parent = parentId('main', 'btc-twap', 'hash', 'run-1', 'leg-1');
    expect([deskMark('main'), parent, clientId({ desk: 'main', parent, slice: 35, attempt: 36 })])
      .toMatchInlineSnapshot(`
      [
        "fp27",
        "qytziuey",
        "tr-fp27-qytziuey-z-10-kgwu",
      ]
    `);
  });

  it('is unique for every attempt across many slices, parents and desks', () => {
    const ids = new Set<string>();
    for (const desk of ['a', 'b', 'a ']) {
      for (let run = 0; run < 20; run++) {
        const parent = parentId(desk, 'twap', 'h', String(run), '');
        for (let slice = 0; slice < 50; slice++) {
          for (let attempt = 0; attempt < 10; attempt++) ids.add(clientId({ desk, parent, slice, attempt }));
        }
      }
    }
    expect(ids.size).toBe(3 * 20 * 50 * 10);
  });

  it('is not recognized after any single character was changed', () => {
    const known = clientId({ desk: 'main', parent: parentId('d', 's', 'h', 'r', 'l'), slice: 7, attempt: 1 });
    const taken: string[] = [];
    for (let at = 0; at < known.length; at++) {
      for (const other of ['a', 'z', '2', '-']) {
        const changed = known.slice(0, at) + other + known.slice(at + 1);
        if (changed !== known && parseClientId(changed) !== undefined) taken.push(changed);
      }
    }
    expect(taken).toEqual([]);
  });

  it.each(['', 'tr-', 'client-1', 'TR-abcd-abcdefgh-1-0-abcd', 'tr-abcd-abcdefgh-1-0-abcd\n'])(
    'is not parsed from %j',
    (id) => {
      expect(parseClientId(id)).toBeUndefined();
    },
  );

  it.each([{ slice: -1 }, { slice: 36 ** 5 }, { attempt: -1 }, { attempt: 36 ** 3 }])(
    'is refused for %o',
    (part) => {
      expect(() => clientId({ desk: 'd', parent: 'abcdefgh', slice: 0, attempt: 0, ...part })).toThrow(
        RangeError,
      );
    },
  );

  it('contains a parent id that depends on every part of its name and on the part boundaries', () => {
    const base = ['desk', 'strategy', 'hash', 'run', 'leg'] as const;
    const all = new Set([parentId(...base), parentId('desks', 'trategy', 'hash', 'run', 'leg')]);
    for (let i = 0; i < base.length; i++) {
      const [a, b, c, d, e] = base.map((part, k) => (k === i ? `${part}!` : part)) as [
        string,
        string,
        string,
        string,
        string,
      ];
      all.add(parentId(a, b, c, d, e));
    }
    expect(all.size).toBe(7);
    expect(digest('x', 8)).toMatch(/^[a-z2-9]{8}$/u);
  });
});
