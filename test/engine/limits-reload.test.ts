import { mergeMap, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { money, quantity } from '../../src/core/money.ts';
import { limitTexts } from '../../src/core/risk/limit-table.ts';
import type { Limits } from '../../src/core/risk/limits.ts';
import { MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import type { CommandAnswer } from '../../src/engine/ports.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { approvalsOf } from './approval-desk.ts';
import { aPolicy, aTwap, START } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { fillsOf } from './oracle.ts';
import { running } from './strategy-files.ts';
import type { Running } from './strategy-files.ts';

const { limits: base } = aPolicy();
const BEFORE: Limits = { ...base, orderNotionalMax: money('1000000') };
const withOrderMax = (max: string): Limits => ({ ...BEFORE, orderNotionalMax: money(max) });

/** A desk that buys a tenth of a bitcoin a minute, worth about 6,000. */
function limited(
  policy: Partial<DeskSettings> = {},
  before?: Bench,
  over: Partial<BenchOptions> = {},
): Running {
  const limits = policy.limits ?? BEFORE;
  const options = { policy: { areLimitsKept: true, limits, ...policy }, ...over };
  const desk = running([aTwap('t')], options, before);
  desk.files.limits = limits;
  return desk;
}

const ANN = { why: 'a calm day', token: { name: 'ann', kind: 'person' } };
const reloadsIn = (bench: Bench) => bench.bodies('reload');
const boughtIn = (bench: Bench): number => fillsOf(bench.records()).length;
const inForce = (bench: Bench): string | undefined =>
  limitTexts(bench.desk.policy.limits)['max_order_notional'];

describe('a reload of limits', () => {
  it('applies a tighter limit to the next slice, and records the difference and its author', () => {
    const { bench, until, files, reload } = limited();
    until(3.5 * MINUTE_MS);
    expect(boughtIn(bench)).toBe(4);
    files.limits = withOrderMax('5');
    expect(reload(ANN)).toMatchObject({
      isDone: true,
      says: 'reloaded:\n  limit max_order_notional 1000000 -> 5',
    });
    until(8 * MINUTE_MS);
    expect(boughtIn(bench)).toBe(4);
    expect(reloadsIn(bench)).toMatchObject([
      {
        by: 'ann',
        why: 'a calm day',
        result: 'applied',
        changes: [],
        limit_changes: [{ limit: 'max_order_notional', before: '1000000', after: '5' }],
        limits: limitTexts(withOrderMax('5')),
      },
    ]);
  });

  it('applies a tighter limit in the tick of the command, and a looser one once its record is durable', () => {
    const memory = memoryJournal();
    const clock = new VirtualClock(START);
    const { bench, until, files, reload } = limited({}, undefined, {
      clock,
      journal: {
        ...memory,
        append: (bodies, at) =>
          timer(500, clock).pipe(mergeMap(() => toObservable(memory.append(bodies, at)))),
      },
    });
    until(30 * SECOND_MS);
    files.limits = { ...withOrderMax('5'), openDoubtsMax: BEFORE.openDoubtsMax + 1 };
    reload(ANN);
    expect([inForce(bench), bench.desk.policy.limits.openDoubtsMax]).toEqual(['5', BEFORE.openDoubtsMax]);
    until(31 * SECOND_MS);
    expect([inForce(bench), bench.desk.policy.limits.openDoubtsMax]).toEqual(['5', BEFORE.openDoubtsMax + 1]);
  });

  it('applies in the gate: an order whose quote was in flight is not sent', () => {
    const clock = new VirtualClock(START);
    const { bench, until, files, reload } = limited({}, undefined, {
      clock,
      wrap: (venue) => ({
        ...venue,
        // Probes of the price are in the quote currency.
        quote: (request) =>
          request.size.by === 'quantity'
            ? timer(3_000, clock).pipe(mergeMap(() => toObservable(venue.quote(request))))
            : venue.quote(request),
      }),
    });
    until(1.5 * MINUTE_MS);
    const before = boughtIn(bench);
    until(2 * MINUTE_MS + SECOND_MS);
    files.limits = withOrderMax('5');
    reload(ANN);
    until(2.5 * MINUTE_MS);
    expect([before, boughtIn(bench)]).toEqual([before, before]);
    const last = bench.bodies('attempt').find((body) => body.result === 'discarded');
    expect(last).toMatchObject({ reason: 'order_size' });
  });

  it('shows the difference and changes nothing in a dry run', () => {
    const { bench, until, files, reload } = limited();
    until(MINUTE_MS);
    files.limits = withOrderMax('5');
    expect(reload({ ...ANN, isDryRun: true })).toMatchObject({ isDone: true, says: 'a reload would apply these changes:\n  limit max_order_notional 1000000 -> 5' }); // prettier-ignore
    expect([inForce(bench), reloadsIn(bench)]).toEqual(['1000000', []]);
  });

  it('loosens a limit if one person may do so, reports that and raises an alert', () => {
    const { bench, until, files, reload } = limited();
    until(MINUTE_MS);
    files.limits = withOrderMax('2000000');
    expect(reload(ANN).says).toBe('reloaded:\n  limit max_order_notional 1000000 -> 2000000 (allows more)');
    until(2 * MINUTE_MS);
    expect(inForce(bench)).toBe('2000000');
    expect(bench.alerts()).toContain('limits_raised');
    expect(bench.desk.state.limits).toMatchObject({ agreed: { limits: { max_order_notional: '2000000' } } });
  });

  it('tightens but does not loosen limits when a watched file changes', () => {
    const { bench, until, files } = limited();
    until(MINUTE_MS);
    files.limits = { ...withOrderMax('2000000'), openDoubtsMax: 1 };
    files.changed$.next();
    until(2 * MINUTE_MS);
    expect([inForce(bench), bench.desk.policy.limits.openDoubtsMax]).toEqual(['1000000', 1]);
    expect(reloadsIn(bench)).toHaveLength(1);
    files.changed$.next();
    until(3 * MINUTE_MS);
    expect(reloadsIn(bench)).toHaveLength(1);
  });

  it('reports that nothing has changed if the file equals the limits in force', () => {
    const { bench, until, reload } = limited();
    until(MINUTE_MS);
    expect(reload(ANN)).toEqual({ isDone: true, says: 'nothing has changed' });
    expect(reloadsIn(bench)).toEqual([]);
  });

  it('does not apply limits in another currency before the next start', () => {
    const { bench, until, files, reload } = limited();
    until(MINUTE_MS);
    files.limits = { ...withOrderMax('5'), currency: 'eur' };
    expect(reload(ANN)).toMatchObject({
      isDone: false,
      says: expect.stringContaining('at the next start') as string,
    });
    expect(inForce(bench)).toBe('1000000');
  });
});

const GUARDED = approvalsOf({ for: ['limits'] });

describe('a reload of limits that needs approval', () => {
  it('applies tighter limits, does not apply looser ones, and names those', () => {
    const { bench, until, files, reload } = limited({ approvals: GUARDED });
    until(MINUTE_MS);
    files.limits = { ...withOrderMax('2000000'), orderQuantityMax: new Map([['btcusd', quantity('1')]]) };
    const { isDone, says } = reload(ANN);
    expect(isDone).toBe(true);
    expect(says).toMatch(
      /limit max_order_quantity\.btcusd \S+ -> 1\n {2}limit is NOT changed: max_order_notional 1000000 -> 2000000: .*two people/u,
    );
    until(2 * MINUTE_MS);
    expect(inForce(bench)).toBe('1000000');
    expect(reloadsIn(bench)).toMatchObject([
      { limits: { max_order_notional: '1000000', 'max_order_quantity.btcusd': '1' } },
    ]);
  });

  it('records who tried to loosen a limit alone', () => {
    const { bench, until, files, reload } = limited({ approvals: GUARDED });
    until(MINUTE_MS);
    files.limits = withOrderMax('2000000');
    expect(reload(ANN)).toMatchObject({
      isDone: false,
      says: expect.stringContaining('nothing was changed') as string,
    });
    until(2 * MINUTE_MS);
    expect(reloadsIn(bench)).toMatchObject([
      { by: 'ann', result: 'refused', problems: expect.stringContaining('2000000') as string },
    ]);
    expect(inForce(bench)).toBe('1000000');
  });

  it('loosens exactly the requested limit after another person has approved it, and only once', () => {
    const { bench, until, files, reload } = limited({ approvals: GUARDED });
    until(MINUTE_MS);
    files.limits = withOrderMax('2000000');
    reload(ANN);
    until(2 * MINUTE_MS);
    const approve = (by: string, request: string): void => {
      const token = { name: by, kind: 'person' } as const;
      bench.operator$.next({ do: 'approve', request, by, why: 'w', token, answer: () => undefined });
    };
    // The file now has a higher limit than the request.
    files.limits = withOrderMax('3000000');
    approve('ben', 'ap-1');
    until(3 * MINUTE_MS);
    expect(inForce(bench)).toBe('1000000');
    files.limits = withOrderMax('2000000');
    bench.operator$.next({ do: 'reload', by: 'ann', why: 'w' });
    until(4 * MINUTE_MS);
    expect(inForce(bench)).toBe('2000000');
    expect(reloadsIn(bench).at(-1)).toMatchObject({ approvals: ['ap-1'] });
    files.limits = withOrderMax('1000000');
    reload(ANN);
    until(5 * MINUTE_MS);
    files.limits = withOrderMax('2000000');
    reload(ANN);
    until(6 * MINUTE_MS);
    expect(inForce(bench)).toBe('1000000');
  });

  it.each([
    ['the machine', { name: 'local', kind: 'machine' }, /token of this machine does not count/u],
    ['a program', { name: 'bot', kind: 'program' }, /bot is a program/u],
    ['a signal', undefined, /a signal names no person/u],
  ] as const)('creates no request for %s, which does not count as one of two people', (_, token, says) => {
    const { bench, until, files } = limited({ approvals: GUARDED });
    until(MINUTE_MS);
    files.limits = withOrderMax('2000000');
    const told: CommandAnswer[] = [];
    bench.operator$.next({
      do: 'reload',
      by: token?.name ?? 'signal',
      why: 'w',
      token,
      answer: (given) => told.push(given),
    });
    until(2 * MINUTE_MS);
    expect(told.map((answer) => answer.says).join('\n')).toMatch(says);
    expect([...bench.desk.state.approvals.all()]).toEqual([]);
    expect(inForce(bench)).toBe('1000000');
  });

  it('keeps the limits in force after a restart, and a start with looser limits is halted', () => {
    const first = limited({ approvals: GUARDED });
    first.until(MINUTE_MS);
    first.files.limits = withOrderMax('500000');
    first.reload(ANN);
    first.until(2 * MINUTE_MS);
    const same = limited({ approvals: GUARDED, limits: withOrderMax('500000') }, first.bench);
    same.bench.clock.run(after(same.bench.clock.wall(), MINUTE_MS));
    expect(same.bench.desk.control).toBe('active');
    const raised = limited({ approvals: GUARDED, limits: BEFORE }, same.bench);
    raised.bench.clock.run(after(raised.bench.clock.wall(), MINUTE_MS));
    expect(raised.bench.desk.state).toMatchObject({
      control: 'halted',
      controlWhy: 'limits raised since the last start: max_order_notional 500000 -> 1000000',
    });
    // And nothing more is loosened until two people have agreed to that.
    raised.files.limits = withOrderMax('1500000');
    expect(raised.reload(ANN).says).toContain('wait until two people re-arm the desk');
  });
});
