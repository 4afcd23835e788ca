import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync, inflateRawSync } from 'node:zlib';
import type { Format } from '../../../src/research/import/plan.ts';
import type { ImportOptions } from '../../../src/research/import/read.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts';
import { entry, zip } from './zips.ts';

/** Files as published, and a plain reading of each without code of the importers: `split`, `Number`, `Date.parse`. */

export const DATA = fileURLToPath(new URL('../../../../shared/data/', import.meta.url));
export const hasData = existsSync(`${DATA}manifest.csv`);

/** Time, open, high, low, close, volume. */
export type PlainRow = readonly [number, number, number, number, number, number];

interface Known {
  readonly format: Format;
  readonly pair: string;
  /** 0 for trades. */
  readonly barMs: number;
  /** The options that the operator must give. */
  readonly options?: ImportOptions;
  /** Lines before the first row. */
  readonly head: number;
  /** Places of cells. Trades have a close. */
  readonly at: {
    readonly time: number;
    readonly open?: number;
    readonly high?: number;
    readonly low?: number;
    readonly close: number;
    readonly volume?: number;
  };
  readonly time: (cells: readonly string[]) => number;
  /** The notation of times, which determines the possible damages. */
  readonly timeIs: 'unix' | 'text' | 'ofDay';
  /** Whether the rows are ordered. */
  readonly isOrdered?: boolean;
  /** The intended prices, if a row does not contain them. */
  readonly prices?: (cells: readonly string[]) => readonly [number, number, number, number];
}

const unix = (place: number, perMs: number) => (cells: readonly string[]) =>
  Math.floor(Number(cells[place]) * perMs);
const bars = { time: 0, open: 1, high: 2, low: 3, close: 4, volume: 5 };
const DAY = 24 * HOUR_MS;

/** The middle of two decimals, computed with integers. */
function middle(a = '', b = ''): number {
  const units = (text: string): bigint => {
    const [whole = '', part = ''] = text.split('.');
    return BigInt(whole + part.padEnd(10, '0'));
  };
  const sum = ((units(a) + units(b)) * 5n).toString().padStart(12, '0');
  return Number(`${sum.slice(0, -11)}.${sum.slice(-11)}`);
}

const twelve = (cell = ''): number => {
  const [, date = '', hour = '', half = ''] = /^(\S+) (\d\d)-(.)M$/u.exec(cell) ?? [];
  return Date.parse(date) + ((Number(hour) % 12) + (half === 'P' ? 12 : 0)) * HOUR_MS;
};
const leanHour = ([cell = '']: readonly string[]): number =>
  Date.parse(`${cell.slice(0, 4)}-${cell.slice(4, 6)}-${cell.slice(6, 8)}T${cell.slice(9)}Z`);
const leanDay = (format: 'trade' | 'quote', day: string): Pick<Known, 'format' | 'barMs' | 'head' | 'at' | 'time' | 'timeIs' | 'prices'> => ({
  format: 'lean',
  barMs: MINUTE_MS,
  head: 0,
  at: format === 'trade' ? bars : { time: 0, open: 1, high: 2, low: 3, close: 4 },
  time: ([ms]) => Date.parse(day) + Number(ms),
  timeIs: 'ofDay',
  ...(format === 'quote' && { prices: (cells) => [middle(cells[1], cells[6]), middle(cells[2], cells[7]), middle(cells[3], cells[8]), middle(cells[4], cells[9])] }),
}); // prettier-ignore

