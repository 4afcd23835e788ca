import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { OperatorError } from '../../core/errors.ts';
import type { Plan, Sample } from './plan.ts';
import { shown } from './values.ts';

/** Text before it is read: byte order marks, quotes, arrays of JSON, and the first rows to tell the layout by. */

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const SAMPLE_BYTES = 2 ** 18;
const BINARY_BYTES = 1_024;
const SAMPLE_ROWS = 1_000;
const BYTES_JSON_MAX = 2 ** 29;

/** Text as delimited rows without quotes. Rows keep their line; elements of JSON become a line each. */
export function plainRows(
  name: string,
  bytes: Uint8Array,
): { readonly bytes: Uint8Array; readonly isJson: boolean } {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    throw new OperatorError('data', `${name}: is UTF-16: save it as UTF-8`);
  const text = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
  if (text[0] === 0x1f && text[1] === 0x8b)
    throw new OperatorError('data', `${name}: is packed twice: unpack it once`);
  const zero = text.indexOf(0);
  if (zero >= 0 && zero < BINARY_BYTES)
    throw new OperatorError('data', `${name}: is binary, and neither Parquet, Arrow, gzip nor zip`);
  // What a power cut leaves of a file that was being written.
  if (zero >= 0)
    throw new OperatorError('data', `${name}:${lineAt(text, zero)}: holds bytes of zero: is the file whole?`);
  let at = 0;
  while (at < text.length && (text[at] ?? 0) <= 32) at += 1;
  if (at === text.length) throw new OperatorError('data', `${name}: it is empty`);
  if (text[at] === 0x5b || text[at] === 0x7b) return { bytes: jsonRows(name, text), isJson: true };
  return { bytes: text.includes(QUOTE) ? unquoted(name, text) : text, isJson: false };
}

function lineAt(bytes: Uint8Array, at: number): number {
  let line = 1;
  for (let n = bytes.indexOf(NEWLINE); n >= 0 && n < at; n = bytes.indexOf(NEWLINE, n + 1)) line += 1;
  return line;
}

/** Whether the last line has an end: what was cut off has none, most often. */
export const endsItsLastLine = (bytes: Uint8Array): boolean => {
  const last = bytes.at(-1);
  return last === NEWLINE || last === RETURN;
};

/** Elements of `[[…], …]`, numbers or numbers in quotes, as lines. Their digits are kept as they are written. */
function jsonRows(name: string, bytes: Uint8Array): Uint8Array {
  const fail = (why: string, cause?: unknown): never => {
    throw new OperatorError('data', `${name}: ${why}`, cause);
  };
  if (bytes.length > BYTES_JSON_MAX) return fail('JSON of more than 512 MiB: bring it as CSV');
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
  // What was checked is flat: no bracket, comma or blank stands inside a cell.
  const lines = text
    .replaceAll(/[\s"]/gu, '')
    .replaceAll('],[', '\n')
    .replace(/^\[\[/u, '')
    .replace(/\]\]$/u, '\n');
  return value.length === 0 ? fail('it holds no candles') : Buffer.from(lines);
}

/** Quoted cells without their quotes. */
function unquoted(name: string, bytes: Uint8Array): Uint8Array {
  const delimiter = delimiterOf(linesOf(bytes));
  const lines: string[] = [];
  let line = 0;
  try {
    parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), {
      delimiter,
      relax_column_count: true,
      onRecord: (cells: readonly string[]) => {
        line += 1;
        const split = cells.find((cell) => cell.includes(delimiter) || /[\r\n]/u.test(cell));
        if (split !== undefined)
          throw new OperatorError(
            'data',
            `${name}:${line}: expected a plain number, date or name, got "${shown(split)}"`,
          );
        lines.push(cells.join(delimiter));
        return undefined;
      },
    });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    // A fault in the first row: this is something else than delimited text, and the layouts say so better.
    if (line === 0) return bytes;
    throw new OperatorError('data', `${name}:${line + 1}: ${cause.message}`, cause);
  }
  return Buffer.from(`${lines.join('\n')}\n`);
}

/** The first rows. A last line that the sample cuts off is left out. */
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
  const lines = head.split(/\r\n|\n|\r/u);
  return lines.slice(0, isWhole ? SAMPLE_ROWS : Math.max(1, Math.min(lines.length - 1, SAMPLE_ROWS)));
}

/** What stands most often in the first rows. */
function delimiterOf(lines: readonly string[]): Plan['delimiter'] {
  const head = lines.slice(0, 3).join('\n');
  const count = (mark: string): number => head.split(mark).length;
  const [best = ','] = ([',', ';', '\t'] as const).toSorted((a, b) => count(b) - count(a));
  return best;
}
