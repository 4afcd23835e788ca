import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { importTape } from '../../../src/research/import/read.ts';
import { decimalText } from '../../../src/research/tape/tape.ts';
import { bar, bars, read, refusal } from './reading.ts';

describe('an import', () => {
  it('counts missing bars and gaps and reports the longest gap', async () => {
    const { report } = await read(bars(...[1, 2, 3, 5, 6, 10, 11, 13].map((minute) => bar(minute))));
    expect(report.gaps).toEqual({ missing: 5, holes: 3, longest: { bars: 3, after: 360_000 } });
    expect(report).toMatchObject({ barMs: 60_000, rows: 8, offGrid: 0, largestMove: undefined });
  });

  it('reverses rows that are newest first, including trades of one instant, and reports that', async () => {
    const { report } = await read(bars(bar(3), bar(2), bar(1)));
    expect([report.first, report.notes]).toEqual([60_000, ['x.csv: newest first: reversed']]);
    const { tape } = await read(
      'timestamp_ms,price,quantity,side\n9,4,1,buy\n5,3,1,buy\n5,2,1,buy\n1,1,1,buy\n',
    );
    expect([...tape.close]).toEqual([1, 2, 3, 4]);
  });

  it('joins trades of consecutive files and refuses files that overlap', async () => {
    const trades = (...rows: readonly string[]) => ({ name: `${rows[0] ?? ''}.csv`, bytes: Buffer.from(['timestamp_ms,price,quantity,side', ...rows].join('\n')) }); // prettier-ignore
    const [late, early, between] = [trades('7,3,1,buy', '9,4,1,buy'), trades('1,1,1,buy', '5,2,1,buy'), trades('4,1,1,buy')]; // prettier-ignore
    const { tape } = await importTape([late, early], { pair: 'btcusd' });
    expect([...tape.close]).toEqual([1, 2, 3, 4]);
    await expect(importTape([early, between], { pair: 'btcusd' })).rejects.toThrow(
      '4,1,1,buy.csv:2: its time',
    );
  });

  it('refuses Unix times that a spreadsheet rounded', async () => {
    const text =
      'unix,date,time,symbol,open,high,low,close,Volume BTC,Volume USDT\n1.63875E+12,06-12-21,00:00:00,BTC/USDT,1,1,1,1,1,1\n';
    expect(await refusal(text)).toBe(
      'x.csv: its times, such as "1.63875E+12", are neither Unix time nor ISO 8601: a spreadsheet changed them, so use the file as published',
    );
  });

  it('does not read contracts of BitMEX as volume', async () => {
    const text = (exchange: string) => `exchange,symbol,timestamp,local_timestamp,id,side,price,amount\n${exchange},XBTUSD,1583020803145000,1583020803307160,a,sell,8531.5,2152\n`; // prettier-ignore
    const { report } = await read(text('bitmex'));
    expect([report.withoutVolume, report.notes[0]]).toEqual([1, 'x.csv: no volume: its amounts are contracts of bitmex, not base currency']); // prettier-ignore
    expect((await read(text('deribit'))).report.notes[0]).toContain('contracts of deribit');
    expect((await read(text('bitstamp'))).report.withoutVolume).toBe(0);
  });

  it('skips and counts identical rows', async () => {
    const { report } = await read(bars(bar(1), bar(2), bar(2), bar(2), bar(3)));
    expect(report).toMatchObject({ rows: 3, duplicates: { identical: 2, conflicting: 0 } });
  });

  it('refuses conflicting bars of one time unless the options select one', async () => {
    const text = bars(bar(1), bar(2), bar(2, '2,9,1,2.5,7'), bar(3));
    expect(await refusal(text)).toBe(
      'x.csv:4: its time 1970-01-01T00:02:00.000Z appears at x.csv:3 with other figures: correct the file, or add --keep first or --keep last',
    );
    expect([...(await read(text, { keep: 'first' })).tape.high]).toEqual([3, 3, 3]);
    const { tape, report } = await read(text, { keep: 'last' });
    expect([[...tape.high], report.duplicates.conflicting]).toEqual([[3, 9, 3], 1]);
  });

  it('counts bars off the grid and refuses a bar that starts before the previous one has ended', async () => {
    const { report } = await read(bars(bar(1), bar(2), bar(3), bar(5.5), bar(6.5)));
    expect(report).toMatchObject({ offGrid: 1, gaps: { missing: 1 } });
    const many = Array.from({ length: 200 }, (_, n) => bar(n + 1));
    expect(await refusal(bars(...many, bar(200.5)))).toBe(
      'x.csv:202: starts before the previous bar, of 60000 ms, has ended',
    );
  });

  it('counts rows with volume 0 and reports the largest move', async () => {
    const { report } = await read(bars(bar(1, '2,3,1,2,0'), bar(2, '2,3,1,3,0'), bar(3)));
    expect(report).toMatchObject({
      zeroVolume: 2,
      withoutVolume: 0,
      largestMove: { percent: 50, at: 120_000 },
    });
  });

  const walk = (prices: (n: number) => number, startOf = (n: number) => n): string =>
    bars(
      ...Array.from({ length: 40 }, (_, n) =>
        bar(startOf(n), `${Array.from({ length: 4 }, () => prices(n)).join(',')},1`),
      ),
    );
  const steady = (n: number): number => 30_000.25 + n;
  it.each<readonly [string, string, RegExp | undefined]>([
    ['nothing', walk(steady), undefined],
    [
      'times a second before a full bar',
      walk(steady, (n) => n + 59 / 60),
      /^its times are 1000 ms before a full bar, as those of closes are/u,
    ],
    ['times a millisecond before a full bar', walk(steady, (n) => n + 59_999 / 60_000), /are 1 ms before/u],
    ['nothing in times in the middle of a bar', walk(steady, (n) => n + 0.5), undefined],
    [
      'a price in thousandths',
      walk((n) => (n < 20 ? steady(n) : steady(n) / 1_000)),
      /goes from 30019.25 to 30.02025 at 1970-01-01T00:20:00.000Z/u,
    ],
    [
      'a thousandfold price',
      walk((n) => (n === 20 ? steady(n) * 1_000 : steady(n))),
      /goes from 30019.25 to 30020250 at/u,
    ],
    ['nothing in a crash by half', walk((n) => (n < 20 ? steady(n) : steady(n) / 2)), undefined],
    ['prices of three digits', walk((n) => 30_000 + 100 * n), /at most three digits/u],
    ['nothing in a low price of three digits', walk((n) => 3 + n / 100), undefined],
  ])('suspects %s', async (_, text, doubt) => {
    const { report } = await read(text);
    expect(report.notes.join('\n')).toMatch(doubt ?? /^$/u);
  });

  it('reports prices and volumes that lose digits, with the first line', async () => {
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
    'an extra cell': [bars(bar(1), bar(2, '2,3,1,2.5,7,8')), 'x.csv:3: more than 6 cells instead of 6'],
    'a line of quotation marks': [bars(bar(1), '""', bar(2)), 'x.csv:3: an empty line between rows'],
    'an empty line between rows': [bars(bar(1), '', bar(2)), 'x.csv:3: an empty line between rows'],
    'a repeated header': [bars(bar(1), 'timestamp_ms,open,high,low,close,volume', bar(2)), 'x.csv:3: expected a time, got "timestamp_ms"'],
    'a line with totals': [bars(bar(1), bar(2), 'Total,,,,,'), 'x.csv:4: expected a time, got "Total"'],
    'an error page of a server at its end': [bars(bar(1), bar(2), '<html>504</html>'), 'x.csv:4: '],
    'dates with the day first': ['time,price\n31/12/2021,1\n', 'its times, such as "31/12/2021'],
    'cells separated by |': [bars(bar(1), bar(2)).replaceAll(',', '|'), 'x.csv: no known layout'],
    'a decimal comma': [bars(bar(1), '120000,"2,5",3,1,2.5,7'), 'x.csv:3: expected a plain number, date or name, got "2,5"'],
    'an unclosed quotation mark': [bars(bar(1), '120000,"2,3,1,2.5,7'), 'x.csv:3: a quote that does not enclose a whole cell'],
    'seconds under a header of milliseconds': [bars('1700000000,1,1,1,1,1'), 'looks like seconds: correct it, or add --unit s'],
    'microseconds under a header of milliseconds': [bars('1700000000000000,1,1,1,1,1'), 'looks like microseconds'],
    'no rows': [bars(), 'x.csv: it has a header but no rows'],
    'an empty file': ['', 'x.csv: it is empty'],
    'a single bar': [bars(bar(1)), 'x.csv:2: the length of a single bar is unknown: add --bar'],
    'a file of an unknown layout': ['hello\nworld\n', 'x.csv: no known layout: it begins "hello"'],
    'a table of daily closes': ['date,us_close\n2020-01-01,1\n', 'no known layout'],
    'UTF-16 that was read as text': ['\uFFFDx'.replace('\uFFFD', '\u00FF\u00FE'), 'x.csv: no known layout'],
    'JSON that is not an array': ['{"code":1}', 'x.csv: JSON, but not an array of candles'],
    'JSON of objects': ['[{"t":1}]', 'x.csv: element 1 is not an array'],
    'JSON with null values': ['[[1700000000000,1,1,1,1,null]]', 'x.csv: element 1 holds null, not a number'],
    'candles with ambiguous columns': ['[[1700000000000,1,1,1,1,1],[1700000060000,1,1,1,1,1]]', 'fit 3 layouts'],
  }; // prettier-ignore
  it.each(Object.entries(refused))('refuses %s', async (_, [text, message]) => {
    expect(await refusal(text)).toContain(message);
  });

  it('refuses UTF-16 and other binary files', async () => {
    expect(await refusal(Buffer.from(`\uFEFF${bars(bar(1))}`, 'utf16le'))).toContain('is UTF-16');
    expect(await refusal(Buffer.from([1, 2, 0, 3]))).toContain('is binary');
  });

  it('gives options precedence over detected values', async () => {
    const flat = '[[1700000000000,1,1,1,1,1],[1700000060000,1,1,1,1,1]]';
    expect((await read(flat, { format: 'bitfinex' })).report.sources[0]?.formats).toEqual(['bitfinex']);
    expect(await refusal(flat, { format: 'kraken' })).toContain('does not look like kraken');
    const seconds = bars('1700000000,1,1,1,1,1', '1700000060,1,1,1,1,1');
    expect((await read(seconds, { unit: 's' })).tape.times[0]).toBe(1_700_000_000_000);
    expect((await read(bars(bar(1), bar(3)), { barMs: 60_000 })).report.gaps.missing).toBe(1);
  });

  it('requires a pair and refuses files of several pairs', async () => {
    await expect(importTape([{ name: 'x.csv', bytes: Buffer.from(bars(bar(1), bar(2))) }])).rejects.toThrow(
      'add --pair',
    );
    const of = (symbol: string) => ({
      name: symbol,
      bytes: Buffer.from(`timestamp,symbol,price,amount\n1700000000000,${symbol},1,1\n`),
    });
    await expect(importTape([of('BTC-USD'), of('ETH-USD')])).rejects.toThrow('several pairs');
    expect((await importTape([of('BTC-USD')])).tape.pair).toBe('btcusd');
  });

  it('refuses files with bars of several lengths, as in the zips of Kraken', async () => {
    const of = (minutes: number) => ({
      name: `XBTUSD_${minutes}.csv`,
      bytes: Buffer.from(`1700000100,1,1,1,1,1,1\n${1_700_000_100 + 60 * minutes},1,1,1,1,1,1\n`),
    });
    await expect(importTape([of(1), of(5)])).rejects.toThrow(
      'bars of several lengths: import them one by one',
    );
    expect((await importTape([of(5)])).tape).toMatchObject({ pair: 'btcusd', barMs: 300_000 });
  });

  it('accepts quoted cells, other line ends, a byte order mark and trailing blank lines', async () => {
    const { hash } = (await read(bars(bar(1), bar(2)))).tape;
    const spelt = [
      bars(bar(1), bar(2)).replaceAll('\n', '\r\n'),
      bars(bar(1), bar(2)).replaceAll('\n', '\r'),
      bars(bar(1), bar(2)).replaceAll(',', ';'),
      bars(bar(1), bar(2)).replaceAll(',', '\t'),
      `\uFEFF${bars(bar(1), bar(2))}\n\n`,
      bars(bar(1), bar(2)).replaceAll(/[^,\n]+/gu, '"$&"'),
      bars(bar(1), bar(2)).trimEnd(),
    ];
    for (const text of spelt) expect((await read(text)).tape.hash).toBe(hash);
  });

  it('cuts the times of trades to milliseconds and counts the times that were cut', async () => {
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
    expect(await refusal(barsOfMicros)).toContain('x.csv:2: a bar must start at a whole millisecond');
  });

  it('computes the exact mid prices of LEAN quotes', async () => {
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

  it('divides prices by the given scale', async () => {
    const text =
      '34200000,1702500,1703000,1702000,1702700,500\n34260000,1702500,1703000,1702000,1702700,500\n';
    const { tape } = await read(
      text,
      { priceScale: 10_000, pair: undefined },
      '20131007_spyusd_minute_trade.csv',
    );
    expect([decimalText(tape.close[0] ?? 0), tape.pair]).toEqual(['170.27', 'spyusd']);
  });

  it('skips a row without prices and refuses a row that lacks some of them', async () => {
    const text = (row: string) =>
      `Timestamp,Open,High,Low,Close,Volume_(BTC),Volume_(Currency),Weighted_Price\n1700000040,2,2,2,2,1,2,2\n1700000100,${row}\n1700000160,2,2,2,2,1,2,2\n`;
    const { report } = await read(text('NaN,NaN,NaN,NaN,NaN,NaN,NaN'));
    expect([report.rows, report.empty]).toEqual([2, 1]);
    expect(await refusal(text('2,NaN,2,2,1,2,2'))).toBe('x.csv:3: 1 of its four prices are empty');
    const quotes = (row: string) => `0,2,2,2,2,1,3,3,3,3,1\n60000,${row}\n120000,2,2,2,2,1,3,3,3,3,1\n`;
    const name = '20180404_btcusd_minute_quote.csv';
    expect((await read(quotes(',,,,,3,3,3,3,1'), {}, name)).report.empty).toBe(1);
    expect(await refusal(quotes('2,2,2,2,1,3,,3,3,1'), {}, name)).toBe(
      `${name}:2: 1 of its four prices are empty`,
    );
  });

  it('warns of an unterminated last line only in a plain text file', async () => {
    const cut = bars(bar(1), bar(2)).trimEnd();
    const said = [
      'x.csv: its last line, 3, is not terminated: if the file was truncated there, its last figure is incomplete',
    ];
    expect((await read(cut)).report.notes).toEqual(said);
    expect((await read(bars(bar(1), bar(2)))).report.notes).toEqual([]);
    expect((await read(gzipSync(cut))).report.notes).toEqual([]);
    expect(
      (await read('[[1700000000000,1,2,1,1,1],[1700000060000,1,2,1,1,1]]', { format: 'freqtrade' })).report
        .notes,
    ).toEqual([]);
  });

  it('names the line of a damaged row anywhere in a large file', async () => {
    const rows = Array.from({ length: 120_000 }, (_, n) => bar(n + 1, '60000.25,60000.5,60000,60000.25,7'));
    const { tape } = await read(bars(...rows));
    expect([tape.rows, tape.times.at(-1)]).toEqual([120_000, 120_000 * 60_000]);
    const damaged = async (line: number, change: (row: string) => string): Promise<string> =>
      await refusal(bars(...rows.with(line - 2, change(rows[line - 2] ?? ''))));
    const short = (row: string): string => row.slice(0, row.lastIndexOf(','));
    for (const line of [2, 20_000, 60_000, 120_000, 120_001]) {
      // oxlint-disable-next-line no-await-in-loop -- one after another
      expect(await damaged(line, short)).toBe(`x.csv:${line}: 5 cells instead of 6: is the file complete?`);
      // oxlint-disable-next-line no-await-in-loop -- one after another
      expect(await damaged(line, (row) => `${row},1`)).toContain(`x.csv:${line}: more than 6 cells`);
      // oxlint-disable-next-line no-await-in-loop -- one after another
      expect(await damaged(line, () => '504')).toContain(`x.csv:${line}: 1 cells`);
    }
    expect(await damaged(100_000, (row) => `"${row}`)).toContain('x.csv:100000: a quote that does not');
    expect(await damaged(100_000, (row) => `\n${row}`)).toBe('x.csv:100000: an empty line between rows');
    expect(
      await refusal(
        bars(...rows)
          .trimEnd()
          .slice(0, -2),
      ),
    ).toContain('x.csv:120001: 5 cells');
    expect(await refusal(bars(bar(1), 'x'.repeat(3_000_000)))).toBe('x.csv:3: the line is longer than 1 MiB');
  });

  it('refuses zero bytes at the end of a file, with their line', async () => {
    const rows = Array.from({ length: 200 }, (_, n) => bar(n + 1));
    expect(await refusal(bars(...rows).replace(/,7\n$/u, ',7\0\0\0'))).toBe(
      'x.csv:201: contains zero bytes: is the file complete?',
    );
  });

  it('reports a file that names a pair other than the given one', async () => {
    const trades = 'timestamp,symbol,price,amount\n1700000000000,BTC-USDT,1,1\n';
    expect((await read(trades, { pair: 'btcusd' })).report.notes).toEqual([
      'x.csv: it names btcusdt: read as btcusd, as given',
    ]);
    expect((await read(trades, { pair: 'btcusdt' })).report.notes).toEqual([]);
  });

  it('refuses prices that a spreadsheet rounded, and accepts exponents that a program wrote', async () => {
    expect(await refusal(bars(bar(1), bar(2, '2,6.73E+04,1,2.5,7')))).toBe(
      'x.csv:3: the price 6.73E+04 has lost digits, as in a spreadsheet',
    );
    const { tape } = await read(
      bars(bar(1, '2e-05,3e-05,1E-05,2.5e-05,7'), bar(2, '2,6.734512E+04,1,2.5,1e3')),
    );
    expect([tape.close[0], tape.high[1], tape.volume[1]]).toEqual([0.000_025, 67_345.12, 1000]);
  });

  it.each([
    [
      'open_time,open,high,low,volume,close_time\n1700000000000,1,1,1,1,1700000059999\n',
      'the header in line 1 names no close',
    ],
    [
      'Period Start,Period end,Price open,Price high,Price low\n2017-08-20T22:00:00Z,2017-08-20T23:00:00Z,1,1,1\n',
      'the header in line 1 names no close',
    ],
    [
      'x https://www.CryptoDataDownload.com\ndate,symbol,open,high,low\n2018-12-31,BTCUSD,1,1,1\n',
      'the header in line 2 names no close',
    ],
    ['time,open,high,low\n1700000000,1,1,1\n', 'the header in line 1 names no close. Known formats are'],
    [
      'made by me\nbegin,open,high,low,close\n1700000000,1,1,1,1\n',
      'the header in line 2 has no known time column',
    ],
  ])('names the missing column of file %#', async (text, said) => {
    expect(await refusal(text)).toContain(said);
  });

  it('does not read a close time as volume', async () => {
    const { report } = await read('open_time,open,high,low,close,close_time\n1700000000000,1,1,1,1,1700000059999\n1700000060000,1,1,1,1,1700000119999\n'); // prettier-ignore
    expect([report.barMs, report.withoutVolume]).toEqual([60_000, 2]);
  });

  it('refuses a time of day beyond 24 hours', async () => {
    const text = '0,2,3,1,2,1\n60000,2,3,1,2,1\n86400000,2,3,1,2,1\n';
    expect(await refusal(text, {}, '20180404_btcusd_minute_trade.csv')).toBe(
      '20180404_btcusd_minute_trade.csv:3: expected milliseconds since midnight, got 86400000',
    );
  });

  it('keeps and counts identical trades', async () => {
    const { report } = await read(
      'timestamp_ms,price,quantity,side\n5,2,1,buy\n5,2,1,sell\n5,3,1,buy\n6,3,1,buy\n',
    );
    expect([report.rows, report.repeatedTrades]).toEqual([4, 1]);
  });

  it('reads bars with quote or funding columns, and refuses a file with only those columns', async () => {
    const { report } = await read(
      'time,open,high,low,close,bid,ask,funding_rate\n1700000000,2,3,1,2,2,2,0\n1700000060,2,3,1,2,2,2,0\n',
    );
    expect(report.rows).toBe(2);
    expect(await refusal('time,bid,ask,price\n1700000000,2,3,1\n')).toContain('its column bid means quotes');
    expect(await refusal('funding_time_ms,funding_rate\n1700000000000,0.0001\n')).toContain(
      'its column fundingrate means',
    );
  });

  it('ignores blanks around times', async () => {
    const { tape } = await read('price, amount , timestamp\n5, 1 , 1700000000\n6, 1, 1700000001 \n');
    expect([...tape.times]).toEqual([1_700_000_000_000, 1_700_000_001_000]);
  });
});
