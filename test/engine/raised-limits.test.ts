import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/core/errors.ts';
import { money } from '../../src/core/money.ts';
import type { UsedToken } from '../../src/core/record.ts';
import { MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import type { Command, CommandAnswer } from '../../src/engine/ports.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { aBench, aPolicy, aTwap } from './harness.ts';
import type { Bench } from './harness.ts';

const person = (name: string): UsedToken => ({ name, kind: 'person' });
const { limits } = aPolicy();
const kept = {
  fourEyes: true,
  areLimitsKept: true,
  limits: { ...limits, orderNotionalMax: money('1000000') },
};
const raised = { ...kept, limits: { ...kept.limits, orderNotionalMax: money('2000000') } };
const RAISED = 'max_order_notional 1000000 -> 2000000';

/** A process that uses the journal of `before`, which is killed. */
function next(policy: Partial<DeskSettings>, before?: Bench, rearm?: string): Bench {
  before?.kill();
  const bench = aBench({
    strategies: [aTwap('t', { slices: 60, duration: 'PT1H' })],
    policy,
    ...(before && { clock: before.clock, exchange: before.exchange, journal: before.journal }),
  });
  bench.start({ rearm });
  bench.clock.run(after(bench.clock.wall(), MINUTE_MS));
  return bench;
}

function tell(
  bench: Bench,
  name: string,
  command: { do: 'rearm' } | { do: 'approve'; override: string },
): string {
  let told: CommandAnswer | undefined;
  const whole: Command = {
    ...command,
    by: name,
    why: 'w',
    token: person(name),
    answer: (answer) => (told = answer),
  };
  bench.operator$.next(whole);
  bench.clock.run(after(bench.clock.wall(), SECOND_MS));
  return told?.says ?? 'no answer';
}

describe('a start with changed limits', () => {
  it('is halted until two people agree to the raised limits that it names', () => {
    const bench = next(raised, next(kept));
    expect(bench.desk.state).toMatchObject({
      control: 'halted',
      controlWhy: `limits raised since the last start: ${RAISED}`,
    });
    expect(tell(bench, 'ann', { do: 'rearm' })).toMatch(/^ov-1 is proposed/u);
    expect(bench.records().at(-1)?.body).toMatchObject({
      kind: 'override',
      asks: `lift the halt (limits raised since the last start: ${RAISED}) with ${RAISED}`,
    });
    expect(tell(bench, 'ann', { do: 'approve', override: 'ov-1' })).not.toMatch(/trades again/u);
    expect(bench.desk.control).toBe('halted');
    expect(tell(bench, 'ben', { do: 'approve', override: 'ov-1' })).toMatch(/the desk trades again$/u);
    expect(next(raised, bench).desk.control).toBe('active');
  });

  it('stays halted at further starts, and names the limits that nobody has agreed to', () => {
    const bench = next(raised, next(raised, next(kept)));
    expect(bench.desk.control).toBe('halted');
    tell(bench, 'ann', { do: 'rearm' });
    expect(JSON.stringify(bench.records().at(-1)?.body)).toContain(`with ${RAISED}`);
  });

  it('does not accept an approval of a halt with other limits', () => {
    const before = next(kept, next(kept));
    before.operator$.next({ do: 'halt', by: 'ann', why: 'wrong prices', isKill: true });
    before.clock.run(after(before.clock.wall(), SECOND_MS));
    tell(before, 'ann', { do: 'rearm' });
    tell(before, 'ben', { do: 'approve', override: 'ov-1' });
    expect(before.desk.control).toBe('halted'); // killed: only a new process can be armed
    const refused = next(raised, before, 'approved');
    expect(refused.seen.error).toBeInstanceOf(OperatorError);
    expect(String(refused.seen.error)).toMatch(
      /not re-armed: operate.four_eyes requires two people to agree/u,
    );
    expect(next(kept, before, 'approved').desk.control).toBe('active');
  });

  it('also needs two people if the new config turns four eyes off', () => {
    const bench = next({ ...kept, fourEyes: false }, next(kept));
    expect(bench.desk.state).toMatchObject({
      control: 'halted',
      controlWhy: 'limits raised since the last start: four_eyes on -> off',
    });
    expect(tell(bench, 'ann', { do: 'rearm' })).toMatch(/^ov-1 is proposed/u);
    tell(bench, 'ben', { do: 'approve', override: 'ov-1' });
    expect(bench.desk.control).toBe('active');
    const alone = next({ ...raised, fourEyes: false }, bench);
    expect(alone.desk.control).toBe('active');
  });

  it('trades at once if one person may decide, if limits fell, or if the journal has no limits', () => {
    const one = { ...kept, fourEyes: false };
    expect(next({ ...raised, fourEyes: false }, next(one)).desk.control).toBe('active');
    expect(next(kept, next(raised)).desk.control).toBe('active');
    expect(next(raised, next({ fourEyes: true })).desk.control).toBe('active');
  });
});
