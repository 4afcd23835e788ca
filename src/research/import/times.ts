/** Times as text. All are UTC unless they name an offset. */

const ISO =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:[T D](\d{2}):?(\d{2})(?::?(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/u;
const TWELVE = / (0[1-9]|1[0-2])-([AP])M$/u;

/**
 * Returns the Unix ms of `2018-12-31`, `20180501 00:00`, `2018-12-31 23:00:00`, `2017-08-20T22:00:00.0000000Z`,
 * `2019-03-21 00:00:00+00:00` and `2018-12-31 11-PM`; `undefined` if the text is not a time, or finer than ms.
 */
export function textTime(cell: string): number | undefined {
  const text = cell.replace(TWELVE, (_, hour: string, half: string) => {
    const of24 = (Number(hour) % 12) + (half === 'P' ? 12 : 0);
    return ` ${String(of24).padStart(2, '0')}:00`;
  });
  const [, year, month = '', day = '', hour = '00', minute = '00', second = '00', part = '', zone = 'Z'] = ISO.exec(text) ?? []; // prettier-ignore
  if (year === undefined || /[1-9]/u.test(part.slice(3))) return undefined;
  const date = `${year}-${month}-${day}`;
  const time = `${date}T${hour}:${minute}:${second}.${part.slice(0, 3).padEnd(3, '0')}`;
  const utc = Date.parse(`${time}Z`);
  // Date.parse treats 31 April as 1 May, and 24:00 as the next day.
  if (Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(date)) return undefined;
  const at = zone.startsWith('+') || zone.startsWith('-') ? Date.parse(`${time}${zone.slice(0, 3)}:${zone.slice(-2)}`) : utc; // prettier-ignore
  return Number.isNaN(at) ? undefined : at;
}

/** Whether a text time names its zone. */
export const namesZone = (cell: string): boolean =>
  /(?:Z|UTC|[+-]\d{2}:?\d{2})$/u.test(cell) && cell.includes(':');
