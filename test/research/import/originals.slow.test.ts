import { describe, expect, it } from 'vitest';
import { importTape } from '../../../src/research/import/read.ts';
import type { ImportOptions } from '../../../src/research/import/read.ts';
import { columnNames } from '../../../src/research/tape/tape.ts';
import type { Tape } from '../../../src/research/tape/tape.ts';
import { OperatorError } from '../../../src/core/errors.ts';
import { damages } from './damages.ts';
import { bytesOf, candles, DATA, hasData, lined, nameOf, packedAs, plainRows, sheetOf, textOf } from './originals.ts'; // prettier-ignore
import type { PlainRow } from './originals.ts';

/** Files of each layout as published: compared with a plain reading, and then damaged in every way. */

const importOf = async (file: string, bytes: Uint8Array, options: ImportOptions = {}) =>
  await importTape([{ name: nameOf(file), bytes }], options);
async function refusalOf(...given: Parameters<typeof importOf>): Promise<string> {
  try {
    await importOf(...given);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'taken';
}

it('the importers are tested with real files', (context) => {
  if (!hasData) context.skip(`there is no market data in ${DATA}`);
  expect(Object.keys(lined).length).toBeGreaterThan(12);
});

/** A column of figures; a missing one is NaN. */
const column = (rows: readonly PlainRow[], place: number): Float64Array =>
  Float64Array.from(rows, (row) => row[place] ?? Number.NaN);
function expectRows(tape: Tape, rows: readonly PlainRow[]): void {
  expect(tape.rows).toBe(rows.length);
  for (const [place, name] of columnNames.entries()) {
    const [read, plain] = [tape[name], column(rows, place)];
    const differs = plain.findIndex((value, row) => !Object.is(value, read[row]));
    expect([name, differs, plain[differs], read[differs]]).toEqual([name, -1, undefined, undefined]);
  }
}
const sumsOf = (rows: readonly PlainRow[]): readonly number[] =>
  [1, 2, 3, 4].map((place) => rows.reduce((sum, row) => sum + (row[place] ?? 0), 0));

describe.each(hasData ? Object.entries(lined) : [])('%s', (file, known) => {
  const sheet = sheetOf(file, known);
  const rows = plainRows(sheet);
  const isPacked = /\.(?:gz|zip)$/u.test(file);

  it('yields every figure of a plain reading and counts missing bars', async () => {
    const { tape, report } = await importOf(file, bytesOf(file), known.options);
    expectRows(tape, rows);
    expect(tape).toMatchObject({ pair: known.pair, barMs: known.barMs });
    expect(report.sources).toMatchObject([{ formats: [known.format], rows: rows.length }]);
    expect([report.first, report.last]).toEqual([rows[0]?.[0], rows.at(-1)?.[0]]);
    const sums = [tape.open, tape.high, tape.low, tape.close].map((each) => each.reduce((a, b) => a + b, 0));
    expect(sums).toEqual(sumsOf(rows));
    expect(report.duplicates).toEqual({ identical: 0, conflicting: 0 });
    const span = (report.last - report.first) / (known.barMs === 0 ? 1 : known.barMs) + 1;
    expect(report.gaps.missing).toBe(known.barMs === 0 ? 0 : span - rows.length);
  });

  it('is refused if it is cut off', async () => {
    const whole = bytesOf(file);
    const middle = Math.floor(whole.length * 0.7);
    const cut = whole.subarray(0, isPacked ? middle : whole.lastIndexOf(',', middle));
    expect(await refusalOf(file, cut, known.options)).toMatch(
      isPacked ? /damaged (?:gzip|zip) file/u : /:\d+: \d+ cells instead of \d+: is the file complete/u,
    );
  });

  it.each(isPacked ? ['compressed'] : [])('is refused if a byte of its %s content was changed', async () => {
    const harmed = Buffer.from(bytesOf(file));
    const place = Math.floor(harmed.length / 2);
    harmed[place] = (harmed[place] ?? 0) ^ 0x10;
    expect(await refusalOf(file, harmed, known.options)).toMatch(/damaged (?:gzip|zip) file/u);
  });

  it.each(isPacked ? [] : ['plain'])(
    'is imported with a warning if the last line of the %s file is not terminated',
    async () => {
      const { report } = await importOf(file, bytesOf(file).subarray(0, -sheet.end.length), known.options);
      expect(report.notes.join('\n')).toContain(`its last line, ${sheet.lines.length}, is not terminated`);
    },
  );

  // Only the first rows are damaged: this tests the same and is faster.
  const part = {
    ...sheet,
    lines: sheet.lines.slice(0, known.head + 2_000),
    rows: sheet.rows.slice(0, 2_000),
  };
  const partRows = plainRows(part);
  const fitting = Object.entries(damages).filter(([, { applies }]) => applies?.(sheet) ?? true);
  const harms = fitting.flatMap(([what, { make, says }]) =>
    says === 'repaired' ? [] : [[what, make, says] as const],
  );
  it.each(harms)('is refused if %s', async (_, make, says) => {
    expect(await refusalOf(file, packedAs(file, make(part)), known.options)).toMatch(says(part));
  });

  const quirks = fitting.filter(([, { says }]) => says === 'repaired');
  it.each(quirks)('yields the same figures if %s', async (_, { make }) => {
    const { tape, report } = await importOf(file, packedAs(file, make(part)), known.options);
    expectRows(tape, partRows);
    expect(report.duplicates.identical).toBe((report.sources[0]?.rows ?? 0) - partRows.length);
  });

  it.each(known.barMs === 0 ? ['trades'] : [])('keeps and counts duplicated %s', async () => {
    const { lines, head, end } = sheet;
    const twice = [...lines, lines.at(-1) ?? ''].join(end) + end;
    const [one, two] = [await importOf(file, bytesOf(file), known.options), await importOf(file, packedAs(file, twice), known.options)]; // prettier-ignore
    expect(two.tape.rows).toBe(lines.length - head + 1);
    expect(two.report.repeatedTrades).toBe(one.report.repeatedTrades + 1);
  });

  it.each(known.isOrdered === false ? ['no order'] : [])(
    'is refused with the row if it has %s, unless sorting is requested',
    async () => {
      expect(await refusalOf(file, bytesOf(file))).toMatch(
        /:9955: its time 2017-11-12T08:00:00.000Z is after/u,
      );
      const { report } = await importOf(file, bytesOf(file), known.options);
      expect(report.notes.join('\n')).toMatch(/unsorted: sorted now; \d+ rows were out of order/u);
    },
  );
});

describe.each(hasData ? Object.entries(candles) : [])('%s', (file, known) => {
  const text = textOf(file);
  const elements = JSON.parse(text) as readonly PlainRow[];
  const packed = (value: unknown): Uint8Array => packedAs(file, JSON.stringify(value));
  const last = elements.length - 1;
  const [first, second] = [elements[0] ?? [], elements[1] ?? []];

  it('yields every figure of JSON.parse', async () => {
    const { tape, report } = await importOf(file, bytesOf(file));
    expectRows(tape, elements);
    expect(tape).toMatchObject(known);
    expect(report.sources).toMatchObject([{ formats: ['freqtrade'], container: 'gzip', rows: elements.length }]);
  }); // prettier-ignore

  it.each<[string, () => Uint8Array, RegExp]>([
    ['it is cut off', () => bytesOf(file).subarray(0, 5_000), /damaged gzip file/u],
    ['its text is cut off', () => packedAs(file, text.slice(0, -100)), /not JSON/u],
    ['a candle lacks a cell', () => packed(elements.with(5, (elements[5] ?? []).slice(0, -1) as never)), /:6: 5 cells instead of 6/u],
    ['two candles are exchanged', () => packed(elements.with(3, elements[last] as never).with(last, elements[3] as never)), /:\d+: its time \S+ is before/u],
    ['a time occurs twice with different figures', () => packed([first, (first as number[]).with(5, 1), ...elements.slice(1)]), /:2: its time \S+ appears at \S+:1 with other figures/u],
    ['a price is below zero', () => packed([first, (second as number[]).with(4, -1), ...elements.slice(2)]), /:2: expected a price, got "-1"/u],
    ['a price is null', () => packed([first, [...second.slice(0, 4), null, 1], ...elements.slice(2)]), /element 2 holds null, not a number/u],
    ['a price is NaN', () => packedAs(file, text.replace(/\[(\d+), ?[\d.]+/u, '[$1,NaN')), /not JSON/u],
    ['a high is below its low', () => packed([first, (second as number[]).with(2, 0.0001), ...elements.slice(2)]), /:2: its (?:high|low) \S+ is/u],
    ['a time is in seconds', () => packed([first, (second as number[]).with(0, (second[0] ?? 0) / 1000), ...elements.slice(2)]), /:2: its time \d+ is in a different unit from the first/u],
    ['a candle is an object', () => packed([first, { t: 1 }]), /element 2 is not an array/u],
    ['other data follows it', () => packedAs(file, `${text}{"code":-1003}`), /not JSON/u],
  ])('is refused if %s', async (_, make, said) => {
    expect(await refusalOf(file, make())).toMatch(said);
  }); // prettier-ignore

  it('skips and counts a duplicated candle', async () => {
    const { tape, report } = await importOf(file, packed([first, ...elements]));
    expectRows(tape, elements);
    expect(report.duplicates).toEqual({ identical: 1, conflicting: 0 });
  });
});

it.runIf(hasData)('a Feather file of another program is refused', async () => {
  const file = 'originals/freqtrade_LTC_BTC-5m.feather';
  expect(await refusalOf(file, bytesOf(file))).toContain('another program wrote it: import Parquet or CSV');
});
