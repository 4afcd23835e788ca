import {
  columnFromArray,
  float64,
  int64,
  tableFromColumns,
  tableToIPC,
  timestamp,
  utf8,
} from '@uwdata/flechette';
import { parquetWriteBuffer } from 'hyparquet-writer';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decimalOf, integerOf, shortest32 } from '../../../src/backtest/import/cells.ts';
import { lz4Block, lz4Frame } from '../../../src/backtest/import/lz4.ts';
import { importTape } from '../../../src/backtest/import/read.ts';
import type { ImportOptions } from '../../../src/backtest/import/read.ts';
import { Cells, NO_NUMBER } from '../../../src/backtest/import/scan.ts';
import { textTime } from '../../../src/backtest/import/times.ts';
import { decimalText } from '../../../src/backtest/tape.ts';
import { OperatorError } from '../../../src/core/errors.ts';

const HEAD = 'timestamp_ms,open,high,low,close,volume';
const read = async (content: string | Uint8Array, options: ImportOptions = {}, name = 'x.csv') =>
  await importTape([{ name, bytes: Buffer.from(content) }], { pair: 'btcusd', ...options });
const refusal = async (...given: Parameters<typeof read>): Promise<string> => {
  try {
    await read(...given);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'taken';
};
const bars = (...rows: readonly string[]): string => [HEAD, ...rows, ''].join('\n');
const bar = (minute: number, rest = '2,3,1,2.5,7'): string => `${minute * 60_000},${rest}`;

describe('an import', () => {
  it('counts missing bars, holes and the longest of them', async () => {
    const { report } = await read(bars(...[1, 2, 3, 5, 6, 10, 11, 13].map((minute) => bar(minute))));
    expect(report.gaps).toEqual({ missing: 5, holes: 3, longest: { bars: 3, after: 360_000 } });
    expect(report).toMatchObject({ barMs: 60_000, rows: 8, offGrid: 0, largestMove: undefined });
  });

  it('turns round what is newest first, also trades of one instant, and says so', async () => {
    const { report } = await read(bars(bar(3), bar(2), bar(1)));
    expect([report.first, report.notes]).toEqual([60_000, ['x.csv: newest first: turned round']]);
    const { tape } = await read(
      'timestamp_ms,price,quantity,side\n9,4,1,buy\n5,3,1,buy\n5,2,1,buy\n1,1,1,buy\n',
    );
    expect([...tape.close]).toEqual([1, 2, 3, 4]);
  });

  it('joins trades of files that follow one another, and refuses those that overlap', async () => {
    const trades = (...rows: readonly string[]) => ({ name: `${rows[0] ?? ''}.csv`, bytes: Buffer.from(['timestamp_ms,price,quantity,side', ...rows].join('\n')) }); // prettier-ignore
    const [late, early, between] = [trades('7,3,1,buy', '9,4,1,buy'), trades('1,1,1,buy', '5,2,1,buy'), trades('4,1,1,buy')]; // prettier-ignore
    const { tape } = await importTape([late, early], { pair: 'btcusd' });
    expect([...tape.close]).toEqual([1, 2, 3, 4]);
    await expect(importTape([early, between], { pair: 'btcusd' })).rejects.toThrow(
      '4,1,1,buy.csv:2: its time',
    );
  });

  const DAMAGED = 'unix,date,time,symbol,open,high,low,close,Volume BTC,Volume USDT,tradecount';
  it.each([
    [
      'dates that do not tell day from month',
      `${DAMAGED.replace('unix,', '')}\n06-12-21,00:00:00,BTC/USDT,1,1,1,1,1,1,1\n`,
    ],
    [
      'dates that do not fit what is left of unix',
      `${DAMAGED}\n1.63875E+12,25-12-21,00:00:00,BTC/USDT,1,1,1,1,1,1,1\n`,
    ],
    ['no time of day', `${DAMAGED.replace('time,', '')}\n1.63875E+12,06-12-21,BTC/USDT,1,1,1,1,1,1,1\n`],
  ])('refuses a file that went through a spreadsheet with %s', async (_, text) => {
    expect(await refusal(text)).toContain(
      'do not tell each time for sure: take the file as it was published',
    );
  });

  it('tells day from month by what is left of unix', async () => {
    const { report } = await read(`${DAMAGED}\n1.63875E+12,06-12-21,01:00:00,BTC/USDT,1,1,1,1,1,1,1\n1.63875E+12,06-12-21,00:00:00,BTC/USDT,1,1,1,1,1,1,1\n`); // prettier-ignore
    expect(report.first).toBe(Date.UTC(2021, 11, 6));
  });

  it('takes contracts of BitMEX for no volume', async () => {
    const text = (exchange: string) => `exchange,symbol,timestamp,local_timestamp,id,side,price,amount\n${exchange},XBTUSD,1583020803145000,1583020803307160,a,sell,8531.5,2152\n`; // prettier-ignore
    const { report } = await read(text('bitmex'));
    expect([report.withoutVolume, report.notes]).toEqual([1, ['x.csv: no volume: its amounts are contracts of BitMEX, not base currency']]); // prettier-ignore
    expect((await read(text('deribit'))).report.withoutVolume).toBe(0);
  });

  it('leaves out rows that say the same twice, and counts them', async () => {
    const { report } = await read(bars(bar(1), bar(2), bar(2), bar(2), bar(3)));
    expect(report).toMatchObject({ rows: 3, duplicates: { identical: 2, conflicting: 0 } });
  });

  it('refuses two bars of one time that differ, or keeps the one that is asked for', async () => {
    const text = bars(bar(1), bar(2), bar(2, '2,9,1,2.5,7'), bar(3));
    expect(await refusal(text)).toBe(
      'x.csv:4: its time 1970-01-01T00:02:00.000Z stands at x.csv:3 with other figures: mend the file, or say --keep first or --keep last',
    );
    expect([...(await read(text, { keep: 'first' })).tape.high]).toEqual([3, 3, 3]);
    const { tape, report } = await read(text, { keep: 'last' });
    expect([[...tape.high], report.duplicates.conflicting]).toEqual([[3, 9, 3], 1]);
  });

  it('counts bars off the grid, and refuses one that begins before the last has ended', async () => {
    const { report } = await read(bars(bar(1), bar(2), bar(3), bar(5.5), bar(6.5)));
    expect(report).toMatchObject({ offGrid: 1, gaps: { missing: 1 } });
    const many = Array.from({ length: 200 }, (_, n) => bar(n + 1));
    expect(await refusal(bars(...many, bar(200.5)))).toBe(
      'x.csv:202: begins before the bar before it, of 60000 ms, has ended',
    );
  });

  it('counts rows without volume or with volume 0, and the largest move', async () => {
    const { report } = await read(bars(bar(1, '2,3,1,2,0'), bar(2, '2,3,1,3,0'), bar(3)));
    expect(report).toMatchObject({
      zeroVolume: 2,
      withoutVolume: 0,
      largestMove: { percent: 50, at: 120_000 },
    });
  });

  it('reports prices that lose digits, and where', async () => {
    const { tape, report } = await read(
      bars(bar(1), bar(2, '2,3,1,2.12345678901234567,1.12345678901234567'), bar(3)),
    );
    expect(report.rounded).toEqual({ prices: 1, volumes: 1, firstAt: 'x.csv:3' });
    expect(tape.close[1]).toBe(2.123_456_789_012_345_67); // oxlint-disable-line no-loss-of-precision
  });

  const refused: Readonly<Record<string, readonly [string, string]>> = {
    'a high below its close': [bars(bar(1), bar(2, '2,2.25,1,2.5,7')), 'x.csv:3: its high 2.25 is below its close 2.5'],
    'a low above its open': [bars(bar(1), bar(2, '2,3,2.25,2.5,7')), 'x.csv:3: its low 2.25 is above its open 2'],
    'a price of zero': [bars(bar(1), bar(2, '2,3,0,2.5,7')), 'x.csv:3: its low 0 is not a price above zero'],
    'a price below zero': [bars(bar(1), bar(2, '2,3,-1,2.5,7')), 'x.csv:3: expected a price, got "-1"'],
    'an empty price': [bars(bar(1), bar(2, '2,3,,2.5,7')), 'x.csv:3: expected a price, got ""'],
    'a price that is not a number': [bars(bar(1), bar(2, '2,NaN,1,2.5,7')), 'x.csv:3: expected a price, got "NaN"'],
    'a cell more': [bars(bar(1), bar(2, '2,3,1,2.5,7,8')), 'x.csv:3: more than 6 cells, and each row has 6'],
    'an empty line amid the rows': [bars(bar(1), '', bar(2)), 'x.csv:3: an empty line amid the rows'],
    'a decimal comma': [bars(bar(1), '120000,"2,5",3,1,2.5,7'), 'x.csv:3: expected a plain number, date or name, got "2,5"'],
    'an open quote': [bars(bar(1), '120000,"2,3,1,2.5,7'), 'x.csv:3: Quote Not Closed'],
    'seconds under a header of milliseconds': [bars('1700000000,1,1,1,1,1'), 'looks like seconds: correct it, or say --unit s'],
    'microseconds under a header of milliseconds': [bars('1700000000000000,1,1,1,1,1'), 'looks like microseconds'],
    'no rows': [bars(), 'x.csv: no rows with prices'],
    'nothing': ['', 'x.csv: it is empty'],
    'one bar alone': [bars(bar(1)), 'x.csv:2: one bar does not tell how long it is: say --bar'],
    'something else': ['hello\nworld\n', 'x.csv: no known layout: it begins "hello"'],
    'a table of daily closes': ['date,us_close\n2020-01-01,1\n', 'no known layout'],
    'UTF-16': ['\uFFFDx'.replace('\uFFFD', '\u00FF\u00FE'), 'x.csv: no known layout'],
    'JSON that is no array': ['{"code":1}', 'x.csv: JSON, but not an array of candles'],
    'JSON of objects': ['[{"t":1}]', 'x.csv: element 1 is not an array'],
    'JSON with holes': ['[[1700000000000,1,1,1,1,null]]', 'x.csv: element 1 holds null, not a number'],
    'candles whose columns cannot be told': ['[[1700000000000,1,1,1,1,1],[1700000060000,1,1,1,1,1]]', 'fit two layouts'],
  }; // prettier-ignore
  it.each(Object.entries(refused))('refuses %s', async (_, [text, message]) => {
    expect(await refusal(text)).toContain(message);
  });

  it('refuses UTF-16 and other binary files', async () => {
    expect(await refusal(Buffer.from(`\uFEFF${bars(bar(1))}`, 'utf16le'))).toContain('is UTF-16');
    expect(await refusal(Buffer.from([1, 2, 0, 3]))).toContain('is binary');
  });

  it('takes what the operator says over what it found', async () => {
    const flat = '[[1700000000000,1,1,1,1,1],[1700000060000,1,1,1,1,1]]';
    expect((await read(flat, { format: 'bitfinex' })).report.sources[0]?.formats).toEqual(['bitfinex']);
    expect(await refusal(flat, { format: 'kraken' })).toContain('does not look like kraken');
    const seconds = bars('1700000000,1,1,1,1,1', '1700000060,1,1,1,1,1');
    expect((await read(seconds, { unit: 's' })).tape.times[0]).toBe(1_700_000_000_000);
    expect((await read(bars(bar(1), bar(3)), { barMs: 60_000 })).report.gaps.missing).toBe(1);
  });

  it('needs a pair, and refuses files of several', async () => {
    await expect(importTape([{ name: 'x.csv', bytes: Buffer.from(bars(bar(1), bar(2))) }])).rejects.toThrow(
      'say --pair',
    );
    const of = (symbol: string) => ({
      name: symbol,
      bytes: Buffer.from(`timestamp,symbol,price,amount\n1700000000000,${symbol},1,1\n`),
    });
    await expect(importTape([of('BTC-USD'), of('ETH-USD')])).rejects.toThrow('several pairs');
    expect((await importTape([of('BTC-USD')])).tape.pair).toBe('btcusd');
  });

  it('refuses bars of several lengths, as in the zips of Kraken', async () => {
    const of = (minutes: number) => ({
      name: `XBTUSD_${minutes}.csv`,
      bytes: Buffer.from(`1700000100,1,1,1,1,1,1\n${1_700_000_100 + 60 * minutes},1,1,1,1,1,1\n`),
    });
    await expect(importTape([of(1), of(5)])).rejects.toThrow(
      'bars of several lengths: import them one by one',
    );
    expect((await importTape([of(5)])).tape).toMatchObject({ pair: 'btcusd', barMs: 300_000 });
  });

  it('takes quotes, other line ends, a byte order mark and blank lines at the end', async () => {
    const { hash } = (await read(bars(bar(1), bar(2)))).tape;
    const spelt = [
      bars(bar(1), bar(2)).replaceAll('\n', '\r\n'),
      `\uFEFF${bars(bar(1), bar(2))}\n\n`,
      bars(bar(1), bar(2)).replaceAll(/[^,\n]+/gu, '"$&"'),
      bars(bar(1), bar(2)).trimEnd(),
    ];
    for (const text of spelt) expect((await read(text)).tape.hash).toBe(hash);
  });

  it('passes microseconds of trades through as milliseconds, and counts those that were finer', async () => {
    const { tape, report } = await read(
      'timestamp,price,amount\n1700000000000001,5,1\n1700000000001000,6,1\n',
    );
    expect([[...tape.times], report.cutTimes, report.of]).toEqual([
      [1_700_000_000_000, 1_700_000_000_001],
      1,
      'trades',
    ]);
    const barsOfMicros =
      'timestamp,open,high,low,close\n1700000000000001,1,1,1,1\n1700000060000001,1,1,1,1\n';
    expect(await refusal(barsOfMicros)).toContain('x.csv:2: a bar begins at a whole millisecond');
  });

  it('makes the middle of LEAN quotes exact', async () => {
    const text =
      '0,7424.9,7424.9,7424.9,7424.9,1,7424.91,7424.91,7424.91,7424.91,3\n60000,1,1,1,1,1,1.1,1.1,1.1,1.1,1\n';
    const { tape, report } = await read(text, {}, '20180404_btcusd_minute_quote.csv');
    expect([...tape.close].map(decimalText)).toEqual(['7424.905', '1.05']);
    const wide = await read('0,0.1,0.1,0.1,0.1,1,0.2,0.2,0.2,0.2,1\n60000,1,1,1,1,1,1,1,1,1,1\n', {}, '20180404_btcusd_minute_quote.csv'); // prettier-ignore
    expect(wide.tape.close[0]).toBe(0.15);
    expect([tape.pair, report.withoutVolume, tape.times[0]]).toEqual(['btcusd', 2, Date.UTC(2018, 3, 4)]);
    expect(
      await refusal(text.replace('1.1,1\n', '0.9,1\n'), {}, '20180404_btcusd_minute_quote.csv'),
    ).toContain('its ask 0.9 is below its bid 1');
  });

  it('divides prices where it is told to', async () => {
    const text =
      '34200000,1702500,1703000,1702000,1702700,500\n34260000,1702500,1703000,1702000,1702700,500\n';
    const { tape } = await read(
      text,
      { priceScale: 10_000, pair: undefined },
      '20131007_spyusd_minute_trade.csv',
    );
    expect([decimalText(tape.close[0] ?? 0), tape.pair]).toEqual(['170.27', 'spyusd']);
  });
});

describe('a zip file', () => {
  const entry = (
    name: string,
    text: string,
    over: { readonly crc?: number; readonly zip64?: boolean } = {},
  ) => {
    const raw = Buffer.from(text);
    const body = deflateRawSync(raw);
    return {
      name: Buffer.from(name),
      body,
      size: raw.length,
      crc: over.crc ?? crc32(raw),
      zip64: over.zip64 === true,
    };
  };
  const zip = (...entries: readonly ReturnType<typeof entry>[]): Buffer => {
    const locals: Buffer[] = [];
    const directory: Buffer[] = [];
    let at = 0;
    for (const { name, body, size, crc, zip64 } of entries) {
      const local = Buffer.alloc(30);
      local.writeUInt32LE(0x04034b50, 0);
      local.writeUInt16LE(name.length, 26);
      const extra = Buffer.alloc(zip64 ? 20 : 0);
      if (zip64) {
        extra.writeUInt16LE(1, 0);
        extra.writeUInt16LE(16, 2);
        extra.writeBigUInt64LE(BigInt(size), 4);
        extra.writeBigUInt64LE(BigInt(body.length), 12);
      }
      const head = Buffer.alloc(46);
      head.writeUInt32LE(0x02014b50, 0);
      head.writeUInt16LE(8, 10);
      head.writeUInt32LE(crc, 16);
      head.writeUInt32LE(zip64 ? 0xffffffff : body.length, 20);
      head.writeUInt32LE(zip64 ? 0xffffffff : size, 24);
      head.writeUInt16LE(name.length, 28);
      head.writeUInt16LE(extra.length, 30);
      head.writeUInt32LE(at, 42);
      locals.push(local, name, body);
      directory.push(head, name, extra);
      at += 30 + name.length + body.length;
    }
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(entries.length, 10);
    end.writeUInt32LE(at, 16);
    return Buffer.concat([...locals, ...directory, end]);
  };
  const text = bars(bar(1), bar(2));

  it('is read, with every file in it, and with sizes in its 64-bit field', async () => {
    const { tape, report } = await read(
      zip(entry('a/x.csv', text), entry('a/y.csv', bars(bar(3), bar(4)))),
      {},
      'x.zip',
    );
    expect([tape.rows, report.sources[0]?.container]).toEqual([4, 'zip']);
    expect((await read(zip(entry('x.csv', text, { zip64: true })), {}, 'x.zip')).tape.rows).toBe(2);
  });

  it('names the file in it and the row that is wrong', async () => {
    const packed = zip(entry('x.csv', text), entry('y.csv', bars(bar(3), bar(4, 'x,3,1,2.5,7'))));
    expect(await refusal(packed, {}, 'x.zip')).toBe('x.zip/y.csv:3: expected a price, got "x"');
  });

  it('is refused when it is cut off, empty or its checksum does not fit', async () => {
    const whole = zip(entry('x.csv', text));
    expect(await refusal(whole.subarray(0, -30), {}, 'x.zip')).toContain(
      'x.zip: damaged zip file: its directory is missing',
    );
    expect(await refusal(zip(), {}, 'x.zip')).toContain('x.zip: the zip file is empty');
    expect(await refusal(zip(entry('x.csv', text, { crc: 1 })), {}, 'x.zip')).toBe(
      'x.zip/x.csv: damaged zip file: its checksum does not fit',
    );
    const locked = Buffer.from(whole);
    const directory = locked.indexOf(Buffer.of(0x50, 0x4b, 1, 2));
    locked[directory + 8] = 1;
    expect(await refusal(locked, {}, 'x.zip')).toContain('it is encrypted');
    const holed = Buffer.from(whole);
    holed[40] = (holed[40] ?? 0) ^ 255;
    expect(await refusal(holed, {}, 'x.zip')).toContain('damaged zip file');
  });
});

describe('a Parquet or Arrow table', () => {
  const times = [1_700_000_000_000, 1_700_000_060_000, 1_700_000_120_000];
  const prices = [1.5, 2.5, 3.5];
  const names = ['open', 'high', 'low', 'close'] as const;
  const dated = times.map((at) => new Date(at));
  const parquet = (
    time: Parameters<typeof parquetWriteBuffer>[0]['columnData'][number],
    close: readonly unknown[] = prices,
  ): Uint8Array =>
    new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          time,
          ...names.map((name) => ({ name, data: name === 'close' ? [...close] : prices })),
          { name: 'volume', data: [1, 2, Number.NaN] },
        ],
      }),
    );
  const arrow = (time: ReturnType<typeof columnFromArray>): Uint8Array => {
    const columns = names.map((name): [string, ReturnType<typeof columnFromArray>] => [
      name,
      columnFromArray(prices, float64()),
    ]);
    const table = tableFromColumns([['date', time], ...columns]);
    return tableToIPC(table, { format: 'file' }) ?? new Uint8Array();
  };

  it('gives its figures, whichever way its times are written', async () => {
    const tables = [
      parquet({ name: 'timestamp_ms', data: times.map(BigInt), type: 'INT64' }),
      parquet({ name: 'time', data: dated, type: 'TIMESTAMP' }),
      parquet({ name: 'open_time', data: times.map((at) => BigInt(at) * 1000n), type: 'INT64' }),
      parquet({ name: 'date', data: dated.map((date) => date.toISOString()), type: 'STRING' }),
      parquet({ name: 'timestamp_ms', data: times.map(BigInt), type: 'INT64' }, ['1.5', '2.5', '3.5']),
      arrow(columnFromArray(times, timestamp(2))),
      arrow(columnFromArray(times, timestamp(3))),
      arrow(columnFromArray(times.map(BigInt), int64())),
      arrow(
        columnFromArray(
          dated.map((date) => date.toISOString()),
          utf8(),
        ),
      ),
    ];
    for (const table of tables) {
      const { tape } = await read(table, {}, 'x');
      expect([[...tape.times], [...tape.close], tape.barMs]).toEqual([times, prices, 60_000]);
    }
  });

  it.each([
    'lz4.feather',
    'decimal-zstd.feather',
    'float32.feather',
    'lz4.parquet',
    'decimal-zstd.parquet',
    'float32-brotli.parquet',
  ])('that pyarrow wrote, %s, gives the figures that went in', async (name) => {
    const { tape } = await read(
      readFileSync(new URL(`../../fixtures/tables/${name}`, import.meta.url)),
      {},
      name,
    );
    const closes = Array.from({ length: 60 }, (_, n) => 40_000 + ((n * 37) % 100) / 4);
    expect([...tape.close]).toEqual(closes);
    expect([...tape.times]).toEqual(closes.map((_, n) => Date.UTC(2024, 0, 1) + n * 60_000));
    expect([...tape.volume]).toEqual(closes.map((_, n) => ((n * 7) % 10) / 4));
    expect(tape.high[5]).toBe(Math.max(closes[4] ?? 0, closes[5] ?? 0) + 0.25);
  });

  it('gives decimals exactly, and the shortest decimal of a short float', () => {
    expect(decimalOf(60_000_125n, 3)).toBe('60000.125');
    expect([decimalOf(-5n, 2), decimalOf(7n, 0), decimalOf(7n, -2)]).toEqual(['-0.05', '7', '700']);
    expect([integerOf(Uint8Array.of(1, 0)), integerOf(Uint8Array.of(255, 255))]).toEqual([256n, -1n]);
    expect([60_012.35, 0.1, 1e-7, 16_777_216].map((value) => shortest32(Math.fround(value)))).toEqual([
      60_012.35, 0.1, 1e-7, 16_777_216,
    ]);
  });

  it('is refused with the row that is wrong, and when it is damaged', async () => {
    const time = { name: 'timestamp_ms', data: times.map(BigInt), type: 'INT64' } as const;
    const good = parquet(time);
    expect(await refusal(parquet(time, ['1', 'x', '3']), {}, 'x.parquet')).toBe(
      'x.parquet:2: expected a price, got "x"',
    );
    expect(
      await refusal(
        parquet({ ...time, data: [times[0], times[1], times[1]].map((at) => BigInt(at ?? 0)) }),
        {},
        'x.parquet',
      ),
    ).toContain('x.parquet:3: its time');
    expect(await refusal(good.subarray(0, good.length - 9), {}, 'x.parquet')).toContain(
      'x.parquet: not a Parquet file that can be read',
    );
    const arrowFile = arrow(columnFromArray(times, timestamp(2)));
    expect(await refusal(arrowFile.subarray(0, 200), {}, 'x.feather')).toMatch(
      /x\.feather: (?:damaged tape|not an Arrow file)/u,
    );
  });
});

