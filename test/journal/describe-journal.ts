import { describe, expect, it, onTestFinished } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import { after } from '../../src/core/time.ts';
import { GENESIS, link, verify } from '../../src/journal/proof/chain.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { NINE, aFill, appended, everyKind, failureOf } from './records.ts';

/** Tests that every driver must pass. `make` returns an empty journal, for example in a folder of the running test. */
export function describeJournal(name: string, make: () => Journal): void {
  describeChain(name, make);
  const open = opener(make);

  describe(`${name} journal, appending records`, () => {
    it('stores a copy of each record, independent of later changes to the object', async () => {
      const journal = open();
      const state = { left: '1' };
      const [, , wake] = everyKind();
      if (wake?.kind !== 'wake') throw new Error('the third record is a wake');
      await appended(journal, [{ ...wake, state }]);
      state.left = '0';
      expect([...journal.read()].map(({ body }) => body)).toEqual([{ ...wake, state: { left: '1' } }]);
    });

    it.each([
      [
        'an amount that is not a plain decimal',
        [aFill({ price: '6e4' })],
        /fill\.price: expected an amount as text/u,
      ],
      ['an unknown field', [{ ...aFill(), colour: 'red' }], /fill.*colour/u],
      ['a value that JSON would change', [strategyOf({ at: new Date(NINE) })], /not plain JSON.*Date/u],
      ['a number that JSON cannot hold', [strategyOf([Number.NaN])], /not plain JSON.*number/u],
    ])('refuses the whole append if it contains %s', async (_, bad, why) => {
      const journal = open();
      await appended(journal, [control('a')]);
      expect(String(await failureOf(journal, [control('b'), ...bad]))).toMatch(why);
      expect([...journal.read()]).toHaveLength(1);
    });

    it('accepts no further appends after a failed one', async () => {
      const journal = open();
      await failureOf(journal, [aFill({ quantity: 'much' })]);
      expect(await failureOf(journal, [aFill()])).toMatchObject({ name: 'OperatorError', exit: 'storage' });
      expect([...journal.read()]).toEqual([]);
    });
  });
}

const opener = (make: () => Journal) => (): Journal => {
  const journal = make();
  onTestFinished(() => journal.close());
  return journal;
};

/** Tests of stored records, which every journal must pass, whenever it checks its records. */
export function describeChain(name: string, make: () => Journal): void {
  const open = opener(make);

  describe(`${name} journal`, () => {
    it('numbers records from 1 in the order of the appends', async () => {
      const journal = open();
      await appended(journal, [control('a'), control('b')]);
      await appended(journal, [control('c')], after(NINE, 5));
      const read = [...journal.read()];
      expect(read.map(({ seq, at, body }) => [seq, at - NINE, 'why' in body && body.why])).toEqual([
        [1, 0, 'a'],
        [2, 0, 'b'],
        [3, 5, 'c'],
      ]);
    });

    it('emits the same records that it reads back later, for every kind of record', async () => {
      const journal = open();
      const stored = await appended(journal, everyKind());
      expect(stored.map(({ body }) => body)).toEqual(everyKind());
      expect([...journal.read()]).toEqual(stored);
    });

    it('emits an empty list for an append without records and stores no record', async () => {
      const journal = open();
      expect(await appended(journal, [])).toEqual([]);
      expect(journal.head()).toEqual({ seq: 0, hash: GENESIS });
    });

    it('links each record to the previous one', async () => {
      const journal = open();
      await appended(journal, everyKind());
      let before = GENESIS;
      for (const { seq, at, body, hash } of journal.lines()) {
        expect(hash).toBe(link(before, seq, at, body));
        before = hash;
      }
      expect(journal.head()).toEqual({ seq: everyKind().length, hash: before });
      expect(journal.verify()).toEqual({ ok: true, count: everyKind().length, head: before });
      expect(verify(journal.lines())).toEqual(journal.verify());
    });

    it('has the same head for the same content, in whatever order the fields were set', async () => {
      const [one, other] = [open(), open()];
      const reversed = Object.fromEntries(Object.entries(aFill()).toReversed()) as unknown as RecordBody;
      await appended(one, [aFill(), aFill({ slice: 1 })]);
      await appended(other, [reversed]);
      expect(other.head()).not.toEqual(one.head());
      await appended(other, [aFill({ slice: 1 })]);
      expect(other.head()).toEqual(one.head());
    });

    it('reads the records that existed when reading began, while more are appended', async () => {
      const journal = open();
      await appended(journal, [control('a'), control('b')]);
      const seen: number[] = [];
      for (const { seq } of journal.read()) {
        seen.push(seq);
        await appended(journal, [control('c')]);
      }
      expect(seen).toEqual([1, 2]);
      expect([...journal.read()]).toHaveLength(4);
    });

    it('refuses appends after it was closed and may be closed twice', async () => {
      const journal = open();
      journal.close();
      journal.close();
      expect(await failureOf(journal, [aFill()])).toMatchObject({ exit: 'storage' });
    });
  });
}

export const control = (why: string): RecordBody => ({ kind: 'control', state: 'active', by: 'ops', why });

export const strategyOf = (document: unknown): RecordBody => ({
  kind: 'strategy',
  strategy: 's',
  hash: 'h',
  type: 'twap',
  begun_at: NINE,
  document,
});
