import { pack, unpack } from '../../core/text/pack.ts';
import type { StoredRecord } from '../../core/record.ts';
import type { Observer } from '../observer.ts';
import type { KeptState, Ports } from '../ports.ts';
import type { EngineState } from './engine-state.ts';
import { restoreInto, savedOf } from './snapshot.ts';
import type { SavedState } from './snapshot.ts';

/**
 * Version of the snapshot format and of the fold. Raise it whenever a fold changes. A process ignores snapshots with
 * another number, and reads all records instead.
 */
export const STATE_FORMAT = 27;

/** Smallest share of the snapshot interval for which the end of a process writes a snapshot. */
const WORTH = 50;

interface SnapshotContext {
  readonly ports: Pick<Ports, 'clock' | 'journal'>;
  readonly state: EngineState;
  readonly observer: Observer;
}

interface Kept {
  readonly desk: SavedState;
  readonly observer: unknown;
}

/**
 * Writes snapshots of the state, so that the next start need not fold the whole journal. A snapshot decides nothing,
 * because only the records count, and no append waits for it.
 */
export class SnapshotWriter {
  readonly #desk: SnapshotContext;
  #newest: Pick<StoredRecord, 'seq' | 'hash'> | undefined;
  /** Number of records since the last snapshot. */
  #behind = 0;
  #isDue = false;

  constructor(desk: SnapshotContext) {
    this.#desk = desk;
  }

  /** Restores the snapshot; returns the number of its last record, 0 without a usable one. */
  resume(): number {
    const { ports, observer } = this.#desk;
    const found = ports.journal.states?.read();
    if (found === undefined) return 0;
    const unfit = 'unfit' in found ? found.unfit : this.#take(found);
    if (unfit === undefined && 'seq' in found) return found.seq;
    observer.warn('the state snapshot is not usable; reading all records', { why: unfit });
    return 0;
  }

  /** Why the snapshot cannot be used; `undefined` if it was restored. */
  #take(found: KeptState): string | undefined {
    const { state, observer } = this.#desk;
    try {
      // The port has verified the checksum, so this version wrote exactly this text.
      const kept = unpack(found.text) as Kept; // oxlint-disable-line typescript/no-unsafe-type-assertion -- this class wrote it
      if (kept.observer !== undefined) observer.kept?.restore(kept.observer);
      restoreInto(state, kept.desk);
    } catch (error) {
      return String(error);
    }
    this.#newest = found;
    return undefined;
  }

  /** A record has become part of the state. */
  saw(record: StoredRecord): void {
    // The record's hash is not read here, because a journal may compute it only later.
    this.#newest = record;
    this.#behind++;
  }

  /** If a snapshot is due, schedules it, so that callers that wait for the new records continue first. */
  mayKeep(): void {
    const { journal, clock } = this.#desk.ports;
    if (this.#isDue || journal.states === undefined || this.#behind < journal.states.every) return;
    this.#isDue = true;
    clock.scheduler.schedule(() => {
      this.#isDue = false;
      this.#keep('keep');
    });
  }

  /** Called last by a process that stops cleanly. */
  finish(): void {
    const { states } = this.#desk.ports.journal;
    if (states !== undefined && this.#behind > states.every / WORTH) this.#keep('keepNow');
  }

  #keep(how: 'keep' | 'keepNow'): void {
    const { ports, observer } = this.#desk;
    if (this.#newest === undefined || ports.journal.isSpent === true) return;
    const { seq, hash } = this.#newest;
    this.#behind = 0;
    try {
      ports.journal.states?.[how]({ seq, hash, text: packed(this.#desk) });
    } catch (error) {
      observer.warn('the state snapshot could not be written; the next start reads all records', {
        error: String(error),
      });
    }
  }
}

/** The folded state as text. */
export const packed = ({ state, observer }: Pick<SnapshotContext, 'state' | 'observer'>): string =>
  pack({ desk: savedOf(state), observer: observer.kept?.save() } satisfies Kept);
