import { describe, expect, it } from 'vitest';
import { importTape } from '../../../src/research/import/read.ts';
import type { ImportOptions } from '../../../src/research/import/read.ts';
import { read as readText, refusal as refusalOf } from './reading.ts';
import { BEGIN, closes, figures, packed, ROWS, samples } from './samples.ts';
import type { Sample } from './samples.ts';

const read = async ({ text, name }: Pick<Sample, 'name' | 'text'>, options?: ImportOptions) =>
  await readText(text, options, name);
const refusal = async ({ text, name }: Pick<Sample, 'name' | 'text'>, options?: ImportOptions) =>
  await refusalOf(text, options, name);

describe.each(Object.entries(samples))('a file of %s', (_, sample) => {
  const { format, head, name, text, barMs } = sample;
  const isJson = name.endsWith('.json');
  const rows = isJson ? [] : text.trimEnd().split('\n');
  const joined = (changed: readonly string[]): Pick<Sample, 'name' | 'text'> => ({
    name,
    text: `${changed.join('\n')}\n`,
  });
  /** The sample with its `n`th row (from 0) as another. */
  const withRow = (n: number, change: (row: string) => string): Pick<Sample, 'name' | 'text'> => {
    if (!isJson) return joined(rows.map((row, place) => (place === head + n ? change(row) : row)));
    const elements = JSON.parse(text) as readonly unknown[];
    const flat = elements.map((each) => JSON.stringify(each).slice(1, -1));
    return { name, text: `[${flat.map((row, place) => `[${place === n ? change(row) : row}]`).join(',')}]` };
  };
  const line = (n: number): number => head + n + 1;

  it('is recognised by its content and yields the written figures', async () => {
    const { tape, report } = await read(sample, { pair: sample.pair === undefined ? 'btcusd' : undefined });
    expect(report.sources[0]?.formats).toEqual([format]);
    expect([...tape.close]).toEqual(closes);
    expect(tape).toMatchObject({ rows: ROWS, barMs, pair: sample.pair ?? 'btcusd' });
    expect([...tape.times]).toEqual(
      Array.from({ length: ROWS }, (__, n) => BEGIN + n * (barMs === 0 ? 60_000 : barMs)),
    );
    expect(report).toMatchObject({
      rows: ROWS,
      first: BEGIN,
      gaps: { missing: 0 },
      duplicates: { identical: 0 },
    });
    const volumes = Array.from({ length: ROWS }, (__, n) => Number(figures(n)[4]));
    expect([volumes, volumes.map(() => Number.NaN)]).toContainEqual([...tape.volume]);
    const onePrice = barMs === 0 || name.startsWith('closes');
    expect([...tape.high]).toEqual(closes.map((close, n) => (onePrice ? close : Number(figures(n)[1]))));
    expect([...tape.low]).toEqual(closes.map((close, n) => (onePrice ? close : Number(figures(n)[2]))));
  });

  it('yields the same tape if its format is given, and if it is compressed with gzip', async () => {
    const { tape } = await read(sample);
    expect((await read(sample, { format })).tape.hash).toBe(tape.hash);
    const { tape: unpacked, report } = await importTape([{ name: `${name}.gz`, bytes: packed(text) }], {
      pair: 'btcusd',
    });
    expect([unpacked.hash, report.sources[0]?.container]).toEqual([tape.hash, 'gzip']);
  });

  it('is refused with the row if a figure is not a number', async () => {
    const damaged = withRow(4, (row) => row.replace(/(\d)\.(0625|938|25|5)/u, '$1.x$2'));
    expect(damaged.text).not.toBe(text);
    expect(await refusal(damaged)).toMatch(
      isJson
        ? /not JSON|:5: expected a price/u
        : new RegExp(`:${line(4)}: expected a (?:price|volume), got "`, 'u'),
    );
  });

  it('is refused with the row if a cell is missing', async () => {
    const damaged = withRow(5, (row) => row.slice(0, Math.max(row.lastIndexOf(','), row.lastIndexOf(';'))));
    expect(await refusal(damaged)).toMatch(new RegExp(`:${line(5)}: \\d+ cells instead of \\d+`, 'u'));
  });

  it('is refused if it is cut off', async () => {
    const whole = packed(text);
    const cut = async () =>
      await importTape([{ name: `${name}.gz`, bytes: whole.subarray(0, whole.length - 20) }], {
        pair: 'btcusd',
      });
    await expect(cut()).rejects.toThrow(`${name}.gz: damaged gzip file`);
    const last = isJson
      ? text.slice(0, -9)
      : joined([...rows.slice(0, -1), rows.at(-1)?.split(/[,;]/u)[0] ?? '']).text;
    expect(await refusal({ name, text: last })).toMatch(
      isJson ? /not JSON/u : new RegExp(`:${rows.length}: 1 cells instead of`, 'u'),
    );
  });

  it.each(isJson ? [] : ['a row'])('is refused if %s has a time that is out of order', async () => {
    const [a = '', b = ''] = [rows[head + 3], rows[head + 8]];
    const swapped = joined(rows.map((row, n) => (n === head + 3 ? b : n === head + 8 ? a : row)));
    expect(await refusal(swapped)).toMatch(
      /:\d+: its time \S+ is (?:after|before) the time of the previous row/u,
    );
    expect((await read(swapped, { sort: true })).report.notes.join('\n')).toContain('unsorted: sorted now');
  });

  it.each(isJson ? [] : ['a row'])('is refused if %s has an invalid time', async () => {
    const time = /(?<=^|,)1[67]\d{8,14}(?=,)|\d{4}-\d{2}-\d{2}[T D][\d:]+|^\d{8} \d{2}:\d{2}|^7\d+/u;
    const damaged = withRow(6, (row) => row.replace(time, 'soon'));
    expect(damaged.text).not.toBe(text);
    const said = await refusal(damaged);
    expect(said).toMatch(new RegExp(`:${line(6)}: expected a time`, 'u'));
  });
});
