import { describe, expect, it } from 'vitest';
import { importTape } from '../../../src/research/import/read.ts';
import { bar, bars, read, refusal } from './reading.ts';

const T = 1_609_459_200;
const rows = (times: readonly (string | number)[]): string =>
  `timestamp,open,high,low,close,volume\n${times.map((at) => `${at},1,2,1,2,5\n`).join('')}`;

describe('rows of several markets in one file', () => {
  it.each([
    [
      'tardis',
      'exchange,symbol,timestamp,local_timestamp,id,side,price,amount',
      (s: string, n: number, p: number) => `binance,${s},${T + n}000000,${T + n}000000,${n},buy,${p},1`,
    ],
    [
      'bitmex',
      'timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,foreignNotional',
      (s: string, n: number, p: number) =>
        `2021-01-01D00:00:0${n}.000000000,${s},Buy,100,${p},PlusTick,x,1,0.1,100`,
    ],
    ['named', 'time,market,price,quantity', (s: string, n: number, p: number) => `${T + n},${s},${p},1`],
    [
      'cryptodatadownload',
      'unix,date,symbol,open,high,low,close,Volume BTC',
      (s: string, n: number, p: number) => `${T + 60 * n},2021-01-01,${s},${p},${p},${p},${p},1`,
    ],
  ] as const)('are refused with the row: %s', async (_, head, row) => {
    const file = (...symbols: readonly string[]): string =>
      `${head}\n${symbols.map((symbol, n) => `${row(symbol, n, symbol === 'ETHUSD' ? 900 : 30_000)}\n`).join('')}`;
    expect(await refusal(file('BTCUSD', 'BTCUSD', 'ETHUSD', 'BTCUSD'))).toContain(
      'x.csv:4: its symbol is ethusd, but the symbol of earlier rows is btcusd',
    );
    expect([...(await read(file('BTC/USD', 'BTCUSD', 'BTC-USD'))).tape.close]).toEqual([30_000, 30_000, 30_000]); // prettier-ignore
  });
});

describe('the volumes of an import', () => {
  const cdd = (volumes: string, row: string): string =>
    `https://www.CryptoDataDownload.com\nunix,date,symbol,open,high,low,close,${volumes}\n1725062400000,2024-08-31 00:00:00,BTC/USD,9,9,9,9,${row}\n1724976000000,2024-08-30 00:00:00,BTC/USD,9,9,9,9,${row}\n`;

  it.each(['Volume USD,Volume BTC', 'volume,Volume BTC', 'Volume USDT,Volume BTC'])(
    'are those of the base currency, in whichever column they are: %s',
    async (head) => {
      expect([...(await read(cdd(head, '4800,800'))).tape.volume]).toEqual([800, 800]);
    },
  );

  it('are missing if the file has only quote volume', async () => {
    const { report } = await read(cdd('Volume USD', '4800'));
    expect([report.withoutVolume, report.notes[0]]).toEqual([2, 'x.csv: no volume: the file has only quote volume']); // prettier-ignore
  });

  it('are selected by the given pair if the file names no symbol', async () => {
    const text = `time,open,high,low,close,Volume USD,Volume BTC\n${T},1,2,1,2,500,5\n${T + 60},1,2,1,2,500,5\n`;
    expect([...(await read(text)).tape.volume]).toEqual([5, 5]);
    expect([...(await read(text, { pair: 'usdbtc' })).tape.volume]).toEqual([500, 500]);
  });

  it('are missing if Binance counts contracts', async () => {
    const klines = (volume: number, money: number): string =>
      Array.from({ length: 3 }, (_, n) => `${T + 60 * n}000,30000,30001,29999,30000,${volume},${T + 60 * n + 59}999,${money},3,4,5,0\n`).join(''); // prettier-ignore
    expect((await read(klines(6_000, 20))).report).toMatchObject({
      withoutVolume: 3,
      notes: ['x.csv: no volume: it counts contracts, not base currency'],
    });
    expect([...(await read(klines(20, 600_000))).tape.volume]).toEqual([20, 20, 20]);
  });

  it('are not compared with a column of a Binance header that is not quote volume', async () => {
    const klines = (more: string): string =>
      `open_time,open,high,low,close,volume,close_time,${more}\n${T}000,30000,30001,29999,30000,20,${T + 59}999,7\n`;
    expect([...(await read(klines('trades'))).tape.volume]).toEqual([20]);
    expect((await read(klines('quote_av'))).report.withoutVolume).toBe(1);
  });

  it('are read from the Kraken layout only if its weighted price fits the bar', async () => {
    const wide = (more: string): string => `${T},10,12,9,11,${more},3\n${T + 60},10,12,9,11,${more},3\n`;
    expect(await refusal(wide('5,55'))).toContain('x.csv: no known layout');
    expect([...(await read(wide('10.5,5'))).tape.volume]).toEqual([5, 5]);
    expect([...(await read(wide('0,0'))).tape.volume]).toEqual([0, 0]);
  });

  it('are read from the column that the header of Binance trades names', async () => {
    const text = `id,qty,price,quote_qty,time,is_buyer_maker\n1,0.5,30000,15000,${T}000,true\n`;
    const { tape } = await read(text);
    expect([tape.close[0], tape.volume[0]]).toEqual([30_000, 0.5]);
  });
});

