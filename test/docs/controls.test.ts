import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { controls, page, settings } from '../../scripts/document-controls.ts';

/** Without what a formatter may change: spaces and the dashes of a table's ruler. */
const plain = (text: string): string => text.replaceAll(/[ -]+/gu, ' ');

describe('docs/controls.md', () => {
  it('is what the schema and the table of controls say: run npm run docs', () => {
    const file = new URL('../../docs/controls.md', import.meta.url);
    expect(plain(readFileSync(file, 'utf8'))).toBe(plain(page()));
  });

  it('has every setting of controls in some row', () => {
    const named = new Set(controls.flatMap(({ keys }) => keys));
    expect(settings().filter((key) => !named.has(key))).toEqual([]);
  });
});
