import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { kindMeant, scheduleMeant, settingMeant } from '../../src/app/config/other-words.ts';
import { readStrategies } from '../../src/app/strategies/strategies.ts';
import { scheduleFields } from '../../src/strategy/calendar/schedule.ts';
import { strategies } from '../../src/strategy/registry.ts';

/** Returns the problems of a strategy file with this text. */
function problemsOf(text: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-words-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, 'one.yaml'), text);
  const { problems } = readStrategies([join(folder, 'one.yaml')], undefined, { env: {}, cwd: folder });
  return problems.map(({ message }) => message);
}

describe('suggestions for terms of other tools', () => {
  it.each([
    ['dca', 'recurring'],
    ['Iceberg', 'limit'],
    ['implementation shortfall', 'shortfall'],
    ['percent-of-volume', 'pov'],
  ])('replace the kind %s by %s', (word, kind) => {
    expect(kindMeant(word)).toBe(kind);
    expect(strategies.has(kind)).toBe(true);
    expect(problemsOf(`id: one\nkind: ${word}\n`)[0]).toContain(`did you mean "${kind}"?`);
  });

  it.each([
    ['targets', 'rebalance', 'target_weights'],
    ['threshold', 'rebalance', 'drift_threshold'],
    ['amount', 'twap', 'total_quantity'],
    ['amount', 'recurring', 'each_quantity'],
    ['symbol', 'twap', 'pair'],
    ['direction', 'twap', 'side'],
    ['n_slices', 'twap', 'slices'],
    ['until', 'limit', 'good_til'],
  ])('replace the setting %s of a %s by %s', (word, kind, setting) => {
    expect(problemsOf(`id: one\nkind: ${kind}\n${word}: '1'\n`)).toContain(
      `unknown setting "${word}": did you mean "${setting}"?`,
    );
  });

  it.each([...strategies.keys()])('do not replace the existing kind %s', (kind) => {
    expect(kindMeant(kind)).toBeUndefined();
  });

  it('do not name a setting that is unknown at that place', () => {
    expect(settingMeant('targets', ['pair', 'side'])).toBeUndefined();
    expect(settingMeant('constructor', ['pair'])).toBeUndefined();
    expect(kindMeant('constructor')).toBeUndefined();
  });

  it.each([
    ['weekly monday', '0 9 * * 1'],
    ['every Friday', '0 9 * * 5'],
    ['mon, wed', '0 9 * * 1,3'],
    ['monthly', '0 9 1 * *'],
    ['hourly', '0 * * * *'],
    ['weekdays', '0 9 * * 1-5'],
    ['daily', '0 9 * * *'],
    ['30 8 * * 1', '30 8 * * 1'],
  ])('replace the schedule %s by a valid cron expression', (text, cron) => {
    expect(scheduleMeant(text)).toContain(`cron: '${cron}'`);
    expect(scheduleFields.safeParse({ cron, time_zone: 'Europe/London' }).success).toBe(true);
    const document = `id: one\nkind: recurring\npair: btcusd\nside: buy\nschedule: ${text}\n`;
    expect(problemsOf(document).join('\n')).toContain(`did you mean schedule: { cron: '${cron}'`);
  });
});
