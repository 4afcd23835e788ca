import { gzipSync } from 'node:zlib';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts';
import type { Format } from '../../../src/research/import/plan.ts';

/** Small generated files in every known layout: the same bars or trades, written in each of them. */

export const BEGIN = Date.UTC(2024, 2, 30, 20);
export const ROWS = 12;

/** Open, high, low, close and volume of a row, as text. Some open at their high, so that the order of columns matters. */
export const figures = (n: number): readonly [string, string, string, string, string] => [
  `${100 + n}.25`,
  `${102 + n}.5`,
  `${99 + n}.125`,
  `${101 + n}.0625`,
  `${n}.5`,
];
/** The closes that every sample of bars must yield. */
export const closes = Array.from({ length: ROWS }, (_, n) => Number(figures(n)[3]));

const lines = (line: (n: number) => string, head: readonly string[] = []): string =>
  [...head, ...Array.from({ length: ROWS }, (_, n) => line(n)), ''].join('\n');
const at = (n: number, stepMs = MINUTE_MS): number => BEGIN + n * stepMs;
const iso = (ms: number): string => new Date(ms).toISOString();
/** `2024-03-30 20:00:00`. */
const blank = (ms: number): string => iso(ms).slice(0, 19).replace('T', ' ');
/** `2024-03-30 08-PM`. */
function twelve(ms: number): string {
  const hour = new Date(ms).getUTCHours();
  return `${iso(ms).slice(0, 10)} ${String(hour % 12 === 0 ? 12 : hour % 12).padStart(2, '0')}-${hour < 12 ? 'AM' : 'PM'}`;
}
const newestFirst = (text: string, head: number): string => {
  const rows = text.trimEnd().split('\n');
  return [...rows.slice(0, head), ...rows.slice(head).toReversed(), ''].join('\n');
};
const kline = (n: number, perMs: number): string => {
  const [o, h, l, c, v] = figures(n);
  return `${at(n) * perMs},${o},${h},${l},${c},${v},${(at(n) + MINUTE_MS) * perMs - 1},1,2,3,4,0`;
};
const KLINES =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore';
const COINAPI =
  'Period Start,Period end,Time open,Time close,Price open,Price close,Price low,Price high,Volume traded,Trades count';
const arrays = (row: (n: number) => readonly unknown[]): string =>
  JSON.stringify(Array.from({ length: ROWS }, (_, n) => row(n)));

export interface Sample {
  readonly format: Format;
  readonly name: string;
  readonly text: string;
  /** Lines before the first row. */
  readonly head: number;
  readonly barMs: number;
  /** The pair that the file itself states. */
  readonly pair?: string;
}

/** Figures with their names, in the order of open, high, low, close and volume. */
const named = (n: number) => {
  const [o, h, l, c, v] = figures(n);
  return { o, h, l, c, v };
};
type Over = Partial<Pick<Sample, 'barMs' | 'pair'>>;
const sample = (format: Format, name: string, text: string, over: Over & { head?: number } = {}): Sample => ({
  format,
  name,
  text,
  head: 0,
  barMs: MINUTE_MS,
  ...over,
});
/** A file of lines below `head`. */
const csv = (
  format: Format,
  name: string,
  line: (n: number) => string,
  { head = [], ...over }: Over & { readonly head?: readonly string[] } = {},
): Sample => sample(format, name, lines(line, head), { head: head.length, ...over });
const json = (
  format: Format,
  name: string,
  row: (n: number) => readonly unknown[],
  over: Over = {},
): Sample => sample(format, name, arrays(row), over);
const reversed = (of: Sample): Sample => ({ ...of, text: newestFirst(of.text, of.head) });
const CDD = 'https://www.CryptoDataDownload.com';

