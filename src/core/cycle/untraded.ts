import type { Reason } from '../reasons.ts';
import type { RecordBody } from '../record.ts';

/** A trade that a strategy could have made but did not make. */
export interface Untraded {
  readonly strategy: string;
  readonly reason: Reason;
  /** Number of slices that did not trade; 0 if the strategy evaluated its condition and wanted nothing. */
  readonly slices: number;
}

/**
 * Returns the trades that, according to a record, were not made: slots that passed without an attempt, evaluations
 * without a result, slices that ended without a fill. `undefined` for every other record. The journal line, the metric
 * and `tranche why` all use this function.
 */
export function untradedBy(body: RecordBody): Untraded | undefined {
  if (body.kind === 'slice') {
    if (body.result === 'filled') return undefined;
    return { strategy: body.strategy, reason: body.reason ?? 'deadline', slices: 1 };
  }
  if (body.kind !== 'wake') return undefined;
  const { strategy, missed, intents, reason } = body;
  if (missed.length > 0) return { strategy, reason: reason ?? 'missed_slot', slices: missed.length };
  if (reason === undefined || reason === 'waiting' || intents.length > 0 || body.on === 'outcome')
    return undefined;
  return { strategy, reason, slices: 0 };
}
