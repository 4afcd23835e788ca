import { hash } from 'node:crypto';
import { OperatorError } from '../../core/errors.ts';
import { isArrow, tapeFromArrow } from '../tape/arrow-file.ts';
import { tapeOf } from '../tape/tape.ts';
import type { Tape } from '../tape/tape.ts';
import { assemble } from './assemble.ts';
import type { Duplicates, Keep } from './assemble.ts';
import { endsItsLastLine, plainRows, readRows, sampleOf } from './delimited.ts';
import { planFor } from './layouts.ts';
import type { Format, Hints, ReadPlan } from './plan.ts';
import { isParquet, readParquet } from './parquet.ts';
import { noCounts } from './rows.ts';
import type { Rows } from './rows.ts';
import { doubtsOf, surveyOf } from '../tape/survey.ts';
import type { Survey } from '../tape/survey.ts';
import { unpack } from './unpack.ts';
import type { Container } from './unpack.ts';

export interface SourceFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface ImportOptions extends Hints {
  /** Required if the file does not name it. */
  readonly pair?: string | undefined;
  /** Pair to use if neither `pair` nor the file names one. */
  readonly anyPair?: string | undefined;
  readonly keep?: Keep | undefined;
  /** Whether to sort unsorted files, which are otherwise refused. */
  readonly sort?: boolean | undefined;
  /** Maximum number of bytes of an extracted file, and of its columns; default: 1 GiB. */
  readonly maxBytes?: number | undefined;
}

export interface SourceReport {
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 of the original bytes, hex. */
  readonly sha256: string;
  readonly container: Container;
  readonly formats: readonly Format[];
  /** Number of rows, without skipped empty ones. */
  readonly rows: number;
}

/** The findings and changes of an import. Times are Unix ms. */
export interface ImportReport extends Survey, Pick<Tape, 'pair' | 'barMs' | 'rows' | 'hash'> {
  readonly of: 'bars' | 'trades';
  readonly first: number;
  readonly last: number;
  readonly sources: readonly SourceReport[];
  readonly duplicates: Duplicates;
  /** Dropped rows without prices. */
  readonly empty: number;
  /** Number of figures with more digits than a double preserves, which were rounded to the nearest. */
  readonly rounded: {
    readonly prices: number;
    readonly volumes: number;
    readonly firstAt: string | undefined;
  };
  /** Number of trade times that were finer than a millisecond and were truncated. */
  readonly cutTimes: number;
  /** Assumptions, reversals and repairs, in sentences. */
  readonly notes: readonly string[];
}

interface Part {
  readonly plan: Pick<ReadPlan, 'format' | 'of' | 'barMs' | 'pair' | 'notes'>;
  readonly rows: Rows;
}

/**
 * Reads files of one pair as one tape.
 *
 * @throws OperatorError (`data`) that names file and row of the fault; (`usage`) when the pair is unknown.
 */
export async function importTape(
  files: readonly SourceFile[],
  options: ImportOptions = {},
): Promise<{ readonly tape: Tape; readonly report: ImportReport }> {
  const parts: Part[] = [];
  const sources: SourceReport[] = [];
  for (const { name, bytes } of files) {
    const { container, files: inside } = unpack(name, bytes, options.maxBytes);
    const read: Part[] = [];
    for (const file of inside) {
      const place = inside.length === 1 ? name : `${name}/${file.name}`;
      read.push(await partOf({ ...file, container, place }, options));
    }
    parts.push(...read);
    sources.push({
      name,
      bytes: bytes.length,
      sha256: hash('sha256', bytes),
      container,
      formats: [...new Set(read.map(({ plan }) => plan.format))],
      rows: read.reduce((sum, { rows }) => sum + rows.lines.length, 0),
    });
  }
  const plans = parts.map(({ plan }) => plan);
  const of = oneOf(plans.map((plan) => plan.of), 'bars and trades') ?? 'bars'; // prettier-ignore
  const pair = pairFor(parts, options);
  const barMs = options.barMs ?? oneOf(plans.map((plan) => plan.barMs), 'bars of several lengths'); // prettier-ignore
  const assembled = assemble(parts.map(({ rows }) => rows), { of, barMs, keep: options.keep, sort: options.sort === true }); // prettier-ignore
  const tape = tapeOf({ pair, barMs: assembled.barMs, columns: assembled.columns });
  return { tape, report: reportOf(tape, { parts, sources, assembled }) };
}

