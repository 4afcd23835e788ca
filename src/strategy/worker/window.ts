import { after, instant, parseDuration, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Problem } from '../kernel.ts';

/** The time in which a document trades, as far as it says so. Times with their zone; the duration is ISO 8601. */
export interface Window {
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
  readonly duration?: string | undefined;
}

/** Returns the start; by default, a document starts when its life begins. */
export const startOf = ({ start_time: start }: Window, begunAt: Instant): Instant =>
  start === undefined ? begunAt : parseTime(start);

/** Returns the end; `undefined` if there is none. Only a duration needs the beginning of the life. */
export function endOf(window: Window, begunAt = instant(0)): Instant | undefined {
  const { end_time: end, duration } = window;
  if (end !== undefined) return parseTime(end);
  return duration === undefined ? undefined : after(startOf(window, begunAt), parseDuration(duration));
}

/** Returns the length of a window with an end, ms; zero or less if `end_time` is too early. */
export const lengthMsOf = ({ end_time: end, duration }: Window, startMs: number): number =>
  duration === undefined ? (end === undefined ? 0 : parseTime(end) - startMs) : parseDuration(duration);

/** Rejects an end that is not later than its start. */
export const checkEnd = (
  { start_time: start, end_time: end }: Window,
  field = 'end_time',
): readonly Problem[] =>
  start !== undefined && end !== undefined && parseTime(end) <= parseTime(start)
    ? [{ path: [field], message: `${field} must be later than start_time` }]
    : [];

/** Checks a window that must have an end: an end that is a time needs a start. */
export const checkWindow = (window: Window): readonly Problem[] =>
  window.end_time !== undefined && window.start_time === undefined
    ? [{ path: ['end_time'], message: 'end_time needs start_time; or write duration instead' }]
    : checkEnd(window);
