import { Cron } from 'croner';
import { z } from 'zod';
import { checkZone, instant, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { durationText, timeText } from './fields.ts';

/** When a strategy is due on a calendar. Only asks croner for "the next instant after": our own clock drives it. */
export const scheduleFields = z
  .strictObject({
    cron: z.string().describe('Cron expression of five or six fields, such as "0 9 * * 1-5"'),
    time_zone: z.string().default('UTC').describe('IANA time zone of the expression'),
    blackouts: z
      .array(
        z.strictObject({
          from: timeText.describe('First moment'),
          to: timeText.describe('First moment after'),
        }),
      )
      .max(1000)
      .default([])
      .describe('Spans of time without trading'),
    misfire: z
      .enum(['skip', 'once'])
      .default('skip')
      .describe(
        'When the daemon was down at the time. skip: wait for the next. once: run once as soon as it is up',
      ),
    misfire_after: durationText.default('PT1M').describe('Later than this counts as a misfire, ISO 8601'),
  })
  .superRefine((schedule, context) => {
    for (const [i, { from, to }] of schedule.blackouts.entries()) {
      if (!isAfter(to, from)) {
        context.addIssue({
          code: 'custom',
          path: ['blackouts', i, 'to'],
          message: 'to must be later than from: this span would never stop anything',
        });
      }
    }
    try {
      checkZone(schedule.time_zone);
    } catch (cause) {
      context.addIssue({
        code: 'custom',
        path: ['time_zone'],
        message: cause instanceof Error ? cause.message : 'unknown zone',
      });
      return;
    }
    try {
      if (
        new Cron(schedule.cron, { timezone: schedule.time_zone, paused: true }).nextRun(new Date(0)) === null
      ) {
        context.addIssue({ code: 'custom', path: ['cron'], message: 'this expression never comes true' });
      }
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : '';
      context.addIssue({ code: 'custom', path: ['cron'], message: `not a cron expression: ${why}` });
    }
  });
/** Times that cannot be read are reported where they stand. */
function isAfter(later: string, earlier: string): boolean {
  try {
    return parseTime(later) > parseTime(earlier);
  } catch {
    return true;
  }
}
export type Schedule = z.output<typeof scheduleFields>;

/** First time of the schedule strictly after `at`. `undefined` when there is none. Skipped local times run right after the gap, repeated ones once. */
export function nextTime(schedule: Schedule, at: Instant): Instant | undefined {
  const next = new Cron(schedule.cron, { timezone: schedule.time_zone, paused: true }).nextRun(new Date(at));
  return next === null ? undefined : instant(next.getTime());
}

export const isBlackedOut = (schedule: Schedule, at: Instant): boolean =>
  schedule.blackouts.some(({ from, to }) => at >= parseTime(from) && at < parseTime(to));
