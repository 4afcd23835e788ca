import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { ParentSlices } from '../../src/engine/state/parent-slices.ts';
import type { SavedSlices } from '../../src/engine/state/parent-slices.ts';

const steps = (most: number): fc.Arbitrary<readonly { what: string; slice: number; deadline: Instant }[]> =>
  fc.array(
    fc.record({
      what: fc.constantFrom('decide', 'decide', 'leave', 'leave', 'book', 'rearm', 'restart'),
      slice: fc.nat(most),
      deadline: fc.nat(9).map((at) => instant(at * MINUTE_MS)),
    }),
    { maxLength: 30 },
  );

/** When the last of the gaps before `slice` ends. */
const lastOf = (gaps: ReadonlyMap<number, Instant>, slice: number): Instant | undefined =>
  [...gaps]
    .filter(([other]) => other < slice)
    .map(([, until]) => until)
    .toSorted((a, b) => b - a)[0];

const inOrder = ({ executed, gaps, deadlines }: SavedSlices): unknown => [
  [...executed],
  [...gaps],
  [...deadlines],
];

describe('the slices of a parent', () => {
  it.each([
    ['one', 0],
    ['two', 1],
    ['several', 5],
  ])('match a model of plain sets and maps, with %s', (_, most) => {
    fc.assert(
      fc.property(steps(most), (all) => {
        let slices = new ParentSlices();
        const plain: SavedSlices = { executed: new Set(), gaps: new Map(), deadlines: new Map() };
        for (const { what, slice, deadline } of all) {
          switch (what) {
            case 'decide':
              slices.decide(slice, deadline);
              plain.deadlines.set(slice, deadline);
              break;
            case 'leave': {
              slices.leave(slice);
              plain.executed.add(slice);
              const until = plain.deadlines.get(slice);
              if (until !== undefined) plain.gaps.set(slice, until);
              break;
            }
            case 'book':
              slices.book(slice);
              plain.executed.add(slice);
              break;
            case 'rearm':
              slices.rearm();
              plain.executed.clear();
              break;
            default:
              slices = new ParentSlices(structuredClone(slices.saved()));
          }
          for (let one = 0; one <= most + 1; one++) {
            expect(slices.hasExecuted(one)).toBe(plain.executed.has(one));
            expect(slices.lastGap(one)).toBe(lastOf(plain.gaps, one));
          }
          expect(slices.executed).toBe(plain.executed.size);
          expect(inOrder(slices.saved())).toEqual(inOrder(plain));
        }
      }),
    );
  });
});
