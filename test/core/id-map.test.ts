import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdMap } from '../../src/core/id-map.ts';

/** Ids that all have the same hash: "Aa" and "BB" have, and so have all rows of them. */
const alike = fc
  .array(fc.constantFrom('Aa', 'BB'), { minLength: 7, maxLength: 7 })
  .map((all) => all.join(''));
const few = fc.nat(6).map((id) => `id ${id}`);
const many = fc.nat(60).map((id) => `id ${id}`);
const what = fc.constantFrom('set', 'set', 'set', 'delete', 'get', 'values', 'forget', 'clear');

describe('a map by ids', () => {
  it.each([
    ['few ids', few],
    ['many ids', many],
    ['ids of one hash', alike],
  ])('is a Map, of %s', (_, ids) => {
    const steps = fc.array(fc.record({ id: ids, what }), { size: '+2' });
    fc.assert(
      fc.property(steps, (all) => {
        const map = new IdMap<number>();
        const plain = new Map<string, number>();
        const told: unknown[] = [];
        const expected: unknown[] = [];
        for (const [at, { id, what: step }] of all.entries()) {
          switch (step) {
            case 'set':
              map.set(id, at);
              plain.set(id, at);
              break;
            case 'delete':
              told.push(map.delete(id));
              expected.push(plain.delete(id));
              break;
            case 'values':
              told.push(...map.values());
              expected.push(...plain.values());
              break;
            case 'forget':
              map.forgetOldest();
              plain.delete(plain.keys().next().value ?? '');
              break;
            case 'clear':
              // Seldom: else there are never many.
              if (at % 16 > 0) continue;
              map.clear();
              plain.clear();
              break;
            default:
              told.push(map.get(id), map.has(id));
              expected.push(plain.get(id), plain.has(id));
          }
          told.push(map.size, map.oldest());
          expected.push(plain.size, plain.values().next().value);
        }
        expect(told).toEqual(expected);
        expect([...map]).toEqual([...plain]);
        expect(map.keys()).toEqual([...plain.keys()]);
        expect(map.keys().map((id) => map.get(id))).toEqual([...plain.values()]);
        expect([...new IdMap(plain)]).toEqual([...plain]);
      }),
      { numRuns: 200 },
    );
  });

  it('forgets the oldest of very many, and knows all the others', () => {
    const map = new IdMap<number>();
    const id = (at: number): string => `tr-abcd-${(at * 7_919).toString(36)}-0-0`;
    for (let at = 0; at < 50_000; at++) {
      map.set(id(at), at);
      if (map.size > 5_000) map.forgetOldest();
    }
    expect([map.size, map.oldest()]).toEqual([5_000, 45_000]);
    const known = Array.from({ length: 51_000 }, (_, at) => at).filter((at) => map.get(id(at)) === at);
    expect([known.length, known[0]]).toEqual([5_000, 45_000]);
  });

  it('tells what was there when it was asked, whatever is deleted meanwhile', () => {
    const map = new IdMap(['a', 'b', 'c'].map((id) => [id, id] as const));
    const seen: string[] = [];
    for (const value of map.values()) {
      seen.push(value);
      map.delete('b');
      map.set('d', 'd');
    }
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(map.keys()).toEqual(['a', 'c', 'd']);
  });
});
