import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OperatorError } from '../../src/core/errors.ts';
import { add, NOTHING, ratio } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant } from '../../src/core/time.ts';
import { dataProfile } from '../../src/app/commands/data/data-profile.ts';
import type { DataProfileOptions } from '../../src/app/commands/data/data-profile.ts';
import { expectRan, validated } from '../support/command.ts';
import { aFolder, put } from '../support/folder.ts';

const BEGIN = Date.UTC(2026, 0, 5);
const HEADER = 'timestamp_ms,open,high,low,close,volume';
/** Two days of hourly bars, whose volume grows with the hour of the day. */
const rows = Array.from({ length: 48 }, (_, n) => [BEGIN + n * HOUR_MS, 1 + (n % 24) * 0.5] as const);
const csv = (over: Readonly<Record<number, string | undefined>> = {}): string =>
  [HEADER, ...rows.map(([at, volume]) => `${at},1,1,1,1,${volume}`)]
    .flatMap((line, n) => (n + 1 in over ? (over[n + 1] ?? []) : line))
    .join('\n');

const PLAIN: DataProfileOptions = { parts: 24, timeZone: 'UTC' };

/** Runs the command on a file with this content and returns its output. */
async function learn(
  content: string | Uint8Array,
  over: Partial<DataProfileOptions> = {},
  name = 'bars.csv',
): Promise<{ readonly out: string; readonly cwd: string }> {
  const cwd = aFolder({ [name]: content });
  let out = '';
  const io = { cwd, stdout: { write: (text: string) => (out += text) }, stderr: { write: () => true } };
  expect(await dataProfile(name, { ...PLAIN, ...over }, io)).toBe(0);
  return { out, cwd };
}

const refusal = async (...given: Parameters<typeof learn>): Promise<string> => {
  try {
    await learn(...given);
  } catch (error) {
    if (error instanceof OperatorError) return `${error.exit}: ${error.message}`;
    throw error;
  }
  return 'taken';
};

const weightsOf = (out: string): readonly string[] =>
  [...out.matchAll(/\b0\.\d{6}\b/gu)].map(([text]) => text);

