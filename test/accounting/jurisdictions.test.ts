import { describe, expect, it } from 'vitest';
import { isLongTerm } from '../../src/accounting/jurisdictions.ts';
import { ZonedDays, dateText } from '../../src/accounting/zoned-days.ts';
import { DAY_MS, instant } from '../../src/core/time.ts';

const dayOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) / DAY_MS;

describe('a holding period of one year', () => {
  it.each([
    ['2025-03-10', '2025-12-31', false],
    ['2025-03-10', '2026-03-10', false], // the anniversary: a year, and not more
    ['2025-03-10', '2026-03-11', true],
    ['2024-02-29', '2025-02-28', false],
    ['2024-02-29', '2025-03-01', true],
    ['2023-02-28', '2024-02-28', false],
    ['2023-02-28', '2024-02-29', true],
  ])('makes units acquired on %s and disposed of on %s long-term: %s', (acquired, disposed, isLong) => {
    expect(isLongTerm(dayOf(acquired), dayOf(disposed), 1)).toBe(isLong);
  });
});

describe('days of a time zone', () => {
  it.each([
    ['Europe/London', '2026-03-29T00:59:59.999Z', '2026-03-29', '2026-03-29T23:00:00.000Z'], // 23 hours
    ['Europe/London', '2026-03-28T23:59:59.999Z', '2026-03-28', '2026-03-29T00:00:00.000Z'],
    ['Europe/London', '2026-10-25T23:30:00.000Z', '2026-10-25', '2026-10-26T00:00:00.000Z'], // 25 hours
    ['Europe/London', '2026-07-01T23:00:00.000Z', '2026-07-02', '2026-07-02T23:00:00.000Z'],
    ['Asia/Kolkata', '2026-01-01T18:30:00.000Z', '2026-01-02', '2026-01-02T18:30:00.000Z'],
    ['UTC', '2026-01-01T18:30:00.000Z', '2026-01-01', '2026-01-02T00:00:00.000Z'],
  ])('in %s assign %s to %s, which ends at %s', (zone, time, date, end) => {
    const days = new ZonedDays(zone);
    const day = days.dayOf(instant(Date.parse(time)));
    expect([dateText(day), new Date(days.endOf(day)).toISOString()]).toEqual([date, end]);
    // Another offset is in use by then.
    expect(days.dayOf(instant(days.endOf(day) - 1))).toBe(day);
    expect(days.dayOf(days.endOf(day))).toBe(day + 1);
  });
});
