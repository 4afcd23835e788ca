import { freqtradePair } from './bitfinex.ts';
import { QUOTED, baseVolume, pairOf, placesOf, planOf, shown, symbolIn, unitOf } from './plan.ts';
import type { Detect, Hints, ReadPlan, Sample, TimeCell } from './plan.ts';
import { namesZone, textTime } from './times.ts';

/** Files whose header names their columns. */

const TIMES = ['timestampms', 'timestamp', 'time', 'date', 'datetime', 'unix', 'opentime', 'ts', 'periodstart', 'timeperiodstart']; // prettier-ignore
const VOLUMES = ['vol', 'basevolume', 'amount', 'quantity', 'size', 'qty'];
/** Columns that identify an order book, quotes or funding, whose prices are not trades. */
const BOOKS = ['bidprice', 'askprice', 'bid', 'asks0price', 'bids0price', 'bid1price', 'updatetype', 'fundingrate', 'fundingmean']; // prettier-ignore

/** Returns the format of the times of a column, according to its first cell. */
function timeCellOf(
  cell: string,
  unit: Hints['unit'],
): { readonly time: TimeCell; readonly notes: readonly string[] } | undefined {
  const found = unit ?? unitOf(cell);
  if (found !== undefined) return { time: { as: 'unix', unit: found }, notes: [] };
  if (textTime(cell) === undefined) return undefined;
  return {
    time: { as: 'text', read: textTime },
    notes: namesZone(cell) ? [] : ['its times have no zone: read as UTC'],
  };
}

/** Detects any table with a header that names a time, open, high, low and close, or a time and a price. */
export const detectNamed: Detect = (sample, hints) => {
  const header = placesOf(sample.rows[0] ?? []);
  const cell = (name: string): number | undefined => header.get(name) ?? header.get(`price${name}`);
  const bars = { open: cell('open'), high: cell('high'), low: cell('low'), close: cell('close') };
  const isBars = Object.values(bars).every((place) => place !== undefined);
  const book = isBars ? undefined : BOOKS.find((name) => header.has(name));
  if (book !== undefined)
    return {
      refused: `its column ${book} means quotes, an order book or funding: only bars and trades can be imported`,
    };
  const time = TIMES.find((name) => header.has(name));
  if (time === undefined) return undefined;
  const price = header.get('price');
  if (!isBars && price === undefined) return undefined;
  // The price of a whole bar would become known too early if its time were the start of the bar.
  const missing = Object.entries(bars).filter(([, place]) => place === undefined);
  if (missing.length === 1)
    return {
      refused: `its header names no ${missing[0]?.[0] ?? ''}: name the columns of a bar open, high, low, close`,
    };
  return namedPlan(sample, { format: 'named', hints, time, roles: isBars ? bars : { close: price } });
};

/**
 * Detects minute files of Bitstamp as published on Kaggle: seconds; minutes without a trade have NaN for prices, or repeat the
 * last price with volume 0.
 */
export const detectBitstamp: Detect = (sample, hints) => {
  const header = placesOf(sample.rows[0] ?? []);
  const volumes = [...header.keys()].filter((name) => name.startsWith('volume'));
  if (!header.has('timestamp') || !header.has('weightedprice') || volumes.length < 2) return undefined;
  const roles = {
    open: header.get('open'),
    high: header.get('high'),
    low: header.get('low'),
    close: header.get('close'),
  };
  const plan = namedPlan(sample, { format: 'bitstamp', hints, time: 'timestamp', roles });
  return 'refused' in plan ? plan : { ...plan, mayBeEmpty: true };
};

/** Detects bars of CoinAPI: period start and end as text, the columns in any order, `;` or `,` between them. */
export const detectCoinapi: Detect = (sample, hints) => {
  const header = placesOf(sample.rows[0] ?? []);
  const start = ['periodstart', 'timeperiodstart'].find((name) => header.has(name));
  const end = header.get('periodend') ?? header.get('timeperiodend');
  if (start === undefined || end === undefined || !header.has('priceopen')) return undefined;
  const cell = (name: string): number | undefined => header.get(`price${name}`);
  const roles = { open: cell('open'), high: cell('high'), low: cell('low'), close: cell('close') };
  const plan = namedPlan(sample, { format: 'coinapi', hints, time: start, roles });
  if ('refused' in plan) return plan;
  const row = sample.rows[1] ?? [];
  const [from, until] = [textTime(row[header.get(start) ?? 0] ?? ''), textTime(row[end] ?? '')];
  return { ...plan, ...(from === undefined || until === undefined ? {} : { barMs: until - from }) };
};

