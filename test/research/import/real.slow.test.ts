import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { importTape } from '../../../src/research/import/read.ts';
import type { ImportOptions } from '../../../src/research/import/read.ts';
import { isoOf, instant } from '../../../src/core/time.ts';

/** Real files, checked against the figures that were counted when they were collected. */

const DATA = fileURLToPath(new URL('../../../../shared/data/', import.meta.url));
const hasData = existsSync(`${DATA}manifest.csv`);
const read = async (file: string, options: ImportOptions = {}) =>
  await importTape([{ name: file, bytes: readFileSync(DATA + file) }], options);
const textOf = (file: string): string => gunzipSync(readFileSync(DATA + file)).toString();

interface Known {
  readonly rows: number;
  readonly first?: string;
  readonly last?: string;
  readonly missing?: number;
  readonly longest?: number;
  readonly options?: ImportOptions;
  readonly pair?: string;
}
const BTC = { pair: 'btcusd' };
const files: Readonly<Record<string, Known>> = {
  'binance-api_ZECUSDT_1d.csv.gz': { rows: 2480, missing: 0, options: { pair: 'zecusdt' } },
  'binance-vision_usdm_NEARUSDT-1m-2025-11.csv.gz': { rows: 43_200, first: '2025-11-01T00:00', last: '2025-11-30T23:59', missing: 0, pair: 'nearusdt' },
  'bitcoincharts_bitstampUSD.csv.gz': { rows: 9_999, first: '2011-09-13T13:53:36', last: '2012-05-31T08:41:18', options: BTC },
  'bitfinex_api_LTCUSD_1m_2016_merged.csv.gz': { rows: 41_250, first: '2016-01-01T00:05', last: '2016-12-31T22:54', options: { pair: 'ltcusd' } },
  'coinapi_ETH_1HRS_to_2018.csv.gz': { rows: 11_946, first: '2017-08-20T22:00', last: '2018-12-31T23:00', missing: 8, longest: 2, options: { pair: 'ethusd' } },
  'cryptodatadownload_Coinbase_BTCUSD_1h_to_2018.csv.gz': { rows: 13_165, first: '2017-07-01T11:00', last: '2018-12-31T23:00', missing: 0, options: { sort: true }, pair: 'btcusd' },
  'cryptodatadownload_Coinbase_BTCUSD_d_to_2018.csv': { rows: 1_492, last: '2018-12-31', pair: 'btcusd' },
  'darufinance_SOLUSDT_1h_to_2021.csv.gz': { rows: 12_167, first: '2020-08-11T06:00', last: '2021-12-31T23:00', missing: 19, options: { pair: 'solusdt' } },
  'freqtrade_FLOW_USDT-1h.json.gz': { rows: 10_504, first: '2021-07-30T13:00', pair: 'flowusdt' },
  'freqtrade_UNITTEST_BTC-8m.json.gz': { rows: 13_681, last: '2017-11-14T22:59', pair: 'unittestbtc' },
  'tardis_bitmex_trades_XBTUSD.csv': { rows: 10, first: '2020-03-01T00:00:03.145', pair: 'xbtusd' },
  'lean/crypto/binance/hour/btcusdt_trade.zip': { rows: 120, first: '2018-05-01T00:00', last: '2018-05-05T23:00', missing: 0, pair: 'btcusdt' },
  'lean/crypto/coinbase/daily/btcusd_trade.zip': { rows: 1_318, first: '2014-12-01', last: '2018-08-13', pair: 'btcusd' },
  'lean/crypto/coinbase/minute/btcusd/20180404_trade.zip': { rows: 1_007, first: '2018-04-04T00:00', pair: 'btcusd' },
  'lean/crypto/coinbase/minute/btcusd/20180404_quote.zip': { rows: 1_437, last: '2018-04-04T23:58', pair: 'btcusd' },
  'lean/crypto/coinbase/minute/ethusd/20180405_quote.zip': { rows: 1_438, pair: 'ethusd' },
  'lean/crypto/coinbase/minute/ltcusd/20180406_trade.zip': { rows: 1_440, missing: 0, pair: 'ltcusd' },
  'lean/crypto/coinbase/second/btcusd/20161007_trade.zip': { rows: 4_063, first: '2016-10-07T00:00:04', pair: 'btcusd' },
}; // prettier-ignore

