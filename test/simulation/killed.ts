import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import type { Killed } from './kill.ts';
import { mutants } from './mutants.ts';

/** What killed each mutant when it was last played, and the table of it in docs/simulation.md. */

interface Death {
  readonly seed: number;
  readonly invariant: string;
}

const DEATHS = new URL('killed.json', import.meta.url);
const PAGE = new URL('../../docs/simulation.md', import.meta.url);
const MARKS = /(<!-- mutants -->\n)[^]*?(<!-- \/mutants -->)/u;

/** By the name of the mutant; one that lives, or was never played, has no entry. */
export const deaths = (): Readonly<Record<string, Death>> =>
  existsSync(DEATHS) ? (JSON.parse(readFileSync(DEATHS, 'utf8')) as Record<string, Death>) : {};

/** Keeps how one mutant was killed, or forgets it because it lives; and those of mutants that are no more. */
export function record({ mutant, by }: Killed): void {
  const all: Record<string, Death> = { ...deaths() };
  delete all[mutant.name];
  if (by !== undefined) all[mutant.name] = { seed: by.seed, invariant: by.invariant };
  const kept = mutants.flatMap(({ name }) => (all[name] === undefined ? [] : [[name, all[name]] as const]));
  writeFileSync(DEATHS, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`);
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The rules of B and C are the negated names of their mutants: the name says enough. */
const ruleOf = (name: string, rule: string): string =>
  rule.replace(/^not: /u, '').replaceAll(' ', '-') === name ? '' : rule;

export function mutantsTable(): string {
  const known = deaths();
  const rows = mutants.map(({ name, rule, killedBy, layerOff }) => {
    const death = known[name];
    const how = death === undefined ? '**lives** | ' : `${death.invariant} | ${death.seed}`;
    const text = [ruleOf(name, rule), layerOff === undefined ? '' : `(also off: ${layerOff})`].filter((part) => part !== '');
    return `| ${killedBy} | \`${name}\` | ${cell(text.join(' '))} | ${how} |`;
  }); // prettier-ignore
  return ['| | mutant | rule | breaks | at seed |', '| --- | --- | --- | --- | ---: |', ...rows].join('\n');
}

/** `page` with the table between its marks, formatted like all pages; the formatter would pad every cell of the table. */
export async function withMutants(page: string): Promise<string> {
  if (!MARKS.test(page)) throw new Error('docs/simulation.md has no place for its table');
  const whole = page.replace(
    MARKS,
    (_, from: string, to: string) =>
      `${from}<!-- prettier-ignore-start -->\n\n${mutantsTable()}\n\n<!-- prettier-ignore-end -->\n${to}`,
  );
  return await format(whole, { ...(await resolveConfig('docs/simulation.md')), parser: 'markdown' });
}

export async function writeTable(): Promise<void> {
  writeFileSync(PAGE, await withMutants(readFileSync(PAGE, 'utf8')));
}
