import { OperatorError } from '../core/errors.ts';
import { escapeMarks } from '../core/text/escape.ts';
import type { FillRecord, RecordBody, StoredRecord } from '../core/record.ts';
import { isoOf } from '../core/time.ts';
import { canonicalValue } from '../core/text/json.ts';
import { canonical } from './format/canonical.ts';
import { isRecordKind, recordKinds, recordSchema } from './format/record-schema.ts';
import type { RecordKind } from './format/record-schema.ts';

export type ExportFormat = 'csv' | 'jsonl';

/** Columns of `--kind fills`: scripts and accountants rely on the names and their order. */
export const FILL_COLUMNS = [
  'client_order_id', 'order_id', 'quote_id', 'pair', 'side', 'quantity', 'price', 'amount', 'fees', 'executed_at',
  'strategy', 'parent', 'slice', 'attempt',
] as const; // prettier-ignore

/** The values of `--kind`: `fills` or `fill`, any other kind of record in singular or plural, or `all`. */
export type Selection = RecordKind | 'all';

/** @throws OperatorError `usage`. */
export function readSelection(name: string): Selection {
  if (name === 'all') return name;
  const found = [name, name.replace(/s$/u, '')].find(isRecordKind);
  if (found !== undefined) return found;
  throw new OperatorError('usage', `--kind: expected all or one of ${recordKinds.join(', ')}, got "${name}"`);
}

/**
 * The records of one kind, one line at a time, each with its line end.
 *
 * - `csv` follows RFC 4180: CRLF, quotes doubled, a header. A text cell that a spreadsheet would take for a formula
 *   gets
 *   a leading apostrophe; plain numbers stay unchanged. Lists and objects are canonical JSON in their cell.
 * - `jsonl`: one object per line. Amounts are text, exactly as stored, because most readers turn numbers into floats.
 * - Fills have the columns of `FILL_COLUMNS`, with `executed_at` in ISO 8601. Other kinds have `seq`, `at` (ISO 8601)
 *   and all
 *   their fields as stored. `all` (jsonl only) is `wholeRecord`.
 *
 * @throws OperatorError `usage` for `all` as CSV, and the errors of reading.
 */
export function* exportRecords(
  records: Iterable<StoredRecord>,
  { format, kind }: { readonly format: ExportFormat; readonly kind: Selection },
): Generator<string> {
  if (kind === 'all') {
    if (format === 'csv')
      throw new OperatorError('usage', '--kind all has no common columns; use --format jsonl');
    for (const record of records) yield wholeRecord(record);
    return;
  }
  const columns = columnsOf(kind);
  if (format === 'csv') yield csvRow(columns);
  for (const record of records) {
    if (record.body.kind !== kind) continue;
    const row = rowOf(record);
    yield format === 'csv' ? csvRow(columns.map((column) => row[column])) : jsonRow(columns, row);
  }
}

/** A record as one line of JSON. `body` is exactly the hashed text, so that other programs can verify the chain. */
export const wholeRecord = ({ seq, at, body, hash }: StoredRecord): string =>
  `{"seq":${seq},"at":${at},"body":${canonical(body)},"hash":"${hash}"}\n`;

type Row = Readonly<Record<string, unknown>>;

const columnsOf = (kind: RecordKind): readonly string[] =>
  kind === 'fill' ? FILL_COLUMNS : ['seq', 'at', ...Object.keys(recordSchema(kind).shape)];

function rowOf({ seq, at, body }: StoredRecord): Row {
  return body.kind === 'fill' ? fillRow(body) : { seq, at: isoOf(at), ...(body satisfies RecordBody) };
}

export const fillRow = (fill: FillRecord): Row => ({ ...fill, executed_at: isoOf(fill.executed_at) });

/** In the order of the columns; fields that a record omits stay empty. */
function jsonRow(columns: readonly string[], row: Row): string {
  return `${escapeMarks(JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column]]))))}\n`;
}

/** A line of CSV (RFC 4180) with its line end; cells that a spreadsheet would execute are neutralized. */
export const csvRow = (cells: readonly unknown[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(value: unknown): string {
  if (value === undefined) return '';
  const plain = typeof value === 'string' ? harmless(value) : canonicalValue(value);
  return /[",\r\n]/u.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/**
 * Spreadsheets execute cells that begin with one of these. A signed number is not a formula and must stay a number.
 * Terminal control characters are replaced, except tabs and line ends.
 *
 * Source: OWASP, "CSV Injection".
 */
function harmless(text: string): string {
  if (/^-?\d+(?:\.\d+)?$/u.test(text)) return text;
  const shown = text.toWellFormed().replaceAll(/(?![\t\r\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
  return /^[=+\-@\t\r\n＝＋－＠]/u.test(shown) ? `'${shown}` : shown;
}
