import { instant } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import { notOpenWords } from '../../calendar/calendar.ts';
import type { CountedSchedule } from '../../calendar/schedule.ts';
import { legOf, nextDue } from './recurring-misfire.ts';

interface Timed {
  readonly schedule: CountedSchedule;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
}

/** The progress of a recurring strategy. */
interface Progress {
  /** Times of the schedule up to this one are handled, Unix ms. */
  readonly after: number;
  readonly now?: { readonly due: number } | undefined;
}

/** Returns why no extra occurrence can begin at `at`; `undefined` if one can. */
export function runFault({ now, after: dealtWith }: Progress, plan: Timed, at: Instant): string | undefined {
  if (now !== undefined) return `its occurrence of ${legOf(now.due)} is in progress`;
  const due = nextDue(plan, instant(dealtWith));
  if (due !== undefined && due <= at) return `its occurrence of ${legOf(due)} is about to start`;
  return notOpenWords(plan, at);
}
