/** Facts about a file that an importer knows before it reads the rows. */

export const formats = [
  'tranche',
  'binance',
  'coinapi',
  'cryptodatadownload',
  'tardis',
  'bitmex',
  'lean',
  'bitstamp',
  'kraken',
  'bitfinex',
  'freqtrade',
  'bitcoincharts',
  'named',
] as const;
/** Layouts by the name of their publisher; `named` is any table whose header names time, open, high, low and close. */
export type Format = (typeof formats)[number];

export const units = ['s', 'ms', 'us', 'ns'] as const;
export type TimeUnit = (typeof units)[number];

/** Roles of cells. Cells without a role are skipped. */
export type Role = 'time' | 'moreTime' | 'open' | 'high' | 'low' | 'close' | 'volume' | 'symbol';

/** Format of the time of a row. */
export type TimeCell =
  | { readonly as: 'unix'; readonly unit: TimeUnit | 'mixed' }
  /**
   * Parses Unix ms from the text of the cell, and of the `moreTime` cell if there is one; `undefined` if it is not a time.
   */
  | { readonly as: 'text'; readonly read: (cell: string, more: string) => number | undefined }
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
  /** Trades have a `close` (the price) and a `volume` only. */
  readonly roles: Readonly<Partial<Record<Role, number>>>;
  /** Columns of the ask, for two-sided quotes; the roles are those of the bid. Bars are the mid of both sides. */
  readonly ask?: Readonly<Record<'open' | 'high' | 'low' | 'close', number>> | undefined;
  readonly time: TimeCell;
  /**
   * Earliest plausible time, ms. An earlier Unix time must have a unit other than the one that the digits of the first
   * time imply.
   */
  readonly timeMin?: number | undefined;
  /** Length of a bar if the file states it, ms. */
  readonly barMs?: number | undefined;
  /** The pair, if the file names it: `btcusd`. */
  readonly pair?: string | undefined;
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
  /** Whether the rows were arrays of JSON. */
  readonly isJson: boolean;
}

/** The operator's statements about the file, which override the detection. */
export interface Hints {
  readonly format?: Format | undefined;
  readonly unit?: TimeUnit | undefined;
  /** Length of a bar, ms. */
  readonly barMs?: number | undefined;
  readonly pair?: string | undefined;
  /** See `ReadPlan.priceScale`. */
  readonly priceScale?: number | undefined;
}

/** Returns the plan for a file; `undefined` if it has another layout; or why the file is rejected. */
export type Detect = (sample: Sample, hints: Hints) => ReadPlan | { readonly refused: string } | undefined;

/** Returns a plan with the usual values. */
export function planOf(
  sample: Sample,
  plan: Pick<ReadPlan, 'format' | 'of' | 'skip' | 'roles' | 'time'> & Partial<ReadPlan>,
): ReadPlan {
  return {
    delimiter: sample.delimiter,
    width: sample.rows[plan.skip]?.length ?? 0,
    mayBeEmpty: false,
    priceScale: 1,
    notes: [],
    ...plan,
  };
}

const DIGITS: Readonly<Record<number, TimeUnit>> = { 9: 's', 10: 's', 12: 'ms', 13: 'ms', 15: 'us', 16: 'us', 18: 'ns', 19: 'ns' }; // prettier-ignore

/** `2021010100` and `202101010000`: a calendar hour and a calendar minute. As Unix times, they would be in 2034 and 1976. */
const CALENDAR = /^20\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])(?:[0-5]\d)?$/u;

/** Returns the unit of a Unix time of the years 1973 to 2286 by its digits. `undefined`: not a Unix time. */
export function unitOf(cell: string): TimeUnit | undefined {
  const whole = /^(\d{9,19})(?:\.\d+)?$/u.exec(cell)?.[1];
  return whole === undefined || whole.startsWith('0') || CALENDAR.test(whole)
    ? undefined
    : DIGITS[whole.length];
}

/** A Unix time whose digits show its unit is never below this (in ms). */
export const TOLD_MIN = 1e11;

/** Returns `BTC/USD`, `BTC-USD`, `BTC_USD` or `BTCUSD` as `btcusd`; `undefined` if the text is not a pair. */
export function pairOf(symbol: string | undefined): string | undefined {
  const plain = symbol?.replaceAll(/[/_-]/gu, '').toLowerCase();
  return plain !== undefined && /^[a-z0-9]{5,24}$/u.test(plain) ? plain : undefined;
}