/** One file for each layout and each way that layout is published, of those that are lines of cells. */
export const lined: Readonly<Record<string, Known>> = {
  'originals/binance-api_ZECUSDT_1d.csv.gz': {
    format: 'binance', pair: 'zecusdt', barMs: DAY, options: { pair: 'zecusdt' }, head: 1, at: bars, timeIs: 'text',
    time: ([cell = '']) => Date.parse(cell),
  },
  'originals/binance-vision_usdm_NEARUSDT-1m-2025-11.csv.gz': {
    format: 'binance', pair: 'nearusdt', barMs: MINUTE_MS, head: 1, at: bars, timeIs: 'unix', time: unix(0, 1),
  },
  'originals/bitcoincharts_bitstampUSD.csv.gz': {
    format: 'bitcoincharts', pair: 'btcusd', barMs: 0, options: { pair: 'btcusd' }, head: 0, at: { time: 0, close: 1, volume: 2 }, timeIs: 'unix', time: unix(0, 1000),
  },
  'originals/bitfinex_api_LTCUSD_1m_2016_merged.csv.gz': {
    format: 'bitfinex', pair: 'ltcusd', barMs: MINUTE_MS, options: { pair: 'ltcusd' }, head: 0, at: { time: 0, open: 1, close: 2, high: 3, low: 4, volume: 5 }, timeIs: 'unix', time: unix(0, 1),
  },
  'originals/coinapi_ETH_1HRS_to_2018.csv.gz': {
    format: 'coinapi', pair: 'ethusd', barMs: HOUR_MS, options: { pair: 'ethusd' }, head: 1, at: { time: 0, open: 4, close: 5, low: 6, high: 7, volume: 8 }, timeIs: 'text',
    time: ([cell = '']) => Date.parse(`${cell.slice(0, 19)}Z`),
  },
  'originals/cryptodatadownload_Coinbase_BTCUSD_1h_to_2018.csv.gz': {
    format: 'cryptodatadownload', pair: 'btcusd', barMs: HOUR_MS, options: { sort: true }, isOrdered: false, head: 2, at: { time: 0, open: 2, high: 3, low: 4, close: 5, volume: 6 }, timeIs: 'text',
    time: ([cell]) => twelve(cell),
  },
  'originals/cryptodatadownload_Coinbase_BTCUSD_d_to_2018.csv': {
    format: 'cryptodatadownload', pair: 'btcusd', barMs: DAY, head: 2, at: { time: 0, open: 2, high: 3, low: 4, close: 5, volume: 6 }, timeIs: 'text',
    time: ([cell = '']) => Date.parse(cell),
  },
  'originals/darufinance_SOLUSDT_1h_to_2021.csv.gz': {
    format: 'named', pair: 'solusdt', barMs: HOUR_MS, options: { pair: 'solusdt' }, head: 1, at: { time: 0, open: 1, high: 2, low: 3, close: 4 }, timeIs: 'unix', time: unix(0, 1000),
  },
  'originals/lean/crypto/binance/hour/btcusdt_trade.zip': {
    format: 'lean', pair: 'btcusdt', barMs: HOUR_MS, head: 0, at: bars, timeIs: 'text', time: leanHour,
  },
  'originals/lean/crypto/coinbase/daily/btcusd_trade.zip': {
    format: 'lean', pair: 'btcusd', barMs: DAY, head: 0, at: bars, timeIs: 'text', time: leanHour,
  },
  'originals/lean/crypto/coinbase/minute/btcusd/20180404_trade.zip': { ...leanDay('trade', '2018-04-04'), pair: 'btcusd' },
  'originals/lean/crypto/coinbase/minute/ethusd/20180405_quote.zip': { ...leanDay('quote', '2018-04-05'), pair: 'ethusd' },
  'originals/lean/crypto/coinbase/second/btcusd/20161007_trade.zip': { ...leanDay('trade', '2016-10-07'), barMs: 1000, pair: 'btcusd' },
  'originals/tardis_bitmex_trades_XBTUSD.csv': {
    format: 'tardis', pair: 'xbtusd', barMs: 0, head: 1, at: { time: 2, close: 6 }, timeIs: 'unix', time: unix(2, 0.001),
  },
  'bars_1m/bitstamp_BTCUSD_1m_2020-01-01.csv.gz': {
    format: 'tranche', pair: 'btcusd', barMs: MINUTE_MS, options: { pair: 'btcusd' }, head: 1, at: bars, timeIs: 'unix', time: unix(0, 1),
  },
  'ticks/binance-spot_BTCUSDT_trades_2024-08-08T2354.csv.gz': {
    format: 'tranche', pair: 'btcusdt', barMs: 0, options: { pair: 'btcusdt' }, head: 1, at: { time: 0, close: 1, volume: 2 }, timeIs: 'unix', time: unix(0, 1),
  },
}; // prettier-ignore

/** Candles in JSON: time in ms, open, high, low, close, volume. */
export const candles: Readonly<Record<string, { readonly pair: string; readonly barMs: number }>> = {
  'originals/freqtrade_FLOW_USDT-1h.json.gz': { pair: 'flowusdt', barMs: HOUR_MS },
  'originals/freqtrade_UNITTEST_BTC-8m.json.gz': { pair: 'unittestbtc', barMs: MINUTE_MS },
};

/** A parsed file that can be damaged. */
export interface Sheet extends Known {
  /** Without folders. */
  readonly name: string;
  readonly lines: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly end: '\n' | '\r\n';
}

export const bytesOf = (file: string): Buffer => readFileSync(DATA + file);
export const nameOf = (file: string): string => file.split('/').at(-1) ?? '';

/** The text of a plain file, of a gzip file, or of the first entry of a zip. */
export function textOf(file: string): string {
  const bytes = bytesOf(file);
  if (file.endsWith('.gz')) return gunzipSync(bytes).toString();
  if (!file.endsWith('.zip')) return bytes.toString();
  return inflateRawSync(bytes.subarray(30 + bytes.readUInt16LE(26) + bytes.readUInt16LE(28))).toString();
}

export function sheetOf(file: string, known: Known): Sheet {
  const text = textOf(file);
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.trimEnd().split(end);
  const rows = lines.slice(known.head).map((line) => line.split(','));
  return { ...known, name: nameOf(file), lines, rows, end };
}

/** Packs text as the file was packed. LEAN tells the day and the pair by the name of the file in its zip. */
export function packedAs(file: string, text: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(text);
  if (file.endsWith('.gz')) return gzipSync(bytes);
  if (!file.endsWith('.zip')) return bytes;
  const head = bytesOf(file);
  return zip(entry(head.toString('latin1', 30, 30 + head.readUInt16LE(26)), bytes));
}

/** The rows in the order of time, by a plain reading. */
export function plainRows({ rows, at, time, prices }: Sheet): readonly PlainRow[] {
  const number = (cells: readonly string[], place: number | undefined): number =>
    place === undefined ? Number.NaN : Number(cells[place]);
  const read = rows.map((cells): PlainRow => {
    const close = number(cells, at.close);
    const one = at.open === undefined;
    const plain = one ? [close, close, close, close] as const : [number(cells, at.open), number(cells, at.high), number(cells, at.low), close] as const; // prettier-ignore
    return [time(cells), ...(prices?.(cells) ?? plain), number(cells, at.volume)];
  });
  const isNewestFirst = (read[0]?.[0] ?? 0) > (read.at(-1)?.[0] ?? 0);
  return (isNewestFirst ? read.toReversed() : read).toSorted((a, b) => a[0] - b[0]);
}
