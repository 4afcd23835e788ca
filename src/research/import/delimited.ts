import { initParser } from 'udsv';
import { OperatorError } from '../../core/errors.ts';
import type { ReadPlan, Sample } from './plan.ts';
import { RowReader } from './rows.ts';
import type { Rows } from './rows.ts';
import { shown } from './plan.ts';

/**
 * Reads delimited text and JSON arrays: byte order marks, line ends, quotes, the first rows for detecting the layout,
 * and all rows.
 */

const NEWLINE = 10;
const RETURN = 13;
const SAMPLE_BYTES = 2 ** 18;
const BINARY_BYTES = 1_024;
const SAMPLE_ROWS = 1_000;
const BYTES_JSON_MAX = 2 ** 29;

/** Returns a text as delimited rows. Rows keep their line; each JSON element becomes a line. */
export function plainRows(
  name: string,
  bytes: Uint8Array,
): { readonly bytes: Uint8Array; readonly isJson: boolean } {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    throw new OperatorError('data', `${name}: the file is UTF-16: save it as UTF-8`);
  const text = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
  if (text[0] === 0x1f && text[1] === 0x8b)
    throw new OperatorError('data', `${name}: the file is compressed twice: decompress it once`);
  const zero = text.indexOf(0);
  if (zero >= 0 && zero < BINARY_BYTES)
    throw new OperatorError('data', `${name}: the file is binary, but not Parquet, Arrow, gzip or zip`);
  // A power failure during writing leaves zero bytes.
  if (zero >= 0)
    throw new OperatorError(
      'data',
      `${name}:${lineAt(text, zero)}: contains zero bytes: is the file complete?`,
    );
  let at = 0;
  while (at < text.length && (text[at] ?? 0) <= 32) at += 1;
  if (at === text.length) throw new OperatorError('data', `${name}: it is empty`);
  if (text[at] === 0x5b || text[at] === 0x7b) return { bytes: jsonRows(name, text), isJson: true };
  return { bytes: text, isJson: false };
}

function lineAt(bytes: Uint8Array, at: number): number {
  let line = 1;
  for (let n = bytes.indexOf(NEWLINE); n >= 0 && n < at; n = bytes.indexOf(NEWLINE, n + 1)) line += 1;
  return line;
}

/** Whether the last line is terminated. A truncated file mostly ends without a line end. */
export const endsItsLastLine = (bytes: Uint8Array): boolean => {
  const last = bytes.at(-1);
  return last === NEWLINE || last === RETURN;
};

/** Returns the elements of `[[…], …]`, numbers or quoted numbers, as lines. Their digits are unchanged. */
function jsonRows(name: string, bytes: Uint8Array): Uint8Array {
  const fail = (why: string, cause?: unknown): never => {
    throw new OperatorError('data', `${name}: ${why}`, cause);
  };
  if (bytes.length > BYTES_JSON_MAX) return fail('JSON of more than 512 MiB: convert it to CSV');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return fail(`not JSON: ${cause instanceof Error ? cause.message : 'unknown'}`, cause);
  }
  if (!Array.isArray(value)) return fail('JSON, but not an array of candles');
  for (const [n, element] of value.entries()) {
    if (!Array.isArray(element)) return fail(`element ${n + 1} is not an array`);
    for (const cell of element)
      if (typeof cell !== 'number' && !(typeof cell === 'string' && /^[\w.+-]*$/u.test(cell)))
        return fail(`element ${n + 1} holds ${JSON.stringify(cell) ?? 'nothing'}, not a number`);
  }
  // The text was checked, so no cell contains a bracket, comma or blank.
  const lines = text
    .replaceAll(/[\s"]/gu, '')
    .replaceAll('],[', '\n')
    .replace(/^\[\[/u, '')
    .replace(/\]\]$/u, '\n');
  return value.length === 0 ? fail('it contains no candles') : Buffer.from(lines);
}

const CHUNK_BYTES = 2 ** 20;

/** Whole lines of a text: each ends in `\n`, and none is empty. */
interface Lines {
  readonly text: string;
  /** Number of the first line in the file, from 1. */
  readonly first: number;
  readonly count: number;
}

/** Yields the lines of a file, a megabyte at a time, without empty lines at its end. */
function* linesIn(name: string, bytes: Uint8Array): Generator<Lines> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let end = source.length;
  while (isLineEnd(source[end - 1])) end -= 1;
  let first = 1;
  for (let at = 0; at < end;) {
    const next = end - at <= CHUNK_BYTES ? end : lineEndBefore(source, at, at + CHUNK_BYTES);
    if (next === undefined)
      throw new OperatorError('data', `${name}:${first}: the line is longer than 1 MiB`);
    const chunk = source.toString('utf8', at, next);
    const text = `${chunk.includes('\r') ? chunk.replaceAll(/\r\n?/gu, '\n') : chunk}${next === end ? '\n' : ''}`;
    const empty = text.startsWith('\n') ? 0 : text.indexOf('\n\n') + 1;
    if (empty > 0) yield { text: text.slice(0, empty), first, count: countLines(text, empty) };
    if (empty > 0 || text.startsWith('\n'))
      throw new OperatorError(
        'data',
        `${name}:${first + countLines(text, empty)}: an empty line between rows`,
      );
    const count = countLines(text, text.length);
    yield { text, first, count };
    first += count;
    at = next;
  }
}

