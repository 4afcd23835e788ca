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
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decimalOf, integerOf, shortest32 } from '../../../src/research/import/numbers.ts';
import { lz4Block, lz4Frame } from '../../../src/research/tape/lz4.ts';
import { read, refusal } from './reading.ts';

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

  it('yields its figures, whatever the type of its times', async () => {
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
  ])('yields the original figures if pyarrow wrote it: %s', async (name) => {
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

  it('yields exact decimals and the shortest decimal of a 32-bit float', () => {
    expect(decimalOf(60_000_125n, 3)).toBe('60000.125');
    expect([decimalOf(-5n, 2), decimalOf(7n, 0), decimalOf(7n, -2)]).toEqual(['-0.05', '7', '700']);
    expect([integerOf(Uint8Array.of(1, 0)), integerOf(Uint8Array.of(255, 255))]).toEqual([256n, -1n]);
    expect([60_012.35, 0.1, 1e-7, 16_777_216].map((value) => shortest32(Math.fround(value)))).toEqual([
      60_012.35, 0.1, 1e-7, 16_777_216,
    ]);
  });

  it('is refused with the row of a wrong figure, and if it is damaged', async () => {
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
    const miscounted = Buffer.from(good);
    // Three rows in the footer become two.
    miscounted[miscounted.lastIndexOf(Buffer.of(0x16, 6, 0x19)) + 1] = 4;
    expect(await refusal(miscounted, {}, 'x.parquet')).toBe(
      'x.parquet: not a Parquet file that can be read: its parts do not contain the 2 rows that it states',
    );
    const arrowFile = arrow(columnFromArray(times, timestamp(2)));
    expect(await refusal(arrowFile.subarray(0, 200), {}, 'x.feather')).toMatch(
      /x\.feather: (?:damaged tape|not an Arrow file)/u,
    );
  });
});

describe('the LZ4 decoder', () => {
  it('decodes literals, matches and overlapping matches', () => {
    // "abc", then a match of 12 bytes at distance 3, then "de".
    const block = Uint8Array.of(0x38, 97, 98, 99, 3, 0, 0x20, 100, 101);
    expect(Buffer.from(lz4Block(block, 17)).toString()).toBe('abcabcabcabcabcde');
    const frame = Buffer.concat([
      Uint8Array.of(4, 34, 77, 24, 0x60, 0x40, 0, 9, 0, 0, 0),
      block,
      Uint8Array.of(2, 0, 0, 128, 120, 121, 0, 0, 0, 0),
    ]);
    expect(Buffer.from(lz4Frame(frame)).toString()).toBe('abcabcabcabcabcdexy');
  });

  it('refuses blocks that are cut off or refer to bytes before their start', () => {
    expect(() => lz4Block(Uint8Array.of(0x38, 97, 98), 17)).toThrow('cut off');
    expect(() => lz4Block(Uint8Array.of(0x10, 97, 9, 0, 0), 17)).toThrow('before the start');
    expect(() => lz4Block(Uint8Array.of(0x10, 97), 17)).toThrow('1 bytes where 17');
    expect(() => lz4Frame(Uint8Array.of(1, 2, 3, 4, 5, 6, 7))).toThrow('not a frame');
  });
});

describe('the symbol column of a table', () => {
  const table = (...symbols: readonly (string | null)[]): Uint8Array => {
    const columnData = [
      { name: 'time', data: symbols.map((_, n) => new Date(1_700_000_000_000 + n * 60_000)) },
      { name: 'symbol', data: [...symbols], type: 'STRING' as const, nullable: true },
      ...['open', 'high', 'low', 'close'].map((name) => ({ name, data: symbols.map(() => 1.5) })),
    ];
    return new Uint8Array(parquetWriteBuffer({ columnData }));
  };

  it('must name one market, and its empty cells are ignored', async () => {
    for (const symbols of [
      ['BTCUSD', null, 'BTC/USD'],
      [null, 'BTCUSD', 'BTCUSD'],
    ])
      // oxlint-disable-next-line no-await-in-loop -- two of them
      expect((await read(table(...symbols), {}, 'x.parquet')).tape.rows).toBe(3);
    expect(await refusal(table('BTCUSD', null, 'ETHUSD'), {}, 'x.parquet')).toContain(
      'x.parquet:3: its symbol is ethusd, but the symbol of earlier rows is btcusd',
    );
  });
});
