import { OperatorError } from '../../core/errors.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { formats, plainName, plainSymbol, PRICES, shown, TOLD_MIN, unitOf } from './plan.ts';
import type { Format, Hints, ReadPlan, Sample, TimeCell, TimeUnit } from './plan.ts';
import { namesZone, textTime } from './times.ts';

/** A layout of delimited rows, identified by its header or, without one, by its cells. */
interface Layout {
  readonly format: Format;
  /** Plain names in its header; columns with other names may follow unless it is exact. */
  readonly header?: string;
  readonly isExact?: boolean;
  /** Cells of a file without a header: roles, and what `CHECKS` compares. `-` is skipped. */
  readonly cells?: string;
  /** Column of the times, if not the first of `TIMES`; ignored when the file does not have it. */
  readonly time?: string;
  /** Unit of its Unix times; `mixed`: the digits of each time determine it. Default: the digits of the first. */
  readonly unit?: 's' | 'mixed';
  /** Column of the volume in base currency, if not one of `VOLUMES`. */
  readonly volume?: string;
  /** Differs from others only in the order of its prices. */
  readonly isOrdered?: boolean;
  /** Whether rows without prices mean that nothing traded. */
  readonly mayBeEmpty?: boolean;
  /** The pair, and for Kraken the minutes of a bar, in the name of a file. */
  readonly name?: RegExp;
  readonly note?: string;
}

const DATA_VISION = /(?:^|_)(?<base>[A-Z0-9]{5,20})-(?:\d{1,2}(?:s|m|h|d|w|mo)|aggTrades|trades)-\d{4}/u;
const FREQTRADE = /^(?:.*_)?(?<base>[A-Z0-9]{2,10})_(?<quote>[A-Z0-9]{2,6})-\d{1,2}[smhdwM]\b/u;
const LEAN_DAY = /(?:^|_)(?<day>\d{8})_(?:(?<base>[a-z0-9]+)_)?(?:minute|second|tick)?_?(?:trade|quote)/u;
const LEAN = new RegExp(`${LEAN_DAY.source}|^(?<base>[a-z0-9]{5,12})(?:_trade|_quote)?\\.csv$`, 'u');
const KRAKEN = /^(?<base>[A-Z0-9]{5,12})_(?<minutes>1|5|15|30|60|240|720|1440)\.csv$/u;

/**
 * Every known layout. The first that recognizes a file applies, so general layouts come last. Sources, read 2026-11-22:
 * README of binance-public-data; Kraken support, "Downloadable historical OHLCVT data"; LEAN, Data/crypto/readme.md and
 * Data/equity/readme.md.
 */
const layouts: readonly Layout[] = [
  { format: 'tranche', header: 'timestampms open high low close volume', isExact: true },
  { format: 'tranche', header: 'timestampms close', isExact: true, note: 'only closes: open, high and low of each bar equal its close' },
  { format: 'tranche', header: 'timestampms price quantity side', isExact: true },
  { format: 'binance', header: 'opentime open high low close closetime', time: 'opentime', name: DATA_VISION },
  { format: 'binance', cells: 'time open high low close volume end money - - - -', name: DATA_VISION },
  { format: 'binance', header: 'price isbuyermaker', name: DATA_VISION },
  { format: 'binance', cells: '- close volume - time maker', name: DATA_VISION },
  { format: 'binance', cells: '- close volume - time maker -', name: DATA_VISION },
  { format: 'binance', cells: '- close volume - - time maker', name: DATA_VISION },
  { format: 'binance', cells: '- close volume - - time maker -', name: DATA_VISION },
  { format: 'coinapi', header: 'periodstart periodend priceopen', time: 'periodstart' },
  { format: 'coinapi', header: 'timeperiodstart timeperiodend priceopen', time: 'timeperiodstart' },
  { format: 'cryptodatadownload', header: 'date symbol open high low close', time: 'unix', unit: 'mixed' },
  { format: 'tardis', header: 'exchange symbol timestamp localtimestamp side price amount' },
  { format: 'bitmex', header: 'timestamp price trdmatchid homenotional', volume: 'homenotional' },
  { format: 'lean', cells: 'time open high low close volume', name: LEAN },
  { format: 'lean', cells: 'time open high low close - askopen askhigh asklow askclose -', name: LEAN, mayBeEmpty: true, note: 'quotes: each price is the mid of bid and ask, without volume' },
  { format: 'lean', cells: 'time close volume', name: LEAN },
  { format: 'bitstamp', header: 'timestamp open weightedprice', mayBeEmpty: true },
  { format: 'kraken', cells: 'time open high low close volume count', unit: 's', name: KRAKEN },
  { format: 'kraken', cells: 'time open high low close mean volume count', unit: 's', name: KRAKEN },
  { format: 'bitfinex', cells: 'time open close high low volume', isOrdered: true, note: 'its columns are time, open, close, high, low, volume' },
  { format: 'freqtrade', cells: 'time open high low close volume', isOrdered: true, name: FREQTRADE },
  { format: 'coinbase', cells: 'time low high open close volume', isOrdered: true, note: 'its columns are time, low, high, open, close, volume' },
  { format: 'bitcoincharts', cells: 'time close volume', unit: 's' },
  { format: 'named', header: '', name: FREQTRADE },
]; // prettier-ignore

