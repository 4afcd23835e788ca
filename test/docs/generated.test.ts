import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runbook } from '../../scripts/document-alerts.ts';
import { withRoutes } from '../../scripts/document-api.ts';
import { controls, page as controlsPage, settings } from '../../scripts/document-controls.ts';
import { fieldTable } from '../../scripts/document-fields.ts';
import { settingsOf, settingsPage } from '../../scripts/document-settings.ts';
import { strategies } from '../../src/strategy/registry.ts';

/** The text without details that a formatter may change: spaces, and the dashes below a table header. */
const plain = (text: string): string => text.replaceAll(/[ -]+/gu, ' ');
const read = (name: string): string => readFileSync(`docs/${name}.md`, 'utf8');

describe('what "npm run docs" writes', () => {
  it.each([
    ['api', withRoutes(read('api'))],
    ['controls', controlsPage()],
    ['runbook', runbook()],
    ['settings', settingsPage()],
  ])('is what docs/%s.md contains', (name, page) => {
    expect(plain(read(name))).toBe(plain(page));
  });

  it.each([...strategies.keys()])('is the table of fields in the page of %s', (kind) => {
    expect(plain(read(`strategies/${kind}`))).toContain(plain(fieldTable(kind)));
  });

  it('has a row for every setting of controls, and explains every setting', () => {
    const named = new Set(controls.flatMap(({ keys }) => keys));
    expect(settings().filter((key) => !named.has(key))).toEqual([]);
    const all = (['config', 'strategy', 'venue'] as const).flatMap((name) => settingsOf(name));
    expect(all.filter(({ meaning }) => meaning === '').map(({ path }) => path)).toEqual([]);
    expect(all.map(({ path }) => path)).toContain('controls.max_order_quantity.*');
  });
});
