import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fieldTable } from '../../scripts/document-fields.ts';
import { strategies } from '../../src/strategy/registry.ts';

/** The text without details that a formatter may change: spaces, and the dashes below a table header. */
const plain = (text: string): string => text.replaceAll(/[ -]+/gu, ' ');

describe('the page of a strategy', () => {
  it.each([...strategies.keys()])('lists the fields of %s as its schema states them', (kind) => {
    const page = readFileSync(new URL(`../../docs/strategies/${kind}.md`, import.meta.url), 'utf8');
    expect(plain(page)).toContain(plain(fieldTable(kind)));
  });

  it.each([...strategies.keys()])('is linked from the table of the README for the kind %s', (kind) => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    expect(readme).toContain(`| [\`${kind}\`](docs/strategies/${kind}.md) `);
  });
});
