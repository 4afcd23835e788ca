import { Observable } from 'rxjs';
import type { Subscriber, Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ControlRecord, StoredRecord } from '../../src/core/record.ts';
import { Desk } from '../../src/engine/desk.ts';
import { noObserver } from '../../src/engine/observer.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { lateJournal } from '../../src/journal/late.ts';
import { frozen } from '../journal/frozen.ts';
import { aBench, aPolicy } from './harness.ts';

const PAUSE: ControlRecord = { kind: 'control', state: 'paused', by: 'ann', why: 'a look' };

/** The same journal, asked in each of its two ways. */
const ways: readonly (readonly [string, () => Journal])[] = [
  ['answers when it is asked', () => frozen(lateJournal())],
  ['emits what it has stored', () => ({ ...frozen(lateJournal()), appendNow: undefined })],
];

interface Written {
  readonly desk: Desk;
  readonly told: string[];
  readonly asked: Subscription;
}

/** Writes a pause; `begun` is what the stage does besides. */
function written(
  journal: Journal,
  then: (stored: readonly StoredRecord[], by: Subscriber<never>) => void,
  begun: (desk: Desk, by: Subscriber<never>) => void = () => undefined,
): Written {
  const desk = new Desk({ ...aBench({ strategies: [] }).desk.ports, journal }, aPolicy(), noObserver, []);
  const told: string[] = [];
  const asked = new Observable<never>((by) => {
    begun(desk, by);
    desk.write([PAUSE], by, (stored) => {
      told.push(`${desk.state.control} by ${stored.length}`);
      then(stored, by);
    });
  }).subscribe({
    error: (error: unknown) => told.push(String(error)),
    complete: () => told.push('complete'),
  });
  return { desk, told, asked };
}

describe.each(ways)('what a desk writes into a journal that %s', (_, journalOf) => {
  it('is part of its state when the stage goes on', () => {
    const { told } = written(journalOf(), (__, by) => {
      by.complete();
    });
    expect(told).toEqual(['paused by 1', 'complete']);
  });

  it('is an error of the stage when it cannot be stored, and no part of the state', () => {
    const journal = journalOf();
    journal.close();
    const { desk, told } = written(journal, () => undefined);
    expect(told).toEqual([expect.stringContaining('is closed')]);
    expect(desk.state.control).toBe('active');
  });

  it('is part of the state also when the stage is gone by then', () => {
    const { desk, told } = written(
      journalOf(),
      () => undefined,
      ({ changed$ }, by) => {
        by.add(
          changed$.subscribe(() => {
            by.unsubscribe();
          }),
        );
      },
    );
    expect(told).toEqual([]);
    expect(desk.state.control).toBe('paused');
  });

  it('ends the stage with what it throws when it goes on', () => {
    const { told } = written(journalOf(), () => {
      throw new Error('a bug');
    });
    expect(told).toEqual(['paused by 1', 'Error: a bug']);
  });
});
