import { OperatorError } from '../../core/errors.ts';
import { detectBinance, detectBinanceTrades } from './binance.ts';
import { detectBitfinex, detectFreqtrade } from './bitfinex.ts';
import { detectCryptoDataDownload } from './cryptodatadownload.ts';
import { detectBitcoincharts, detectKraken } from './kraken.ts';
import { detectLean } from './lean.ts';
import { detectBitmex, detectBitstamp, detectCoinapi, detectNamed, detectTardis } from './named.ts';
import { detectOwn } from './own.ts';
import { formats } from './plan.ts';
import type { Detect, Format, Hints, Plan, Sample } from './plan.ts';

/** Every layout of delimited rows. The first that knows a file takes it, so the general ones come last. */
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
 * How to read the rows of a file.
 *
 * @throws OperatorError (`data`) when no layout knows it, or the one that does says why not.
 */
export function planFor(sample: Sample, hints: Hints, name: string): Plan {
  for (const [format, detect] of layouts) {
    if (hints.format !== undefined && hints.format !== format) continue;
    const plan = detect(sample, hints);
    if (plan === undefined) continue;
    if ('refused' in plan) throw new OperatorError('data', `${name}: ${plan.refused}`);
    const { priceScale = 1 } = hints;
    if (priceScale === 1) return plan;
    return { ...plan, priceScale, notes: [...plan.notes, `prices are divided by ${priceScale}`] };
  }
  const begins = `it begins ${JSON.stringify((sample.rows[0] ?? []).join(sample.delimiter).slice(0, 120))}`;
  throw new OperatorError(
    'data',
    hints.format === undefined
      ? `${name}: no known layout: ${begins}. Known are ${formats.join(', ')}: docs/data.md says how each looks`
      : `${name}: does not look like ${hints.format}: ${begins}`,
  );
}
