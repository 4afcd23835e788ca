import { instant, isoOf } from '../../../core/time.ts';
import { escapeMarks, forTerminal } from '../../../core/text/escape.ts';
import { isObject } from '../../../wire/message.ts';
import type { Out } from '../io.ts';

type Row = ReadonlyMap<string, string>;

/** Widest table, in characters. A wider list has one line per field. */
const WIDTH_MAX = 160;

/** Prints a response of the venue as one line of JSON; or for people, lists as tables and other fields one per line. */
export function printResponse(response: unknown, { json, out }: { json: boolean; out: Out }): void {
  if (json) {
    out.write(`${escapeMarks(JSON.stringify(response))}\n`);
    return;
  }
  const { list, fields } = partsOf(response);
  const rows = list?.map(rowOf);
  const beside = linesOf(rowOf(fields));
  if (rows === undefined) out.write(beside === '' ? 'Done.\n' : beside);
  else out.write((rows.length === 0 ? 'The list is empty.\n' : tableOf(rows)) + beside);
}

/** Splits a response into its list, if it has one, and the fields beside it. An object of objects is a list by name. */
function partsOf(response: unknown): { readonly list?: readonly unknown[]; readonly fields: unknown } {
  if (Array.isArray(response)) return { list: response, fields: {} };
  if (!isObject(response)) return { fields: { response } };
  const entries = Object.entries(response);
  const [first, ...others] = entries.filter(([, value]) => Array.isArray(value));
  if (first !== undefined && Array.isArray(first[1]) && others.length === 0)
    return { list: first[1], fields: Object.fromEntries(entries.filter((each) => each !== first)) };
  const isByName = entries.length > 0 && entries.every(([, value]) => isObject(value) && !Array.isArray(value)); // prettier-ignore
  if (!isByName) return { fields: response };
  return { list: entries.map(([name, value]) => ({ name, ...(isObject(value) ? value : {}) })), fields: {} };
}

/** The fields of a row as text for a terminal; those of an object within it have names such as `page.next_cursor`. */
function rowOf(value: unknown): Row {
  if (!isObject(value)) return new Map([['value', cellOf('value', value)]]);
  return new Map(
    Object.entries(value).flatMap(([name, each]) =>
      isObject(each) && !Array.isArray(each)
        ? [...rowOf(each)].map(([within, cell]) => [`${name}.${within}`, cell] as const)
        : [[name, cellOf(name, each)] as const],
    ),
  );
}

/** Text from the venue must not move the terminal's cursor or change the text direction. */
function cellOf(name: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (name === 'timestamp' && typeof value === 'number') return isoOf(instant(value));
  return forTerminal(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Numbers are right-aligned; columns without any value are omitted. */
function tableOf(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))].filter((name) =>
    rows.some((row) => (row.get(name) ?? '') !== ''),
  );
  const columns = names.map((name) => {
    const cells = rows.map((row) => row.get(name) ?? '');
    const width = Math.max(...[name, ...cells].map(widthOf));
    const isNumber = cells.every((cell) => /^(?:-?\d+(?:\.\d+)?)?$/u.test(cell));
    return [name, ...cells].map((cell) => {
      const room = ' '.repeat(width - widthOf(cell));
      return isNumber ? room + cell : cell + room;
    });
  });
  const lines = [undefined, ...rows].map((_, at) => columns.map((cells) => cells[at]).join('  '));
  if (widthOf(lines[0] ?? '') > WIDTH_MAX) return rows.map(linesOf).join('\n');
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function linesOf(row: Row): string {
  const shown = [...row].filter(([, cell]) => cell !== '');
  const width = Math.max(...shown.map(([name]) => widthOf(name)));
  return shown.map(([name, cell]) => `${forTerminal(name).padEnd(width)}  ${cell}\n`).join('');
}

const widthOf = (text: string): number => Array.from(text).length;