describe(`real files${!hasData ? ` (skipped: there is no market data in ${DATA})` : ''}`, () => {
  it.runIf(hasData).each(Object.entries(files))('yield all rows of %s', async (name, known) => {
    const { tape, report } = await read(`originals/${name}`, known.options);
    expect(report.rows).toBe(known.rows);
    expect(tape.pair).toBe(known.pair ?? known.options?.pair);
    expect(isoOf(instant(report.first))).toContain(known.first ?? '');
    expect(isoOf(instant(report.last))).toContain(known.last ?? '');
    expect(report.gaps.missing).toBe(known.missing ?? report.gaps.missing);
    expect(report.gaps.longest?.bars).toBe(known.longest ?? report.gaps.longest?.bars);
    expect(report).toMatchObject({
      offGrid: 0,
      duplicates: { identical: 0, conflicting: 0 },
      rounded: { prices: 0 },
    });
  });

  it.runIf(hasData)('yield the bars of the normalised files, although their layouts differ', async () => {
    const twins = {
      'binance-vision_usdm_NEARUSDT-1m-2025-11.csv.gz': 'bars_1m/binance-usdm_NEARUSDT_1m_2025-11.csv.gz',
      'coinapi_ETH_1HRS_to_2018.csv.gz': 'bars_1h/coinapi_ETHUSD_1h_to_2018.csv.gz',
      'cryptodatadownload_Coinbase_BTCUSD_1h_to_2018.csv.gz':
        'bars_1h/coinbase_BTCUSD_1h_2017-07_2018.csv.gz',
    };
    for (const [original, normalised] of Object.entries(twins)) {
      const [a, b] = [
        await read(`originals/${original}`, { pair: 'btcusd', sort: true }),
        await read(normalised, BTC),
      ];
      expect([original, a.tape.hash]).toEqual([original, b.tape.hash]);
    }
  });

  it.runIf(hasData)('have the figures of the manifest', async () => {
    const all: readonly Readonly<Record<string, string>>[] = parse(readFileSync(`${DATA}manifest.csv`), {
      columns: true,
    });
    const rows = all.filter(({ file }) => file?.startsWith('bars_'));
    expect(rows.length).toBe(40);
    for (const row of rows) {
      const { tape, report } = await read(row['file'] ?? '', BTC);
      expect({
        rows: String(tape.rows),
        step_s: String(tape.barMs / 1000),
        first: isoOf(instant(report.first)).replace('.000', ''),
        last: isoOf(instant(report.last)).replace('.000', ''),
        missing_bars: String(report.gaps.missing),
        longest_gap_bars: String(report.gaps.longest?.bars ?? 0),
        zero_volume: String(report.zeroVolume),
        max_abs_close_move_pct: String(report.largestMove?.percent),
      }).toEqual({
        rows: row['rows'],
        step_s: row['step_s'],
        first: row['first'],
        last: row['last'],
        missing_bars: row['missing_bars'],
        longest_gap_bars: row['longest_gap_bars'],
        zero_volume: row['zero_volume'],
        max_abs_close_move_pct: row['max_abs_close_move_pct'],
      });
    }
  });

  it.runIf(hasData)('keep every digit of their prices', async () => {
    const file = 'bars_1h/binance_XRPUSDT_1h_2020_2021.csv.gz';
    const { tape } = await read(file, BTC);
    const rows = textOf(file)
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
    expect(Array.from(tape.close, String)).toEqual(rows.map((row) => String(Number(row[4]))));
    expect([...tape.high]).toEqual(rows.map((row) => Number(row[2])));
    expect([...tape.volume]).toEqual(rows.map((row) => Number(row[5])));
  });

  it.runIf(hasData)('are refused with the row if their rows are not in order', async () => {
    await expect(read('originals/cryptodatadownload_Coinbase_BTCUSD_1h_to_2018.csv.gz')).rejects.toThrow(
      ':9955: its time 2017-11-12T08:00:00.000Z is after the time of the previous row',
    );
  });

  it.runIf(hasData)('are refused if a spreadsheet damaged them', async () => {
    await expect(
      read('originals/cryptodatadownload_spreadsheet-damaged_Binance_SOLUSDT_1h.csv.gz'),
    ).rejects.toThrow('a spreadsheet changed them, so use the file as published');
  });

  it.runIf(hasData)('are refused with a message if they contain quotes, books or funding', async () => {
    for (const file of [
      'originals/binance-usdm_btcusdt-depth-snap.csv',
      'originals/tardis_binance-futures_book_snapshot_5_BTCUSDT.csv',
      'originals/tardis_huobi-dm-swap_quotes_BTC-USD.csv',
      'ticks/binance-spot_BTCUSDT_bbo_2024-08-08T2354.csv.gz',
    ])
      await expect(read(file)).rejects.toThrow('means quotes, an order book or funding');
    for (const file of [
      'funding/binance-usdm_BTCUSDT_funding_8h_2022_2023.csv.gz',
      'funding/BTC_funding_daily_mean_2019_2023.csv.gz',
    ])
      await expect(read(file)).rejects.toThrow(
        /its column funding\w+ means quotes, an order book or funding/u,
      );
    for (const file of [
      'originals/hftbacktest_binance-spot_btcusdt_20240808.gz',
      'originals/lean/cryptofuture/binance/margin_interest/btcusd.csv',
      'closes_1d/two-venue_BTC_ETH_daily_close_2017_2023.csv.gz',
    ])
      await expect(read(file)).rejects.toThrow('no known layout: it begins');
  });
});
