import { weekdays } from '../../core/hours.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { DigestTimes } from './notify-config.ts';

/**
 * Returns the first digest time after `after`. If a clock change skips that local time, the digest time shifts by the
 * length of the gap.
 */
export function nextDigest({ at, timeZone, days }: DigestTimes, after: Instant): Instant {
  const [hour = 0, minute = 0] = at.split(':').map(Number);
  const begin = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(timeZone).toPlainDate();
  for (let day = 0; ; day++) {
    const date = begin.add({ days: day });
    const time = date.toZonedDateTime({ timeZone, plainTime: new Temporal.PlainTime(hour, minute) });
    const name = weekdays[date.dayOfWeek - 1];
    if (time.epochMilliseconds > after && name !== undefined && days.has(name))
      return instant(time.epochMilliseconds);
  }
}