const TIMES = ['timestampms', 'timestamp', 'time', 'date', 'datetime', 'unix', 'opentime', 'ts', 'periodstart', 'timeperiodstart', 'transacttime']; // prettier-ignore
const ENDS = ['closetime', 'periodend', 'timeperiodend'];
const VOLUMES = ['vol', 'basevolume', 'amount', 'quantity', 'size', 'qty'];
/** Columns with the paid amount. */
const MONEY = ['quotevolume', 'quoteassetvolume', 'quoteav', 'quotevol'];
const SYMBOLS = ['symbol', 'pair', 'ticker', 'market', 'instrument', 'instrumentname', 'productid', 'currencypair', 'coin']; // prettier-ignore
/** Columns that identify an order book, quotes or funding, whose prices are not trades. */
const BOOKS = ['bidprice', 'askprice', 'bid', 'asks0price', 'bids0price', 'bid1price', 'updatetype', 'fundingrate', 'fundingmean']; // prettier-ignore
/** Quote currencies in which volumes may also be given. */
const QUOTES = new Set(['usd', 'usdt', 'usdc', 'busd', 'fdusd', 'eur', 'gbp', 'jpy', 'krw', 'quote', 'currency', 'to']); // prettier-ignore
/** Exchanges whose amounts are contracts or dollars in Tardis files. */
const CONTRACTS = new Set(['bitmex', 'deribit', 'okex-swap', 'okex-futures', 'huobi-dm', 'huobi-dm-swap', 'huobi-dm-linear-swap', 'binance-delivery', 'cryptofacilities']); // prettier-ignore
const UNIT_WORDS = { s: 'seconds', ms: 'milliseconds', us: 'microseconds', ns: 'nanoseconds' } as const;
const PER_MS: Readonly<Record<TimeUnit, number>> = { s: 0.001, ms: 1, us: 1_000, ns: 1_000_000 };

type Row = readonly string[];
type Refused = { readonly refused: string };
/** The part of a plan that its header or its cells determine. `end` and `money` are positions of cells, if there are any. */
interface Found extends Pick<ReadPlan, 'skip' | 'roles' | 'time' | 'notes'> {
  readonly isClosesOnly?: boolean;
  readonly width: number;
  readonly end: number | undefined;
  readonly money: number | undefined;
  readonly pair?: string | undefined;
}

/**
 * Returns how to read the rows of a file.
 *
 * @throws OperatorError (`data`) if no layout recognizes the file, or if the layout that recognizes it rejects it.
 */
export function planFor(sample: Sample, hints: Hints, name: string): ReadPlan {
  for (const layout of layouts) {
    if (hints.format !== undefined && hints.format !== layout.format) continue;
    const found = layout.cells === undefined ? byHeader(layout, sample, hints) : byCells(layout, layout.cells, { sample, hints }); // prettier-ignore
    if (found === undefined) continue;
    if ('refused' in found) throw new OperatorError('data', `${name}: ${found.refused}`);
    return planOf(layout, found, { sample, hints });
  }
  const begins = `it begins ${JSON.stringify((sample.rows[0] ?? []).join(sample.delimiter).slice(0, 120))}`;
  throw new OperatorError(
    'data',
    hints.format === undefined
      ? `${name}: no known layout: ${begins}${lackOf(sample)}. Known formats are ${formats.join(', ')}: see docs/data.md`
      : `${name}: does not look like ${hints.format}: ${begins}`,
  );
}

