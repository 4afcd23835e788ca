import type { StoredRecord } from '../record.ts';
import type { Instant } from '../time.ts';

/** A setting in force, and the record that set it. */
export interface SettingInForce {
  readonly value: string;
  readonly since: Instant;
  readonly by: string;
  readonly seq: number;
}

/** The settings in force by path, according to the `settings` records of a journal. Pass the records in their order. */
export class SettingHistory {
  /** Returns the settings, sorted by path. `undefined`: there is no record yet, as in journals of older versions and of backtests. */
  inForce: ReadonlyMap<string, SettingInForce> | undefined;

  take({ seq, at, body }: StoredRecord): void {
    if (body.kind !== 'settings') return;
    const now = new Map(this.inForce);
    for (const { path, after } of body.changes)
      if (after === undefined) now.delete(path);
      else now.set(path, { value: after, since: at, by: body.by, seq });
    this.inForce = new Map([...now].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}