const isLineEnd = (byte: number | undefined): boolean => byte === NEWLINE || byte === RETURN;

/** Returns the start of the line that follows the last line that ends before `to`. */
function lineEndBefore(bytes: Buffer, from: number, to: number): number | undefined {
  const newline = bytes.lastIndexOf(NEWLINE, to - 1);
  if (newline >= from) return newline + 1;
  const old = bytes.lastIndexOf(RETURN, to - 2);
  return old >= from ? old + 1 : undefined;
}

function countLines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/**
 * Reads delimited text by its plan.
 *
 * @throws OperatorError (`data`) that names the file and the invalid line.
 */
export function readRows(name: string, bytes: Uint8Array, plan: ReadPlan): Rows {
  const { delimiter, width, skip } = plan;
  const reader = new RowReader(name, plan);
  const schema = schemaOf(plan);
  for (const lines of linesIn(name, bytes)) {
    const text = unquoted(name, lines, delimiter);
    const skipped = Math.max(0, Math.min(lines.count, skip + 1 - lines.first));
    let line = lines.first + skipped;
    const refuseRagged = (): never => {
      const cells = text.split('\n')[line - lines.first]?.split(delimiter).length ?? 0;
      const found = cells > width ? `more than ${width}` : `${cells}`;
      throw new OperatorError('data', `${name}:${line}: ${found} cells instead of ${width}: is the file complete?`); // prettier-ignore
    };
    const parser = initParser(schema);
    // Pass whole lines with `chunk`, and never call `end`, because the parser does not return from a short last row at
    // the end of the text.
    parser.chunk<string[]>(afterLines(text, skipped), parser.stringArrs, (cells) => {
      // The parser does not count cells. A short row continues into the next line, and the last cell contains the
      // surplus of a long row.
      if (cells.some((cell) => cell.includes('\n')) || cells.at(-1)?.includes(delimiter) === true)
        refuseRagged();
      reader.read(cells, line);
      line += 1;
      return true;
    });
    if (line !== lines.first + lines.count) refuseRagged();
  }
  return reader.done();
}

function afterLines(text: string, count: number): string {
  let at = 0;
  for (let n = 0; n < count; n++) at = text.indexOf('\n', at) + 1;
  return text.slice(at);
}

/** Returns the schema for rows of plain cells, whose quotes have been removed. */
function schemaOf({ delimiter, width }: ReadPlan): Parameters<typeof initParser>[0] {
  const cols = Array.from({ length: width }, (_, n) => ({ name: String(n), type: 's' as const, repl: { empty: undefined, null: undefined, NaN: undefined } })); // prettier-ignore
  const schema = { skip: 0, col: delimiter, row: '\n', encl: '', esc: '', trim: false, cols };
  return schema;
}

/** Removes the quotes of cells. A cell that needs its quotes is not a number, date or name. */
function unquoted(name: string, { text, first }: Lines, delimiter: string): string {
  if (!text.includes('"')) return text;
  const fail = (at: number, why: string): never => {
    throw new OperatorError('data', `${name}:${first + countLines(text, at)}: ${why}`);
  };
  const quoted = new RegExp(`(?<=^|${delimiter})"([^"]*)"(?=${delimiter}|$)`, 'gmu');
  const plain = text.replace(quoted, (_, cell: string, at: number) =>
    cell.includes(delimiter) || cell.includes('\n')
      ? fail(at, `expected a plain number, date or name, got "${shown(cell)}"`)
      : cell,
  );
  // udsv skips an empty line, and a line of only `""` has just become one.
  const empty = plain.startsWith('\n') ? 0 : plain.indexOf('\n\n') + 1;
  if (empty > 0 || plain.startsWith('\n'))
    throw new OperatorError(
      'data',
      `${name}:${first + countLines(plain, empty)}: an empty line between rows`,
    );
  const stray = plain.indexOf('"');
  if (stray < 0) return plain;
  const line = plain.slice(0, stray).split('\n').length - 1;
  throw new OperatorError('data', `${name}:${first + line}: a quote that does not enclose a whole cell`);
}

/** Returns the first rows, without a last line that the sample truncates. */
export function sampleOf(name: string, bytes: Uint8Array, isJson: boolean): Sample {
  const lines = linesOf(bytes);
  const delimiter = delimiterOf(lines);
  const rows = lines
    .filter((line) => line !== '')
    .map((line) => line.split(delimiter).map((cell) => cell.trim()));
  return { rows, delimiter, name, isJson };
}

function linesOf(bytes: Uint8Array): readonly string[] {
  const isWhole = bytes.length <= SAMPLE_BYTES;
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SAMPLE_BYTES)).toString(
    'utf8',
  );
  const lines = head.replaceAll('"', '').split(/\r\n|\n|\r/u);
  return lines.slice(0, isWhole ? SAMPLE_ROWS : Math.max(1, Math.min(lines.length - 1, SAMPLE_ROWS)));
}

/** Returns the most frequent delimiter in the first rows. */
function delimiterOf(lines: readonly string[]): ReadPlan['delimiter'] {
  const head = lines.slice(0, 3).join('\n');
  const count = (mark: string): number => head.split(mark).length;
  const [best = ','] = ([',', ';', '\t'] as const).toSorted((a, b) => count(b) - count(a));
  return best;
}
