/** With thousands separators: `1,234,567.50`, as on the command line. */
export function grouped(amount: string | number | undefined): string {
  if (amount === undefined || amount === '') return '–';
  const text = String(amount);
  const match = /^(?<sign>-?)(?<whole>\d+)(?<rest>(?:\.\d+)?)$/u.exec(text);
  if (match?.groups === undefined) return text;
  const { sign = '', whole = '', rest = '' } = match.groups;
  return `${sign === '-' ? '−' : ''}${whole.replaceAll(/\B(?=(?:\d{3})+$)/gu, ',')}${rest}`;
}

/** The only time zone on the screen, named in the header. */
export const ZONE = 'UTC';

const parsed = (time: string | number | undefined): Date | undefined => {
  if (time === undefined) return undefined;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date;
};

/** `09:15:03`. */
export const clockTime = (time: string | number | undefined): string =>
  parsed(time)?.toISOString().slice(11, 19) ?? '–';

/** `09:15:03.250`. */
export const exactTime = (time: string | number | undefined): string =>
  parsed(time)?.toISOString().slice(11, 23) ?? '–';

/** `2026-12-01 09:15:03`. */
export const dateTime = (time: string | number | undefined): string =>
  parsed(time)?.toISOString().slice(0, 19).replace('T', ' ') ?? '–';

/** The time of day, with the date if it is not today. */
export function shortTime(time: string | number | undefined, today: number): string {
  const date = parsed(time);
  if (date === undefined) return '–';
  const isToday = date.toISOString().slice(0, 10) === new Date(today).toISOString().slice(0, 10);
  return isToday ? clockTime(time) : dateTime(time);
}

/** `3 s`, `2 min`, `1 h 05 min`, `4 d`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 100) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 100) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} d`;
}

/** `in 4 min` or `2 min ago`. */
export function relative(time: string | undefined, at: number): string {
  const date = parsed(time);
  if (date === undefined) return '';
  const seconds = (date.getTime() - at) / 1_000;
  return seconds >= 0 ? `in ${duration(seconds)}` : `${duration(-seconds)} ago`;
}

/** `max_order_notional` as `max order notional`. */
export const words = (code: string | undefined): string => (code ?? '').replaceAll('_', ' ');

/** `1 slice`, `2 slices`. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${grouped(number)} ${number === 1 ? one : many}`;

/** Formats a value of unknown shape for people. */
export function plain(value: unknown): string {
  if (value === undefined || value === null) return '–';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return grouped(value);
  return JSON.stringify(value);
}
