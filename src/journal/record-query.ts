import type { RecordBody, StoredRecord } from '../core/record.ts';
import type { Instant } from '../core/time.ts';
import { canonical } from './format/canonical.ts';

/** Which records of a journal to return, and from which end. All given conditions must hold. */
export interface RecordQuery {
  readonly kinds?: readonly RecordBody['kind'][] | undefined;
  /** Only after this record. */
  readonly after?: number | undefined;
  /** Only before this record. */
  readonly before?: number | undefined;
  readonly since?: Instant | undefined;
  /** Not itself. */
  readonly until?: Instant | undefined;
  /** A text that the stored body contains: finds few records among many without parsing each. */
  readonly holds?: string | undefined;
  readonly order: 'oldest' | 'newest';
}

/** Filters `records`, given oldest first, into the requested order. */
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
