import { orderOf, placesOf, planOf, unitOf } from './plan.ts';
import type { Detect, Sample } from './plan.ts';

/**
 * Detects candles of Bitfinex, as arrays of its API or as CSV without a header: time, open, CLOSE, HIGH, LOW, volume.
 * Files of the same shape with high and low before close (freqtrade, ccxt) are distinguished by their prices, because
 * in the wrong order some high is below a close.
 */
export const detectBitfinex: Detect = (sample, { unit, format }) => {
  const found = headerless(sample);
  if (found === undefined) return undefined;
  const order = orderOf(sample.rows, 1);
  if (format === undefined && order === undefined)
    return {
      refused:
        'its rows fit two layouts (open, close, high, low and open, high, low, close): add --format bitfinex or --format freqtrade',
    };
  if (format === undefined && order !== 'ochl') return undefined;
  return planOf(sample, {
    format: 'bitfinex',
    of: 'bars',
    skip: 0,
    roles: { time: 0, open: 1, close: 2, high: 3, low: 4, volume: 5 },
    time: { as: 'unix', unit: unit ?? found },
    notes: ['its columns are time, open, close, high, low, volume'],
  });
};

/** Detects candles of freqtrade and ccxt: arrays, or CSV without a header, of time, open, high, low, close, volume. */
export const detectFreqtrade: Detect = (sample, { unit, format }) => {
  const found = headerless(sample);
  if (found === undefined || (format === undefined && orderOf(sample.rows, 1) !== 'ohlc')) return undefined;
  return planOf(sample, {
    format: 'freqtrade',
    of: 'bars',
    skip: 0,
    roles: { time: 0, open: 1, high: 2, low: 3, close: 4, volume: 5 },
    time: { as: 'unix', unit: unit ?? found },
    // freqtrade names its files LTC_BTC-5m.json.
    pair: freqtradePair(sample.name),
  });
};

export const freqtradePair = (name: string): string | undefined => {
  const [, base, quote] = /^(?:.*_)?([A-Z0-9]{2,10})_([A-Z0-9]{2,6})-\d{1,2}[smhdwM]\b/u.exec(name) ?? [];
  return base === undefined ? undefined : `${base}${quote ?? ''}`.toLowerCase();
};

function headerless({ rows }: Sample): ReturnType<typeof unitOf> {
  const [first = []] = rows;
  return first.length === 6 && !placesOf(first).has('time') ? unitOf(first[0] ?? '') : undefined;
}
