import { describe, expect, it } from 'vitest';
import { instant, isoOf, parseTime } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { isBlackedOut, nextTime, scheduleFields } from '../../src/strategy/schedule.ts';
import type { Schedule } from '../../src/strategy/schedule.ts';

const schedule = (over: object = {}): Schedule => scheduleFields.parse({ cron: '0 9 * * *', ...over });
/** The next `count` times after `from`, in UTC. */
function times(of: Schedule, from: string, count: number): readonly string[] {
  const found: string[] = [];
  let at: Instant | undefined = parseTime(from);
  while (found.length < count) {
    at = nextTime(of, at);
    if (at === undefined) break;
    found.push(isoOf(at));
  }
  return found;
}

describe('a schedule', () => {
  it('is in UTC unless it names a zone', () => {
    expect(times(schedule(), '2026-07-01T00:00:00Z', 1)).toEqual(['2026-07-01T09:00:00.000Z']);
    expect(times(schedule({ time_zone: 'Asia/Tokyo' }), '2026-07-01T00:00:00Z', 1)).toEqual([
      '2026-07-02T00:00:00.000Z',
    ]);
  });

  it('gives the first time strictly after: a time is never its own successor', () => {
    const at = parseTime('2026-07-01T09:00:00Z');
    expect(nextTime(schedule(), at)).toBe(parseTime('2026-07-02T09:00:00Z'));
    expect(nextTime(schedule(), instant(at - 1))).toBe(at);
  });

  it('knows weekdays and seconds', () => {
    // Friday the third.
    expect(times(schedule({ cron: '0 9 * * 1-5' }), '2026-07-03T10:00:00Z', 1)).toEqual([
      '2026-07-06T09:00:00.000Z',
    ]);
    expect(times(schedule({ cron: '*/20 * * * * *' }), '2026-07-03T10:00:00Z', 2)).toEqual([
      '2026-07-03T10:00:20.000Z',
      '2026-07-03T10:00:40.000Z',
    ]);
  });

  // Zone; the day of the change and the hour that it skips or repeats; what a daily schedule in that hour gives.
  it.each([
    [
      'Europe/London',
      '30 1 * * *',
      '2026-03-28T00:00:00Z',
      ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    [
      'Europe/Berlin',
      '30 2 * * *',
      '2026-03-28T00:00:00Z',
      ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    [
      'America/New_York',
      '30 2 * * *',
      '2026-03-07T00:00:00Z',
      ['2026-03-07T07:30', '2026-03-08T07:00', '2026-03-09T06:30'],
    ],
    ['Australia/Sydney', '30 2 * * *', '2026-10-02T20:00:00Z', ['2026-10-03T16:00', '2026-10-04T15:30']],
    ['America/Santiago', '30 0 * * *', '2026-09-05T12:00:00Z', ['2026-09-06T04:00', '2026-09-07T03:30']],
  ])(
    'in %s at %s runs once, right after the gap, on the day that skips its hour',
    (time_zone, cron, from, utc) => {
      const found = times(schedule({ cron, time_zone }), from, utc.length);
      expect(found.map((at) => at.slice(0, 16))).toEqual(utc);
    },
  );

  it.each([
    ['Europe/London', '30 1 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
    ['America/New_York', '30 1 * * *', '2026-10-31T12:00:00Z', ['2026-11-01T05:30', '2026-11-02T06:30']],
    ['Australia/Sydney', '30 2 * * *', '2026-04-03T20:00:00Z', ['2026-04-04T15:30', '2026-04-05T16:30']],
    ['America/Santiago', '30 23 * * *', '2026-04-04T12:00:00Z', ['2026-04-05T02:30', '2026-04-06T03:30']],
  ])(
    'in %s at %s runs once, the first time, on the day that repeats its hour',
    (time_zone, cron, from, utc) => {
      const found = times(schedule({ cron, time_zone }), from, utc.length);
      expect(found.map((at) => at.slice(0, 16))).toEqual(utc);
    },
  );

  it('runs every hour that there is through both changes', () => {
    const hourly = schedule({ cron: '0 * * * *', time_zone: 'Europe/London' });
    for (const from of ['2026-03-28T22:00:00Z', '2026-10-24T22:00:00Z']) {
      const found = times(hourly, from, 6).map((at) => parseTime(at));
      expect(found.every((at, n) => n === 0 || at > (found[n - 1] ?? 0))).toBe(true);
    }
  });
});

describe('a blackout', () => {
  it('holds from its first moment to the moment before its last', () => {
    const of = schedule({
      blackouts: [
        { from: '2026-12-24T00:00:00[Europe/London]', to: '2026-12-27T00:00:00[Europe/London]' },
        { from: '2026-07-01T00:00:00[Asia/Tokyo]', to: '2026-07-02T00:00:00[Asia/Tokyo]' },
      ],
    });
    const blackedOut = (at: string): boolean => isBlackedOut(of, parseTime(at));
    expect(blackedOut('2026-12-24T00:00:00Z')).toBe(true);
    expect(blackedOut('2026-12-26T23:59:59.999Z')).toBe(true);
    expect(blackedOut('2026-12-23T23:59:59.999Z')).toBe(false);
    expect(blackedOut('2026-12-27T00:00:00Z')).toBe(false);
    expect(blackedOut('2026-06-30T15:00:00Z')).toBe(true);
    expect(isBlackedOut(schedule(), parseTime('2026-12-25T00:00:00Z'))).toBe(false);
  });
});

describe('the shape of a schedule', () => {
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
    [{ every: 'P1D' }, ''],
  ])('refuses %j', (over, path) => {
    const result = scheduleFields.safeParse({ cron: '0 9 * * *', ...over });
    expect(result.error?.issues.map((one) => one.path.join('.'))).toContain(path);
  });
});
