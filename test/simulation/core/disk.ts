import type { RecordBody, StoredRecord } from '../../../src/core/record.ts';
import { instant } from '../../../src/core/time.ts';
import { DISK_DEATH, SYNC } from './menu.ts';
import type { World } from './world.ts';

/** What becomes of an append: safe, or the process that wrote must end because nobody knows. */
export interface Writing {
  readonly bodies: readonly RecordBody[];
  readonly wall: number;
  done(stored: readonly StoredRecord[]): void;
  failed(): void;
}

/** What outlives a process: the records that were synced, perhaps some that were not, and the file that halts. */
export class Disk {
  readonly #world: World;
  readonly #mayRollBack: boolean;
  readonly #records: StoredRecord[] = [];
  #synced = 0;
  #appends = 0;
  #busyUntil = 0;
  #deaths = 0;
  /** How many records a snapshot of the machine holds, oldest first. */
  #snapshots: number[] = [];
  /** The file whose presence halts. */
  isHalting = false;
  /** How often the records went back to an older state: from then on ids may be used again. */
  rollbacks = 0;

  constructor(world: World, mayRollBack: boolean) {
    this.#world = world;
    this.#mayRollBack = mayRollBack;
  }

  /** Records that a power cut leaves. */
  get durable(): readonly StoredRecord[] {
    return this.#records.slice(0, this.#synced);
  }

  get syncedCount(): number {
    return this.#synced;
  }

  /** The record with this number, from 0, if it is durable. */
  record(index: number): StoredRecord | undefined {
    return index < this.#synced ? this.#records[index] : undefined;
  }

  /** Writes, syncs in the order of the appends, and says when the records are safe. */
  append(writing: Writing): void {
    const world = this.#world;
    const number = this.#appends++;
    const fault = world.chance.at(SYNC, number);
    if (fault?.kind === 'full') {
      writing.failed();
      return;
    }
    const from = this.#records.length;
    for (const body of writing.bodies)
      this.#records.push({ seq: this.#records.length + 1, at: instant(writing.wall), body, hash: '' });
    const until = this.#records.length;
    const takes = fault?.kind === 'slow' ? 20_000 * fault.value : 1 + 4 * world.chance.draw('sync', number);
    this.#busyUntil = Math.max(this.#busyUntil, world.now + takes);
    const deaths = this.#deaths;
    world.in(this.#busyUntil - world.now, () => {
      if (deaths !== this.#deaths) return;
      if (fault?.kind === 'fails_kept') this.#synced = until;
      if (fault?.kind === 'fails_kept' || fault?.kind === 'fails_lost') {
        writing.failed();
        return;
      }
      this.#synced = until;
      writing.done(this.#records.slice(from, until));
    });
  }

  /** The process is gone: what was not synced may be lost, kept, or cut somewhere. */
  die(): void {
    const world = this.#world;
    const number = this.#deaths++;
    const fault = world.chance.at(DISK_DEATH, number);
    const unsynced = this.#records.length - this.#synced;
    let kept = 0;
    if (fault?.kind === 'kept') kept = unsynced;
    // The last frame is cut: what is before it is there, it itself is not.
    if (fault?.kind === 'torn' && unsynced > 0) kept = Math.floor(unsynced * fault.value);
    if (fault?.kind === 'rolled_back' && this.#mayRollBack && this.#snapshots.length > 0) {
      const to = this.#snapshots[Math.floor(fault.value * this.#snapshots.length)] ?? 0;
      if (to < this.#synced) {
        this.#synced = to;
        this.rollbacks++;
        world.note('rolled back', to);
        world.probe('journal rolled back');
      }
      kept = 0;
    } else if (unsynced > 0 && kept === 0) world.probe('unsynced records lost');
    this.#synced += kept;
    this.#records.length = this.#synced;
    this.#busyUntil = 0;
    this.#snapshots = this.#snapshots.filter((count) => count <= this.#synced);
  }

  /** The machine is copied as it is now. */
  snapshot(): void {
    this.#snapshots.push(this.#synced);
  }
}