function planOf(
  layout: Layout,
  found: Found,
  { sample, hints }: { readonly sample: Sample; readonly hints: Hints },
): ReadPlan {
  const { skip, roles, time, width, end } = found;
  const rows = sample.rows.slice(skip);
  const first = rows[0] ?? [];
  const named = layout.name?.exec(sample.name)?.groups ?? {};
  const byName = `${named['base'] ?? ''}${named['quote'] ?? ''}`.toLowerCase().replace('xbt', 'btc');
  const isContracts = layout.format === 'binance' && countsContracts(rows, found);
  const { volume: _, ...prices } = roles;
  const { priceScale = 1 } = hints;
  const begins = first[roles.time ?? 0];
  const isToldByDigits = time.as === 'unix' && hints.unit === undefined && unitOf(begins) !== undefined;
  return {
    format: layout.format,
    of: roles.open === undefined && found.isClosesOnly !== true ? 'trades' : 'bars',
    skip,
    delimiter: sample.delimiter,
    width,
    roles: isContracts ? prices : roles,
    time,
    timeMin: isToldByDigits ? TOLD_MIN : 0,
    barMs: named['minutes'] === undefined ? barOf(begins, first[end ?? -1]) : Number(named['minutes']) * MINUTE_MS, // prettier-ignore
    pair: found.pair ?? (byName === '' ? undefined : byName),
    mayBeEmpty: layout.mayBeEmpty === true,
    priceScale,
    notes: [
      ...found.notes,
      ...(layout.note === undefined ? [] : [layout.note]),
      ...(isContracts ? ['no volume: it counts contracts, not base currency'] : []),
      ...(priceScale === 1 ? [] : [`prices are divided by ${priceScale}`]),
    ],
  };
}

