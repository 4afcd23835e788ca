import { corrected } from '../core/cycle/corrected-fill.ts';
import { OperatorError } from '../core/errors.ts';
import { escapeMarks } from '../core/text/escape.ts';
import type { CorrectionRecord, FillRecord, RecordBody, RecordKind, StoredRecord } from '../core/record.ts';
import { isoOf } from '../core/time.ts';
import { canonicalValue } from '../core/text/json.ts';
import { canonical } from './format/canonical.ts';
import { isRecordKind, recordKinds, recordSchema } from './format/record-schema.ts';

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
 * - Fills have the columns of `FILL_COLUMNS` and, if any has fees in other currencies, `other_fees`; `executed_at` is in ISO
 *   8601, and the figures are those of `corrections`. Other kinds have `seq`, `at` (ISO 8601) and all their fields as stored. `all` (jsonl only) is `wholeRecord`.
 *
 * @throws OperatorError `usage` for `all` as CSV, and the errors of reading.
 */
export function* exportRecords(
  records: Iterable<StoredRecord>,
  { format, kind, corrections }: ExportOptions,
): Generator<string> {
  if (kind === 'all') {
    if (format === 'csv')
      throw new OperatorError('usage', '--kind all has no common columns; use --format jsonl');
    for (const record of records) yield wholeRecord(record);
    return;
  }
  const rows = Iterator.from(records)
    .filter(({ body }) => body.kind === kind)
    .map((record) => rowOf(record, corrections));
  if (kind === 'fill' && format === 'csv') yield* fillLines([...rows]);
  else {
    const columns = columnsOf(kind);
    if (format === 'csv') yield csvRow(columns);
    for (const row of rows)
      yield format === 'csv' ? csvRow(columns.map((column) => row[column])) : jsonRow(columns, row);
  }
}

/** Scripts rely on the columns, so one for fees in other currencies appears only if a fill has some. */
function* fillLines(rows: readonly Row[]): Generator<string> {
  const hasOthers = rows.some((row) => row['other_fees'] !== undefined);
  const columns = hasOthers ? [...FILL_COLUMNS, 'other_fees'] : FILL_COLUMNS;
  yield csvRow(columns);
  for (const row of rows) yield csvRow(columns.map((column) => row[column]));
}

/** A record as one line of JSON. `body` is exactly the hashed text, so that other programs can verify the chain. */
export const wholeRecord = ({ seq, at, body, hash }: StoredRecord): string =>
  `{"seq":${seq},"at":${at},"body":${canonical(body)},"hash":"${hash}"}\n`;

export interface ExportOptions {
  readonly format: ExportFormat;
  readonly kind: Selection;
  /** For fills. Default: none, so that fills have the figures that were booked first. */
  readonly corrections?: Corrections | undefined;
}

type Row = Readonly<Record<string, unknown>>;

const columnsOf = (kind: RecordKind): readonly string[] =>
  kind === 'fill' ? [...FILL_COLUMNS, 'other_fees'] : ['seq', 'at', ...Object.keys(recordSchema(kind).shape)];

function rowOf({ seq, at, body }: StoredRecord, corrections?: Corrections): Row {
  return body.kind === 'fill'
    ? fillRow(withCorrection(body, corrections))
    : { seq, at: isoOf(at), ...(body satisfies RecordBody) };
}

/** The last correction of each fill, by client id. */
export type Corrections = ReadonlyMap<string, CorrectionRecord>;

export const correctionsIn = (records: Iterable<StoredRecord>): Corrections =>
  new Map(
    Iterator.from(records).flatMap(({ body }) =>
      body.kind === 'correction' ? [[body.client_order_id, body] as const] : [],
    ),
  );

/** A fill with the figures that count. */
export function withCorrection(fill: FillRecord, corrections?: Corrections): FillRecord {
  const correction = corrections?.get(fill.client_order_id);
  return correction === undefined ? fill : corrected(fill, correction);
}

export const fillRow = (fill: FillRecord): Row => ({
  ...fill,
  executed_at: isoOf(fill.executed_at),
  other_fees: otherFeesText(fill),
});

/** Fees in other currencies as text, such as `bnb 0.1; btc 0.0002`. */
export const otherFeesText = ({ other_fees: fees }: FillRecord): string | undefined =>
  fees &&
  Object.entries(fees)
    .map(([currency, fee]) => `${currency} ${fee}`)
    .join('; ');

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