async function partOf(
  { place, name, bytes, container }: SourceFile & { readonly place: string; readonly container: Container },
  options: ImportOptions,
): Promise<Part> {
  if (isArrow(bytes)) return ownPart(place, tapeFromArrow(bytes, place).tape);
  if (isParquet(bytes)) return await readParquet({ name, place, bytes }, options, options.maxBytes);
  const plain = plainRows(place, bytes);
  const plan = planFor(sampleOf(name, plain.bytes), options, place);
  const rows = readRows(place, plain.bytes, plan);
  // A compressed file has a checksum, and JSON ends with a bracket.
  if (container !== 'plain' || plain.isJson || endsItsLastLine(plain.bytes)) return { plan, rows };
  const note = `its last line, ${rows.lines.at(-1) ?? 0}, is not terminated: if the file was truncated there, its last figure is incomplete`;
  return { plan: { ...plan, notes: [...plan.notes, note] }, rows };
}

/** Returns the rows of a tape that was imported before. */
function ownPart(name: string, { pair, barMs, rows, times, open, high, low, close, volume }: Tape): Part {
  const lines = Float64Array.from({ length: rows }, (_, row) => row + 1);
  const columns = { times, open, high, low, close, volume };
  const plan = { format: 'tranche', of: barMs === 0 ? 'trades' : 'bars', barMs, pair, notes: [] } as const;
  return { plan, rows: { name, columns, lines, counts: noCounts() } };
}

/** Returns the only value, besides `undefined`. @throws OperatorError if there are several. */
function oneOf<T>(values: readonly T[], several: string): T | undefined {
  const [first, other] = new Set(values.filter((value) => value !== undefined));
  if (other !== undefined)
    throw new OperatorError('data', `the files hold ${several}: import them one by one`);
  return first;
}

function pairFor(parts: readonly Part[], { pair: said, anyPair }: ImportOptions): string {
  if (said !== undefined) return said;
  const found = oneOf(
    parts.map(({ plan }) => plan.pair),
    'several pairs',
  );
  if (found !== undefined || anyPair !== undefined) return found ?? anyPair ?? '';
  throw new OperatorError('usage', 'the files do not name their pair: add --pair, such as --pair btcusd');
}

function reportOf(
  tape: Tape,
  found: {
    readonly parts: readonly Part[];
    readonly sources: readonly SourceReport[];
    readonly assembled: ReturnType<typeof assemble>;
  },
): ImportReport {
  const { parts, sources, assembled } = found;
  const sum = (pick: (counts: Rows['counts']) => number): number =>
    parts.reduce((total, { rows }) => total + pick(rows.counts), 0);
  const rounded = parts.find(({ rows }) => rows.counts.roundedAt > 0)?.rows;
  const notes = parts.flatMap(({ plan, rows }) => {
    // Either intended, such as USDT for USD, or a mistake.
    const isOther = plan.pair !== undefined && plan.pair !== tape.pair;
    const all = isOther ? [...plan.notes, `it names ${plan.pair}: read as ${tape.pair}, as given`] : plan.notes; // prettier-ignore
    return all.map((note) => `${rows.name}: ${note}`);
  });
  return {
    ...reportOfTape(tape, [...notes, ...assembled.notes, ...doubtsOf(tape, tape.barMs)]),
    sources,
    duplicates: assembled.duplicates,
    empty: sum(({ empty }) => empty),
    rounded: {
      prices: sum(({ roundedPrices }) => roundedPrices),
      volumes: sum(({ roundedVolumes }) => roundedVolumes),
      firstAt: rounded && `${rounded.name}:${rounded.counts.roundedAt}`,
    },
    cutTimes: sum(({ cutTimes }) => cutTimes),
  };
}

/** Returns a report about a tape that was not read from a file. */
export function reportOfTape(tape: Tape, notes: readonly string[]): ImportReport {
  return {
    of: tape.barMs === 0 ? 'trades' : 'bars',
    pair: tape.pair,
    barMs: tape.barMs,
    rows: tape.rows,
    first: tape.times[0] ?? 0,
    last: tape.times.at(-1) ?? 0,
    hash: tape.hash,
    sources: [],
    duplicates: { identical: 0, conflicting: 0 },
    empty: 0,
    rounded: { prices: 0, volumes: 0, firstAt: undefined },
    cutTimes: 0,
    notes,
    ...surveyOf(tape, tape.barMs),
  };
}
