import { numberOf, placesOf, planOf, symbolIn, unitOf, unixOf } from './plan.ts';
import type { Detect, Sample } from './plan.ts';
import { textTime } from './times.ts';

const WIDTH = 12;
/** Names of the column with the paid amount. */
const MONEY = ['quotevolume', 'quoteassetvolume', 'quoteav', 'quotevol'];

/**
 * Detects klines of Binance: of its API (arrays) and of Data Vision (CSV, with a header since 2023 and in microseconds since
 * 2025 for spot), and common derivatives with the open time as text. Source: Binance public data, README of
 * binance-public-data, read 2026-11-22.
 */
export const detectBinance: Detect = (sample, { unit, format }) => {
  const header = placesOf(sample.rows[0] ?? []);
  const hasHeader = header.has('opentime') && header.has('closetime');
  if (!hasHeader && !isHeaderless(sample, format === 'binance')) return undefined;
  const skip = hasHeader ? 1 : 0;
  const first = sample.rows[skip] ?? [];
  const place = (name: string, otherwise: number): number =>
    (hasHeader ? header.get(name) : undefined) ?? otherwise;
  const open = first[place('opentime', 0)] ?? '';
  const close = first[place('closetime', 6)] ?? '';
  const found = unit ?? unitOf(open);
  const time =
    found === undefined ? ({ as: 'text', read: textTime } as const) : ({ as: 'unix', unit: found } as const);
  const begins = found === undefined ? textTime(open) : unixOf(open, found);
  const closeUnit = unitOf(close);
  const ends = closeUnit === undefined ? textTime(close) : unixOf(close, closeUnit);
  const missing = hasHeader ? ['open', 'high', 'low', 'close'].find((name) => !header.has(name)) : undefined;
  if (missing !== undefined) return { refused: `its header names no ${missing}` };
  const prices = {
    time: place('opentime', 0),
    open: place('open', 1),
    high: place('high', 2),
    low: place('low', 3),
    close: place('close', 4),
    ...(hasHeader ? symbolIn(header) : {}),
  };
  const volume = place('volume', 5);
  // Without this name in the header, column 7 contains something else.
  const money = hasHeader ? MONEY.map((name) => header.get(name)).find((at) => at !== undefined) : 7;
  const hasVolume = !hasHeader || header.has('volume');
  const isContracts = hasVolume && money !== undefined && countsContracts(sample.rows.slice(skip), { low: prices.low, high: prices.high, volume, money }); // prettier-ignore
  return planOf(sample, {
    format: 'binance',
    of: 'bars',
    skip,
    roles: hasVolume && !isContracts ? { ...prices, volume } : prices,
    time,
    // The last millisecond of the bar is its close time.
    barMs:
      begins === undefined || ends === undefined || ends < begins ? undefined : Math.floor(ends) + 1 - begins,
    pair: pairInName(sample.name),
    notes: isContracts ? ['no volume: it counts contracts, not base currency'] : [],
  });
};

/** Whether the volume counts contracts, as for futures margined in coins: the paid amounts then differ from price times volume. */
function countsContracts(
  rows: Sample['rows'],
  at: Readonly<Record<'low' | 'high' | 'volume' | 'money', number>>,
): boolean {
  let [fits, misfits] = [0, 0];
  for (const row of rows) {
    const [low, high, volume, money] = [at.low, at.high, at.volume, at.money].map((n) => numberOf(row[n]));
    if (low === undefined || high === undefined || volume === undefined || money === undefined) continue;
    if (money >= (low * volume) / 2 && money <= high * volume * 2) fits += 1;
    else if (volume > 0 && money > 0) misfits += 1;
  }
  return misfits > fits;
}

function isHeaderless({ rows }: Sample, wasSaid: boolean): boolean {
  const [first = []] = rows;
  const [open, close] = [unitOf(first[0] ?? ''), unitOf(first[6] ?? '')];
  if (first.length !== WIDTH || open === undefined) return false;
  return wasSaid || (open === close && open !== 's' && Number(first[6]) > Number(first[0]));
}

/** Returns the pair in a file name of Data Vision, such as `BTCUSDT-1m-2025-11.csv`. */
const pairInName = (name: string): string | undefined =>
  /(?:^|_)([A-Z0-9]{5,20})-\d{1,2}(?:s|m|h|d|w|mo)-\d{4}/u.exec(name)?.[1]?.toLowerCase();

/**
 * Detects trades and aggregate trades of Data Vision: id, price, quantity, then the amount (or the first and last id), the time, and
 * whether the buyer was the maker; with and without a header.
 */
export const detectBinanceTrades: Detect = (sample, { unit }) => {
  const hasHeader = /^(?:agg_?trade_?)?id$/iu.test(sample.rows[0]?.[0] ?? '');
  const skip = hasHeader ? 1 : 0;
  const first = sample.rows[skip] ?? [];
  // Trade ids have ten digits, as Unix times in seconds do, but times in these files are never in seconds.
  const header = placesOf(hasHeader ? (sample.rows[0] ?? []) : []);
  const time = first.findIndex((cell, place) => place >= 4 && ['ms', 'us'].includes(unitOf(cell) ?? 's'));
  const found = unitOf(first[time] ?? '');
  if (found === undefined || !/^(?:true|false)$/iu.test(first[time + 1] ?? '')) return undefined;
  return planOf(sample, {
    format: 'binance',
    of: 'trades',
    skip,
    roles: {
      time,
      close: header.get('price') ?? 1,
      volume: header.get('quantity') ?? header.get('qty') ?? 2,
    },
    time: { as: 'unix', unit: unit ?? found },
    pair: /^([A-Z0-9]{5,20})-(?:aggT|t)rades-\d{4}/u.exec(sample.name)?.[1]?.toLowerCase(),
  });
};
