/** Writes the table of failure modes in docs/reliability.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { format, resolveConfig } from 'prettier';
import { modes, steps } from '../test/reliability/modes.ts';
import type { Mode } from '../test/reliability/modes.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const nameOf = (file: string): string => file.replace(/^test\//u, '').replace(/(?:\.slow)?\.test\.ts$/u, '');

function rowOf({ row, what, tests, alert }: Mode): string {
  const files = [...new Set(tests.map(([file]) => file))];
  const proof = files.length === 0 ? '**open**' : files.map((file) => `[${nameOf(file)}](../${file})`).join(', ');
  const answer = typeof alert === 'string' ? `[\`${alert}\`](runbook.md#${alert})` : cell(alert.none);
  return `| ${row} | ${cell(what)} | ${answer} | ${proof} |`;
} // prettier-ignore

/** Returns all rows, with a table for each step. */
function modesTable(): string {
  return steps
    .map(([title, from], i) => {
      const to = steps[i + 1]?.[1] ?? Number.POSITIVE_INFINITY;
      const rows = modes.filter(({ row }) => row >= from && row < to).map(rowOf);
      const head = ['| # | failure | alert, or what happens | tests |', '| --- | --- | --- | --- |'];
      return [`### ${title}`, '', ...head, ...rows].join('\n');
    })
    .join('\n\n');
}

const MARKS = /(<!-- modes -->\n)[^]*?(<!-- \/modes -->)/u;

/** Returns `page` with the tables between its marks, formatted like all pages; the formatter would pad every cell of the tables. */
export async function withModes(page: string): Promise<string> {
  if (!MARKS.test(page)) throw new Error('docs/reliability.md has no place for its table');
  const whole = page.replace(
    MARKS,
    (_, from: string, to: string) =>
      `${from}<!-- prettier-ignore-start -->\n\n${modesTable()}\n\n<!-- prettier-ignore-end -->\n${to}`,
  );
  return await format(whole, { ...(await resolveConfig('docs/reliability.md')), parser: 'markdown' });
}

if (import.meta.main) {
  const file = new URL('../docs/reliability.md', import.meta.url);
  writeFileSync(file, await withModes(readFileSync(file, 'utf8')));
  process.stderr.write('wrote docs/reliability.md\n');
}
