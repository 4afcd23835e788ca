import { pack, unpack } from '../../core/text/pack.ts';
import type { StoredRecord } from '../../core/record.ts';
import type { Observer } from '../observer.ts';
import type { KeptState, Ports } from '../ports.ts';
import type { EngineState } from './engine-state.ts';
import { restoreInto, savedOf } from './snapshot.ts';
import type { SavedState } from './snapshot.ts';

/**
 * Number of the shape and the meaning of what is kept. Goes up whenever a fold changes: a state of another number is left
 * alone, and all records are read.
 */
export const STATE_FORMAT = 23;

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
 * Keeps the state now and then, so that the next start need not fold the whole journal again. It is a copy: nothing is
 * decided by it that the records do not say, and no append waits for it.
 */
export class SnapshotWriter {
  readonly #desk: SnapshotContext;
  #newest: Pick<StoredRecord, 'seq' | 'hash'> | undefined;
  /** Records that no kept state holds. */
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

  /** Why the state cannot be taken over; `undefined` when it was. */
  #take(found: KeptState): string | undefined {
    const { state, observer } = this.#desk;
    try {
      // Its text is the very one that this version wrote: the port has compared its checksum.
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
    // Its hash is not looked at: a journal may make it only then.
    this.#newest = record;
    this.#behind++;
  }

  /** Keeps a state if one is due: later, when nobody waits for what has just been written. */
  mayKeep(): void {
    const { journal, clock } = this.#desk.ports;
    if (this.#isDue || journal.states === undefined || this.#behind < journal.states.every) return;
    this.#isDue = true;
    clock.scheduler.schedule(() => {
      this.#isDue = false;
      this.#keep('keep');
    });
  }

  /** The last thing of a process that ends in good order. */
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

/** All that was folded, as text. */
export const packed = ({ state, observer }: Pick<SnapshotContext, 'state' | 'observer'>): string =>
  pack({ desk: savedOf(state), observer: observer.kept?.save() } satisfies Kept);
