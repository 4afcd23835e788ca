import { mergeMap, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { money, quantity } from '../../src/core/money.ts';
import { limitTexts } from '../../src/core/risk/limit-table.ts';
import type { Limits } from '../../src/core/risk/limits.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { approvalsOf, approve, faults, requests, run, tell } from './approval-desk.ts';
import { aPolicy, aTwap, START, slowJournal, nextProcess, started } from './harness.ts';
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
    const clock = new VirtualClock(START);
    const journal = slowJournal(clock, () => 500);
    const { bench, until, files, reload } = limited({}, undefined, { clock, journal });
    until(30 * SECOND_MS);
    files.limits = { ...withOrderMax('5'), openDoubtsMax: BEFORE.openDoubtsMax + 1 };
    reload(ANN);
    expect([inForce(bench), bench.desk.policy.limits.openDoubtsMax]).toEqual(['5', BEFORE.openDoubtsMax]);
    until(31 * SECOND_MS);
    expect([inForce(bench), bench.desk.policy.limits.openDoubtsMax]).toEqual(['5', BEFORE.openDoubtsMax + 1]);
  });

  it('applies in the gate: an order whose quote was in flight is not sent', () => {
    const wrap: BenchOptions['wrap'] = (venue, clock) => ({
      ...venue,
      // Probes of the price are in the quote currency.
      quote: (request) =>
        request.size.by === 'quantity'
          ? timer(3_000, clock).pipe(mergeMap(() => toObservable(venue.quote(request))))
          : venue.quote(request),
    });
    const { bench, until, files, reload } = limited({}, undefined, { wrap });
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

  it('tightens but does not loosen limits if no person reloads', () => {
    const { bench, until, files, reload } = limited();
    until(MINUTE_MS);
    files.limits = { ...withOrderMax('2000000'), openDoubtsMax: 1 };
    reload(APPROVED);
    until(2 * MINUTE_MS);
    expect([inForce(bench), bench.desk.policy.limits.openDoubtsMax]).toEqual(['1000000', 1]);
    expect(reloadsIn(bench)).toHaveLength(1);
    reload(APPROVED);
    until(3 * MINUTE_MS);
    expect(reloadsIn(bench)).toHaveLength(1);
  });

  it.each<readonly [string, Limits, object, string]>([
    ['the file equals them', BEFORE, {}, 'nothing has changed'],
    [
      'it is a dry run, which shows the difference',
      withOrderMax('5'),
      { isDryRun: true },
      'a reload would apply these changes:\n  limit max_order_notional 1000000 -> 5',
    ],
    [
      'the file has them in another currency, which needs a start',
      { ...withOrderMax('5'), currency: 'eur' },
      {},
      'at the next start',
    ],
  ])('keeps the limits in force if %s', (_, limits, over, says) => {
    const { bench, until, files, reload } = limited();
    until(MINUTE_MS);
    files.limits = limits;
    expect(reload({ ...ANN, ...over }).says).toContain(says);
    expect(inForce(bench)).toBe('1000000');
    expect(reloadsIn(bench).filter(({ result }) => result === 'applied')).toEqual([]);
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

  it('loosens exactly the requested limit after another person has approved it, and only once', () => {
    const { bench, until, files, reload } = limited({ approvals: GUARDED });
    until(MINUTE_MS);
    files.limits = withOrderMax('2000000');
    reload(ANN);
    until(2 * MINUTE_MS);
    // The file now has a higher limit than the request.
    files.limits = withOrderMax('3000000');
    approve(bench, 'ben');
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
    const told = bench.tell({ do: 'reload', by: token?.name ?? 'signal', token });
    until(2 * MINUTE_MS);
    expect(told.says).toMatch(says);
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
    same.bench.run(MINUTE_MS);
    expect(same.bench.desk.control).toBe('active');
    const raised = limited({ approvals: GUARDED, limits: BEFORE }, same.bench);
    raised.bench.run(MINUTE_MS);
    expect(raised.bench.desk.state).toMatchObject({
      control: 'halted',
      controlWhy: 'limits raised since the last start: max_order_notional 500000 -> 1000000',
    });
    // And nothing more is loosened until two people have agreed to that.
    raised.files.limits = withOrderMax('1500000');
    expect(raised.reload(ANN).says).toContain('wait until two people re-arm the desk');
  });
});

const NEW_CHAT = { why: 'a new chat', token: { name: 'ann', kind: 'person' } };

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
    expect(reload(NEW_CHAT).says).toBe('reloaded:\n  operate.notify ops added\n  operate.notify old removed');
    until(2 * MINUTE_MS);
    expect(used).toEqual(['ops added', 'old removed']);
    expect(bench.bodies('reload')).toMatchObject([
      { by: 'ann', result: 'applied', changes: [], channel_changes: ['ops added', 'old removed'] },
    ]);
    expect(reload(NEW_CHAT).says).toBe('nothing has changed');
  });

  it('changes nothing in a dry run', () => {
    const { bench, used, until, reload } = changed('ops changed');
    expect(reload({ ...ANN, isDryRun: true }).says).toBe(
      'a reload would apply these changes:\n  operate.notify ops changed',
    );
    until(2 * MINUTE_MS);
    expect([used, bench.bodies('reload')]).toEqual([[], []]);
  });

  it('keeps the channels in use if nobody asked', () => {
    const { used, until, reload } = changed('ops removed');
    expect(reload(APPROVED).says).toBe(
      'nothing was changed:\n  operate.notify is NOT changed: ops removed: channels change only on request: run tranche reload',
    );
    until(2 * MINUTE_MS);
    expect(used).toEqual([]);
  });
});

