import type { RecordBody, StoredRecord } from '../core/record.ts';
import type { Instant } from '../core/time.ts';
import { canonical } from './format/canonical.ts';

/** Which records of a journal are wanted, and from which end. All of what is given must hold. */
export interface RecordQuery {
  readonly kinds?: readonly RecordBody['kind'][] | undefined;
  /** Only behind this record. */
  readonly after?: number | undefined;
  /** Only in front of this record. */
  readonly before?: number | undefined;
  readonly since?: Instant | undefined;
  /** Not itself. */
  readonly until?: Instant | undefined;
  /** A text that the stored body contains: to look through many records for few, without reading each. */
  readonly holds?: string | undefined;
  readonly order: 'oldest' | 'newest';
}

/** Those of `records`, from the oldest to the newest, that are wanted, in the order that is wanted. */
export function* selected(records: Iterable<StoredRecord>, query: RecordQuery): Generator<StoredRecord> {
  const { kinds, after = 0, before = Infinity, since = -Infinity, until = Infinity, holds } = query;
  const all = query.order === 'oldest' ? records : [...records].toReversed();
  for (const record of all) {
    const { seq, at, body } = record;
    if (seq <= after || seq >= before || at < since || at >= until) continue;
    if (kinds !== undefined && !kinds.includes(body.kind)) continue;
    if (holds === undefined || canonical(body).includes(holds)) yield record;
  }
}
