import type { z } from 'zod';
import { parseClientId } from '../../core/ids.ts';
import { reasons } from '../../core/reasons.ts';
import type { Reason } from '../../core/reasons.ts';
import type { RecordBody, SliceRecord, StoredRecord, WakeRecord } from '../../core/record.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { slices } from '../../operate/api/schema-journal.ts';
import type { SliceName } from './history-requests.ts';
import type { Source } from './pages.ts';

export type SliceRow = z.output<typeof slices>;
type AttemptRow = SliceRow['attempts'][number];
type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Row = Writable<Omit<SliceRow, 'attempts'>> & { readonly attempts: Writable<AttemptRow>[] };

/** Kinds of records about slices. All of them name the parent, in a field or in the client id. */
const KINDS: readonly RecordBody['kind'][] = ['wake', 'intent', 'quote', 'attempt', 'fill', 'slice', 'correction']; // prettier-ignore
/** Largest number of records to read of one parent. */
const RECORDS_MAX = 20_000;

export const keyOf = ({ parent, slice }: SliceName): string => `${parent}/${slice}`;

/** Returns the records about slices of `parent` before record `before`, back to the wakes that decided `wanted`, oldest first. */
export function recordsOf(
  source: Source,
  parent: string,
  wanted: ReadonlySet<number>,
  before?: number,
): readonly StoredRecord[] {
  const left = new Set(wanted);
  const found: StoredRecord[] = [];
  for (const record of source.select({ kinds: KINDS, holds: parent, before, order: 'newest' })) {
    found.push(record);
    if (record.body.kind === 'wake')
      for (const intent of record.body.intents) if (intent.parent === parent) left.delete(intent.slice);
    if (left.size === 0 || found.length >= RECORDS_MAX) break;
  }
  return found.toReversed();
}

/** Groups slice numbers by parent. */
export const byParent = (names: readonly SliceName[]): ReadonlyMap<string, ReadonlySet<number>> =>
  new Map(
    [...Map.groupBy(names, ({ parent }) => parent)].map(
      ([parent, slices]) => [parent, new Set(slices.map(({ slice }) => slice))] as const,
    ),
  );

/** Returns the outcomes of slices by `keyOf`, from the records before `before` and the corrections since. */
export function rowsOf(
  source: Source,
  names: readonly SliceName[],
  before?: number,
): ReadonlyMap<string, SliceRow> {
  const rows = new Rows();
  for (const [parent, wanted] of byParent(names))
    for (const record of recordsOf(source, parent, wanted, before)) rows.take(record);
  if (before !== undefined)
    for (const record of source.select({ kinds: ['correction'], after: before - 1, order: 'oldest' }))
      rows.take(record);
  return rows.byKey;
}

class Rows {
  readonly byKey = new Map<string, Row>();
  readonly #attempts = new Map<string, Writable<AttemptRow>>();

  take({ seq, at, body }: StoredRecord): void {
    switch (body.kind) {
      case 'wake':
        for (const intent of body.intents) {
          const { leg, parent, slice, pair, side, by, size, limit, deadline } = intent;
          this.byKey.set(keyOf(intent), {
            seq,
            strategy: body.strategy,
            parent,
            leg,
            slice,
            pair,
            side,
            due_at: dueOf(body, at),
            decided_at: isoOf(at),
            deadline: isoOf(deadline),
            planned: size,
            by,
            limit,
            decision_price: intent.decision_price,
            state: 'open',
            attempts: [],
          });
        }
        break;
      case 'intent': {
        const row = this.byKey.get(keyOf(body));
        if (row === undefined) break;
        const attempt: Writable<AttemptRow> = {
          client_order_id: body.client_order_id,
          attempt: body.attempt,
          asked_at: isoOf(at),
          result: 'open',
        };
        row.currency = row.by === 'amount' ? body.quote : body.base;
        row.attempts.push(attempt);
        this.#attempts.set(body.client_order_id, attempt);
        break;
      }
      case 'quote': {
        const { price, quantity, amount, life_ms, age_ms } = body;
        const attempt = this.#attempts.get(body.client_order_id);
        if (attempt !== undefined) attempt.quote = { price, quantity, amount, life_ms, age_ms };
        break;
      }
      case 'attempt': {
        const attempt = this.#attempts.get(body.client_order_id);
        if (attempt !== undefined)
          Object.assign(attempt, { result: body.result, reason: body.reason, detail: body.detail });
        break;
      }
      case 'fill': {
        const attempt = this.#attempts.get(body.client_order_id);
        if (attempt === undefined) break;
        const { price, quantity, amount, fees, other_fees, executed_at } = body;
        attempt.result = 'filled';
        attempt.fill = { price, quantity, amount, fees, other_fees, executed_at: isoOf(executed_at) };
        break;
      }
      case 'correction': {
        const attempt = this.#attempts.get(body.client_order_id);
        if (attempt?.fill === undefined) break;
        const { price, quantity, amount, fees, other_fees } = body;
        attempt.fill = { ...attempt.fill, price, quantity, amount, fees, other_fees };
        break;
      }
      case 'slice': {
        const row = this.byKey.get(keyOf(body));
        if (row !== undefined) Object.assign(row, endOf(seq, at, body));
        break;
      }
      default:
    }
  }
}

/** Returns how a slice ended. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- a part of `SliceRow`
export const endOf = (seq: number, at: Instant, body: SliceRecord) => ({
  seq,
  state: body.result,
  reason: body.reason,
  detail: body.detail,
  words: wordsOf(body.reason),
  filled: body.filled,
  filled_amount: body.filled_amount,
  ended_at: isoOf(at),
});

/** Returns the scheduled time of a wake, or the time of its record if something else caused it. */
const dueOf = ({ on, detail }: WakeRecord, at: Instant): string => {
  const due = on === 'at' ? detail['due'] : undefined;
  return isoOf(typeof due === 'number' ? instant(due) : at);
};

export const wordsOf = (reason: Reason | undefined): string | undefined =>
  reason === undefined ? undefined : reasons[reason];

/** Returns rows for the slots that passed without an attempt. */
export const missedRows = (seq: number, at: Instant, wake: WakeRecord): readonly SliceRow[] =>
  wake.missed.map(({ leg, slice, due, size }) => ({
    seq,
    strategy: wake.strategy,
    leg,
    slice,
    due_at: due === undefined ? undefined : isoOf(due),
    planned: size,
    state: 'missed',
    reason: wake.reason,
    detail: wake.note,
    words: wordsOf(wake.reason),
    attempts: [],
    ended_at: isoOf(at),
  }));

/** Returns the slice that a client id names. */
export const sliceOfId = (clientId: string): SliceName | undefined => {
  const name = parseClientId(clientId);
  return name && { parent: name.parent, slice: name.slice };
};