describe('LZ4', () => {
  it('reads literals, matches and matches that overlap themselves', () => {
    // "abc", then 12 bytes from 3 back, then "de".
    const block = Uint8Array.of(0x38, 97, 98, 99, 3, 0, 0x20, 100, 101);
    expect(Buffer.from(lz4Block(block, 17)).toString()).toBe('abcabcabcabcabcde');
    const frame = Buffer.concat([
      Uint8Array.of(4, 34, 77, 24, 0x60, 0x40, 0, 9, 0, 0, 0),
      block,
      Uint8Array.of(2, 0, 0, 128, 120, 121, 0, 0, 0, 0),
    ]);
    expect(Buffer.from(lz4Frame(frame)).toString()).toBe('abcabcabcabcabcdexy');
  });

  it('refuses what is cut off or points before its beginning', () => {
    expect(() => lz4Block(Uint8Array.of(0x38, 97, 98), 17)).toThrow('cut off');
    expect(() => lz4Block(Uint8Array.of(0x10, 97, 9, 0, 0), 17)).toThrow('before the beginning');
    expect(() => lz4Block(Uint8Array.of(0x10, 97), 17)).toThrow('1 bytes where 17');
    expect(() => lz4Frame(Uint8Array.of(1, 2, 3, 4, 5, 6, 7))).toThrow('not a frame');
  });
});

