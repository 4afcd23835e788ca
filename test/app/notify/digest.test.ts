import { describe, expect, it } from 'vitest';
import { weekdays } from '../../../src/core/hours.ts';
import { after, instant, isoOf } from '../../../src/core/time.ts';
import { nextDigest } from '../../../src/app/notify/digest-times.ts';
import { readDay } from '../../../src/app/notify/read-day.ts';
import { sqliteJournal } from '../../../src/journal/sqlite/sqlite.ts';
import { join } from 'node:path';
import { NINE, aFill, aFolder, appendNow } from '../../journal/records.ts';

const all = new Set(weekdays);
const at = (text: string): ReturnType<typeof instant> => instant(Date.parse(text));

describe('the time of the next digest', () => {
  it.each([
    ['on the same day', '2026-12-01T09:00:00Z', { at: '18:00', timeZone: 'Europe/London', days: all }, '2026-12-01T18:00:00.000Z'],
    ['on the next day if it has passed', '2026-12-01T18:00:00Z', { at: '18:00', timeZone: 'Europe/London', days: all }, '2026-12-02T18:00:00.000Z'],
    ['in its time zone across a clock change', '2026-03-28T19:00:00Z', { at: '18:00', timeZone: 'Europe/London', days: all }, '2026-03-29T17:00:00.000Z'],
    ['on a configured weekday', '2026-12-01T09:00:00Z', { at: '18:00', timeZone: 'UTC', days: new Set(['fri'] as const) }, '2026-12-04T18:00:00.000Z'],
    ['after a local time that the clock change skips', '2026-03-29T00:30:00Z', { at: '01:30', timeZone: 'Europe/London', days: all }, '2026-03-29T01:30:00.000Z'],
  ])('is %s', (_, now, times, expected) => {
    expect(isoOf(nextDigest(times, at(now)))).toBe(expected);
  }); // prettier-ignore
});

describe('a day of a journal', () => {
  it('is read on another thread, while the journal is written', async () => {
    const file = join(aFolder(), 'journal.db');
    const journal = sqliteJournal(file);
    appendNow(journal, [aFill()]);
    const day = await readDay(`sqlite:${file}`, journal, { from: NINE, until: after(NINE, 1) });
    expect(day.traded).toMatchObject([{ fills: 1 }]);
    const empty = await readDay(`sqlite:${file}`, journal, { from: after(NINE, 1), until: after(NINE, 2) });
    expect(empty.traded).toEqual([]);
    journal.close();
    await expect(readDay('sqlite:/nowhere/journal.db', journal, { from: NINE, until: NINE })).rejects.toThrow('no journal'); // prettier-ignore
  });
});
