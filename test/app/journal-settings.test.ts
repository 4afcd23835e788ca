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

async function ran(
  url: string,
  options: SettingsOptions,
): Promise<{ code: number; out: string; err: string }> {
  const { code, stdout, stderr } = await streamed(async (out) => await journalSettings(url, options, out));
  return { code, out: stdout, err: stderr };
}

describe('tranche journal settings', () => {
  it('prints the settings in force at a time, each with its date and author', async () => {
    const url = aJournal();
    const { code, out: before } = await ran(url, { at: after(NINE, 1_000) });
    expect(code).toBe(0);
    expect(before).toBe(
      [
        'controls.max_order_notional  1000  (since 2026-12-01T09:00:00.000Z by cli:ops)',
        'operate.notify.ops           webhook  (since 2026-12-01T09:00:00.000Z by cli:ops)',
        '',
      ].join('\n'),
    );
    const { out } = await ran(url, { json: true });
    expect(JSON.parse(out)).toMatchObject({
      settings: {
        'controls.max_order_notional': {
          value: '5000',
          since: '2026-12-01T09:00:05.000Z',
          by: 'ann',
          record: 2,
        },
      },
    });
  });

  it('prints who changed which value, with the old and the new value, without control characters', async () => {
    const url = aJournal();
    const { code, out } = await ran(url, { changes: true, since: after(NINE, 1) });
    expect(code).toBe(0);
    expect(out.split('\n').slice(0, 2)).toEqual([
      '2026-12-01T09:00:05.000Z  record 2, reload, by ann, approved as ap-1: SIGHUP',
      '  controls.max_order_notional 1000 -> 5000',
    ]);
    expect(out).toContain('people.eve none -> =1+1');
    expect(out).not.toContain('\u001b');
    expect(out).not.toContain('\u2028');
  });

  it('exits with 65 if the hash of a record does not match the changes', async () => {
    const { code, out, err } = await ran(aJournal('00'.repeat(32)), {});
    expect(code).toBe(65);
    expect(out).toContain('controls.max_order_notional');
    expect(err).toContain('the hash of record 2 does not match the settings');
  });

  it('reports that a journal of an older version has no settings', async () => {
    const copy = join(aFolder(), 'journal.db');
    copyFileSync(join(import.meta.dirname, '../fixtures/journals/v1.db'), copy);
    const { code, out, err } = await ran(`sqlite:${copy}`, {});
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain('this journal has no record of its settings');
  });
});
