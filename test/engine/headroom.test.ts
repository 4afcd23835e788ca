import { Subject, map, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { money } from '../../src/core/money.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import type { CreditMetrics } from '../../src/core/venue.ts';
import { creditWords } from '../../src/engine/market/headroom.ts';
import { aTwap, nextProcess } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import {
  buyer,
  guard,
  guarded,
  guardedDesk,
  levelOf,
  leveraged,
  leveragedDesk,
  move,
  onCredit,
  paths,
  settlements,
} from './credit.ts';
import { executedTotal, wrongOf } from './oracle.ts';

const stating = (change: Partial<CreditMetrics>): BenchOptions['wrap'] => {
  return (venue) => ({
    ...venue,
    creditMetrics: () => venue.creditMetrics().pipe(map((metrics) => ({ ...metrics, ...change }))),
  });
};
const bought = (bench: Bench): number => Number(executedTotal(bench.exchange));

describe('credit', () => {
  it('is cut to the exposure that the venue states as available, and no order is refused', () => {
    const desk = leveragedDesk({
      venue: { ...leveraged, pts: { ...leveraged.pts, creditLimitUsd: '60000' } },
    });
    // 40 000 of its own and 60 000 of credit, at the worst price that the collar of 1 % allows.
    expect(bought(desk)).toBeGreaterThan(1.97);
    expect(desk.balance('usd')).toBeGreaterThanOrEqual(-60_000);
    expect(desk.sent.orders.length).toBe(1);
    expect(desk.bodies('attempt').map(({ result }) => result)).toEqual(['filled']);
    expect(desk.bodies('intent')[0]?.cuts).toEqual(['no_funds', 'pts_credit']);
  });

  it('is what the venue states, although limit and exposure say otherwise', () => {
    // The figures of the venue's own sample.
    const [limit, exposure] = [money('2000000.00'), money('1000378.13')];
    const none = leveragedDesk({
      wrap: stating({ exposureLimit: limit, exposure, availableExposure: money('0') }),
    });
    expect(none.balance('usd')).toBeGreaterThanOrEqual(0);
    const all = leveragedDesk({
      wrap: stating({ exposureLimit: limit, exposure, availableExposure: money('1999489.96') }),
    });
    expect(bought(all)).toBe(4);
  });

  const refusing =
    (status: number): BenchOptions['wrap'] =>
    (venue) => ({
      ...venue,
      creditMetrics: () =>
        throwError(() => new VenueError({ code: 'refused', applied: 'no', attempt: 'risk metrics', status })),
    });

  it('is limited only by the desk if the venue has no route for it, as in its specification', () => {
    expect(bought(leveragedDesk({ wrap: refusing(404) }))).toBe(4);
    const creditMax = { currency: 'usd', amount: money('60000') };
    const capped = leveragedDesk({ wrap: refusing(405), policy: { pts: { ...onCredit, creditMax } } });
    expect(bought(capped)).toBeGreaterThan(1.9);
    expect(capped.balance('usd')).toBeGreaterThanOrEqual(-60_000);
    const unguarded = leveragedDesk({ wrap: refusing(404), policy: { pts: guarded } });
    expect(unguarded.balance('usd')).toBeGreaterThanOrEqual(0);
  });

  it('counts what the desk has borrowed since the venue stated it', () => {
    const two = [
      aTwap('first', { slices: 4, duration: 'PT40S', total_quantity: { amount: '4', currency: 'btc' }, start_time: '2026-01-05T00:01:00Z' }), // prettier-ignore
      aTwap('second', { slices: 4, duration: 'PT40S', total_quantity: { amount: '4.4', currency: 'btc' }, start_time: '2026-01-05T00:01:00Z' }), // prettier-ignore
    ];
    const venue = { ...leveraged, pts: { ...leveraged.pts, creditLimitUsd: '100000' } };
    const desk = leveragedDesk({ strategies: two, venue, orderLatencyMs: 2_000 });
    expect(desk.balance('usd')).toBeLessThan(-90_000);
    expect(desk.balance('usd')).toBeGreaterThanOrEqual(-100_000);
    expect(
      desk.bodies('attempt').filter(({ result }) => result !== 'filled' && result !== 'discarded'),
    ).toEqual([]);
  });

  it.each<readonly [string, BenchOptions['wrap']]>([
    ['states no available exposure', stating({ availableExposure: undefined })],
    ['refuses to state it', refusing(403)],
    ['fails to state it', refusing(500)],
  ])('is not used if the venue %s', (_, wrap) => {
    const desk = leveragedDesk({ wrap });
    expect(desk.balance('usd')).toBeGreaterThanOrEqual(0);
    expect(bought(desk)).toBeGreaterThan(0.7);
  });

  it('is not used with a guard if the venue has stated no liquidation level, which its feed may state', () => {
    const wrap = stating({ liquidationLevel: undefined });
    const policy = { pts: guarded };
    expect(leveragedDesk({ wrap, policy }).balance('usd')).toBeGreaterThanOrEqual(0);
    const credit$ = new Subject<CreditMetrics>();
    const desk = leveragedDesk({
      wrap,
      policy,
      strategies: [{ ...buyer, ...aTwap('later', { slices: 1, duration: 'PT1M', total_quantity: { amount: '4', currency: 'btc' }, start_time: '2026-01-05T00:03:00Z' }) }], // prettier-ignore
      accountFeed: () => ({ hints$: new Subject(), credit$ }),
    });
    const stated = desk.exchange.metrics(desk.account, desk.clock.wall());
    if (stated.ok) credit$.next({ ...stated.value, equity: undefined });
    desk.run(2 * MINUTE_MS);
    expect(bought(desk)).toBe(4);
  });
});

describe('a settlement by the venue', () => {
  it('is booked and raises its own alert, is no trade of others and no fill of the desk', () => {
    const desk = leveragedDesk();
    const before = desk.bodies('fill').length;
    move(desk, 43_900, 3 * MINUTE_MS);
    expect(settlements(desk)).toBe(2);
    expect(desk.balance('btc')).toBeLessThan(4);
    expect(levelOf(desk)).toBeGreaterThan(0.19);
    expect(desk.alerts()).toContain('positions_settled');
    expect(desk.alerts()).not.toContain('foreign_trades');
    expect(desk.raised.find(({ id }) => id === 'positions_settled')?.facts).toMatchObject({ count: 2 });
    expect(desk.bodies('fill')).toHaveLength(before);
    expect(Number(desk.desk.state.balances?.get('btc'))).toBe(desk.balance('btc'));
    expect(Number(desk.desk.state.balances?.get('usd'))).toBe(desk.balance('usd'));
    expect(desk.desk.control).toBe('active');
    // A restart does not report it again.
    const next = nextProcess(desk, MINUTE_MS, { strategies: [buyer], policy: { pts: onCredit } });
    next.run(3 * MINUTE_MS);
    expect(next.alerts()).not.toContain('positions_settled');
  });

  it('does not hold a doubt open', () => {
    const lost: BenchOptions['wrap'] = (venue) => ({
      ...venue,
      order: (request) =>
        request.side === 'sell' ? { kind: 'lost', sent: true, why: 'a test' } : venue.order(request),
    });
    const seller = aTwap('seller', { side: 'sell', slices: 1, duration: 'PT1M', total_quantity: { amount: '0.1', currency: 'btc' }, start_time: '2026-01-05T00:03:00Z' }); // prettier-ignore
    const desk = leveragedDesk({ wrap: lost, strategies: [buyer, seller] });
    desk.run(1.2 * MINUTE_MS);
    expect(desk.desk.state.doubts).toHaveLength(1);
    move(desk, 43_900, 3 * MINUTE_MS);
    expect(settlements(desk)).toBe(2);
    expect(desk.desk.state.doubts).toEqual([]);
    expect(desk.alerts()).not.toContain('doubt_unattributed');
  });
});

describe('pts.min_headroom', () => {
  it('reduces positions before the venue does, until the buffer is restored', () => {
    const desk = guardedDesk();
    expect(levelOf(desk)).toBeCloseTo(0.25, 3);
    move(desk, 46_500);
    expect(desk.balance('btc')).toBe(4);
    for (const to of [45_500, 44_500, 43_500, 42_500]) {
      move(desk, to);
      expect(levelOf(desk)).toBeGreaterThan(0.149);
    }
    expect(settlements(desk)).toBe(0);
    expect(desk.balance('btc')).toBeLessThan(3);
    expect(
      desk.bodies('fill').filter(({ strategy }) => strategy === 'min-headroom').length,
    ).toBeGreaterThanOrEqual(4);
    desk.run(1_000);
    expect(wrongOf(desk)).toEqual([]);
    // Without the guard, the same prices force a settlement.
    const bare = leveragedDesk();
    for (const to of [46_500, 45_500, 44_500, 43_500, 42_500]) move(bare, to);
    expect(settlements(bare)).toBeGreaterThan(0);
  });

  it('buys back what was sold short, and keeps what a strategy borrows above the buffer', () => {
    const short = aTwap('seller', { side: 'sell', slices: 1, duration: 'PT1M', total_quantity: { amount: '20', currency: 'btc' }, start_time: '2026-01-05T00:01:00Z' }); // prettier-ignore
    const desk = guardedDesk({ strategies: [short, guard], venue: { ...leveraged, pts: { ...leveraged.pts, creditLimitUsd: '10000000' } } }); // prettier-ignore
    // 40 000 / 0.15 usd of credit at most, whatever the venue would lend.
    expect(desk.balance('btc')).toBeLessThan(-5);
    expect(levelOf(desk)).toBeGreaterThan(0.1499);
    const before = desk.balance('btc');
    move(desk, 50_800);
    expect(desk.balance('btc')).toBeGreaterThan(before);
    expect(levelOf(desk)).toBeGreaterThan(0.149);
  });

  it('sends nothing while the desk is halted', () => {
    const desk = guardedDesk();
    desk.tell({ do: 'halt' });
    const sent = desk.sent.orders.length;
    move(desk, 45_000, 3 * MINUTE_MS);
    expect(desk.sent.orders).toHaveLength(sent);
    desk.tell({ do: 'rearm' });
    desk.run(MINUTE_MS);
    expect(levelOf(desk)).toBeGreaterThan(0.149);
  });

  it('goes by what the venue states where that is worse, until the desk has traded', () => {
    const desk = guardedDesk({ wrap: stating({ equity: money('20000') }) });
    desk.run(2 * MINUTE_MS);
    expect(desk.balance('btc')).toBeLessThan(4);
  });

  it('says in the status what the venue states, and at which price it settles', () => {
    expect(creditWords(guardedDesk().desk)).toEqual([
      'owes 160000 of 250000 usd, 90000 available; equity 40000 usd; liquidation level 0.1',
      'the venue settles positions with btc below 44000 usd',
    ]);
    expect(creditWords(leveragedDesk({ policy: {} }).desk)).toEqual([]);
  });

  it('leaves no forced settlement on random paths, except where one step jumps over the buffer', () => {
    const [bare, kept] = [paths(25, false), paths(25, true)];
    expect(bare.settled).toBeGreaterThan(5);
    expect(kept.settled - kept.jumped).toBe(0);
    expect(kept.settled).toBeLessThan(bare.settled / 3);
  });
});
