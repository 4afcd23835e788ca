import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/core/errors.ts';
import { money } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { approvalsOf, approve, faults, requests, run, tell } from './approval-desk.ts';
import { aPolicy, aTwap, nextProcess, started } from './harness.ts';
import type { Bench } from './harness.ts';

const { limits } = aPolicy();
const kept = {
  approvals: approvalsOf({ for: ['limits', 'rearm'] }),
  areLimitsKept: true,
  limits: { ...limits, orderNotionalMax: money('1000000') },
};
const raised = { ...kept, limits: { ...kept.limits, orderNotionalMax: money('2000000') } };
const RAISED = 'max_order_notional 1000000 -> 2000000';

/** A process that uses the journal of `before`, which is killed. */
function next(policy: Partial<DeskSettings>, before?: Bench, rearm?: string): Bench {
  const options = { strategies: [aTwap('t', { slices: 60, duration: 'PT1H' })], policy };
  const bench = before === undefined ? started(options) : nextProcess(before, 0, options, { rearm });
  bench.run(MINUTE_MS);
  return bench;
}

describe('a start with changed limits', () => {
  it('is halted until another person approves the raised limits that it names', () => {
    const bench = next(raised, next(kept));
    expect(bench.desk.state).toMatchObject({
      control: 'halted',
      controlWhy: `limits raised since the last start: ${RAISED}`,
    });
    expect(tell(bench, 'ann', { do: 'rearm' }).says).toMatch(/^ap-1 is proposed/u);
    expect(requests(bench)[0]).toMatchObject({
      for: 'rearm',
      asks: `lift the halt (limits raised since the last start: ${RAISED}) with ${RAISED}`,
      difference: [RAISED],
    });
    expect(approve(bench, 'ann').says).not.toMatch(/trades again/u);
    expect(bench.desk.control).toBe('halted');
    expect(approve(bench, 'ben').says).toMatch(/the desk trades again$/u);
    expect(faults(bench)).toEqual([]);
    expect(next(raised, bench).desk.control).toBe('active');
  });

  it('needs that approval even if a rearm alone needs none', () => {
    const only = approvalsOf({ for: ['limits'] });
    const bench = next({ ...raised, approvals: only }, next({ ...kept, approvals: only }));
    expect(tell(bench, 'ann', { do: 'rearm' }).says).toMatch(/^ap-1 is proposed/u);
    expect(approve(bench, 'ben').says).toMatch(/the desk trades again$/u);
    run(bench, SECOND_MS);
    bench.operator$.next({ do: 'halt', by: 'ann', why: 'wrong prices' });
    expect(tell(bench, 'ann', { do: 'rearm' }).says).toBe('the desk trades again');
    expect(faults(bench)).toEqual([]);
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
    before.run(SECOND_MS);
    tell(before, 'ann', { do: 'rearm' });
    approve(before, 'ben');
    expect(before.desk.control).toBe('halted'); // killed: only a new process can be armed
    const refused = next(raised, before, 'approved');
    expect(refused.seen.error).toBeInstanceOf(OperatorError);
    expect(String(refused.seen.error)).toMatch(
      /not re-armed: operate.approvals requires another person to agree/u,
    );
    expect(next(kept, before, 'approved').desk.control).toBe('active');
  });

  it.each([
    ['removed', undefined, 'approvals.count 1 -> none'],
    ['weaker', approvalsOf({ for: ['limits'] }), 'approvals.for limits, rearm -> limits'],
    ['stricter', { ...kept.approvals, count: 2 }, 'approvals.count 1 -> 2'],
  ])(
    'also needs approval, under the previous settings, if operate.approvals is %s',
    (_how, approvals, words) => {
      const bench = next({ ...kept, approvals }, next(kept));
      expect(bench.desk.state.controlWhy).toContain(words);
      expect(tell(bench, 'ann', { do: 'rearm' }).says).toMatch(/^ap-1 is proposed; 1 other person/u);
      expect(requests(bench)[0]?.difference).toContain(words);
      approve(bench, 'ben');
      expect(bench.desk.control).toBe('active');
      expect(faults(bench)).toEqual([]);
      expect(next({ ...kept, approvals }, bench).desk.control).toBe('active');
    },
  );

  it('needs the approvals of new settings at once, for limits that the same start raises', () => {
    const bench = next(raised, next({ ...kept, approvals: undefined }));
    expect(bench.desk.control).toBe('halted');
    expect(tell(bench, 'ann', { do: 'rearm' }).says).toMatch(/^ap-1 is proposed/u);
  });

  it('trades at once if limits need no approval, if limits fell, or if the journal has no limits', () => {
    const free = { ...kept, approvals: undefined };
    expect(next({ ...raised, approvals: undefined }, next(free)).desk.control).toBe('active');
    expect(next(kept, next(raised)).desk.control).toBe('active');
    expect(next(raised, next({ approvals: kept.approvals })).desk.control).toBe('active');
  });
});
