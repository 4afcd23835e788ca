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

export const samples: Readonly<Record<string, Sample>> = {
  'Tranche bars': {
    format: 'tranche',
    name: 'bars.csv',
    text: lines((n) => `${at(n)},${figures(n).join(',')}`, ['timestamp_ms,open,high,low,close,volume']),
    head: 1,
    barMs: MINUTE_MS,
  },
  'Tranche closes': {
    format: 'tranche',
    name: 'closes.csv',
    text: lines((n) => `${at(n)},${figures(n)[3]}`, ['timestamp_ms,close']),
    head: 1,
    barMs: MINUTE_MS,
  },
  'Tranche trades': {
    format: 'tranche',
    name: 'trades.csv',
    text: lines(
      (n) => `${at(n)},${figures(n)[3]},${figures(n)[4]},buy`,
      ['timestamp_ms,price,quantity,side'],
    ),
    head: 1,
    barMs: 0,
  },
  'Binance klines in milliseconds with a header': {
    format: 'binance',
    name: 'BTCUSDT-1m-2024-03.csv',
    text: lines((n) => kline(n, 1), [KLINES]),
    head: 1,
    barMs: MINUTE_MS,
    pair: 'btcusdt',
  },
  'Binance klines in microseconds without a header': {
    format: 'binance',
    name: 'ETHUSDC-1m-2025-03.csv',
    text: lines((n) => kline(n, 1_000)),
    head: 0,
    barMs: MINUTE_MS,
    pair: 'ethusdc',
  },
  'Binance arrays of the API': {
    format: 'binance',
    name: 'klines.json',
    text: arrays((n) => {
      const [o, h, l, c, v] = figures(n);
      return [at(n), o, h, l, c, v, at(n) + MINUTE_MS - 1, '1.5', 2, '3', '4', '0'];
    }),
    head: 0,
    barMs: MINUTE_MS,
  },
  'Binance klines with times as text': {
    format: 'binance',
    name: 'x.csv',
    text: lines((n) => kline(n, 1).replace(/^\d+/u, `${blank(at(n))}+00:00`), [KLINES]),
    head: 1,
    barMs: MINUTE_MS,
  },
  'Binance trades without a header': {
    format: 'binance',
    name: 'BTCUSDT-trades-2024-03.csv',
    text: lines((n) => `${5_000_000_000 + n},${figures(n)[3]},${figures(n)[4]},9.5,${at(n)},True,True`),
    head: 0,
    barMs: 0,
    pair: 'btcusdt',
  },
  'Binance aggregate trades in microseconds': {
    format: 'binance',
    name: 'BTCUSDC-aggTrades-2025-03.csv',
    text: lines(
      (n) =>
        `${3_400_000_000 + n},${figures(n)[3]},${figures(n)[4]},${5_300_000_000 + n},${5_300_000_001 + n},${at(n)}000,false,true`,
      ['agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker,is_best_match'],
    ),
    head: 1,
    barMs: 0,
    pair: 'btcusdc',
  },
  'CryptoDataDownload hours, newest first, with a 12-hour clock': {
    format: 'cryptodatadownload',
    name: 'x.csv',
    text: newestFirst(
      lines(
        (n) => `${twelve(at(n, HOUR_MS))},BTCUSD,${figures(n).join(',')},99`,
        [
          'Timestamps are UTC timezone,https://www.CryptoDataDownload.com',
          'date,symbol,open,high,low,close,volume_btc,volume',
        ],
      ),
      2,
    ),
    head: 2,
    barMs: HOUR_MS,
    pair: 'btcusd',
  },
  'CryptoDataDownload hours that change from seconds to milliseconds': {
    format: 'cryptodatadownload',
    name: 'x.csv',
    text: newestFirst(
      lines(
        (n) => {
          const ms = at(n, HOUR_MS);
          return `${n < 5 ? ms / 1000 : ms},${blank(ms)},BTC/USDT,${figures(n).join(',')},99,7`;
        },
        [
          'https://www.CryptoDataDownload.com',
          'unix,date,symbol,open,high,low,close,Volume BTC,Volume USDT,tradecount',
        ],
      ),
      2,
    ),
    head: 2,
    barMs: HOUR_MS,
    pair: 'btcusdt',
  },
  'CoinAPI periods': {
    format: 'coinapi',
    name: 'x.csv',
    text: lines(
      (n) => {
        const [o, h, l, c, v] = figures(n);
        const [from, until] = [at(n), at(n + 1)].map((ms) => iso(ms).replace('.000Z', '.0000000Z'));
        return `${from},${until},${from},${until},${o},${c},${l},${h},${v},7`;
      },
      [COINAPI],
    ),
    head: 1,
    barMs: MINUTE_MS,
  },
  'Bitstamp minutes from Kaggle, with minutes without trades': {
    format: 'bitstamp',
    name: 'bitstampUSD.csv',
    text: lines(
      (n) => {
        const [o, h, l, c, v] = figures(n);
        const row = `${at(n) / 1000},${o},${h},${l},${c},${v},1,2`;
        return n === 6 ? `${row}\n${(at(n) + 30_000) / 1000},NaN,NaN,NaN,NaN,NaN,NaN,NaN` : row;
      },
      ['Timestamp,Open,High,Low,Close,Volume_(BTC),Volume_(Currency),Weighted_Price'],
    ),
    head: 1,
    barMs: MINUTE_MS,
  },
  'Kraken OHLCVT': {
    format: 'kraken',
    name: 'XBTUSD_1.csv',
    text: lines((n) => `${at(n) / 1000},${figures(n).join(',')},${n}`),
    head: 0,
    barMs: MINUTE_MS,
    pair: 'btcusd',
  },
  'Kraken arrays of the API, with the weighted price': {
    format: 'kraken',
    name: 'x.json',
    text: arrays((n) => {
      const [o, h, l, c, v] = figures(n);
      return [at(n) / 1000, o, h, l, c, o, v, n];
    }),
    head: 0,
    barMs: MINUTE_MS,
  },
  'Bitfinex columns': {
    format: 'bitfinex',
    name: 'x.csv',
    text: lines((n) => {
      const [o, h, l, c, v] = figures(n);
      return `${at(n)},${o},${c},${h},${l},${v}`;
    }),
    head: 0,
    barMs: MINUTE_MS,
  },
  'Bitfinex arrays of the API, newest first': {
    format: 'bitfinex',
    name: 'x.json',
    text: arrays((n) => {
      const [o, h, l, c, v] = figures(ROWS - 1 - n).map(Number);
      return [at(ROWS - 1 - n), o, c, h, l, v];
    }),
    head: 0,
    barMs: MINUTE_MS,
  },
  'Coinbase arrays of the API, newest first': {
    format: 'coinbase',
    name: 'x.json',
    text: arrays((n) => {
      const [o, h, l, c, v] = figures(ROWS - 1 - n).map(Number);
      return [at(ROWS - 1 - n) / 1_000, l, h, o, c, v];
    }),
    head: 0,
    barMs: MINUTE_MS,
  },
  'freqtrade arrays': {
    format: 'freqtrade',
    name: 'LTC_BTC-1m.json',
    text: arrays((n) => [at(n), ...figures(n).map(Number)]),
    head: 0,
    barMs: MINUTE_MS,
    pair: 'ltcbtc',
  },
  'LEAN minutes of a day': {
    format: 'lean',
    name: '20240330_btcusd_minute_trade.csv',
    text: lines((n) => `${72_000_000 + n * MINUTE_MS},${figures(n).join(',')}`),
    head: 0,
    barMs: MINUTE_MS,
    pair: 'btcusd',
  },
  'LEAN ticks of a day': {
    format: 'lean',
    name: '20240330_btcusd_tick_trade.csv',
    text: lines((n) => `${72_000_000 + n * MINUTE_MS},${figures(n)[3]},${figures(n)[4]}`),
    head: 0,
    barMs: 0,
    pair: 'btcusd',
  },
  'LEAN hours': {
    format: 'lean',
    name: 'ethusd.csv',
    text: lines((n) => `${blank(at(n, HOUR_MS)).slice(0, 16).replaceAll('-', '')},${figures(n).join(',')}`),
    head: 0,
    barMs: HOUR_MS,
    pair: 'ethusd',
  },
  'bitcoincharts trades': {
    format: 'bitcoincharts',
    name: 'bitstampUSD.csv',
    text: lines((n) => `${at(n) / 1000},${figures(n)[3]}00000000,${figures(n)[4]}`),
    head: 0,
    barMs: 0,
  },
  'Tardis trades': {
    format: 'tardis',
    name: 'x.csv',
    text: lines(
      (n) => `deribit,BTC-USD,${at(n)}000,${at(n)}307,id${n},sell,${figures(n)[3]},${figures(n)[4]}`,
      ['exchange,symbol,timestamp,local_timestamp,id,side,price,amount'],
    ),
    head: 1,
    barMs: 0,
    pair: 'btcusd',
  },
  'BitMEX trades': {
    format: 'bitmex',
    name: '20240330.csv',
    text: lines(
      (n) =>
        `${iso(at(n)).replace('T', 'D').slice(0, 23)}000000,XBTUSD,Sell,99,${figures(n)[3]},PlusTick,id${n},1,${figures(n)[4]},2`,
      ['timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,foreignNotional'],
    ),
    head: 1,
    barMs: 0,
    pair: 'xbtusd',
  },
  'rows with named columns': {
    format: 'named',
    name: 'x.csv',
    text: lines(
      (n) => {
        const [o, h, l, c] = figures(n);
        return `${c};${l};${h};${o};${blank(at(n))}`;
      },
      ['Close;Low;High;Open;Date'],
    ),
    head: 1,
    barMs: MINUTE_MS,
  },
};

export const packed = (text: string): Uint8Array => gzipSync(text);
