import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withModes } from '../../scripts/document-modes.ts';
import { alerts } from '../../src/core/alerts.ts';
import { modes } from './modes.ts';

/** Rows without a test. This list may only become shorter. */
const OPEN: readonly number[] = [];

/** The names of tests in a file, as they are written there. */
const namesIn = (file: string): ReadonlySet<string> =>
  new Set(
    [...readFileSync(file, 'utf8').matchAll(/\(\s*(?:'((?:[^'\\]|\\.)*)'|`([^`]*)`)\s*,/gu)].map(
      ([, plain, template]) => plain ?? template ?? '',
    ),
  );

const page = readFileSync('docs/reliability.md', 'utf8');
describe('the catalogue of failure modes', () => {
  it('has the rows 1 to 110 in order', () => {
    expect(modes.map(({ row }) => row)).toEqual(Array.from({ length: 110 }, (_, i) => i + 1));
  });

  it('names a test for each row, except for rows that are known to be open', () => {
    expect(modes.filter(({ tests }) => tests.length === 0).map(({ row }) => row)).toEqual(OPEN);
  });

  it('names only tests that exist', () => {
    const missing = modes.flatMap(({ row, tests }) =>
      tests.filter(([file, name]) => !namesIn(file).has(name)).map(([file, name]) => `${row}: ${file}: ${name}`),
    ); // prettier-ignore
    expect(missing).toEqual([]);
  });

  it('names an existing alert with its runbook line for each row, or states why there is none', () => {
    const wrong = modes.filter(({ alert }) =>
      typeof alert === 'string'
        ? !(alert in alerts) || alerts[alert].runbook.length < 10
        : alert.none.length < 10,
    );
    expect(wrong).toEqual([]);
  });

  it('matches docs/reliability.md: run npm run docs', async () => {
    expect(page).toBe(await withModes(page));
    expect(page).toMatch(/^\| 110 /mu);
  });
});
