import { baseVolume, pairOf, placesOf, plainSymbol, planOf, QUOTED, symbolIn, unitOf } from './plan.ts';
import type { Detect, Hints, ReadPlan, Sample } from './plan.ts';
import { namesZone, shortTime, textTime } from './times.ts';

/**
 * Detects files of CryptoDataDownload: a line about the publisher, a header, newest first; volumes of base and quote in either
 * order. If a spreadsheet damaged the unix column (`1.63875E+12`), times come from date and time instead, and are
 * compared with its remaining digits.
 */
export const detectCryptoDataDownload: Detect = (sample, hints) => {
  const hasBanner = /cryptodatadownload/iu.test(sample.rows[0]?.join(',') ?? '');
  const skip = hasBanner ? 2 : 1;
  const header = sample.rows[skip - 1] ?? [];
  const places = placesOf(header);
  const has = (...names: readonly string[]): boolean => names.every((name) => places.has(name));
  const missing = ['date', 'symbol', 'open', 'high', 'low', 'close'].find((name) => !has(name));
  if (missing !== undefined)
    return hasBanner
      ? {
          refused: `its header, line 2, names no ${missing}: "${header.join(sample.delimiter).slice(0, 80)}"`,
        }
      : undefined;
  const data = sample.rows.slice(skip);
  const found = timeOf(data, places, hints.unit);
  if ('refused' in found) return found;
  const symbol = data[0]?.[places.get('symbol') ?? 0] ?? '';
  const { place: volume, isQuoted } = baseVolume(places, plainSymbol(symbol));
  const cell = (name: string): number => places.get(name) ?? 0;
  return planOf(sample, {
    format: 'cryptodatadownload',
    of: 'bars',
    skip,
    width: header.length,
    roles: {
      ...found.roles,
      open: cell('open'),
      high: cell('high'),
      low: cell('low'),
      close: cell('close'),
      ...(volume === undefined ? {} : { volume }),
      ...symbolIn(places),
    },
    time: found.time,
    pair: pairOf(symbol),
    notes: [...found.notes, ...(isQuoted === true ? [QUOTED] : [])],
  });
};

type Found = Pick<ReadPlan, 'roles' | 'time' | 'notes'> | { readonly refused: string };

function timeOf(data: Sample['rows'], places: ReadonlyMap<string, number>, unit: Hints['unit']): Found {
  const [atDate = 0, atUnix, atTime] = ['date', 'unix', 'time'].map((name) => places.get(name));
  const unix = atUnix === undefined ? undefined : data[0]?.[atUnix];
  if (atUnix !== undefined && unix !== undefined && unitOf(unix) !== undefined)
    // Some of these files change from seconds to milliseconds, so the digits of each row determine its unit.
    return { roles: { time: atUnix }, time: { as: 'unix', unit: unit ?? 'mixed' }, notes: [] };
  const date = data[0]?.[atDate] ?? '';
  if (unix === undefined && textTime(date) !== undefined) {
    const notes = namesZone(date) ? [] : ['its times have no zone: read as UTC'];
    return { roles: { time: atDate }, time: { as: 'text', read: textTime }, notes };
  }
  const said =
    unix === undefined ? `its dates read "${date}"` : `a spreadsheet changed its unix column to ${unix}`;
  const days = (['first', 'second'] as const).filter((day) =>
    fitsAll(data, (row) =>
      fits(shortTime(row[atDate] ?? '', row[atTime ?? -1] ?? '', day), row[atUnix ?? -1]),
    ),
  );
  const [day] = days;
  if (day === undefined || days.length > 1 || atTime === undefined)
    return {
      refused: `it went through a spreadsheet (${said}), and its date and time columns are ambiguous: use the file as published`,
    };
  return {
    roles: { time: atDate, moreTime: atTime },
    time: { as: 'text', read: (cell, more) => shortTime(cell, more, day) },
    notes: [
      `it went through a spreadsheet (${said}): times come from its date and time columns, ${day === 'first' ? 'day' : 'month'} first, as UTC; they match the rest of its unix column`,
    ],
  };
}

/** Whether the rows fit, except for at most one in a hundred, which may be damaged and which the reader then names. */
function fitsAll(rows: Sample['rows'], fit: (row: readonly string[]) => boolean): boolean {
  const [first] = rows;
  const misfits = rows.filter((row) => !fit(row)).length;
  return first !== undefined && fit(first) && misfits <= Math.max(1, rows.length / 100);
}

/**
 * Whether a spreadsheet could have rounded this time to `1.63875E+12`, which means that it differs by at most half of
 * the last remaining digit.
 */
function fits(at: number | undefined, unix: string | undefined): boolean {
  if (at === undefined || unix === undefined) return at !== undefined;
  const [, part = '', exponent] = /^\d(?:[.,](\d+))?[eE]\+?(\d+)$/u.exec(unix) ?? [];
  if (exponent === undefined) return false;
  const unit = Number(exponent) < 11 ? 1_000 : 1;
  const half = 0.5 * 10 ** (Number(exponent) - part.length) * unit;
  return Math.abs(at - Number(unix.replace(',', '.')) * unit) <= half;
}
