import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { journalSettings } from '../../src/app/commands/journal/journal-settings.ts';
import type { SettingsOptions } from '../../src/app/commands/journal/journal-settings.ts';
import type { SettingsRecord } from '../../src/core/record.ts';
import { settingChanges, settingsHash, withChanges } from '../../src/core/risk/setting-changes.ts';
import { after } from '../../src/core/time.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { NINE, appendNow, someSettings } from '../journal/records.ts';
import { expectRan, expectRefused } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aFolder } from '../support/folder.ts';
import { streamed } from '../support/streams.ts';

function aJournal(lastHash?: string): string {
  const file = join(aFolder(), 'journal.db');
  const journal = sqliteJournal(file);
  const first = { 'controls.max_order_notional': '1000', 'operate.notify.ops': 'webhook' };
  const whole: SettingsRecord = {
    ...someSettings,
    cause: 'start',
    changes: settingChanges({}, first),
    hash: settingsHash(first),
    by: 'cli:ops',
  };
  appendNow(journal, [whole], NINE);
  const hash = lastHash ?? settingsHash(withChanges(first, someSettings.changes));
  appendNow(journal, [{ ...someSettings, hash }], after(NINE, 5_000));
  journal.close();
  return `sqlite:${file}`;
}

async function ran(url: string, options: SettingsOptions): Promise<Ran> {
  const { code, stdout, stderr } = await streamed(async (out) => await journalSettings(url, options, out));
  return { code, out: stdout, err: stderr };
}

describe('tranche journal settings', () => {
  it('prints the settings in force at a time, each with its date and author', async () => {
    const url = aJournal();
    const author = '(since 2026-12-01T09:00:00.000Z by cli:ops)';
    expect(await ran(url, { at: after(NINE, 1_000) })).toMatchObject({
      code: 0,
      out: `controls.max_order_notional  1000  ${author}\noperate.notify.ops           webhook  ${author}\n`,
    });
    const { out } = await ran(url, { json: true });
    const now = { value: '5000', since: '2026-12-01T09:00:05.000Z', by: 'ann', record: 2 };
    expect(JSON.parse(out)).toMatchObject({ settings: { 'controls.max_order_notional': now } });
  });

  it('prints who changed which value, with the old and the new value, without control characters', async () => {
    const url = aJournal();
    const changed = await ran(url, { changes: true, since: after(NINE, 1) });
    const head = /^2026-12-01T09:00:05\.000Z {2}record 2, reload, by ann, approved as ap-1: SIGHUP\n/u;
    expectRan(changed, 0, head, '\n  controls.max_order_notional 1000 -> 5000\n', 'people.eve none -> =1+1');
    for (const control of ['\u001b', '\u2028']) expect(changed.out).not.toContain(control);
  });

  it('exits with 65 if the hash of a record does not match the changes', async () => {
    const says = 'the hash of record 2 does not match the settings';
    expectRan(await ran(aJournal('00'.repeat(32)), {}), 65, 'controls.max_order_notional', says);
  });

  it('reports that a journal of an older version has no settings', async () => {
    const copy = join(aFolder(), 'journal.db');
    copyFileSync(join(import.meta.dirname, '../fixtures/journals/v1.db'), copy);
    expectRefused(await ran(`sqlite:${copy}`, {}), 0, 'this journal has no record of its settings');
  });
});
