import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { aTwap } from './harness.ts';
import { running } from './strategy-files.ts';

const ANN = { why: 'a new chat', token: { name: 'ann', kind: 'person' } };

/** A desk a minute after its start, with changed channels in its files, and those changes that were put in force. */
function changed(...changes: readonly string[]) {
  const desk = running([aTwap('t')], { policy: { areLimitsKept: true } });
  const used: string[] = [];
  desk.until(MINUTE_MS);
  desk.files.channels = {
    changes,
    use: () => {
      used.push(...changes);
      desk.files.channels = undefined;
    },
  };
  return { ...desk, used };
}

describe('a reload of channels', () => {
  it('applies the channels once the changes and their author are recorded', () => {
    const { bench, used, until, reload } = changed('ops added', 'old removed');
    expect(reload(ANN).says).toBe('reloaded:\n  operate.notify ops added\n  operate.notify old removed');
    until(2 * MINUTE_MS);
    expect(used).toEqual(['ops added', 'old removed']);
    expect(bench.bodies('reload')).toMatchObject([
      { by: 'ann', result: 'applied', changes: [], channel_changes: ['ops added', 'old removed'] },
    ]);
    expect(reload(ANN).says).toBe('nothing has changed');
  });

  it('changes nothing in a dry run', () => {
    const { bench, used, until, reload } = changed('ops changed');
    expect(reload({ ...ANN, isDryRun: true }).says).toBe(
      'a reload would apply these changes:\n  operate.notify ops changed',
    );
    until(2 * MINUTE_MS);
    expect([used, bench.bodies('reload')]).toEqual([[], []]);
  });

  it('keeps the channels in use if only a file changed, and nobody asked', () => {
    const { used, until, reload } = changed('ops removed');
    expect(reload({ by: 'tranche', why: 'a file changed' }).says).toBe(
      'nothing was changed:\n  operate.notify is NOT changed: ops removed: channels change only on request: run tranche reload',
    );
    until(2 * MINUTE_MS);
    expect(used).toEqual([]);
  });
});