/** Recognizes a layout by its header, which comments, Excel's `sep=` or a line about the publisher may precede. */
function byHeader(layout: Layout, { rows }: Sample, hints: Hints): Found | Refused | undefined {
  const skip = 1 + rows.findIndex((row) => !/^(?:#|sep=)|cryptodatadownload\.com/iu.test(row.join(',')));
  const head = rows[skip - 1] ?? [];
  const header = placesOf(head);
  const names = (layout.header ?? '').split(' ').filter((name) => name !== '');
  if (!names.every((name) => header.has(name)) || (layout.isExact === true && head.length !== names.length))
    return undefined;
  const find = (wanted: readonly string[]): number | undefined =>
    wanted.map((name) => header.get(name)).find((place) => place !== undefined);
  const places = PRICES.map((name) => [name, find([name, `price${name}`])] as const);
  const missing = places.flatMap(([name, place]) => (place === undefined ? [name] : []));
  const book = missing.length === 0 ? undefined : BOOKS.find((name) => header.has(name));
  if (book !== undefined)
    return { refused: `its column ${book} means quotes, an order book or funding: only bars and trades can be imported` }; // prettier-ignore
  const isClosesOnly = layout.isExact === true && names.includes('close') && missing.length > 0;
  const close = missing.length === 0 || isClosesOnly ? header.get('close') ?? header.get('priceclose') : header.get('price'); // prettier-ignore
  const timeName = [layout.time ?? '', ...TIMES].find((name) => header.has(name));
  if (timeName === undefined || close === undefined) return undefined;
  // The price of a whole bar would be known too early if its time were the start of the bar.
  if (missing.length === 1)
    return { refused: `its header names no ${missing[0] ?? ''}: name the columns of a bar open, high, low, close` }; // prettier-ignore
  const first = rows[skip];
  if (first === undefined) return { refused: 'it has a header but no rows' };
  const at = header.get(timeName) ?? 0;
  const time = timeIn(first[at] ?? '', timeName, { layout, hints });
  if ('refused' in time) return time;
  const pair = pairOf(first[header.get('symbol') ?? -1]);
  const { place, lack } = volumeIn(header, { layout, pair: pair ?? hints.pair, exchange: first[header.get('exchange') ?? -1] }); // prettier-ignore
  const roles = { ...Object.fromEntries(missing.length === 0 ? places : []), close, time: at, volume: place, symbol: find(SYMBOLS) }; // prettier-ignore
  return {
    isClosesOnly,
    skip,
    width: head.length,
    roles: given(roles),
    time: time.time,
    end: find(ENDS),
    money: find(MONEY),
    pair,
    notes: [...time.notes, ...(lack === undefined ? [] : [lack])],
  };
}

/** Returns the roles whose cells a file has. */
const given = (roles: Readonly<Record<string, number | undefined>>): ReadPlan['roles'] =>
  Object.fromEntries(Object.entries(roles).filter(([, place]) => place !== undefined));

/** Returns the format of the times of a column, according to its name and its first cell. */
function timeIn(
  cell: string,
  column: string,
  { layout, hints }: { readonly layout: Layout; readonly hints: Hints },
): { readonly time: TimeCell; readonly notes: readonly string[] } | Refused {
  const digits = unitOf(cell);
  const isNamed = column === 'timestampms' && hints.unit === undefined;
  if (isNamed && digits !== undefined && digits !== 'ms')
    return { refused: `the header says timestamp_ms, but the first time looks like ${UNIT_WORDS[digits]}: correct it, or add --unit ${digits}` }; // prettier-ignore
  const unit = hints.unit ?? (isNamed ? 'ms' : layout.unit === undefined ? digits : digits && layout.unit);
  if (unit !== undefined) return { time: { as: 'unix', unit }, notes: [] };
  if (textTime(cell) !== undefined)
    return { time: { as: 'text' }, notes: namesZone(cell) ? [] : ['its times have no zone: read as UTC'] };
  const why = /\dE\+/iu.test(cell) ? ': a spreadsheet changed them, so use the file as published' : '';
  return { refused: `its times, such as "${shown(cell)}", are neither Unix time nor ISO 8601${why}` };
}

/**
 * Finds the volume in base currency, among columns such as `Volume BTC` and `Volume USD` in either order. `lack`: why there is
 * none.
 */
function volumeIn(
  header: ReadonlyMap<string, number>,
  of: { readonly layout: Layout; readonly pair: string | undefined; readonly exchange: string | undefined },
): { readonly place?: number | undefined; readonly lack?: string } {
  const { layout, pair, exchange = '' } = of;
  if (layout.format === 'tardis' && CONTRACTS.has(exchange))
    return { lack: `no volume: its amounts are contracts of ${exchange}, not base currency` };
  if (layout.volume !== undefined) return { place: header.get(layout.volume) };
  const volumes = [...header].flatMap(([name, place]) =>
    name.startsWith('volume') ? [{ currency: name.slice('volume'.length), place }] : [],
  );
  const isBase = (currency: string): boolean =>
    currency !== '' && pair !== undefined && (pair === currency || (pair.startsWith(currency) && !pair.endsWith(currency))); // prettier-ignore
  const isQuote = (currency: string): boolean =>
    currency !== '' && !isBase(currency) && (QUOTES.has(currency) || pair?.endsWith(currency) === true);
  const known =
    volumes.find(({ currency }) => isBase(currency)) ??
    volumes.find(({ currency }) => currency === '') ??
    volumes.find(({ currency }) => !isQuote(currency));
  const place = known?.place ?? VOLUMES.map((name) => header.get(name)).find((each) => each !== undefined);
  if (place !== undefined) return { place };
  return { lack: volumes.length > 0 ? 'no volume: the file has only quote volume' : 'it has no volume' };
}

/** Recognizes a layout without a header by its cells. */
function byCells(
  layout: Layout,
  cells: string,
  { sample, hints }: { readonly sample: Sample; readonly hints: Hints },
): Found | Refused | undefined {
  const [first = []] = sample.rows;
  const names = cells.split(' ');
  if (first.length !== names.length) return undefined;
  const at = (name: string): number | undefined => (names.includes(name) ? names.indexOf(name) : undefined);
  const found = unitOf(first[at('time') ?? 0]);
  const time: TimeCell | undefined =
    layout.format === 'lean' ? leanTime(sample) : found && { as: 'unix', unit: hints.unit ?? found };
  if (time === undefined) return undefined;
  if (hints.format === undefined) {
    const other = (name: string): number => numberOf(first[names.indexOf(name)]);
    const fits = names.every((name, place) => CHECKS[name]?.(first[place] ?? '', other) ?? true);
    const alike = layout.isOrdered === true ? leastWrong(sample.rows) : [layout];
    if (!fits || (layout.unit === 's' && found !== 's') || !alike.includes(layout)) return undefined;
    if (alike.length > 1)
      return { refused: `its rows fit ${alike.length} layouts: add ${alike.map(({ format }) => `--format ${format}`).join(' or ')}` }; // prettier-ignore
  }
  const ask = Object.fromEntries(PRICES.map((name) => [`ask ${name}`, at(`ask${name}`)]));
  const bid = Object.fromEntries(PRICES.map((name) => [name, at(name)]));
  const roles = given({ time: at('time'), ...bid, ...ask, volume: at('volume') });
  return { skip: 0, width: names.length, roles, time, end: at('end'), money: at('money'), notes: [] };
}

/** What the first row of a layout without a header must have in the cells of these names. */
const CHECKS: Readonly<Record<string, (cell: string, other: (name: string) => number) => boolean>> = {
  end: (cell, other) => Number(cell) > other('time'),
  maker: (cell) => /^(?:true|false)$/iu.test(cell),
  count: (cell) => /^\d+$/u.test(cell),
  // Other files have the volume in that place, followed by its cost.
  mean: (cell, other) =>
    Number(cell) === 0 || (Number(cell) >= other('low') && Number(cell) <= other('high')),
};

/** Hours and days of LEAN have their time as text; minutes, seconds and ticks count milliseconds of the day in the file's name. */
function leanTime({ rows, name }: Sample): TimeCell | undefined {
  const first = rows[0]?.[0] ?? '';
  if (/^\d{8} \d{2}:\d{2}$/u.test(first)) return { as: 'text' };
  const day = textTime(LEAN_DAY.exec(name)?.groups?.['day'] ?? '');
  return day === undefined || !/^\d{1,8}$/u.test(first) ? undefined : { as: 'ofDay', dayMs: day };
}

/** Returns the ordered layouts that the fewest rows contradict, by a high below another price or a low above one. */
function leastWrong(rows: readonly Row[]): readonly Layout[] {
  const ordered = layouts.filter(({ isOrdered }) => isOrdered === true);
  const wrong = ordered.map(({ cells = '' }) => {
    const places = PRICES.map((name) => cells.split(' ').indexOf(name));
    return rows.filter((row) => {
      const [open = 0, high = 0, low = 0, close = 0] = places.map((place) => numberOf(row[place]));
      return high < Math.max(open, close) || low > Math.min(open, close);
    }).length;
  });
  return ordered.filter((_, n) => wrong[n] === Math.min(...wrong));
}

/** Whether the volume counts contracts, as for coin-margined futures. The paid amounts then differ from price times volume. */
function countsContracts(rows: readonly Row[], { roles, money }: Found): boolean {
  let [fits, misfits] = [0, 0];
  for (const row of rows) {
    const [low = 0, high = 0, volume = 0, paid = 0] = [roles.low, roles.high, roles.volume, money].map((at) => numberOf(row[at ?? -1])); // prettier-ignore
    if (paid >= (low * volume) / 2 && paid <= high * volume * 2) fits += 1;
    else if (volume > 0 && paid > 0) misfits += 1;
  }
  return misfits > fits;
}

/** Returns the length of a bar by its begin and end. Binance states its last millisecond or microsecond as the end. */
function barOf(begin = '', end = ''): number | undefined {
  const [from, until] = [begin, end].map((cell) => {
    const unit = unitOf(cell);
    return unit === undefined ? textTime(cell) : Number(cell) / PER_MS[unit];
  });
  const ms = Math.ceil(((until ?? Number.NaN) - (from ?? Number.NaN)) / 1000) * 1000;
  return ms > 0 ? ms : undefined;
}

/** Returns `BTC/USD`, `BTC-USD`, `BTC_USD` or `BTCUSD` as `btcusd`; `undefined` if the text is not a pair. */
function pairOf(symbol = ''): string | undefined {
  const plain = plainSymbol(symbol);
  return /^[a-z0-9]{5,24}$/u.test(plain) ? plain : undefined;
}

/** Returns the positions of cells by their plain names. If a name occurs twice, the first position counts. */
const placesOf = (header: Row): ReadonlyMap<string, number> =>
  new Map(header.map((cell, place) => [plainName(cell), place] as const).toReversed());

/** Returns a cell of a sample as a number; NaN if it is not one. */
const numberOf = (cell: string | undefined): number =>
  cell !== undefined && /^\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$/u.test(cell) ? Number(cell) : Number.NaN;

/** Returns the missing columns of a header that names most columns of a bar, as text for a message. */
function lackOf({ rows }: Sample): string {
  for (const [line, row] of rows.slice(0, 3).entries()) {
    const header = placesOf(row);
    const missing = PRICES.filter((name) => !header.has(name) && !header.has(`price${name}`));
    if (missing.length === 1) return `; the header in line ${line + 1} names no ${missing[0] ?? ''}`;
    if (missing.length === 0)
      return `; the header in line ${line + 1} has no known time column, such as timestamp or date`;
  }
  return '';
}
