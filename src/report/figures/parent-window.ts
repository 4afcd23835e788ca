import { instant, parseDuration, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { ParentFacts } from './facts.ts';

/** The time in which a parent should trade. Benchmarks cover this time, and untraded quantity is valued at its end. */
export interface ParentWindow {
  readonly from: Instant;
  readonly until: Instant;
}

interface Ended {
  readonly endedAt: Instant;
  readonly isOpen: boolean;
}

/**
 * The window that the parent's document defines, regardless of how the parent was sliced and when it stopped trading.
 * The window is longer if it was extended, but does not go beyond the end of the period. Without such a definition, it
 * lasts from the first slice to the end of the parent.
 */
export function windowOf(parent: ParentFacts, { endedAt, isOpen }: Ended, until: Instant): ParentWindow {
  const told = toldWindow(parent);
  const from = told?.from ?? parent.begunAt;
  if (told === undefined || isOpen) return { from, until: endedAt };
  const last = parent.fills.reduce<number>(
    (latest, { record }) => Math.max(latest, record.executed_at),
    from,
  );
  return { from, until: instant(Math.max(Math.min(told.until, until), last)) };
}

function toldWindow({ life, leg, decidedAt }: ParentFacts): ParentWindow | undefined {
  if (life === undefined) return undefined;
  const { begun_at: begunAt, document } = life.record;
  const textOf = (field: string): string | undefined => {
    const value: unknown = typeof document === 'object' && document !== null ? Reflect.get(document, field) : undefined; // prettier-ignore
    return typeof value === 'string' ? value : undefined;
  };
  const [start, end, duration, window] = ['start_time', 'end_time', 'duration', 'window'].map(textOf);
  if (leg !== 'all') {
    const isOccurrence = window !== undefined && !Number.isNaN(Date.parse(leg));
    return isOccurrence ? lasting(decidedAt, parseDuration(window)) : undefined;
  }
  const from = start === undefined ? begunAt : parseTime(start);
  if (duration !== undefined) return lasting(from, parseDuration(duration), begunAt);
  return end === undefined ? undefined : lasting(from, parseTime(end) - from, begunAt);
}

/** Nobody could trade before the strategy started. */
const lasting = (from: Instant, ms: number, begunAt = from): ParentWindow => ({
  from: instant(Math.max(from, begunAt)),
  until: instant(from + ms),
});
