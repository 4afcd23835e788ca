import type { RecordBody, StoredRecord } from '../core/record.ts';
import type { Instant } from '../core/time.ts';
import { canonical } from './format/canonical.ts';

/** Which records of a journal to return, and from which end. All given conditions apply. */
export interface RecordQuery {
  readonly kinds?: readonly RecordBody['kind'][] | undefined;
  /** Only after this record. */
  readonly after?: number | undefined;
  /** Only before this record. */
  readonly before?: number | undefined;
  readonly since?: Instant | undefined;
  /** Exclusive. */
  readonly until?: Instant | undefined;
  /** A text that the stored body contains. It selects few records among many without parsing each. */
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

/** How a database writes a parameter and selects a part of the body. */
export interface SqlDialect {
  /** The parameter for value number `index`, from 0, after the caller's parameters. */
  readonly parameter: (index: number) => string;
  readonly contains: (parameter: string) => string;
}

/** The conditions of a query in SQL, combined with `AND`, and the values of their parameters in order. */
export function recordConditions(
  { kinds, after, before, since, until, holds }: RecordQuery,
  { parameter, contains }: SqlDialect,
): { readonly conditions: readonly string[]; readonly values: readonly (string | number)[] } {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const place = (value: string | number): string => parameter(values.push(value) - 1);
  if (after !== undefined) conditions.push(`seq > ${place(after)}`);
  if (before !== undefined) conditions.push(`seq < ${place(before)}`);
  if (kinds !== undefined) conditions.push(`kind IN (${kinds.map(place).join(', ')})`);
  if (since !== undefined) conditions.push(`at >= ${place(since)}`);
  if (until !== undefined) conditions.push(`at < ${place(until)}`);
  if (holds !== undefined) conditions.push(contains(place(holds)));
  return { conditions, values };
}
