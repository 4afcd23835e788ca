import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/app/config/config.ts';
import { deskSettingsOf } from '../../src/app/config/desk-settings.ts';
import { instant } from '../../src/core/time.ts';
import { aFolder } from '../support/folder.ts';

it.each([
  ['1', { quote: 10, read: 250, all: 250 }],
  ['0.5', { quote: 5, read: 125, all: 125 }],
  ['0.01', { quote: 1, read: 2, all: 2 }],
])('pacing.quote_share %s limits the requests of a desk, but to at least one', (share, most) => {
  const cwd = aFolder();
  writeFileSync(join(cwd, 'desk.yaml'), `pacing: { quote_share: "${share}" }\nstrategies: []\n`);
  const { config } = loadConfig('desk.yaml', { env: {}, cwd, now: instant(0) });
  const { windows } = deskSettingsOf(config, { configHash: '', adoptFills: false }).pace;
  expect({ quote: windows.quote?.max, read: windows.read?.max, all: windows.all?.max }).toEqual(most);
}); // prettier-ignore
