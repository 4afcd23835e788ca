import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { controls, page, settings } from '../../scripts/document-controls.ts';

/** The text without details that a formatter may change: spaces, and the dashes below a table header. */
const plain = (text: string): string => text.replaceAll(/[ -]+/gu, ' ');

describe('docs/controls.md', () => {
  it('matches the schema and the table of controls: run npm run docs', () => {
    const file = new URL('../../docs/controls.md', import.meta.url);
    expect(plain(readFileSync(file, 'utf8'))).toBe(plain(page()));
  });

  it('has a row for every setting of controls', () => {
    const named = new Set(controls.flatMap(({ keys }) => keys));
    expect(settings().filter((key) => !named.has(key))).toEqual([]);
  });
});
