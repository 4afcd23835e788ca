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

/** The same journal, synchronous and asynchronous. */
const journals: readonly (readonly [string, () => Journal])[] = [
  ['returns stored records', () => frozen(backtestJournal())],
  [
    'emits stored records',
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

describe.each(journals)('a record that a desk writes to a journal that %s', (_, journalOf) => {
  it('is part of the state when the stage continues', () => {
    const { events } = written(journalOf(), () => undefined);
    expect(events).toEqual(['paused by 1', 'complete']);
  });

  it('causes an error of the stage if it cannot be stored, and does not change the state', () => {
    const journal = journalOf();
    journal.close();
    const { desk, events } = written(journal, () => undefined);
    expect(events).toEqual([expect.stringContaining('is closed')]);
    expect(desk.state.control).toBe('active');
  });

  it('is part of the state even if its stage has been unsubscribed by then', () => {
    const { desk, events } = written(journalOf(), () => undefined, { isLeft: true });
    expect(events).toEqual(['complete']);
    expect(desk.state.control).toBe('paused');
  });

  it('does not hide an error that the stage throws afterwards', () => {
    const { events } = written(journalOf(), () => {
      throw new Error('a bug');
    });
    expect(events).toEqual(['paused by 1', 'Error: a bug']);
  });
});