/** Detects trades in the layout of Tardis: microseconds, a symbol, an amount. */
export const detectTardis: Detect = (sample, hints) => {
  const header = placesOf(sample.rows[0] ?? []);
  const isTardis = ['exchange', 'symbol', 'timestamp', 'localtimestamp', 'side', 'price', 'amount'].every(
    (name) => header.has(name),
  );
  if (!isTardis) return undefined;
  const plan = namedPlan(sample, {
    format: 'tardis',
    hints,
    time: 'timestamp',
    roles: { close: header.get('price') },
  });
  if ('refused' in plan) return plan;
  const row = sample.rows[1] ?? [];
  const exchange = row[header.get('exchange') ?? 0] ?? '';
  const venue = CONTRACTS[exchange];
  return venue === undefined
    ? plan
    : withoutVolume(plan, `its amounts are contracts of ${venue}, not base currency`);
};

/** Venues whose amounts in Tardis files are contracts or dollars. */
const CONTRACTS: Readonly<Record<string, string>> = {
  bitmex: 'BitMEX',
  deribit: 'Deribit',
  'okex-swap': 'OKX',
  'okex-futures': 'OKX',
  'huobi-dm': 'Huobi',
  'huobi-dm-swap': 'Huobi',
  'huobi-dm-linear-swap': 'Huobi',
  'binance-delivery': 'Binance COIN-M',
  cryptofacilities: 'Kraken Futures',
};

/** Detects trade dumps of BitMEX: `2020-03-01D00:00:03.145000000`; the volume is `homeNotional`, in the base currency. */
export const detectBitmex: Detect = (sample, hints) => {
  const header = placesOf(sample.rows[0] ?? []);
  if (!header.has('trdmatchid') || !header.has('homenotional')) return undefined;
  const roles = { close: header.get('price'), volume: header.get('homenotional') };
  return namedPlan(sample, { format: 'bitmex', hints, time: 'timestamp', roles });
};

function withoutVolume(plan: ReadPlan, why: string): ReadPlan {
  const { volume: _, ...roles } = plan.roles;
  return { ...plan, roles, notes: [...plan.notes, `no volume: ${why}`] };
}

function namedPlan(
  sample: Sample,
  {
    format,
    hints,
    time,
    roles,
  }: {
    readonly format: ReadPlan['format'];
    readonly hints: Hints;
    /** Plain name of the column with the times. */
    readonly time: string;
    readonly roles: Readonly<Record<string, number | undefined>>;
  },
): ReadPlan | { readonly refused: string } {
  const header = placesOf(sample.rows[0] ?? []);
  const missing = Object.entries(roles).find(([, place]) => place === undefined);
  if (missing !== undefined) return { refused: `its header names no ${missing[0]}` };
  const at = header.get(time) ?? 0;
  const first = sample.rows[1]?.[at] ?? '';
  const cell = timeCellOf(first, hints.unit);
  if (sample.rows.length < 2) return { refused: 'it has a header but no rows' };
  if (cell === undefined)
    return { refused: `its times, such as "${shown(first)}", are neither Unix time nor ISO 8601` };
  const symbol = header.get('symbol');
  const pair = symbol === undefined ? freqtradePair(sample.name) : pairOf(sample.rows[1]?.[symbol]);
  const { place: baseAt, isQuoted } = baseVolume(header, pair ?? hints.pair);
  const volume =
    roles['volume'] ?? baseAt ?? VOLUMES.map((name) => header.get(name)).find((place) => place !== undefined);
  const lacks = volume === undefined ? [isQuoted === true ? QUOTED : 'it has no volume'] : [];
  const known = Object.fromEntries(
    Object.entries({ ...roles, volume }).filter(([, place]) => place !== undefined),
  );
  return planOf(sample, {
    format,
    of: 'open' in known ? 'bars' : 'trades',
    skip: 1,
    width: sample.rows[0]?.length ?? 0,
    roles: { ...known, time: at, ...symbolIn(header) },
    time: cell.time,
    pair,
    notes: [...cell.notes, ...lacks],
  });
}
