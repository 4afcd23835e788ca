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
      `${name}:${text.subarray(0, zero).filter((byte) => byte === NEWLINE).length + 1}: contains zero bytes: is the file complete?`,
    );
  let at = 0;
  while (at < text.length && (text[at] ?? 0) <= 32) at += 1;
  if (at === text.length) throw new OperatorError('data', `${name}: it is empty`);
  if (text[at] === 0x5b || text[at] === 0x7b) return { bytes: jsonRows(name, text), isJson: true };
  return { bytes: text, isJson: false };
}

/** Whether the last line is terminated. A truncated file mostly ends without a line end. */
export const endsItsLastLine = (bytes: Uint8Array): boolean => isLineEnd(bytes.at(-1));
const isLineEnd = (byte: number | undefined): boolean => byte === NEWLINE || byte === RETURN;

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

/** Yields the lines of a file, a megabyte at a time, without empty lines at its end. */
function* linesIn(name: string, bytes: Uint8Array): Generator<readonly string[]> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let end = source.length;
  while (isLineEnd(source[end - 1])) end -= 1;
  let line = 1;
  for (let at = 0; at < end;) {
    const next = end - at <= CHUNK_BYTES ? end : lineEndBefore(source, at, at + CHUNK_BYTES);
    if (next <= at) throw new OperatorError('data', `${name}:${line}: the line is longer than 1 MiB`);
    const chunk = source.toString('utf8', at, next);
    const lines = (chunk.includes('\r') ? chunk.replaceAll(/\r\n?/gu, '\n') : chunk).split('\n');
    if (next < end) lines.pop(); // the chunk ends with a line end
    yield lines;
    line += lines.length;
    at = next;
  }
}

/** Returns the start of the line that follows the last line that ends before `to`; 0 or less than `from` when there is none. */
function lineEndBefore(bytes: Buffer, from: number, to: number): number {
  const newline = bytes.lastIndexOf(NEWLINE, to - 1);
  return newline >= from ? newline + 1 : bytes.lastIndexOf(RETURN, to - 2) + 1;
}

/**
 * Reads delimited text by its plan.
 *
 * @throws OperatorError (`data`) that names the file and the invalid line.
 */
export function readRows(name: string, bytes: Uint8Array, plan: ReadPlan): Rows {
  const { delimiter, width, skip } = plan;
  const reader = new RowReader(name, plan);
  const quoted = new RegExp(`(?<=^|${delimiter})"([^"]*)"(?=${delimiter}|$)`, 'gu');
  let line = 0;
  const fail = (why: string): never => {
    throw new OperatorError('data', `${name}:${line}: ${why}`);
  };
  const unquoted = (row: string): string => {
    const plain = row.replace(quoted, (_, cell: string) =>
      // A cell that needs its quotes is not a number, date or name.
      cell.includes(delimiter) ? fail(`expected a plain number, date or name, got "${shown(cell)}"`) : cell,
    );
    return plain.includes('"') ? fail('a quote that does not enclose a whole cell') : plain;
  };
  for (const lines of linesIn(name, bytes))
    for (const text of lines) {
      line += 1;
      if (line <= skip) continue;
      const row = text.includes('"') ? unquoted(text) : text;
      if (row === '') fail('an empty line between rows');
      const cells = row.split(delimiter);
      if (cells.length !== width)
        fail(`${cells.length > width ? `more than ${width}` : cells.length} cells instead of ${width}: is the file complete?`); // prettier-ignore
      reader.read(cells, line);
    }
  return reader.done();
}

/** Returns the first rows, without a last line that the sample truncates. */
export function sampleOf(name: string, bytes: Uint8Array): Sample {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SAMPLE_BYTES));
  const all = head
    .toString('utf8')
    .replaceAll('"', '')
    .split(/\r\n|\n|\r/u);
  const whole = bytes.length <= SAMPLE_BYTES ? all.length : Math.max(1, all.length - 1);
  const lines = all.slice(0, Math.min(whole, SAMPLE_ROWS)).filter((line) => line !== '');
  const begin = lines.slice(0, 3).join('\n');
  const count = (mark: string): number => begin.split(mark).length;
  const [delimiter = ','] = ([',', ';', '\t'] as const).toSorted((a, b) => count(b) - count(a));
  const rows = lines.map((line) => line.split(delimiter).map((cell) => cell.trim()));
  return { rows, delimiter, name };
}
