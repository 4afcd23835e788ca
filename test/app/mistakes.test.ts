import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ValidateOptions } from '../../src/app/commands/validate.ts';
import { instant } from '../../src/core/time.ts';
import { expectRan, validated } from '../support/command.ts';
import type { Ran } from '../support/command.ts';

/** Each file with mistakes ends with the problems that it must cause, one a line: `#= file:line:column setting: message`. */
const folder = join(import.meta.dirname, 'mistakes');

const run = (options: ValidateOptions): Ran =>
  validated(folder, options, { now: instant(Date.UTC(2026, 10, 21)) });

interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
}

const problemsOf = ({ out }: Ran): readonly string[] =>
  (JSON.parse(out) as { readonly problems: readonly Problem[] }).problems.map(
    ({ file, line, column, path, message }) =>
      `${file}:${line}:${column} ${path === '' ? 'the document' : path}: ${message.replaceAll(folder, '<folder>')}`,
  );

const expectedOf = (name: string): readonly string[] =>
  [...readFileSync(join(folder, `${name}.yaml`), 'utf8').matchAll(/^#= (?<problem>.+)$/gmu)].map(
    (match) => match.groups?.['problem'] ?? '',
  );

const configMistakes = ['missing-token', 'config-typos', 'live-limits'];
/** Files that are read with another one. */
const others: Readonly<Record<string, string>> = { 'duplicate-id': 'duplicate-id-other' };
const strategyMistakes = globSync(join(folder, '*.yaml'))
  .map((file) => basename(file, '.yaml'))
  .filter(
    (name) => name !== 'desk' && !configMistakes.includes(name) && !Object.values(others).includes(name),
  );

describe('a YAML mistake', () => {
  it.each(strategyMistakes)('in a strategy is explained with its position and a correction: %s', (name) => {
    const files = [name, ...(others[name] === undefined ? [] : [others[name]])].map((each) => `${each}.yaml`);
    const ran = run({ config: 'desk.yaml', files, json: true });
    expectRan(ran, 78);
    expect(expectedOf(name)).not.toEqual([]);
    expect(problemsOf(ran).toSorted()).toEqual(expectedOf(name).toSorted());
  });

  it.each(configMistakes)('in a config is explained with its position and a correction: %s', (name) => {
    const ran = run({ config: `${name}.yaml`, json: true });
    expectRan(ran, 78);
    expect(problemsOf(ran).toSorted()).toEqual(expectedOf(name).toSorted());
  });

  it('is reported without showing a token', () => {
    const printed = configMistakes.map((name) => run({ config: `${name}.yaml` }).err).join('');
    expect(printed).toContain('venue.token');
    expect(printed).toContain('[redacted]');
    expect(printed).not.toContain('sk_live');
  });
});
