import { parquetWriteBuffer } from 'hyparquet-writer';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shortest32 } from '../../../src/research/import/numbers.ts';
import { read, refusal } from './reading.ts';

const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../../fixtures/tables/${name}`, import.meta.url));

describe('a Parquet table', () => {
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
  it('yields its figures, whatever the type of its times', async () => {
    const tables = [
      parquet({ name: 'timestamp_ms', data: times.map(BigInt), type: 'INT64' }),
      parquet({ name: 'time', data: dated, type: 'TIMESTAMP' }),
      parquet({ name: 'open_time', data: times.map((at) => BigInt(at) * 1000n), type: 'INT64' }),
      parquet({ name: 'date', data: dated.map((date) => date.toISOString()), type: 'STRING' }),
      parquet({ name: 'timestamp_ms', data: times.map(BigInt), type: 'INT64' }, ['1.5', '2.5', '3.5']),
    ];
    for (const table of tables) {
      const { tape } = await read(table, {}, 'x');
      expect([[...tape.times], [...tape.close], tape.barMs]).toEqual([times, prices, 60_000]);
    }
  });

  it('yields the original figures if pyarrow wrote 32-bit floats', async () => {
    const { tape } = await read(fixture('float32-brotli.parquet'), {}, 'x.parquet');
    const closes = Array.from({ length: 60 }, (_, n) => 40_000 + ((n * 37) % 100) / 4);
    expect([...tape.close]).toEqual(closes);
    expect([...tape.times]).toEqual(closes.map((_, n) => Date.UTC(2024, 0, 1) + n * 60_000));
    expect([...tape.volume]).toEqual(closes.map((_, n) => ((n * 7) % 10) / 4));
    expect(tape.high[5]).toBe(Math.max(closes[4] ?? 0, closes[5] ?? 0) + 0.25);
  });

  it.each([
    ['lz4.parquet', 'it is compressed with LZ4: write it with zstd'],
    ['decimal-zstd.parquet', 'its column open has decimals: write text or doubles'],
    ['float32.feather', 'import Arrow and Feather files of other programs as Parquet or CSV'],
  ])('is refused with what to do instead: %s', async (name, said) => {
    expect(await refusal(fixture(name), {}, name)).toContain(said);
  });

  it('yields the shortest decimal of a 32-bit float', () => {
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
