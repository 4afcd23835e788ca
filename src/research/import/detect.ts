import { OperatorError } from '../../core/errors.ts';
import { detectBinance, detectBinanceTrades } from './binance.ts';
import { detectBitfinex, detectFreqtrade } from './bitfinex.ts';
import { detectCryptoDataDownload } from './cryptodatadownload.ts';
import { detectBitcoincharts, detectKraken } from './kraken.ts';
import { detectLean } from './lean.ts';
import { detectBitmex, detectBitstamp, detectCoinapi, detectNamed, detectTardis } from './named.ts';
import { detectOwn } from './own.ts';
import { formats, placesOf, TOLD_MIN, unitOf } from './plan.ts';
import type { Detect, Format, Hints, ReadPlan, Sample } from './plan.ts';

/** Every layout of delimited rows. The first that recognizes a file applies, so the general ones come last. */
const layouts: readonly (readonly [Format, Detect])[] = [
  ['tranche', detectOwn],
  ['binance', detectBinance],
  ['binance', detectBinanceTrades],
  ['coinapi', detectCoinapi],
  ['cryptodatadownload', detectCryptoDataDownload],
  ['tardis', detectTardis],
  ['bitmex', detectBitmex],
  ['lean', detectLean],
  ['bitstamp', detectBitstamp],
  ['kraken', detectKraken],
  ['bitfinex', detectBitfinex],
  ['freqtrade', detectFreqtrade],
  ['bitcoincharts', detectBitcoincharts],
  ['named', detectNamed],
];

/**
 * Returns how to read the rows of a file.
 *
 * @throws OperatorError (`data`) when no layout recognizes the file, or when the recognized layout rejects the file.
 */
export function planFor(sample: Sample, hints: Hints, name: string): ReadPlan {
  for (const [format, detect] of layouts) {
    if (hints.format !== undefined && hints.format !== format) continue;
    const plan = detect(sample, hints);
    if (plan === undefined) continue;
    if ('refused' in plan) throw new OperatorError('data', `${name}: ${plan.refused}`);
    const { priceScale = 1 } = hints;
    const scaled = priceScale === 1 ? {} : { priceScale, notes: [...plan.notes, `prices are divided by ${priceScale}`] }; // prettier-ignore
    return { ...plan, ...scaled, ...(isToldByDigits(plan, sample, hints) ? { timeMin: TOLD_MIN } : {}) };
  }
  const lacks = hints.format === undefined ? lackOf(sample) : '';
  const begins = `it begins ${JSON.stringify((sample.rows[0] ?? []).join(sample.delimiter).slice(0, 120))}`;
  throw new OperatorError(
    'data',
    hints.format === undefined
      ? `${name}: no known layout: ${begins}${lacks}. Known formats are ${formats.join(', ')}: see docs/data.md`
      : `${name}: does not look like ${hints.format}: ${begins}`,
  );
}

/** Whether only the digits of the first time show its unit. */
const isToldByDigits = ({ time, roles, skip }: ReadPlan, { rows }: Sample, { unit }: Hints): boolean =>
  time.as === 'unix' && unit === undefined && unitOf(rows[skip]?.[roles.time ?? 0] ?? '') !== undefined;

/** Returns the missing columns of a header that names most columns of a bar, as text for a message. */
function lackOf({ rows }: Sample): string {
  for (const [line, row] of rows.slice(0, 3).entries()) {
    const header = placesOf(row);
    const wanted = ['open', 'high', 'low', 'close'];
    const missing = wanted.filter((name) => !header.has(name) && !header.has(`price${name}`));
    if (missing.length === 1) return `; the header in line ${line + 1} names no ${missing[0] ?? ''}`;
    if (missing.length === 0)
      return `; the header in line ${line + 1} has no known time column, such as timestamp or date`;
  }
  return '';
}
