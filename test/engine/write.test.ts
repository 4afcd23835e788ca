import { NEVER, mergeMap, of, takeUntil } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ControlRecord } from '../../src/core/record.ts';
import { Desk } from '../../src/engine/desk.ts';
import { mergeMapMaybe, toObservable } from '../../src/engine/maybe-async.ts';
import { noObserver } from '../../src/engine/observer.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { backtestJournal } from '../../src/journal/backtest-journal.ts';
import { frozen } from '../journal/frozen.ts';
import { aBench, aPolicy } from './harness.ts';

const PAUSE: ControlRecord = { kind: 'control', state: 'paused', by: 'ann', why: 'a look' };

/** The same journal, answering in each of its two ways. */
const journals: readonly (readonly [string, () => Journal])[] = [
  ['returns what it has stored', () => frozen(backtestJournal())],
  [
    'emits what it has stored',
    () => {
      const journal = frozen(backtestJournal());
      return {
        ...journal,
        append: (bodies, at) => of(bodies).pipe(mergeMap((all) => toObservable(journal.append(all, at)))),
      };
    },
  ],
];

interface Written {
  readonly desk: Desk;
  readonly events: readonly string[];
}

/** Runs a stage that writes a pause, then does `next`; it may be left as soon as the pause is part of the state. */
function written(
  journal: Journal,
  next: () => void,
  { isLeft = false }: { readonly isLeft?: boolean } = {},
): Written {
  const desk = new Desk({ ...aBench({ strategies: [] }).desk.ports, journal }, aPolicy(), noObserver, []);
  const events: string[] = [];
  of(PAUSE)
    .pipe(
      mergeMapMaybe((record) => desk.journal.write([record])),
      mergeMapMaybe((stored) => {
        events.push(`${desk.state.control} by ${stored.length}`);
        next();
        return undefined;
      }),
      takeUntil(isLeft ? desk.changed$ : NEVER),
    )
    .subscribe({
      error: (error: unknown) => events.push(String(error)),
      complete: () => events.push('complete'),
    });
  return { desk, events };
}

describe.each(journals)('what a desk writes into a journal that %s', (_, journalOf) => {
  it('is part of its state when the stage continues', () => {
    const { events } = written(journalOf(), () => undefined);
    expect(events).toEqual(['paused by 1', 'complete']);
  });

  it('is an error of the stage when it cannot be stored, and no part of the state', () => {
    const journal = journalOf();
    journal.close();
    const { desk, events } = written(journal, () => undefined);
    expect(events).toEqual([expect.stringContaining('is closed')]);
    expect(desk.state.control).toBe('active');
  });

  it('is part of the state also when the stage no longer exists by then', () => {
    const { desk, events } = written(journalOf(), () => undefined, { isLeft: true });
    expect(events).toEqual(['complete']);
    expect(desk.state.control).toBe('paused');
  });

  it('ends the stage with what it throws when it continues', () => {
    const { events } = written(journalOf(), () => {
      throw new Error('a bug');
    });
    expect(events).toEqual(['paused by 1', 'Error: a bug']);
  });
});