const { limits } = aPolicy();
const kept = {
  approvals: approvalsOf({ for: ['limits', 'rearm'] }),
  areLimitsKept: true,
  limits: { ...limits, orderNotionalMax: money('1000000') },
};
const APPROVED = { by: 'tranche', why: 'ap-1 is approved' };
const raised = { ...kept, limits: { ...kept.limits, orderNotionalMax: money('2000000') } };
const RAISED = 'max_order_notional 1000000 -> 2000000';

/** A process that uses the journal of `before`, which is killed. */
function nextWith(policy: Partial<DeskSettings>, before?: Bench, rearm?: string): Bench {
  const options = { strategies: [aTwap('t', { slices: 60, duration: 'PT1H' })], policy };
  const bench = before === undefined ? started(options) : nextProcess(before, 0, options, { rearm });
  bench.run(MINUTE_MS);
  return bench;
}

describe('a start with changed limits', () => {
  it('is halted until another person approves the raised limits that it names', () => {
    const bench = nextWith(raised, nextWith(kept));
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
    expect(nextWith(raised, bench).desk.control).toBe('active');
  });

  it('needs that approval even if a rearm alone needs none', () => {
    const only = approvalsOf({ for: ['limits'] });
    const bench = nextWith({ ...raised, approvals: only }, nextWith({ ...kept, approvals: only }));
    expect(tell(bench, 'ann', { do: 'rearm' }).says).toMatch(/^ap-1 is proposed/u);
    expect(approve(bench, 'ben').says).toMatch(/the desk trades again$/u);
    run(bench, SECOND_MS);
    bench.operator$.next({ do: 'halt', by: 'ann', why: 'wrong prices' });
    expect(tell(bench, 'ann', { do: 'rearm' }).says).toBe('the desk trades again');
    expect(faults(bench)).toEqual([]);
  });

  it('stays halted at further starts, and names the limits that nobody has agreed to', () => {
    const bench = nextWith(raised, nextWith(raised, nextWith(kept)));
    expect(bench.desk.control).toBe('halted');
    tell(bench, 'ann', { do: 'rearm' });
    expect(JSON.stringify(bench.records().at(-1)?.body)).toContain(`with ${RAISED}`);
  });

  it('does not accept an approval of a halt with other limits', () => {
    const before = nextWith(kept, nextWith(kept));
    before.operator$.next({ do: 'halt', by: 'ann', why: 'wrong prices', isKill: true });
    before.run(SECOND_MS);
    tell(before, 'ann', { do: 'rearm' });
    approve(before, 'ben');
    expect(before.desk.control).toBe('halted'); // killed: only a new process can be armed
    const refused = nextWith(raised, before, 'approved');
    expect(refused.seen.error).toBeInstanceOf(OperatorError);
    expect(String(refused.seen.error)).toMatch(
      /not re-armed: operate.approvals requires another person to agree/u,
    );
    expect(nextWith(kept, before, 'approved').desk.control).toBe('active');
  });

  it.each([
    ['removed', undefined, 'approvals.count 1 -> none'],
    ['weaker', approvalsOf({ for: ['limits'] }), 'approvals.for limits, rearm -> limits'],
    ['stricter', { ...kept.approvals, count: 2 }, 'approvals.count 1 -> 2'],
  ])(
    'also needs approval, under the previous settings, if operate.approvals is %s',
    (_how, approvals, words) => {
      const bench = nextWith({ ...kept, approvals }, nextWith(kept));
      expect(bench.desk.state.controlWhy).toContain(words);
      expect(tell(bench, 'ann', { do: 'rearm' }).says).toMatch(/^ap-1 is proposed; 1 other person/u);
      expect(requests(bench)[0]?.difference).toContain(words);
      approve(bench, 'ben');
      expect(bench.desk.control).toBe('active');
      expect(faults(bench)).toEqual([]);
      expect(nextWith({ ...kept, approvals }, bench).desk.control).toBe('active');
    },
  );

  it('needs the approvals of new settings at once, for limits that the same start raises', () => {
    const bench = nextWith(raised, nextWith({ ...kept, approvals: undefined }));
    expect(bench.desk.control).toBe('halted');
    expect(tell(bench, 'ann', { do: 'rearm' }).says).toMatch(/^ap-1 is proposed/u);
  });

  it('trades at once if limits need no approval, if limits fell, or if the journal has no limits', () => {
    const free = { ...kept, approvals: undefined };
    expect(nextWith({ ...raised, approvals: undefined }, nextWith(free)).desk.control).toBe('active');
    expect(nextWith(kept, nextWith(raised)).desk.control).toBe('active');
    expect(nextWith(raised, nextWith({ approvals: kept.approvals })).desk.control).toBe('active');
  });
});
