import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkZone,
  durationText,
  instant,
  isoOf,
  parseDuration,
  parseIso,
  parseTime,
} from '../../src/core/time.ts';

describe('an ISO time', () => {
  it('is read back from its text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (ms) => {
        expect(parseIso(isoOf(instant(ms)))).toBe(ms);
      }),
    );
  });

  it('is written like Date.toISOString writes it, at any time', () => {
    const times = fc.oneof(
      fc.integer({ min: 0, max: 4_102_444_800_000 }),
      fc.integer({ min: -8.64e15, max: 8.64e15 }),
      fc.double({ min: 0, max: 253_402_300_900_000, noNaN: true }),
      fc.constantFrom(0, -1, 86_399_999.9, 253_402_300_799_999.9, 253_402_300_800_000),
    );
    fc.assert(
      fc.property(times, (ms) => {
        expect(isoOf(instant(ms))).toBe(new Date(ms).toISOString());
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.678+01:00', '2026-01-02T02:04:05.678Z'],
    ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123Z'],
  ])('%s is read as %s', (text, iso) => {
    const at = parseIso(text);
    expect(at === undefined ? at : isoOf(at)).toBe(iso);
  });

  it.each([
    '2026-01-02T03:04:05',
    '2026-01-02',
    'yesterday',
    '',
    '2026-13-02T03:04:05Z',
    '1700000000000',
    '05-06-2027',
    '05/06/2027 09:00Z',
    '01-12-2026',
    'June-2027',
    '2027-02-29T09:00:00Z',
    '2027-04-31T09:00:00+02:00',
    '2027-04-30T24:00:00Z',
    '2027-1-05T09:00Z',
  ])('is not read from %j', (text) => {
    expect(parseIso(text)).toBeUndefined();
  });
});

describe('a time written by a person', () => {
  it.each([
    ['2026-12-01T09:00:00[Europe/London]', '2026-12-01T09:00:00.000Z'],
    ['2026-07-01T09:00:00[Europe/London]', '2026-07-01T08:00:00.000Z'],
    ['2026-07-01T09:00:00[Asia/Kolkata]', '2026-07-01T03:30:00.000Z'],
    ['2026-07-01T09:00:00[America/New_York]', '2026-07-01T13:00:00.000Z'],
    ['2026-07-01T09:00:00-04:00[America/New_York]', '2026-07-01T13:00:00.000Z'],
    ['2026-07-01T09:00:00+02:00', '2026-07-01T07:00:00.000Z'],
    // Both sides of the gap and of the overlap are one moment each.
    ['2026-03-29T00:59:59[Europe/London]', '2026-03-29T00:59:59.000Z'],
    ['2026-03-29T02:00:00[Europe/London]', '2026-03-29T01:00:00.000Z'],
    ['2026-10-25T02:00:00[Europe/London]', '2026-10-25T02:00:00.000Z'],
  ])('%s is converted to %s', (text, iso) => {
    expect(isoOf(parseTime(text))).toBe(iso);
  });

  it.each([
    ['is skipped by a clock change', '2026-03-29T01:30:00[Europe/London]', /skips or repeats/u],
    [
      'is skipped by a clock change of half an hour',
      '2026-10-04T02:15:00[Australia/Lord_Howe]',
      /skips or repeats/u,
    ],
    ['occurs twice', '2026-10-25T01:30:00[Europe/London]', /skips or repeats/u],
    [
      'has an offset that its zone does not have at that time',
      '2026-07-01T09:00:00+00:00[Europe/London]',
      /Europe\/London does not have that offset at that time; omit the offset/u,
    ],
    [
      'has such an offset in whole hours',
      '2026-07-01T09:00:00+00[Europe/London]',
      /Europe\/London does not have that offset at that time/u,
    ],
    [
      'is on a day that does not exist',
      '2026-02-30T09:00:00[Europe/London]',
      /the date is wrong, or a clock change/u,
    ],
    ['names no zone', '2026-07-01T09:00:00', /with its zone/u],
    ['names a zone that does not exist', '2026-07-01T09:00:00[Europe/Londn]', /not a time zone/u],
    ['is not a date', '2026-02-30T09:00:00[Europe/London]', /the date is wrong/u],
    ['is not a time', 'noon', /with its zone/u],
  ])('is refused if it %s', (_, text, why) => {
    expect(() => parseTime(text)).toThrow(why);
  });

  it('may be in any zone of the database', () => {
    for (const zone of ['UTC', 'Europe/London', 'America/Argentina/Buenos_Aires'])
      expect(() => checkZone(zone)).not.toThrow();
    for (const zone of ['', 'London', 'UTC+25']) expect(() => checkZone(zone)).toThrow(RangeError);
  });
});

describe('a duration', () => {
  it.each([
    ['PT4H', 14_400_000],
    ['P1DT12H', 129_600_000],
    ['PT0.5S', 500],
    ['P1W', 604_800_000],
    ['PT90M', 5_400_000],
    ['PT1.0005S', 1_001],
    ['PT1.0004S', 1_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['P1M', 'P1Y', 'PT0S', 'PT0.0004S', '-PT1S', '4h', '', '3600', 'PT', 'P1DT'])(
    'is refused as invalid if it is %j',
    (text) => {
      expect(() => parseDuration(text)).toThrow(/ISO 8601 duration/u);
    },
  );

  it.each([
    ['4h', 'PT4H'],
    ['30 minutes', 'PT30M'],
    ['1h30m', 'PT1H30M'],
    ['1d 12h', 'P1DT12H'],
    ['2 weeks', 'P2W'],
    ['1.5h', 'PT1.5H'],
    ['P5M', 'PT5M'],
    ['4H', 'PT4H'],
  ])('written as %j is refused with the suggestion %s', (text, meant) => {
    expect(() => parseDuration(text)).toThrow(`did you mean "${meant}"?`);
  });

  it.each(['', 'PT', '3600', '4 parsecs', '1.5d', 'P1Y', '0h', '1m 2h'])(
    'is refused without a suggestion if it is %j',
    (text) => {
      expect(() => parseDuration(text)).toThrow(/got "[^"]*"$/u);
    },
  );

  it('survives a round trip through text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 11 }), (ms) => {
        expect(parseDuration(durationText(ms))).toBe(ms);
      }),
    );
    expect(durationText(14_400_000)).toBe('PT4H');
  });
});
