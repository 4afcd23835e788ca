import type { Reason } from '../reasons.ts';
import type { RecordBody } from '../record.ts';

/** What a strategy could have traded and did not. */
export interface Untraded {
  readonly strategy: string;
  readonly reason: Reason;
  /** Slices that did not trade at all; 0 when the strategy looked, and wanted nothing. */
  readonly slices: number;
}

/**
 * What a record says was not traded: slices that passed without a try, a look at a schedule or a price that led to
 * nothing, a slice that ended without a fill. `undefined` for everything else. The line of the journal, the metric and
 * `tranche why` all go by this one answer.
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
