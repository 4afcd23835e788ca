import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordBody, StoredRecord } from '../../src/core/record.ts';
import { after } from '../../src/core/time.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { backtestJournal } from '../../src/journal/backtest-journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { control, describeChain, strategyOf } from './describe-journal.ts';
import { NINE, aFill, appendNow, everyKind, failureOf } from './records.ts';

describeChain('backtest', backtestJournal);

/** Every operation that makes the journal of a backtest check its chain, by name. */
const looks: Readonly<Record<string, (journal: Journal) => unknown>> = {
  head: (journal) => journal.head(),
  lines: (journal) => [...journal.lines()],
  read: (journal) => [...journal.read()].map(({ seq, at, body, hash }) => ({ seq, at, body, hash })),
  verify: (journal) => journal.verify(),
};

type Deed =
  | { readonly append: readonly RecordBody[]; readonly ms: number }
  | { readonly look: string }
  | { readonly hashOf: number };

/** The result of each operation; an append returns no result here, so that the hashes of its records are not computed yet. */
function answersOf(journal: Journal, deeds: readonly Deed[]): readonly unknown[] {
  const stored: StoredRecord[] = [];
  return deeds.map((deed) => {
    if ('look' in deed) return looks[deed.look]?.(journal);
    if ('hashOf' in deed) return stored[deed.hashOf]?.hash;
    stored.push(...appendNow(journal, deed.append, after(NINE, deed.ms)));
    return undefined;
  });
}

const aDeed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({
    append: fc.array(fc.constantFrom(...everyKind()), { maxLength: 4 }),
    ms: fc.integer({ min: 0, max: 9 }),
  }),
  fc.record({ look: fc.constantFrom(...Object.keys(looks)) }),
  fc.record({ hashOf: fc.nat({ max: 30 }) }),
);

describe('the journal of a backtest', () => {
  it('gives the same hashes as a journal that hashes each record immediately', () => {
    fc.assert(
      fc.property(fc.array(aDeed, { maxLength: 20 }), (deeds) => {
        const all = [...deeds, { look: 'lines' }];
        expect(answersOf(backtestJournal(), all)).toEqual(answersOf(memoryJournal(), all));
      }),
    );
  });

  it.each([
    [
      'an amount that is not a plain decimal',
      aFill({ price: '6e4' }),
      /fill\.price: expected an amount as text/u,
    ],
    ['an unknown field', Object.assign(aFill(), { colour: 'red' }) as RecordBody, /fill.*colour/u],
    ['a value that JSON would change', strategyOf({ at: new Date(NINE) }), /not plain JSON.*Date/u],
  ])('throws instead of returning hashes after an append of %s', (_, bad, why) => {
    const journal = backtestJournal();
    const [good] = appendNow(journal, [control('a')]);
    const [worse] = appendNow(journal, [bad, control('b')]);
    expect(good?.hash).toMatch(/^[0-9a-f]{64}$/u);
    expect(() => worse?.hash).toThrow(why);
    for (const look of Object.values(looks)) expect(() => look(journal)).toThrow(why);
    // Figures may come from unchecked records, but a report of them names the head.
    const figures = figuresOf(journal.read(), { version: 't' });
    expect(figures.facts.records).toBe(3);
    expect(() => reportOf(figures)).toThrow(why);
  });

  it('refuses a time that is not in whole milliseconds', async () => {
    const journal = backtestJournal();
    expect(
      String(
        await failureOf({ ...journal, append: (bodies) => journal.append(bodies, after(NINE, 0.5)) }, [
          aFill(),
        ]),
      ),
    ).toMatch(/whole milliseconds/u);
    expect(journal.head().seq).toBe(0);
  });
});
