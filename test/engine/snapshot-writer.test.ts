import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pack, unpack } from '../../src/core/text/pack.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { EngineState } from '../../src/engine/state/engine-state.ts';
import { restoreInto, savedOf } from '../../src/engine/state/snapshot.ts';
import { STATE_FORMAT } from '../../src/engine/state/snapshot-writer.ts';
import type { SavedState } from '../../src/engine/state/snapshot.ts';
import { sha256 } from '../../src/journal/proof/link.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { faultyVenue } from './faulty-venue.ts';
import { aBench, aTwap, nextProcess, started } from './harness.ts';
import type { Bench } from './harness.ts';
import { aShelf, foldOf, wordsOf } from './kept.ts';
import type { Shelf } from './kept.ts';
import { faultsOf } from './oracle.ts';
import { appendNow, everyKind } from '../journal/records.ts';
import { aFolder } from '../support/folder.ts';

const strategies = [0, 1, 2].map((i) =>
  aTwap(`twap-${i}`, {
    side: i === 1 ? 'sell' : 'buy',
    slices: 6,
    duration: 'PT6M',
    jitter: { time_pct: 40, size_pct: 20, seed: i },
  }),
);

/** A desk whose every third order gets no answer, on a venue that often cancels. */
function aTroubledBench(seed: string, journal: Journal = memoryJournal(), before?: Bench): Bench {
  let orders = 0;
  return aBench({
    strategies,
    seed,
    journal,
    clock: before?.clock,
    exchange: before?.exchange,
    venue: {
      seed,
      accounts: [{ balances: { usd: '1000000', btc: '25' } }],
      cancelProbability: 0.2,
      lastLookBps: 2,
    },
    wrap: faultyVenue({
      order: () => (orders++ % 3 === 2 ? 'answer lost' : undefined),
    }),
  });
}

/** Runs until it dies at `deathAt`, starts again, and ends. */
function twoLives(seed: string, deathAt: number, shelfOf?: (journal: Journal) => Shelf): Bench {
  const journal = memoryJournal();
  const shelf = shelfOf?.(journal);
  const kept: Journal = shelf === undefined ? journal : { ...journal, states: shelf.states };
  const first = aTroubledBench(seed, kept);
  first.start({ isUntilDone: true });
  first.until(deathAt);
  first.kill();
  const second = aTroubledBench(seed, kept, first);
  second.start({ isUntilDone: true });
  second.until(60 * MINUTE_MS);
  return second;
}

describe('a state snapshot', () => {
  it('gives, with the records after it, the state of all records, wherever it is taken', () => {
    const all = twoLives('3', 3.4 * MINUTE_MS).records();
    const whole = wordsOf(foldOf(all));
    expect(all.some(({ body }) => body.kind === 'attempt' && body.result === 'doubt')).toBe(true);
    fc.assert(
      fc.property(fc.nat(all.length), (count) => {
        const half = foldOf(all.slice(0, count));
        const state = new EngineState();
        restoreInto(state, unpack(pack(savedOf(half))) as SavedState);
        expect(wordsOf(state)).toBe(wordsOf(half));
        for (const record of all.slice(count)) state.apply(record);
        expect(wordsOf(state)).toBe(whole);
      }),
      { numRuns: 60 },
    );
  });

  it('preserves the effect of every kind of record', () => {
    const journal = memoryJournal();
    for (const body of everyKind()) appendNow(journal, [body]);
    const state = new EngineState();
    for (const record of journal.read()) {
      state.apply(record);
      const again = new EngineState();
      restoreInto(again, unpack(pack(savedOf(state))) as SavedState);
      expect(wordsOf(again)).toBe(wordsOf(state));
    }
  });

  it.each([1.2, 2.1, 3.4, 4.7].flatMap((minutes) => [1, 25].map((every) => [minutes, every] as const)))(
    'lets a desk that died after %d minutes continue as without snapshots, kept every %i records',
    (minutes, every) => {
      for (const seed of ['1', '2', '3']) {
        const without = twoLives(seed, minutes * MINUTE_MS);
        const shelves: Shelf[] = [];
        const kept = twoLives(seed, minutes * MINUTE_MS, (journal) => {
          const shelf = aShelf(journal, every);
          shelves.push(shelf);
          return shelf;
        });
        expect(shelves[0]?.kept.length).toBeGreaterThan(1);
        expect(kept.records().map(({ hash }) => hash)).toEqual(without.records().map(({ hash }) => hash));
        expect(wordsOf(kept.desk.state)).toBe(wordsOf(foldOf(kept.records())));
        expect(faultsOf(kept)).toEqual([]);
      }
    },
  );

  it('is stored at the end of a process, and the next one reads it instead of the records', () => {
    const journal = memoryJournal();
    const shelf = aShelf(journal, 100);
    const read: (number | undefined)[] = [];
    const kept: Journal = {
      ...journal,
      states: shelf.states,
      read: (after) => (read.push(after), journal.read(after)),
    };
    const first = started({ strategies, journal: kept }, 60 * MINUTE_MS, { isUntilDone: true });
    expect(first.seen.phases.at(-1)).toBe('stopped');
    const head = journal.head();
    expect(shelf.kept.at(-1)).toMatchObject({ seq: head.seq, hash: head.hash });
    const second = nextProcess(first, 0, { strategies, journal: kept }, { isUntilDone: true });
    expect(wordsOf(second.desk.state)).toBe(wordsOf(foldOf(journal.read())));
    expect(read).toEqual([0, head.seq]);
  });

  it('is ignored with a warning if it does not match the journal', () => {
    const journal = memoryJournal();
    for (let n = 0; n < 5; n++) appendNow(journal, everyKind().slice(0, 1));
    const shelf = aShelf(journal, 1);
    shelf.states.keep({ seq: 3, hash: '0'.repeat(64), text: 'nothing' });
    const said: string[] = [];
    const bench = started({
      strategies,
      journal: { ...journal, states: shelf.states },
      observer: { warn: (message) => said.push(message) },
      policy: { account: 'a0' },
    });
    expect(said[0]).toMatch(/the state snapshot is not usable/u);
    expect(wordsOf(bench.desk.state)).toBe(wordsOf(foldOf(journal.read())));
  });
});

describe('the version of the state format', () => {
  /**
   * The fold of the golden journal. If it changes, the snapshots of older programs no longer match: raise `STATE_FORMAT`, and
   * put the new values here.
   */
  const FOLDS = { format: 27, words: 'ba1fbfa63040509d7f81bb58f3c7fcde07a5d9bb28a3a6bcde92458b6c178a98' };

  it('matches the fold of the golden journal', () => {
    const copy = join(aFolder(), 'journal.db');
    copyFileSync(join(import.meta.dirname, '../fixtures/journals/v1.db'), copy);
    const journal = sqliteJournal(copy);
    onTestFinished(() => {
      journal.close();
    });
    expect({ format: STATE_FORMAT, words: sha256(wordsOf(foldOf(journal.read()))) }).toEqual(FOLDS);
  });

  it.each([
    'engine/state/engine-state.ts',
    'engine/state/totals.ts',
    'core/approvals/requests.ts',
    'core/people.ts',
  ])('covers the whole state of %s, which has no private # fields', (name) => {
    const source = readFileSync(join(import.meta.dirname, '../../src', name), 'utf8');
    // Private methods are allowed; private fields would be missing in every snapshot.
    expect(source.match(/^ {2}(?:readonly )?#\w+(?:!|\?)?\s*[:=;].*$/gmu) ?? []).toEqual([]);
  });
});