/** Returns a name in lower case, without the characters in which spellings differ: `Volume_(BTC)` becomes `volumebtc`. */
export const plainName = (cell: string): string => cell.toLowerCase().replaceAll(/[^a-z0-9]/gu, '');

/** Names of columns that identify the market of a row. */
const SYMBOLS = ['symbol', 'pair', 'ticker', 'market', 'instrument', 'instrumentname', 'productid', 'currencypair', 'coin']; // prettier-ignore

/** Returns the role of the column that identifies the market, which is the same in all rows of a tape. */
export function symbolIn(header: ReadonlyMap<string, number>): Pick<ReadPlan['roles'], 'symbol'> {
  const symbol = SYMBOLS.map((name) => header.get(name)).find((place) => place !== undefined);
  return symbol === undefined ? {} : { symbol };
}

/** Returns a symbol without the characters in which its spellings differ: `BTC/USD` becomes `btcusd`. */
export const plainSymbol = (cell: string): string => cell.replaceAll(/[/_\-\s]/gu, '').toLowerCase();

/** Names of quote currencies in which volumes may also be given. */
const QUOTES = new Set(['usd', 'usdt', 'usdc', 'busd', 'fdusd', 'eur', 'gbp', 'jpy', 'krw', 'quote', 'currency', 'to']); // prettier-ignore

export const QUOTED = 'no volume: the file has only quote volume';

/**
 * Finds the volume in the base currency among columns such as `Volume BTC` and `Volume USD`, in either order.
 * `isQuoted`: the only volume is in the quote currency.
 */
export function baseVolume(
  header: ReadonlyMap<string, number>,
  pair: string | undefined,
): { readonly place?: number; readonly isQuoted?: boolean } {
  const volumes = [...header].filter(([name]) => name.startsWith('volume'));
  const isBase = (of: string): boolean =>
    of !== '' && pair !== undefined && (pair === of || (pair.startsWith(of) && !pair.endsWith(of)));
  const isQuote = (of: string): boolean =>
    of !== '' && !isBase(of) && (QUOTES.has(of) || pair?.endsWith(of) === true);
  const of = ([name]: readonly [string, number]): string => name.slice('volume'.length);
  const known = volumes.find((each) => isBase(of(each))) ?? volumes.find(([name]) => name === 'volume');
  const found = known ?? volumes.find((each) => !isQuote(of(each)));
  if (found !== undefined) return { place: found[1] };
  return { isQuoted: volumes.length > 0 };
}

/** Returns the positions of cells by their plain names. If a name occurs twice, the first position counts. */
export function placesOf(header: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [place, cell] of header.entries()) {
    const name = plainName(cell);
    if (!places.has(name)) places.set(name, place);
  }
  return places;
}

const PER_MS: Readonly<Record<TimeUnit, number>> = { s: 0.001, ms: 1, us: 1_000, ns: 1_000_000 };

/** Returns a cell of a sample as Unix ms, with the precision of a double: for detection, not for columns. */
export const unixOf = (cell: string, unit: TimeUnit): number => Number(cell) / PER_MS[unit];

/** Returns a cell, shortened for a message. */
export const shown = (cell: string): string => cell.slice(0, 60);

/** Returns a cell of a sample as a number; NaN if it is not one. */
export const numberOf = (cell: string | undefined): number =>
  cell !== undefined && /^\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$/u.test(cell) ? Number(cell) : Number.NaN;

/** Open, high, low, close; or open, close, high, low. */
export type PriceOrder = 'ohlc' | 'ochl';

/**
 * Returns the order of the four prices in these rows, from cell `from` on: the one with fewer contradictions, such as a
 * high below an open or a close. `undefined` if both are equal. Rows without four numbers do not count.
 */
export function orderOf(rows: readonly (readonly string[])[], from: number): PriceOrder | undefined {
  let [ohlc, ochl] = [0, 0];
  for (const row of rows) {
    const [a = Number.NaN, b = Number.NaN, c = Number.NaN, d = Number.NaN] = row
      .slice(from, from + 4)
      .map(numberOf);
    if (Number.isNaN(a + b + c + d)) continue;
    if (b < Math.max(a, d) || c > Math.min(a, d)) ohlc += 1;
    if (c < Math.max(a, b) || d > Math.min(a, b)) ochl += 1;
  }
  if (ohlc === ochl) return undefined;
  return ohlc < ochl ? 'ohlc' : 'ochl';
}