export const samples: Readonly<Record<string, Sample>> = {
  'Tranche bars': csv('tranche', 'bars.csv', (n) => `${at(n)},${figures(n).join(',')}`, {
    head: ['timestamp_ms,open,high,low,close,volume'],
  }),
  'Tranche closes': csv('tranche', 'closes.csv', (n) => `${at(n)},${named(n).c}`, {
    head: ['timestamp_ms,close'],
  }),
  'Tranche trades': csv('tranche', 'trades.csv', (n) => `${at(n)},${named(n).c},${named(n).v},buy`, {
    head: ['timestamp_ms,price,quantity,side'],
    barMs: 0,
  }),
  'Binance klines in milliseconds with a header': csv(
    'binance',
    'BTCUSDT-1m-2024-03.csv',
    (n) => kline(n, 1),
    { head: [KLINES], pair: 'btcusdt' },
  ),
  'Binance klines in microseconds without a header': csv(
    'binance',
    'ETHUSDC-1m-2025-03.csv',
    (n) => kline(n, 1_000),
    { pair: 'ethusdc' },
  ),
  'Binance arrays of the API': json('binance', 'klines.json', (n) => {
    return [at(n), ...figures(n), at(n) + MINUTE_MS - 1, '1.5', 2, '3', '4', '0'];
  }),
  'Binance klines with times as text': csv(
    'binance',
    'x.csv',
    (n) => kline(n, 1).replace(/^\d+/u, `${blank(at(n))}+00:00`),
    { head: [KLINES] },
  ),
  'Binance trades without a header': csv(
    'binance',
    'BTCUSDT-trades-2024-03.csv',
    (n) => `${5_000_000_000 + n},${named(n).c},${named(n).v},9.5,${at(n)},True,True`,
    { barMs: 0, pair: 'btcusdt' },
  ),
  'Binance aggregate trades in microseconds': csv(
    'binance',
    'BTCUSDC-aggTrades-2025-03.csv',
    (n) =>
      `${3_400_000_000 + n},${named(n).c},${named(n).v},${5e9 + n},${5e9 + n + 1},${at(n)}000,false,true`,
    {
      head: [
        'agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker,is_best_match',
      ],
      barMs: 0,
      pair: 'btcusdc',
    },
  ),
  'CryptoDataDownload hours, newest first, with a 12-hour clock': reversed(
    csv('cryptodatadownload', 'x.csv', (n) => `${twelve(at(n, HOUR_MS))},BTCUSD,${figures(n).join(',')},99`, {
      head: [`Timestamps are UTC timezone,${CDD}`, 'date,symbol,open,high,low,close,volume_btc,volume'],
      barMs: HOUR_MS,
      pair: 'btcusd',
    }),
  ),
  'CryptoDataDownload hours that change from seconds to milliseconds': reversed(
    csv(
      'cryptodatadownload',
      'x.csv',
      (n) => {
        const ms = at(n, HOUR_MS);
        return `${n < 5 ? ms / 1000 : ms},${blank(ms)},BTC/USDT,${figures(n).join(',')},99,7`;
      },
      {
        head: [CDD, 'unix,date,symbol,open,high,low,close,Volume BTC,Volume USDT,tradecount'],
        barMs: HOUR_MS,
        pair: 'btcusdt',
      },
    ),
  ),
  'CoinAPI periods': csv(
    'coinapi',
    'x.csv',
    (n) => {
      const { o, h, l, c, v } = named(n);
      const [from, until] = [at(n), at(n + 1)].map((ms) => iso(ms).replace('.000Z', '.0000000Z'));
      return `${from},${until},${from},${until},${o},${c},${l},${h},${v},7`;
    },
    { head: [COINAPI] },
  ),
  'Bitstamp minutes from Kaggle, with minutes without trades': csv(
    'bitstamp',
    'bitstampUSD.csv',
    (n) => {
      const row = `${at(n) / 1000},${figures(n).join(',')},1,2`;
      return n === 6 ? `${row}\n${(at(n) + 30_000) / 1000},NaN,NaN,NaN,NaN,NaN,NaN,NaN` : row;
    },
    { head: ['Timestamp,Open,High,Low,Close,Volume_(BTC),Volume_(Currency),Weighted_Price'] },
  ),
  'Kraken OHLCVT': csv('kraken', 'XBTUSD_1.csv', (n) => `${at(n) / 1000},${figures(n).join(',')},${n}`, {
    pair: 'btcusd',
  }),
  'Kraken arrays of the API, with the weighted price': json('kraken', 'x.json', (n) => {
    const { o, h, l, c, v } = named(n);
    return [at(n) / 1000, o, h, l, c, o, v, n];
  }),
  'Bitfinex columns': csv('bitfinex', 'x.csv', (n) => {
    const { o, h, l, c, v } = named(n);
    return `${at(n)},${o},${c},${h},${l},${v}`;
  }),
  'Bitfinex arrays of the API, newest first': json('bitfinex', 'x.json', (n) => {
    const [o, h, l, c, v] = figures(ROWS - 1 - n).map(Number);
    return [at(ROWS - 1 - n), o, c, h, l, v];
  }),
  'Coinbase arrays of the API, newest first': json('coinbase', 'x.json', (n) => {
    const [o, h, l, c, v] = figures(ROWS - 1 - n).map(Number);
    return [at(ROWS - 1 - n) / 1_000, l, h, o, c, v];
  }),
  'freqtrade arrays': json('freqtrade', 'LTC_BTC-1m.json', (n) => [at(n), ...figures(n).map(Number)], {
    pair: 'ltcbtc',
  }),
  'LEAN minutes of a day': csv(
    'lean',
    '20240330_btcusd_minute_trade.csv',
    (n) => `${72_000_000 + n * MINUTE_MS},${figures(n).join(',')}`,
    { pair: 'btcusd' },
  ),
  'LEAN ticks of a day': csv(
    'lean',
    '20240330_btcusd_tick_trade.csv',
    (n) => `${72_000_000 + n * MINUTE_MS},${named(n).c},${named(n).v}`,
    { barMs: 0, pair: 'btcusd' },
  ),
  'LEAN hours': csv(
    'lean',
    'ethusd.csv',
    (n) => `${blank(at(n, HOUR_MS)).slice(0, 16).replaceAll('-', '')},${figures(n).join(',')}`,
    { barMs: HOUR_MS, pair: 'ethusd' },
  ),
  'bitcoincharts trades': csv(
    'bitcoincharts',
    'bitstampUSD.csv',
    (n) => `${at(n) / 1000},${named(n).c}00000000,${named(n).v}`,
    { barMs: 0 },
  ),
  'Tardis trades': csv(
    'tardis',
    'x.csv',
    (n) => `deribit,BTC-USD,${at(n)}000,${at(n)}307,id${n},sell,${named(n).c},${named(n).v}`,
    { head: ['exchange,symbol,timestamp,local_timestamp,id,side,price,amount'], barMs: 0, pair: 'btcusd' },
  ),
  'BitMEX trades': csv(
    'bitmex',
    '20240330.csv',
    (n) =>
      `${iso(at(n)).replace('T', 'D').slice(0, 23)}000000,XBTUSD,Sell,99,${named(n).c},PlusTick,id${n},1,${named(n).v},2`,
    {
      head: [
        'timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,foreignNotional',
      ],
      barMs: 0,
      pair: 'xbtusd',
    },
  ),
  'rows with named columns': csv(
    'named',
    'x.csv',
    (n) => `${named(n).c};${named(n).l};${named(n).h};${named(n).o};${blank(at(n))}`,
    { head: ['Close;Low;High;Open;Date'] },
  ),
};

export const packed = (text: string): Uint8Array => gzipSync(text);
