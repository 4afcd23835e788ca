/** Writes the table of failure modes in docs/reliability.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { format, resolveConfig } from 'prettier';
import { alerts } from '../src/core/alerts.ts';
import { modes, steps } from '../test/reliability/modes.ts';
import type { Mode } from '../test/reliability/modes.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
/** The first sentence: the page of the runbook has the rest. */
const first = (text: string): string => text.split(/(?<=[.!?])\s/u)[0] ?? '';

function rowOf({ row, what, tests, alert }: Mode): string {
  const proof = tests.length === 0 ? '**open**' : tests.map(([file, name]) => `[${name}](../${file})`).join('; ');
  const told =
    typeof alert === 'string'
      ? `[\`${alert}\`](runbook.md#${alert}) | ${cell(first(alerts[alert].runbook))}`
      : `none | ${cell(alert.none)}`;
  return `| ${row} | ${cell(what)} | ${cell(proof)} | ${told} |`;
} // prettier-ignore

/** All rows, a table for each step. */
function modesTable(): string {
  return steps
    .map(([title, from], i) => {
      const to = steps[i + 1]?.[1] ?? Number.POSITIVE_INFINITY;
      const rows = modes.filter(({ row }) => row >= from && row < to).map(rowOf);
      const head = ['| # | what goes wrong | test | alert | what to do, or what happens |', '| --- | --- | --- | --- | --- |']; // prettier-ignore
      return [`### ${title}`, '', ...head, ...rows].join('\n');
    })
    .join('\n\n');
}

const MARKS = /(<!-- modes -->\n)[^]*?(<!-- \/modes -->)/u;

/** `page` with the tables between its marks, laid out as all pages are. */
export async function withModes(page: string): Promise<string> {
  if (!MARKS.test(page)) throw new Error('docs/reliability.md has no place for its table');
  const whole = page.replace(MARKS, (_, from: string, to: string) => `${from}\n${modesTable()}\n\n${to}`);
  return await format(whole, { ...(await resolveConfig('docs/reliability.md')), parser: 'markdown' });
}

if (import.meta.main) {
  const file = new URL('../docs/reliability.md', import.meta.url);
  writeFileSync(file, await withModes(readFileSync(file, 'utf8')));
  process.stderr.write('wrote docs/reliability.md\n');
}
