import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settingsOf, settingsPage } from '../../scripts/document-settings.ts';

describe('docs/settings.md', () => {
  it('is what "npm run docs" writes', () => {
    const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
    expect(page).toBe(settingsPage());
  });

  it('explains every setting', () => {
    const settings = (['config', 'strategy', 'venue'] as const).flatMap((name) => settingsOf(name));
    expect(settings.filter(({ meaning }) => meaning === '').map(({ path }) => path)).toEqual([]);
    expect(settings.map(({ path }) => path)).toContain('controls.max_order_quantity.*');
  });
});
