import { Observable } from 'rxjs';
import { OperatorError } from '../../../src/core/errors.ts';
import type { StoredRecord } from '../../../src/core/record.ts';
import { appender } from '../../../src/journal/sqlite/appender.ts';
import { EMPTY, damage, readLines, tie } from '../../../src/journal/proof/chain.ts';
import type { Head, Line } from '../../../src/journal/proof/chain.ts';
import type { JournalPort } from '../../../src/engine/ports.ts';
import { freeze } from '../../journal/frozen.ts';
import { frame, unframe } from './disk.ts';
import type { Disk, DiskFault } from './disk.ts';
import type { Shelf } from './shelf.ts';
import type { ProcessClock } from './process-clock.ts';

/** What happens to one append. */
export interface AppendFate {
  readonly fault?: DiskFault | undefined;
  /** How long the flush takes; 0: the append is durable in the tick in which it is made. */
  readonly syncMs: number;
  /** Nothing else runs in the process meanwhile, as with a flush that blocks. */
  readonly isBlocking: boolean;
}

export interface DiskJournalOptions {
  readonly disk: Disk;
  readonly clock: ProcessClock;
  /** Where states are kept; left out: nowhere. */
  readonly shelf?: Shelf | undefined;
  /** Asked before each append of the process, which are counted from 1. */
  readonly fateOf: (count: number) => AppendFate;
  /** Places where the process can die. */
  readonly yieldAt: (where: 'before' | 'written' | 'durable', count: number) => void;
  /** Told the lines that have just become durable. */
  readonly onDurable: (lines: readonly Line[]) => void;
}

const NAME = 'disk:journal';

/** Lines of a file. @throws OperatorError `data` when they are damaged. */
export function linesOf(file: Buffer): { readonly lines: readonly Line[]; readonly end: number } {
  const frames = unframe(file);
  if (!frames.ok) throw damage(NAME, 0, `the bytes from ${frames.at} on are no record`);
  return { lines: frames.payloads.flatMap((payload) => JSON.parse(payload) as Line[]), end: frames.end };
}

/**
 * A journal on a simulated disk: the product's own records, chain and rule for failures, over bytes that are durable once
 * they are flushed.
 *
 * @throws OperatorError `again`: another process writes. `data`: the file is damaged.
 */
export function diskJournal({
  disk,
  clock,
  shelf,
  fateOf,
  yieldAt,
  onDurable,
}: DiskJournalOptions): JournalPort {
  if (disk.owner !== undefined) throw new OperatorError('again', `journal ${NAME} is in use`);
  const me = {};
  const found = linesOf(disk.durable);
  // A record that was cut off by a crash was never reported: nothing was done on its strength.
  disk.restore(disk.durable.subarray(0, found.end));
  // Read before anything is taken over: a chain that does not hold lets nobody in.
  const records: StoredRecord[] = [...readLines(NAME, found.lines)];
  disk.owner = me;
  let head: Head = records.at(-1) ?? EMPTY;
  let count = 0;
  let number = 0;
  let fault: DiskFault | undefined;
  const waiting: (() => void)[] = [];
  const appends = appender(NAME, (bodies, at) => {
    const tied = tie(head, bodies, at);
    disk.write(frame(JSON.stringify(tied.map(({ line }) => line))), fault);
    yieldAt('written', number);
    if (clock.isDead) return tied;
    disk.sync(fault);
    const last = tied.at(-1);
    if (last !== undefined) head = { seq: last.line.seq, hash: last.line.hash };
    onDurable(tied.map(({ line }) => line));
    yieldAt('durable', number);
    return tied;
  });
  /** One after the other: what is appended later is never durable earlier. */
  const inTurn = (job: () => void, { syncMs, isBlocking }: AppendFate): void => {
    const next = (): void => {
      waiting.shift();
      waiting[0]?.();
    };
    const start = (): void => {
      if (syncMs === 0) {
        job();
        next();
        return;
      }
      if (isBlocking) clock.suspend(syncMs, false);
      clock.push(syncMs, () => {
        job();
        next();
      });
    };
    if (waiting.length === 0 && syncMs === 0) {
      job();
      return;
    }
    waiting.push(start);
    if (waiting.length === 1) start();
  };
  return {
    append: (bodies, at) =>
      new Observable((subscriber) => {
        if (clock.isDead) return;
        const mine = ++count;
        const fate = fateOf(mine);
        yieldAt('before', mine);
        inTurn(() => {
          if (clock.isDead) return;
          number = mine;
          ({ fault } = fate);
          let stored: readonly StoredRecord[];
          try {
            stored = appends.run(freeze(bodies), at);
          } catch (error) {
            subscriber.error(error);
            return;
          }
          if (clock.isDead) return;
          subscriber.next(stored);
          subscriber.complete();
        }, fate);
      }),
    read: (after = 0) => records.slice(after),
    states: shelf?.port(found.lines, () => clock.isDead),
    close() {
      if (disk.owner === me) disk.owner = undefined;
    },
  };
}
