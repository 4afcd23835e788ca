/** Times as text. All are UTC unless they name an offset. */

const ISO =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:[T D](\d{2}):?(\d{2})(?::?(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/u;
const TWELVE = /^(\d{4})-(\d{2})-(\d{2}) (\d{2})-([AP])M$/u;

/**
 * Returns the Unix ms of `2018-12-31`, `20180501 00:00`, `2018-12-31 23:00:00`, `2017-08-20T22:00:00.0000000Z`,
 * `2019-03-21 00:00:00+00:00` and `2018-12-31 11-PM`; `undefined` if the text is not a time, or finer than ms.
 */
export function textTime(cell: string): number | undefined {
  const twelve = TWELVE.exec(cell);
  if (twelve !== null) {
    const [, year, month, day, hour, half] = twelve;
    const of12 = Number(hour);
    if (of12 < 1 || of12 > 12) return undefined;
    return utc(year, month, day, (of12 % 12) + (half === 'P' ? 12 : 0));
  }
  const iso = ISO.exec(cell);
  if (iso === null) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', part = '', zone = 'Z'] = iso;
  // `utc` rejects an hour of 24 or more, which would be another day.
  if (Number(minute) > 59 || Number(second) > 59) return undefined;
  const midnight = utc(year, month, day, Number(hour));
  if (midnight === undefined || /[1-9]/u.test(part.slice(3))) return undefined;
  const ms = Number(part.slice(0, 3).padEnd(3, '0'));
  return midnight + (Number(minute) * 60 + Number(second)) * 1000 + ms - offsetMs(zone);
}

function offsetMs(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/u.exec(zone) ?? [];
  return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

function utc(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  hour: number,
): number | undefined {
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day), hour);
  // Date.UTC treats 31 April as 1 May.
  return new Date(at).getUTCDate() === Number(day) && new Date(at).getUTCMonth() === Number(month) - 1
    ? at
    : undefined;
}

/** Whether a text time names its zone. */
export const namesZone = (cell: string): boolean =>
  /(?:Z|UTC|[+-]\d{2}:?\d{2})$/u.test(cell) && cell.includes(':');

const SHORT = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{2}|\d{4})$/u;

/** Returns the Unix ms of a date as spreadsheets write it, `06-12-21`, and a time of day, `23:00:00`. */
export function shortTime(date: string, time: string, day: 'first' | 'second'): number | undefined {
  const [, a, b, year = ''] = SHORT.exec(date) ?? [];
  const [, hour, minute, second = '0'] = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/u.exec(time) ?? [];
  if (a === undefined || b === undefined || hour === undefined || Number(hour) > 23) return undefined;
  const [inMonth, month] = day === 'first' ? [a, b] : [b, a];
  const midnight = utc(year.length === 2 ? `20${year}` : year, month, inMonth, Number(hour));
  return midnight === undefined ? undefined : midnight + (Number(minute) * 60 + Number(second)) * 1000;
}
