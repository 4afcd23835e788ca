import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, instant, isoOf, MINUTE_MS, parseTime } from '../../src/core/time.ts';
import { closureAt } from '../../src/strategy/calendar/calendar.ts';
import { nextTime, scheduleFields } from '../../src/strategy/calendar/schedule.ts';
import type { Schedule } from '../../src/strategy/calendar/schedule.ts';
import { times } from './views.ts';

const schedule = (over: object = {}): Schedule => scheduleFields.parse({ cron: '0 9 * * *', ...over });
/** The times after `from`, in UTC and without their year. */
function expectTimes(time_zone: string, cron: string, from: string, utc: readonly string[]): void {
  const found = times(schedule({ cron, time_zone }), from, utc.length);
  expect(found.map((at) => at.slice(5, 16))).toEqual(utc);
}

describe('a schedule', () => {
  it('returns the first time strictly after the given one', () => {
    const at = parseTime('2026-07-01T09:00:00Z');
    expect(nextTime(schedule(), at)).toBe(parseTime('2026-07-02T09:00:00Z'));
    expect(nextTime(schedule(), instant(at - 1))).toBe(at);
  });

  it.each([
    ['Europe/London', '30 1 * * *', '2026-03-28T00:00:00Z', ['03-28T01:30', '03-29T01:00', '03-30T00:30']],
    ['Europe/Berlin', '30 2 * * *', '2026-03-28T00:00:00Z', ['03-28T01:30', '03-29T01:00', '03-30T00:30']],
    ['America/New_York', '30 2 * * *', '2026-03-07T00:00:00Z', ['03-07T07:30', '03-08T07:00', '03-09T06:30']],
    ['Australia/Sydney', '30 2 * * *', '2026-10-02T20:00:00Z', ['10-03T16:00', '10-04T15:30']],
    ['America/Santiago', '30 0 * * *', '2026-09-05T12:00:00Z', ['09-06T04:00', '09-07T03:30']],
  ])('in %s at %s runs once on the day that skips its hour, right after the gap', expectTimes);

  it.each([
    ['Europe/London', '30 1 * * *', '2026-10-24T12:00:00Z', ['10-25T00:30', '10-26T01:30']],
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00:00Z', ['10-25T00:30', '10-26T01:30']],
    ['America/New_York', '30 1 * * *', '2026-10-31T12:00:00Z', ['11-01T05:30', '11-02T06:30']],
    ['Australia/Sydney', '30 2 * * *', '2026-04-03T20:00:00Z', ['04-04T15:30', '04-05T16:30']],
    ['America/Santiago', '30 23 * * *', '2026-04-04T12:00:00Z', ['04-05T02:30', '04-06T03:30']],
    // A time in the second pass comes the next day.
    ['Europe/London', '15,45 1 * * *', '2026-10-25T01:05:00Z', ['10-26T01:15']],
  ])('in %s at %s runs once on the day that repeats its hour, in the first pass', expectTimes);

  // croner itself omits the whole day in spring and returns both times twice in autumn, which would buy twice.
  it.each([
    ['Europe/London', '15,45 1 * * *', '2026-03-28T12:00:00Z', ['03-29T01:00', '03-30T00:15', '03-30T00:45']],
    ['Europe/London', '15,45 1 * * *', '2026-10-24T12:00:00Z', ['10-25T00:15', '10-25T00:45', '10-26T01:15']],
    // Midnight itself: skipped where summer begins at midnight, repeated where it ends there.
    ['Africa/Cairo', '0 0 * * *', '2026-04-22T12:00:00Z', ['04-22T22:00', '04-23T22:00', '04-24T21:00']],
    ['Asia/Beirut', '0 0 * * *', '2026-03-27T12:00:00Z', ['03-27T22:00', '03-28T22:00', '03-29T21:00']],
    ['America/Santiago', '0 0 * * *', '2026-09-04T12:00:00Z', ['09-05T04:00', '09-06T04:00', '09-07T03:00']],
    ['America/Havana', '0 0 * * *', '2026-11-01T00:00:00Z', ['11-01T04:00', '11-02T05:00', '11-03T05:00']],
    ['Europe/London', '0 0 * * *', '2026-03-28T12:00:00Z', ['03-29T00:00', '03-29T23:00', '03-30T23:00']],
    // Kazakhstan set its clocks back for good at the midnight after a leap day; Mexico kept winter time from 2022 on; an
    // island left out the thirtieth of December when it moved across the date line.
    ['Asia/Almaty', '30 23 * * *', '2024-02-28T00:00:00Z', ['02-28T17:30', '02-29T17:30', '03-01T18:30']],
    [
      'America/Mexico_City',
      '0 9 2 4,11 *',
      '2022-03-01T00:00:00Z',
      ['04-02T15:00', '11-02T15:00', '04-02T15:00'],
    ],
    ['Europe/Istanbul', '0 9 1 2,7 *', '2016-01-01T00:00:00Z', ['02-01T07:00', '07-01T06:00', '02-01T06:00']],
    ['Pacific/Apia', '0 9 * * *', '2011-12-29T12:00:00Z', ['12-29T19:00', '12-30T10:00', '12-30T19:00']],
    ['Pacific/Apia', '*/30 * * * * *', '2011-12-30T09:59:30Z', ['12-30T10:00', '12-30T10:00', '12-30T10:01']],
    ['Europe/London', '59 23 31 12 *', '2026-12-31T23:58:00Z', ['12-31T23:59', '12-31T23:59']],
    ['Europe/London', '0 9 * * 1', '2026-12-29T00:00:00Z', ['01-04T09:00']],
    ['Europe/London', '0 9 L * *', '2028-01-31T12:00:00Z', ['02-29T09:00', '03-31T08:00', '04-30T08:00']],
    ['Europe/London', '0 9 31 * *', '2026-02-01T00:00:00Z', ['03-31T08:00', '05-31T08:00']],
    // Friday the third.
    ['UTC', '0 9 * * 1-5', '2026-07-03T10:00:00Z', ['07-06T09:00']],
    ['Asia/Tokyo', '0 9 * * *', '2026-07-01T00:00:00Z', ['07-02T00:00']],
  ])('in %s at %s follows the clock and the calendar', expectTimes);

  it('comes every four years on a leap day', () => {
    const leap = times(schedule({ cron: '0 9 29 2 *' }), '2024-03-01T00:00:00Z', 2);
    expect(leap).toEqual(['2028-02-29T09:00:00.000Z', '2032-02-29T09:00:00.000Z']);
  });

  it('runs at every existing hour through both clock changes if its hour is a wildcard', () => {
    for (const time_zone of ['Europe/London', 'America/New_York', 'America/Santiago', 'Australia/Sydney']) {
      for (const cron of ['0 * * * *', '45 * * * *', '0 45 * * * *', '*/15 * * * *']) {
        const everyMs = cron.startsWith('*/15') ? 15 * MINUTE_MS : HOUR_MS;
        for (const from of [
          '2026-03-06',
          '2026-03-28',
          '2026-04-04',
          '2026-09-05',
          '2026-10-03',
          '2026-10-24',
          '2026-10-31',
        ]) {
          const found = times(
            schedule({ cron, time_zone }),
            `${from}T12:00:00Z`,
            everyMs === HOUR_MS ? 30 : 120,
          ).map((at) => parseTime(at));
          const gaps = found.slice(1).map((at, n) => at - (found[n] ?? 0));
          expect(new Set(gaps)).toEqual(new Set([everyMs]));
        }
      }
    }
  });

  it('runs once each day in every zone, as an independent reading of the clock confirms', () => {
    const zones = [
      'Europe/London',
      'America/New_York',
      'America/Santiago',
      'Africa/Cairo',
      'Australia/Lord_Howe',
      'Asia/Tehran',
      'America/Sao_Paulo',
      'Asia/Kolkata',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 1439 }),
        fc.integer({ min: 0, max: 365 * 12 }),
        (time_zone, minute, day) => {
          const cron = `${minute % 60} ${Math.floor(minute / 60)} * * *`;
          const from = instant(Date.UTC(2014, 0, 1) + day * DAY_MS);
          const due = nextTime({ cron, time_zone }, from);
          // Minute by minute: the first moment at which the clock shows the time or has passed it.
          const shown = (at: number): string =>
            Temporal.Instant.fromEpochMilliseconds(at)
              .toZonedDateTimeISO(time_zone)
              .toPlainDateTime()
              .toString();
          const wanted = (date: string): string =>
            `${date}T${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00`;
          let highest = shown(from);
          let found: number | undefined;
          for (let at = from + MINUTE_MS; found === undefined; at += MINUTE_MS) {
            const now = shown(at);
            if (now <= highest) continue;
            for (const date of new Set([highest.slice(0, 10), now.slice(0, 10)]))
              if (wanted(date) > highest && wanted(date) <= now) found = at;
            highest = now;
          }
          expect(isoOf(due ?? instant(0))).toBe(isoOf(instant(found)));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a blackout', () => {
  it('includes its start but not its end', () => {
    const of = schedule({
      blackouts: [
        { from: '2026-12-24T00:00:00[Europe/London]', to: '2026-12-27T00:00:00[Europe/London]' },
        { from: '2026-07-01T00:00:00[Asia/Tokyo]', to: '2026-07-02T00:00:00[Asia/Tokyo]' },
      ],
    });
    const blackedOut = (at: string): boolean => closureAt(of, parseTime(at)) !== undefined;
    expect(blackedOut('2026-12-24T00:00:00Z')).toBe(true);
    expect(blackedOut('2026-12-26T23:59:59.999Z')).toBe(true);
    expect(blackedOut('2026-12-23T23:59:59.999Z')).toBe(false);
    expect(blackedOut('2026-12-27T00:00:00Z')).toBe(false);
    expect(blackedOut('2026-06-30T15:00:00Z')).toBe(true);
    expect(closureAt(schedule(), parseTime('2026-12-25T00:00:00Z'))).toBeUndefined();
  });
});

describe('the fields of a schedule', () => {
  it.each<readonly [object, string]>([
    [{ cron: 'every day' }, 'cron'],
    [{ cron: '61 * * * *' }, 'cron'],
    [{ cron: '0 0 30 2 *' }, 'cron'],
    [{ cron: '' }, 'cron'],
    [{ time_zone: 'London' }, 'time_zone'],
    [{ misfire: 'always' }, 'misfire'],
    [{ misfire_after: '60' }, 'misfire_after'],
    [{ blackouts: [{ from: '2026-12-24', to: '2026-12-27' }] }, 'blackouts.0.from'],
    [{ blackouts: [{ from: '2026-12-27T00:00:00Z', to: '2026-12-24T00:00:00Z' }] }, 'blackouts.0.to'],
    [{ blackouts: [{ from: '2026-12-27T00:00:00Z', to: '2026-12-27T00:00:00Z' }] }, 'blackouts.0.to'],
    [{ each: 'P1D' }, ''],
    [{ every: 'P1D' }, 'every'],
    [{ first: '2026-12-01T09:00:00Z' }, 'first'],
    [{ cron: undefined }, ''],
    [{ cron: undefined, every: 'P1D' }, ''],
    [{ cron: undefined, every: 'two weeks', first: '2026-12-01T09:00:00Z' }, 'every'],
    [{ cron: undefined, every: 'P1DT1H', first: '2026-12-01T09:00:00Z' }, 'every'],
    [{ cron: undefined, every: 'PT59S', first: '2026-12-01T09:00:00Z' }, 'every'],
    [{ cron: undefined, every: '-P1D', first: '2026-12-01T09:00:00Z' }, 'every'],
    [{ cron: undefined, every: 'P2W', first: '2026-12-01' }, 'first'],
    [{ roll: 'next' }, 'roll'],
    [{ roll: 'next', calendar: {}, cron: '0 9,17 * * *' }, 'roll'],
    [{ roll: 'after', calendar: {} }, 'roll'],
  ])('are refused with %j', (over, path) => {
    const result = scheduleFields.safeParse({ cron: '0 9 * * *', ...over });
    expect(result.error?.issues.map((one) => one.path.join('.'))).toContain(path);
  });

  it('yield the same daily times as croner', () => {
    const field = (most: number): fc.Arbitrary<string> =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: 0, max: most }).map(String),
        fc.integer({ min: 2, max: most }).map((step) => `*/${step}`),
        fc
          .uniqueArray(fc.integer({ min: 0, max: most }), { minLength: 1, maxLength: 4 })
          .map((all) => all.join(',')),
        fc
          .integer({ min: 0, max: most })
          .chain((from) => fc.integer({ min: from, max: most }).map((to) => `${from}-${to}`)),
      );
    const seconds = fc.constantFrom('', '0 ', '30 ', '0,15 ', '* ', '*/7 ');
    fc.assert(
      fc.property(
        seconds,
        field(59),
        field(23),
        fc.integer({ min: 0, max: 4e12 }),
        (second, minute, hour, at) => {
          const cron = `${second}${minute} ${hour} * * *`;
          const alone = new Cron(cron, { utcOffset: 0, paused: true }).nextRun(new Date(at))?.getTime();
          expect(nextTime({ cron, time_zone: 'UTC' }, instant(at))).toBe(alone);
        },
      ),
      { numRuns: 500 },
    );
  });
});
