import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, instant, isoOf, parseTime } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { closureAt } from '../../src/strategy/calendar/calendar.ts';
import { nextPeriod } from '../../src/strategy/calendar/period.ts';
import { recurring } from '../../src/strategy/kinds/recurring/recurring.ts';
import {
  nextTime,
  occurrencesOf,
  scheduleFields,
  smallestGapMs,
} from '../../src/strategy/calendar/schedule.ts';
import type { Schedule } from '../../src/strategy/calendar/schedule.ts';
import { aWorld, times as nextTimes } from './views.ts';

const schedule = (over: object = {}): Schedule =>
  scheduleFields.parse({ time_zone: 'Europe/London', ...over });
const times = (of: Schedule, from: string, count: number): readonly string[] =>
  nextTimes(of, from, count).map((at) => at.slice(0, 16));
const every = (period: string, first: string, over: object = {}): Schedule =>
  schedule({ every: period, first, ...over });

describe('a schedule with a period', () => {
  const LONDON = 'Europe/London';
  it.each<readonly [string, string, string, string, readonly string[]]>([
    ['P2W', '2026-12-01T09:00', LONDON, '2026-01-01', ['12-01T09:00', '12-15T09:00']],
    ['P2W', '2026-12-01T09:00', LONDON, '2036-12-01', ['12-02T09:00']],
    // The local time stays for periods in days, the distance for periods in hours.
    ['P1D', '2026-03-28T09:00', LONDON, '2026-03-28', ['03-28T09:00', '03-29T08:00']],
    ['PT24H', '2026-03-28T09:00', LONDON, '2026-03-28', ['03-28T09:00', '03-29T09:00']],
    // The skipped hour: at the end of its gap. The repeated one: the first time.
    ['P1D', '2026-03-28T01:30', LONDON, '2026-03-29', ['03-29T01:00', '03-30T00:30']],
    ['P1D', '2026-10-24T01:30', LONDON, '2026-10-25', ['10-25T00:30', '10-26T01:30']],
    ['P1D', '2026-03-07T02:30', 'America/New_York', '2026-03-08', ['03-08T07:00', '03-09T06:30']],
    ['P1D', '2026-10-31T01:30', 'America/New_York', '2026-11-01', ['11-01T05:30', '11-02T06:30']],
    ['P1D', '2026-10-03T02:30', 'Australia/Sydney', '2026-10-03', ['10-03T16:00', '10-04T15:30']],
    ['P1D', '2026-09-05T00:00', 'America/Santiago', '2026-09-06', ['09-06T04:00', '09-07T03:00']],
    ['P1D', '2026-04-23T00:00', 'Africa/Cairo', '2026-04-23', ['04-23T22:00', '04-24T21:00']],
    ['P1D', '2024-02-28T23:30', 'Asia/Almaty', '2024-02-29', ['02-29T17:30', '03-01T18:30']],
    // The last day of a short month, and the 31st again afterwards.
    ['P1M', '2027-12-31T12:00', LONDON, '2028-02-01', ['02-29T12:00', '03-31T11:00']],
    ['P1Y', '2024-02-29T12:00', LONDON, '2027-01-01', ['02-28T12:00', '02-29T12:00']],
  ])('of %s from %s in %s comes after %s at its local time', (period, first, zone, from, utc) => {
    const of = every(period, `${first}:00[${zone}]`, { time_zone: zone });
    expect(times(of, `${from}T00:00:00Z`, utc.length).map((at) => at.slice(5))).toEqual(utc);
  });

  it('finds the same times one after the other and from any moment between them', () => {
    const periods = fc.constantFrom('P1D', 'P3D', 'P2W', 'P1M', 'P3M', 'P1Y', 'P1M3D', 'PT36H', 'PT90M');
    const zones = fc.constantFrom(
      'Europe/London',
      'America/New_York',
      'America/Santiago',
      'Australia/Lord_Howe',
    );
    const instants = fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2030, 0, 1) });
    fc.assert(
      fc.property(periods, zones, instants, fc.integer({ min: 0, max: 40 }), (period, zone, from, count) => {
        const periodic = { every: period, from: instant(from), zone };
        let at = instant(from - 1);
        for (let n = 0; n < count; n++) {
          const next = nextPeriod(periodic, at);
          expect(next).toBeGreaterThan(at);
          expect(nextPeriod(periodic, instant(Math.floor((at + next) / 2)))).toBe(next);
          expect(nextPeriod(periodic, instant(next - 1))).toBe(next);
          at = next;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('supports closed days, windows and occurrences like any other schedule', () => {
    const of = every('P1D', '2026-12-04T09:00:00[Europe/London]', { calendar: {} });
    const shown = occurrencesOf(of, { from: parseTime('2026-12-04T00:00:00Z'), count: 2 });
    expect(shown.map(({ at }) => isoOf(at).slice(0, 10))).toEqual(['2026-12-04', '2026-12-07']);
    expect(smallestGapMs(of, instant(0))).toBe(DAY_MS);
    const plan = {
      pair: 'btcusd',
      side: 'buy',
      each_quantity: { amount: '1', currency: 'btc' },
      schedule: { every: 'P2D', first: '2026-12-01T09:00:00Z' },
    };
    expect(recurring.bind(plan).check(aWorld())).toEqual([]);
    expect(recurring.bind({ ...plan, window: 'PT49H' }).check(aWorld())[0]?.message).toContain('PT172800S');
    const over = { ...plan, end_time: '2026-11-01T00:00:00Z' };
    expect(recurring.bind(over).check(aWorld())[0]?.path).toEqual(['schedule', 'first']);
  });
});

describe('a rolled time', () => {
  const holidays = [
    { centre: 'London', every_year: ['12-25', '12-26'] },
    { centre: 'New York', days: ['2026-12-24', '2026-12-28'], until: '2027-12-31' },
  ];

  it.each<readonly [string, string, object, readonly string[]]>([
    // Christmas 2026 is a Friday; Thursday is a holiday in New York, Monday too, and between them lies a weekend.
    ['none', '0 12 25 12 *', { holidays }, ['2026-12-25T12:00']],
    ['next', '0 12 25 12 *', { holidays }, ['2026-12-29T12:00']],
    ['previous', '0 12 25 12 *', { holidays }, ['2026-12-23T12:00']],
    ['next_in_month', '0 12 25 12 *', { holidays }, ['2026-12-29T12:00']],
    // The last of January 2027 is a Sunday.
    ['next', '0 12 L 1 *', { holidays }, ['2027-02-01T12:00']],
    ['previous', '0 12 L 1 *', { holidays }, ['2027-01-29T12:00']],
    ['next_in_month', '0 12 L 1 *', { holidays }, ['2027-01-29T12:00']],
    // Sunday the 28th of March 2027 begins summer time.
    ['next', '0 9 28 3 *', {}, ['2027-03-29T08:00']],
    ['previous', '0 9 28 3 *', {}, ['2027-03-26T09:00']],
    // A rolled time that meets another one runs only once.
    ['next', '0 9 * * *', {}, ['2026-12-04T09:00', '2026-12-07T09:00', '2026-12-08T09:00']],
  ])('with roll: %s of %s follows its rule', (roll, cron, calendar, expected) => {
    const of = schedule({ cron, roll, calendar });
    expect(times(of, '2026-12-04T00:00:00Z', expected.length)).toEqual(expected);
  });

  it('is found from any moment before it, even from between its original day and its rolled day', () => {
    const of = schedule({
      every: 'P1M',
      first: '2026-01-30T12:00:00Z',
      roll: 'next',
      calendar: { holidays },
    });
    // The 30th of May 2026 is a Saturday.
    for (const from of [
      '2026-05-29T13:00:00Z',
      '2026-05-30T13:00:00Z',
      '2026-05-31T23:00:00Z',
      '2026-06-01T10:59:59Z',
    ])
      expect(times(of, from, 1)).toEqual(['2026-06-01T11:00']);
    expect(times(of, '2026-06-01T11:00:00Z', 1)).toEqual(['2026-06-30T11:00']);
  });

  it('stays on its day if no business day is near, or if no list covers the holidays', () => {
    const long = Array.from({ length: 80 }, (_, n) =>
      isoOf(instant(Date.UTC(2026, 4, 1) + n * DAY_MS)).slice(0, 10),
    );
    const closed = schedule({
      cron: '0 12 10 6 *',
      roll: 'next',
      calendar: { weekend: [], holidays: [{ centre: 'X', days: long }] },
    });
    expect(times(closed, '2026-01-01T00:00:00Z', 1)).toEqual(['2026-06-10T11:00']);
    const unknown = schedule({
      cron: '0 12 15 1 *',
      roll: 'previous',
      calendar: { holidays: [{ centre: 'X', days: ['2026-12-31'] }] },
    });
    expect(times(unknown, '2026-12-01T00:00:00Z', 1)).toEqual(['2027-01-15T12:00']);
    expect(closureAt(unknown, parseTime('2027-01-15T12:00:00Z'))?.why).toContain(
      'known until 2026-12-31 only',
    );
  });

  it('never repeats or goes back, and is open where possible, as a plain walk over the days confirms', () => {
    const rolls = fc.constantFrom('next' as const, 'previous' as const, 'next_in_month' as const);
    const zones = fc.constantFrom(undefined, 'Asia/Tokyo', 'America/New_York');
    const days = fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 40 });
    const crons = fc.constantFrom('0 9 * * *', '0 23 * * *', '30 0 */2 * *', '0 12 15,28 * *', '0 1 * * 6');
    fc.assert(
      fc.property(rolls, zones, days, crons, (roll, time_zone, closed, cron) => {
        const dayOf = (n: number): string => isoOf(instant(Date.UTC(2026, 0, 1) + n * DAY_MS)).slice(0, 10);
        const holidays_ = [{ centre: 'X', time_zone, days: closed.map(dayOf), until: '2028-01-01' }];
        const plain = schedule({ cron });
        const of = schedule({ cron, roll, calendar: { holidays: holidays_ } });
        const isOpen = (at: Instant): boolean =>
          closureAt({ ...of, blackouts: [], quiet_hours: [] }, at) === undefined;
        const local = (at: Instant): Temporal.ZonedDateTime =>
          Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('Europe/London');
        const walk = (due: Instant, step: number): Instant | undefined => {
          for (let n = 1; n <= 31; n++) {
            const there = instant(local(due).add({ days: n * step }).epochMilliseconds);
            if (isOpen(there)) return there;
          }
          return undefined;
        };
        const goes = (due: Instant): Instant => {
          if (isOpen(due)) return due;
          const next = roll === 'previous' ? undefined : walk(due, 1);
          if (next !== undefined && (roll === 'next' || local(next).month === local(due).month)) return next;
          return (roll === 'next' ? undefined : walk(due, -1)) ?? due;
        };
        const [from, until] = [parseTime('2026-02-01T00:00:00Z'), parseTime('2026-06-01T00:00:00Z')];
        const expected = new Set<number>();
        for (
          let at = nextTime(plain, parseTime('2025-12-01T00:00:00Z'));
          at !== undefined;
          at = nextTime(plain, at)
        ) {
          if (at > parseTime('2026-08-01T00:00:00Z')) break;
          const to = goes(at);
          if (to > from && to < until) expected.add(to);
        }
        const found: number[] = [];
        for (let at = nextTime(of, from); at !== undefined && at < until; at = nextTime(of, at))
          found.push(at);
        expect(found.map((at) => isoOf(instant(at)))).toEqual(
          [...expected].toSorted((a, b) => a - b).map((at) => isoOf(instant(at))),
        );
      }),
      { numRuns: 30 },
    );
  });
});