describe('tranche data profile', () => {
  it('writes a profile that validate accepts and whose shares sum to exactly one', async () => {
    const { out, cwd } = await learn(csv(), { timeZone: 'Europe/London' });
    const weights = weightsOf(out);
    expect(weights).toHaveLength(24);
    expect(weights.reduce((sum, each) => add(sum, ratio(each)), NOTHING).toFixed()).toBe('1');
    const document = `id: learnt\nkind: vwap\npair: btcusd\nside: buy\ntotal_quantity: { amount: '10', currency: btc }\nduration: PT6H\nslices: 12\n${out}`;
    put(cwd, { 'learnt.yaml': document });
    expectRan(validated(cwd, { files: ['learnt.yaml'] }, { now: instant(BEGIN) }), 0, '1 strategy is usable');
    expect(parse(document)).toMatchObject({ profile: { time_zone: 'Europe/London', period: 'day' } });
  });

  it('writes the same profile from CSV, gzip and Parquet, and as JSON', async () => {
    const { out } = await learn(csv());
    const zipped = await learn(gzipSync(csv()), {}, 'bars.csv.gz');
    const columns = HEADER.split(',');
    const parquet = parquetWriteBuffer({
      columnData: columns.map((name) => {
        if (name === 'timestamp_ms') return { name, data: rows.map(([at]) => BigInt(at)), type: 'INT64' };
        return { name, data: rows.map(([, volume]) => (name === 'volume' ? volume : 1)), type: 'DOUBLE' };
      }),
    });
    const columnar = await learn(new Uint8Array(parquet), {}, 'bars.parquet');
    expect([weightsOf(zipped.out), weightsOf(columnar.out)]).toEqual([weightsOf(out), weightsOf(out)]);
    const { out: json } = await learn(csv(), { json: true });
    const whole = { from: '2026-01-05T00:00:00.000Z', to: '2026-01-07T00:00:00.000Z' };
    expect(JSON.parse(json)).toEqual({
      profile: { time_zone: 'UTC', period: 'day', weights: weightsOf(out).map(Number) },
      learnt_from: { file: 'bars.csv', of: 'bars', rows: 48, ...whole },
    });
  });

  it('reads files from other sources and rejects files without volume', async () => {
    const kraken = rows.map(([at, volume]) => `${at / 1000},1,1,1,1,${volume},9`).join('\n');
    expect(weightsOf((await learn(kraken)).out)).toEqual(weightsOf((await learn(csv())).out));
    const closes = ['timestamp_ms,close', ...rows.map(([at]) => `${at},1`)].join('\n');
    expect(await refusal(closes)).toBe('data: bars.csv: there is no volume at 2026-01-05T00:00:00.000Z');
  });

  it('learns from trades, and separately for each weekday', async () => {
    const trade = (n: number): string => `${BEGIN + n * HOUR_MS},60000,${1 + (n % 24)},buy`;
    const rowsOf = Array.from({ length: 8 * 24 }, (_, n) => trade(n));
    const trades = ['timestamp_ms,price,quantity,side', ...rowsOf].join('\n');
    const { out } = await learn(trades);
    expect(weightsOf(out).toSorted()).toEqual(weightsOf(out));
    const week = await learn(trades, { week: true, parts: 6 });
    expect(weightsOf(week.out)).toHaveLength(42);
    expect(week.out).toContain('period: week');
  });

  it('writes a file but never overwrites one', async () => {
    const { out, cwd } = await learn(csv(), { out: 'profile.yaml' });
    expect([out, weightsOf(readFileSync(join(cwd, 'profile.yaml'), 'utf8')).length]).toEqual(['', 24]);
    const io = { cwd, stdout: { write: () => true }, stderr: { write: () => true } };
    await expect(dataProfile('bars.csv', { ...PLAIN, out: 'profile.yaml' }, io)).rejects.toThrow(
      'profile.yaml exists: nothing was written',
    );
  });

  const bar = (hour: number, volume = '1'): string => `${BEGIN + hour * HOUR_MS},1,1,1,1,${volume}`;
  it.each<readonly [string, Readonly<Record<number, string | undefined>>, string]>([
    ['a gap', { 5: undefined, 6: undefined }, '2 bars are missing from 2026-01-05T03:00:00.000Z on'],
    [
      'a duplicate time',
      { 4: bar(1) },
      '4: its time 2026-01-05T01:00:00.000Z appears at bars.csv:3 with other figures',
    ],
    ['a bar off the grid', { 4: bar(1.5) }, '4: starts before the previous bar, of 3600000 ms, has ended'],
    ['a volume that is not a number', { 7: bar(5, 'NaN') }, '7: expected a volume, got "NaN"'],
    ['a negative volume', { 7: bar(5, '-2') }, '7: expected a volume, got "-2"'],
    ['a time in the wrong format', { 3: '2026-01-05,1,1,1,1,1' }, '3: expected a time, got "2026-01-05"'],
    ['a row without all columns', { 9: `${BEGIN},1,1` }, '9:'],
    ['an unknown header', { 1: 'date,close' }, 'no known layout: it begins "date,close"'],
    [
      'an hour without volume',
      { 3: bar(1, '0'), 27: bar(25, '0') },
      'no volume was traded between 01:00 and 02:00 (UTC)',
    ],
  ])('rejects %s and reports its position', async (_, over, message) => {
    const said = await refusal(csv(over));
    expect(said).toMatch(/^data: bars\.csv:/u);
    expect(said).toContain(message);
  });

  it('accepts a gap up to --max-gap', async () => {
    const holed = csv({ 5: undefined, 6: undefined });
    expect(await refusal(holed, { maxGap: 'PT1H' })).toContain('2 bars are missing');
    expect(await refusal(holed, { maxGap: 'PT2H' })).toBe('taken');
  });

  it.each<readonly [Partial<DataProfileOptions>, string]>([
    [{ parts: 48 }, 'bars.csv has bars of 60 minutes, longer than a part (30 minutes)'],
    [{ parts: 7 }, '--parts 7: expected a number that divides the 1440 minutes'],
    [{ parts: 0 }, '--parts 0'],
    [{ parts: 1 }, 'use a twap'],
    [{ timeZone: 'London' }, 'London'],
    [{ maxGap: '1h' }, '--max-gap'],
  ])('rejects the options %j', async (over, message) => {
    const said = await refusal(csv(), over);
    expect(said).toContain(message);
    expect(said.startsWith('usage: ')).toBe(true);
  });

  it('rejects an empty file, a missing file and an invalid Parquet file', async () => {
    expect(await refusal(HEADER)).toContain('it has a header but no rows');
    expect(await refusal('PAR1 and nothing else', {}, 'x.parquet')).toContain(
      'not a Parquet file that can be read',
    );
    const io = { cwd: aFolder(), stdout: { write: () => true }, stderr: { write: () => true } };
    await expect(dataProfile('none.csv', PLAIN, io)).rejects.toThrow('cannot read none.csv');
  });

  it('recovers the volume curve from which the bars were generated', async () => {
    // The volume follows a known curve, which the profile must reproduce to a millionth.
    const curve = [2, 1, 1, 1, 1, 1, 2, 3, 4, 5, 4, 4, 4, 5, 7, 8, 6, 4, 3, 3, 2, 2, 2, 2];
    const total = curve.reduce((sum, one) => sum + one, 0);
    const lines = Array.from(
      { length: 24 * 30 },
      (_, n) => `${BEGIN - 30 * DAY_MS + n * HOUR_MS},1,1,1,1,${curve[n % 24] ?? 0}`,
    );
    const { out } = await learn([HEADER, ...lines].join('\n'));
    for (const [n, weight] of weightsOf(out).entries())
      expect(Math.abs(Number(weight) - (curve[n] ?? 0) / total)).toBeLessThan(3e-6);
  });
});
