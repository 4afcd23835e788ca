/** Facts about a file that an importer knows before it reads the rows. */

/** Raise this version whenever the same bytes would produce another tape. Tapes cached by older readers are then rebuilt. */
export const READER_VERSION = 4;

export const formats = ['tranche', 'binance', 'coinapi', 'cryptodatadownload', 'tardis', 'bitmex', 'lean', 'bitstamp', 'kraken', 'bitfinex', 'freqtrade', 'coinbase', 'bitcoincharts', 'named'] as const; // prettier-ignore
/** Layouts by the name of their publisher; `named` is any table whose header names time, open, high, low and close. */
export type Format = (typeof formats)[number];

export const units = ['s', 'ms', 'us', 'ns'] as const;
export type TimeUnit = (typeof units)[number];

export const PRICES = ['open', 'high', 'low', 'close'] as const;
/** Roles of cells. Cells without a role are skipped. The prices of a two-sided quote are those of the bid. */
export type Role = 'time' | (typeof PRICES)[number] | `ask ${(typeof PRICES)[number]}` | 'volume' | 'symbol';

/** Format of the time of a row. */
export type TimeCell =
  | { readonly as: 'unix'; readonly unit: TimeUnit | 'mixed' }
  | { readonly as: 'text' }
  /** Milliseconds since midnight UTC of a day. */
  | { readonly as: 'ofDay'; readonly dayMs: number };

/** How to read the rows of a file. */
export interface ReadPlan {
  readonly format: Format;
  readonly of: 'bars' | 'trades';
  /** Number of rows before the data. */
  readonly skip: number;
  readonly delimiter: ',' | ';' | '\t';
  /** Number of cells of each row. */
  readonly width: number;
  /** Trades have a `close` (the price) and a `volume` only. Bars with an ask are the mid of both sides. */
  readonly roles: Readonly<Partial<Record<Role, number>>>;
  readonly time: TimeCell;
  /** Earliest plausible time, ms. An earlier Unix time must have another unit than the first. */
  readonly timeMin: number;
  /** Length of a bar if the file states it, ms. */
  readonly barMs: number | undefined;
  /** The pair, if the file names it: `btcusd`. */
  readonly pair: string | undefined;
  /** Whether rows without prices (empty or NaN) mean that nothing traded. */
  readonly mayBeEmpty: boolean;
  /** Divisor of prices: 10000 if they are written in ten-thousandths. */
  readonly priceScale: number;
  /** Statements for the report. */
  readonly notes: readonly string[];
}

/** The first rows and the names of a file, which identify its layout. */
export interface Sample {
  /** Cells of the first rows, as written, without quotes. */
  readonly rows: readonly (readonly string[])[];
  readonly delimiter: ReadPlan['delimiter'];
  /** Name of the file, or of the entry of a zip, without folders. */
  readonly name: string;
}

/** The operator's statements about the file, which override the detection. */
export interface Hints {
  readonly format?: Format | undefined;
  readonly unit?: TimeUnit | undefined;
  readonly barMs?: number | undefined;
  readonly pair?: string | undefined;
  readonly priceScale?: number | undefined;
}

const DIGITS: Readonly<Record<number, TimeUnit>> = { 9: 's', 10: 's', 12: 'ms', 13: 'ms', 15: 'us', 16: 'us', 18: 'ns', 19: 'ns' }; // prettier-ignore

/** `2021010100` and `202101010000`: a calendar hour and a calendar minute. As Unix times, they would be in 2034 and 1976. */
const CALENDAR = /^20\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])(?:[0-5]\d)?$/u;

/** Returns the unit of a Unix time of the years 1973 to 2286 by its digits. `undefined`: not a Unix time. */
export function unitOf(cell = ''): TimeUnit | undefined {
  const whole = /^(\d{9,19})(?:\.\d+)?$/u.exec(cell)?.[1];
  return whole === undefined || whole.startsWith('0') || CALENDAR.test(whole)
    ? undefined
    : DIGITS[whole.length];
}

/** A Unix time whose digits show its unit is never below this (in ms). */
export const TOLD_MIN = 1e11;

/** Returns a symbol without the characters in which its spellings differ: `BTC/USD` becomes `btcusd`. */
export const plainSymbol = (cell: string): string => cell.replaceAll(/[/_\-\s]/gu, '').toLowerCase();

/** Returns a name in lower case, without the characters in which spellings differ: `Volume_(BTC)` becomes `volumebtc`. */
export const plainName = (cell: string): string => cell.toLowerCase().replaceAll(/[^a-z0-9]/gu, '');

/** Returns a cell, shortened for a message. */
export const shown = (cell: string): string => cell.slice(0, 60);