describe('the reader of cells', () => {
  const number = (text: string): number => new Cells(Buffer.from(`${text},`), 44).number();

  it('reads each decimal as Number does', () => {
    const digits = fc.stringMatching(/^\d{1,25}$/u);
    const decimal = fc.tuple(digits, fc.option(digits), fc.option(fc.integer({ min: -20, max: 20 })));
    fc.assert(
      fc.property(decimal, ([whole, part, exponent]) => {
        const text = `${whole}${part === null ? '' : `.${part}`}${exponent === null ? '' : `e${exponent}`}`;
        expect(number(text)).toBe(Number(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads nothing else', () => {
    for (const text of [
      '',
      '-1',
      '+1',
      '1.2.3',
      'x',
      '1x',
      '0x10',
      '1e',
      'Infinity',
      '1 2',
      '.5',
      '1e999',
      '1_0',
      '１',
    ])
      expect([text, number(text)]).toEqual([text, NO_NUMBER]);
  });

  it('says when digits were lost, and only then', () => {
    const rounded = (text: string): boolean => {
      const cells = new Cells(Buffer.from(text), 44);
      cells.number();
      return cells.wasRounded;
    };
    expect(
      [
        '0.1',
        '123456789.123456',
        '5.800000000000000000',
        '0.000000000000000000000001234',
        '1e21',
        '33.35399601000002',
      ].map(rounded),
    ).toEqual([false, false, false, false, false, false]);
    expect(['0.12345678901234567', '9007199254740993', '33.353996010000021'].map(rounded)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('reads Unix times of every unit as whole milliseconds', () => {
    const unix = (text: string, unit: 's' | 'ms' | 'us' | 'ns' | 'mixed') => {
      const cells = new Cells(Buffer.from(text), 44);
      return [cells.unix(unit), cells.wasRounded];
    };
    expect(unix('1700000000', 's')).toEqual([1_700_000_000_000, false]);
    expect(unix('1700000000.5', 's')).toEqual([1_700_000_000_500, false]);
    expect(unix('1700000000.0004', 's')).toEqual([1_700_000_000_000, true]);
    expect(unix('1700000000000.0', 'ms')).toEqual([1_700_000_000_000, false]);
    expect(unix('1700000000000.5', 'ms')).toEqual([1_700_000_000_000, true]);
    expect(unix('1700000000000123', 'us')).toEqual([1_700_000_000_000, true]);
    expect(unix('1723161253937085768', 'ns')).toEqual([1_723_161_253_937, true]);
    expect(unix('1700000000', 'mixed')).toEqual(unix('1700000000000', 'mixed'));
    expect(unix('17x', 's')[0]).toBe(NO_NUMBER);
  });
});

describe('times as text', () => {
  it('are read in every spelling that files have', () => {
    const at = Date.UTC(2018, 11, 31, 23);
    for (const text of [
      '2018-12-31 11-PM',
      '2018-12-31 23:00:00',
      '20181231 23:00',
      '2018-12-31T23:00:00.0000000Z',
      '2018-12-31 23:00:00+00:00',
      '2019-01-01T00:00:00+01:00',
      '2018-12-31 23:00:00 UTC',
      '2018-12-31D23:00:00.000000000',
    ])
      expect([text, textTime(text)]).toEqual([text, at]);
    expect(textTime('2018-12-31 12-AM')).toBe(Date.UTC(2018, 11, 31));
    expect(textTime('2018-12-31 12-PM')).toBe(Date.UTC(2018, 11, 31, 12));
  });

  it('are refused where there is no such time', () => {
    for (const text of [
      '2018-02-30',
      '2018-13-01',
      '2018-12-31 24:00',
      '2018-12-31 13-PM',
      '31.12.2018',
      '2018-12-31T23:00:00.0000001Z',
      'soon',
      '',
    ])
      expect([text, textTime(text)]).toEqual([text, undefined]);
  });
});
