import { MINUTE_MS } from '../../core/time.ts';
import { numberOf, planOf, unitOf } from './plan.ts';
import type { Detect, ReadPlan, Sample } from './plan.ts';

/**
 * Detects Kraken's OHLCVT files: seconds, open, high, low, close, volume, number of trades; no header; minutes without
 * a trade are omitted. With eight cells (Kraken's API), the volume-weighted price precedes the volume. Source: Kraken
 * support, "Downloadable historical OHLCVT data", read 2026-11-22.
 */
export const detectKraken: Detect = (sample, { unit, format }) => {
  const [first = []] = sample.rows;
  const found = unitOf(first[0] ?? '');
  const isWide = first.length === 8;
  if (found === undefined || !(first.length === 7 || isWide)) return undefined;
  const hasCount = /^\d+$/u.test(first.at(-1) ?? '');
  if (format === undefined && (found !== 's' || !hasCount || (isWide && !hasMean(sample.rows))))
    return undefined;
  return planOf(sample, {
    format: 'kraken',
    of: 'bars',
    skip: 0,
    roles: { time: 0, open: 1, high: 2, low: 3, close: 4, volume: isWide ? 6 : 5 },
    time: { as: 'unix', unit: unit ?? found },
    ...namedBy(sample.name),
  });
};

/** Whether a price precedes the volume. Other files have the volume in that place, followed by its cost. */
function hasMean(rows: Sample['rows']): boolean {
  const misfits = rows.filter((row) => {
    const [high, low, mean] = [row[2], row[3], row[5]].map(numberOf);
    return mean !== 0 && !((mean ?? 0) >= (low ?? 0) && (mean ?? 0) <= (high ?? 0));
  });
  return misfits.length * 2 < rows.length;
}

/** Reads the pair and the minutes of a bar from a file name such as `XBTUSD_1.csv`. Kraken writes XBT for BTC. */
function namedBy(name: string): Pick<ReadPlan, 'pair' | 'barMs'> {
  const [, symbol, minutes] = /^([A-Z0-9]{5,12})_(1|5|15|30|60|240|720|1440)\.csv$/u.exec(name) ?? [];
  if (symbol === undefined) return {};
  return { pair: symbol.replace('XBT', 'BTC').toLowerCase(), barMs: Number(minutes) * MINUTE_MS };
}

/**
 * Detects trades of bitcoincharts and of Kraken's trade files: seconds, price, amount; no header, no side. Several trades share a
 * second.
 */
export const detectBitcoincharts: Detect = (sample, { unit, format }) => {
  const [first = []] = sample.rows;
  const found = unitOf(first[0] ?? '');
  if (first.length !== 3 || found === undefined || (format === undefined && found !== 's')) return undefined;
  return planOf(sample, {
    format: 'bitcoincharts',
    of: 'trades',
    skip: 0,
    roles: { time: 0, close: 1, volume: 2 },
    time: { as: 'unix', unit: unit ?? found },
  });
};
