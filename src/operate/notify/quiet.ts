import { isClosedAt } from '../../core/hours.ts';
import type { ClosedHours } from '../../core/hours.ts';
import type { Instant } from '../../core/time.ts';

/** Whether only critical notices are sent at `at`. */
export const isQuiet = (quiet: readonly ClosedHours[], at: Instant): boolean =>
  quiet.some((hours) => isClosedAt(hours, at));
