import { describe, expect, it } from 'vitest';
import { HOUR_MS, instant, isoOf, MINUTE_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { closureAt, openUntil } from '../../src/strategy/calendar/calendar.ts';
import type { Hours } from '../../src/strategy/calendar/calendar.ts';
import { firstOpen, scheduleFields } from '../../src/strategy/calendar/schedule.ts';

/** Closures against an oracle that reads the clock of the zone at every minute around each change of that clock. */

const at = (text: string): Instant => instant(Temporal.Instant.from(text).epochMilliseconds);
const of = (more: Partial<Hours>): Hours => ({
  time_zone: 'Europe/London',
  blackouts: [],
  quiet_hours: [],
  ...more,
});
const untilOf = (hours: Hours, when: string): string | undefined => {
  const closure = closureAt(hours, at(when));
  return closure && isoOf(closure.until);
};

describe('quiet hours around a clock change', () => {
  // 2026-03-29: London goes from 00:59:59 to 02:00 at 01:00Z.
  it('end at the clock change if their end lies in the skipped hour', () => {
    const quiet = of({ quiet_hours: [{ from: '22:00', to: '01:30' }] });
    expect(untilOf(quiet, '2026-03-29T00:15:00Z')).toBe('2026-03-29T01:00:00.000Z');
    expect(untilOf(quiet, '2026-03-29T01:00:00Z')).toBeUndefined();
    const quarterly = scheduleFields.parse({ ...quiet, cron: '*/15 * * * *' });
    const [from, until] = [at('2026-03-29T00:50:00Z'), at('2026-03-29T06:00:00Z')];
    expect(firstOpen(quarterly, { from, until })?.at).toBe(at('2026-03-29T01:00:00Z'));
  });
});

/** A zone and a day near which its clock is set. Apia and Kwajalein leave out a day; Lord Howe moves by half an hour. */
const CHANGES: readonly (readonly [zone: string, about: string])[] = [
  ['Europe/London', '2026-03-29'],
  ['Europe/London', '2026-10-25'],
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['Europe/Dublin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['America/Havana', '2026-03-08'],
  ['America/Havana', '2026-11-01'],
  ['America/Santiago', '2026-04-05'],
  ['America/Santiago', '2026-09-06'],
  ['America/Sao_Paulo', '2018-11-04'],
  ['America/Sao_Paulo', '2019-02-17'],
  ['America/St_Johns', '2006-04-02'],
  ['America/St_Johns', '2006-10-29'],
  ['Africa/Casablanca', '2026-02-15'],
  ['Africa/Casablanca', '2026-03-22'],
  ['Africa/Cairo', '2026-04-24'],
  ['Africa/Cairo', '2026-10-30'],
  ['Antarctica/Troll', '2026-03-29'],
  ['Antarctica/Troll', '2026-10-25'],
  ['Asia/Beirut', '2026-03-29'],
  ['Asia/Beirut', '2026-10-25'],
  ['Asia/Tehran', '2021-03-22'],
  ['Asia/Tehran', '2021-09-22'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Pacific/Chatham', '2026-04-05'],
  ['Pacific/Chatham', '2026-09-27'],
  ['Pacific/Apia', '2011-12-30'],
  ['Pacific/Kwajalein', '1993-08-21'],
  ['Asia/Kolkata', '2026-10-25'],
  ['UTC', '2026-10-25'],
];

const SPAN_MS = 40 * HOUR_MS;

/** The readings of a zone's clock at each minute around the change. */
interface Readings {
  readonly from: number;
  /** Such as `2026-10-25T01:30`. */
  readonly shown: readonly string[];
  /** Minute of the change. */
  readonly change: number;
}

function readingsOf(zone: string, about: string): Readings {
  const noon = Temporal.PlainDate.from(about).toZonedDateTime({ timeZone: 'UTC', plainTime: '12:00' });
  const before = noon.subtract({ days: 2 }).withTimeZone(zone);
  const next = before.getTimeZoneTransition('next')?.epochMilliseconds ?? noon.epochMilliseconds;
  const isNear = Math.abs(next - noon.epochMilliseconds) < 2 * SPAN_MS;
  const middle = isNear ? next : noon.epochMilliseconds;
  const from = middle - SPAN_MS;
  const shown = Array.from({ length: (2 * SPAN_MS) / MINUTE_MS }, (_, minute) =>
    readClock(zone, from + minute * MINUTE_MS),
  );
  return { from, shown, change: SPAN_MS / MINUTE_MS };
}

const readClock = (zone: string, ms: number): string =>
  Temporal.Instant.fromEpochMilliseconds(ms)
    .toZonedDateTimeISO(zone)
    .toPlainDateTime()
    .toString()
    .slice(0, 16);

/** A time of the day so many minutes after (or before) the one that is shown at the change. */
function near({ shown, change }: Readings, minutes: number): string {
  const clock = shown[change]?.slice(11) ?? '00:00';
  return Temporal.PlainTime.from(clock).add({ minutes }).toString().slice(0, 5);
}
const day = ({ shown, change }: Readings, minutes: number): string =>
  shown[change + minutes]?.slice(0, 10) ?? '';

/** Quiet hours, cut-offs and calendars whose edges lie before, in and after what the change repeats or skips. */
function combinations(zone: string, readings: Readings): readonly Hours[] {
  const made = (more: Partial<Hours>): Hours => of({ time_zone: zone, ...more });
  const clock = (minutes: number): string => near(readings, minutes);
  const holiday = (date: string, more: object = {}) => ({
    weekend: [],
    holidays: [{ centre: 'here', every_year: [], days: [date], until: '2030-12-31', ...more }],
  });
  const edges = [
    [-180, 30],
    [-30, 30],
    [-90, -30],
    [-15, 240],
    [15, 45],
    [-60, 0],
    [0, 60],
    [600, 20],
    [45, -45],
  ] as const;
  return [
    ...edges.map(([from, to]) => made({ quiet_hours: [{ from: clock(from), to: clock(to) }] })),
    made({
      quiet_hours: [
        { from: clock(-50), to: clock(-20) },
        { from: clock(10), to: clock(25) },
        { from: clock(25), to: clock(400) },
      ],
      cut_off: clock(-5),
    }),
    made({ cut_off: clock(-40) }),
    made({ cut_off: '23:30', quiet_hours: [{ from: '00:00', to: clock(20) }] }),
    made({ calendar: { weekend: ['saturday', 'sunday'], holidays: [] }, cut_off: '22:15' }),
    made({ calendar: holiday(day(readings, -1)) }),
    made({ calendar: holiday(day(readings, 0)), quiet_hours: [{ from: '23:00', to: clock(35) }] }),
    made({ calendar: holiday(day(readings, 0), { time_zone: 'America/New_York' }), cut_off: clock(70) }),
  ];
}

/** Whether trading is closed while the clock of the zone shows `shown` and the clock of the holidays shows `there`. */
function isClosed(hours: Hours, shown: string, there: string): boolean {
  const [date, clock] = [shown.slice(0, 10), shown.slice(11)];
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay();
  const { calendar, cut_off: cutOff = '99' } = hours;
  if (calendar !== undefined) {
    if (calendar.weekend.length > 0 && (weekday === 0 || weekday === 6)) return true;
    for (const list of calendar.holidays) {
      if (typeof list !== 'string' && list.days.includes(there.slice(0, 10))) return true;
    }
  }
  if (clock >= cutOff) return true;
  return hours.quiet_hours.some(({ from, to }) =>
    from < to ? clock >= from && clock < to : clock >= from || clock < to,
  );
}

function centreZone({ calendar, time_zone: zone }: Hours): string {
  const [list] = calendar?.holidays ?? [];
  return typeof list === 'object' ? (list.time_zone ?? zone) : zone;
}

/** Whether a minute is checked: those next to each edge of a closure, many near the clock change, and some others. */
const isLooked = (closed: readonly boolean[], minute: number, change: number): boolean =>
  closed[minute - 1] !== closed[minute] ||
  closed[minute + 1] !== closed[minute] ||
  minute % 97 === 0 ||
  (Math.abs(minute - change) <= 150 && minute % 13 === 0);

function faultsOf(hours: Hours, readings: Readings): readonly string[] {
  const { from, shown, change } = readings;
  const zone = centreZone(hours);
  const closed = shown.map((text, minute) =>
    isClosed(hours, text, zone === hours.time_zone ? text : readClock(zone, from + minute * MINUTE_MS)),
  );
  const faults: string[] = [];
  const when = (minute: number): Instant => instant(from + minute * MINUTE_MS);
  const tell = (minute: number, what: string): void => {
    faults.push(`${isoOf(when(minute))} shows ${shown[minute] ?? ''}: ${what}`);
  };
  const nextOf = (minute: number, is: boolean): number => closed.indexOf(is, minute);
  for (let minute = 0; minute < shown.length; minute++) {
    if (!isLooked(closed, minute, change)) continue;
    const isShut = closed[minute] === true;
    if ((closureAt(hours, when(minute)) !== undefined) !== isShut) {
      tell(minute, isShut ? 'is open, and should be closed' : 'is closed, and should be open');
      continue;
    }
    const next = nextOf(minute, !isShut);
    if (next === -1) continue;
    if (isShut) {
      let until = when(minute);
      let looks = 0;
      for (; until < when(next) && looks < LOOKS_MAX; looks++)
        until = closureAt(hours, until)?.until ?? until;
      if (until !== when(next)) tell(minute, `opens ${isoOf(when(next))}, told ${isoOf(until)}`);
    } else {
      const told = openUntil(hours, when(minute), when(shown.length));
      if (told !== when(next)) tell(minute, `closes ${isoOf(when(next))}, told ${isoOf(told)}`);
    }
  }
  return faults;
}
/** Closures that follow one another without a gap: days of a weekend, quiet hours after them, and their parts. */
const LOOKS_MAX = 12;

describe('a closure', () => {
  it('holds and ends as a minute-by-minute oracle states, in over 500 combinations of zones and rules', () => {
    const found: string[] = [];
    let combined = 0;
    for (const [zone, about] of CHANGES) {
      const readings = readingsOf(zone, about);
      for (const hours of combinations(zone, readings)) {
        combined++;
        const [fault] = faultsOf(hours, readings);
        if (fault !== undefined) found.push(`${JSON.stringify(hours)}: ${fault}`);
      }
    }
    expect(found).toEqual([]);
    expect(combined).toBeGreaterThan(500);
  });
});