describe('the times of an import', () => {
  it.each([
    ['microseconds, then milliseconds', [1_735_689_660_000_000, 1_735_689_600_000_000, 1_735_689_540_000]],
    ['milliseconds, then seconds', [1_735_689_660_000, 1_735_689_600_000, 1_735_689_540]],
  ])('are refused if their unit changes: %s', async (_, times) => {
    expect(await refusal(rows(times))).toContain(
      `x.csv:4: its time ${times[2] ?? 0} is in a different unit from the first`,
    );
  });

  it('are accepted in the first years after 1970 if the options or the header state the unit', async () => {
    expect((await read(rows([120_000, 60_000]), { unit: 'ms' })).report.first).toBe(60_000);
    expect((await read(bars(bar(2), bar(1)))).report.first).toBe(60_000);
  });

  it.each(['2021010100', '202101010000'])('are refused if they may be calendar dates: %s', async (time) => {
    expect(await refusal(rows([time]))).toBe(
      `x.csv: its times, such as "${time}", are neither Unix time nor ISO 8601`,
    );
    expect((await read(rows([time]), { unit: 'ms', barMs: 1 })).report.first).toBe(Number(time));
  });
});

describe('other ambiguous files', () => {
  it('are refused if a bar has a price column instead of a close', async () => {
    expect(await refusal('Date,Price,Open,High,Low\n2021-01-02,5,4,6,3\n2021-01-01,4,4,6,3\n')).toBe(
      'x.csv: its header names no close: name the columns of a bar open, high, low, close',
    );
  });

  it('are refused if their trades overlap, sorted or not', async () => {
    const trades = (name: string, ...times: readonly number[]) => ({ name, bytes: Buffer.from(`timestamp_ms,price,quantity,side\n${times.map((at) => `${at},1,1,buy\n`).join('')}`) }); // prettier-ignore
    const month = trades('month.csv', 1, 7, 5, 9);
    await expect(
      importTape([month, trades('day.csv', 7, 9)], { pair: 'btcusd', sort: true }),
    ).rejects.toThrow('day.csv:2: its time 1970-01-01T00:00:00.007Z is before the last trade of month.csv');
    const { tape } = await importTape([month, trades('day.csv', 9, 11)], { pair: 'btcusd', sort: true });
    expect([...tape.times]).toEqual([1, 5, 7, 9, 9, 11]);
  });

  it('are reported in a short message, however long a cell is', async () => {
    const long = `"1,${'2\n'.repeat(100_000)}"`;
    expect((await refusal(`time,price\n${T},${long}\n`)).length).toBeLessThan(200);
    expect((await refusal(`time,price\n2021-01-01,1\n${'9'.repeat(100_000)},1\n`)).length).toBeLessThan(200);
  });
});
