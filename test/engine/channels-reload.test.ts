import { describe, expect, it } from 'vitest';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import type { CommandAnswer } from '../../src/engine/ports.ts';
import type { StrategiesRead } from '../../src/engine/state/strategy-source.ts';
import { aBench, aTwap, START } from './harness.ts';
import type { Bench } from './harness.ts';

interface Running {
  readonly bench: Bench;
  /** Changes that were put in force. */
  readonly used: string[];
  readonly write: (changes: readonly string[]) => void;
  readonly until: (ms: number) => void;
  readonly reload: (isDryRun?: boolean) => CommandAnswer;
}

function running(): Running {
  const sources: readonly StrategySource[] = [aTwap('t', { slices: 10, duration: 'PT10M' })];
  const used: string[] = [];
  let changes: readonly string[] = [];
  const bench = aBench({
    strategies: sources,
    policy: { areLimitsKept: true },
    files: {
      read: (): StrategiesRead => {
        const now = changes;
        const use = (): void => {
          used.push(...now);
          if (changes === now) changes = [];
        };
        return {
          sources,
          off: [],
          notes: [],
          channels: { changes: now, use },
        };
      },
      revive: () => sources[0],
    },
  });
  bench.start();
  return {
    bench,
    used,
    write: (now) => {
      changes = now;
    },
    until: (ms) => bench.clock.run(instant(START + ms)),
    reload(isDryRun = false) {
      const said: { answer: CommandAnswer } = { answer: { isDone: false, says: 'no answer' } };
      const token = { name: 'ann', kind: 'person' } as const;
      const answer = (given: CommandAnswer): CommandAnswer => (said.answer = given);
      bench.operator$.next({ do: 'reload', by: 'ann', why: 'a new chat', token, isDryRun, answer });
      return said.answer;
    },
  };
}
const reloadsIn = (bench: Bench) => bench.bodies('reload');

describe('a reload of channels', () => {
  it('applies the channels once the changes and their author are recorded', () => {
    const { bench, used, until, write, reload } = running();
    until(MINUTE_MS);
    write(['ops added', 'old removed']);
    expect(reload().says).toBe('reloaded:\n  operate.notify ops added\n  operate.notify old removed');
    until(2 * MINUTE_MS);
    expect(used).toEqual(['ops added', 'old removed']);
    expect(reloadsIn(bench)).toMatchObject([
      { by: 'ann', result: 'applied', changes: [], channel_changes: ['ops added', 'old removed'] },
    ]);
    expect(reload().says).toBe('nothing has changed');
  });

  it('changes nothing in a dry run', () => {
    const { bench, used, until, write, reload } = running();
    until(MINUTE_MS);
    write(['ops changed']);
    expect(reload(true).says).toBe('a reload would apply these changes:\n  operate.notify ops changed');
    until(2 * MINUTE_MS);
    expect([used, reloadsIn(bench)]).toEqual([[], []]);
  });

  it('keeps the channels in use if only a file changed, and nobody asked', () => {
    const { bench, used, until, write } = running();
    until(MINUTE_MS);
    write(['ops removed']);
    const told: string[] = [];
    bench.operator$.next({
      do: 'reload',
      by: 'tranche',
      why: 'a file changed',
      answer: ({ says }) => told.push(says),
    });
    until(2 * MINUTE_MS);
    expect(told).toEqual([
      'nothing was changed:\n  operate.notify is NOT changed: ops removed: channels change only on request: run tranche reload',
    ]);
    expect(used).toEqual([]);
  });
});
