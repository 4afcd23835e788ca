import { showing, faultAt } from './faulty-venue.ts';
import { map, of, switchMap, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { quantity, text } from '../../src/core/money.ts';
import { DAY_MS, MINUTE_MS, after } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { aBench, aTwap, started, aPolicy, nextProcess } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

const plan = { strategies: [aTwap('t', { slices: 2, duration: 'PT20M' })] };

/** A desk whose first order gets no answer. `seen` changes the rows that the account shows. */
function aDoubt(seen: (rows: readonly Transaction[]) => readonly Transaction[]): Bench {
  const wrap: BenchOptions['wrap'] = (venue, clock) => faultAt('answer lost')(showing(seen)(venue), clock);
  return started({ ...plan, wrap }, 0, { isUntilDone: true });
}

const isTrade = (row: Transaction): boolean => row.clientId !== undefined;
const fillsOf = (bench: Bench): readonly string[] => bench.bodies('fill').map((body) => body.quantity);

describe('account rows of an order in doubt', () => {
  it('are dated by the local clock, so that a future timestamp does not bypass the daily limit', () => {
    const bench = aDoubt((rows) => rows.map((row) => ({ ...row, at: after(row.at, 3 * DAY_MS) })));
    bench.until(5 * MINUTE_MS);
    expect(fillsOf(bench)).toEqual(['0.5']);
    expect(bench.desk.state.totals.dayNotional(bench.clock.wall()).gt(25_000)).toBe(true);
    bench.until(30 * MINUTE_MS);
    expect(bench.desk.state.totals.dayNotional(bench.clock.wall()).gt(55_000)).toBe(true);
  });

  it('halt the desk if they appear after a proven absence, and count towards the total once it is re-armed', () => {
    let isHidden = true;
    const bench = aDoubt((rows) => (isHidden ? rows.filter((row) => !isTrade(row)) : rows));
    bench.until(5 * MINUTE_MS);
    isHidden = false;
    bench.until(7 * MINUTE_MS);
    expect(bench.desk.state.control).toBe('halted');
    const again = nextProcess(bench, 0, plan, { isUntilDone: true, rearm: 'looked into' });
    again.until(40 * MINUTE_MS);
    const traded = fillsOf(again).reduce((sum, each) => sum + Number(each), 0);
    expect(traded).toBeLessThanOrEqual(1);
    const held = again.exchange.ledger
      .rows('desk')
      .filter((row) => row.currency === 'btc' && row.clientId !== undefined);
    expect(held.reduce((sum, row) => sum + Number(text(row.amount)), 0)).toBe(traded);
  });
});

describe('balances', () => {
  it('count an order once if the account shows its trade before its answer arrives', () => {
    const bench = aBench({
      strategies: [aTwap('t', { slices: 1, duration: 'PT10M', start_time: '2026-01-05T00:01:00Z' })],
      // The answer is 5 s on its way back; the account is read at 60 s, in between.
      wrap: (venue): VenuePort => ({
        ...venue,
        order: (request) =>
          toObservable(venue.order(request)).pipe(
            switchMap((answer) => timer(5_000, bench.clock).pipe(map(() => answer))),
          ),
      }),
      policy: { accountPollMs: 61_000 },
    });
    bench.start();
    bench.until(90_000);
    expect(bench.desk.state.fills).toBe(1);
    expect(text(bench.desk.state.balances?.get('btc') ?? quantity('0'))).toBe('26');
  });
});

describe('a desk on a venue that rejects requests', () => {
  it('does not repeat quote requests rapidly if the venue finds every size too large', () => {
    const { sent } = started(
      {
        strategies: [aTwap('t', { slices: 1, duration: 'PT1M' })],
        wrap: (venue): VenuePort => ({
          ...venue,
          quote: (request) => {
            if (request.clientId === undefined) return venue.quote(request);
            const error = 'request USD value 60000 greater than max USD value 20000 for pair btcusd';
            return of({ kind: 'error', status: 422, error } as const);
          },
        }),
      },
      MINUTE_MS,
    );
    const quotes = sent.quotes.filter(({ clientId }) => clientId !== undefined);
    expect(quotes.length).toBeGreaterThan(1);
    expect(quotes.length).toBeLessThan(30);
  });

  it('waits for the time stated in a 429, also when it polls the risk modes', () => {
    const asked: number[] = [];
    const bench = aBench({
      strategies: [aTwap('t', { slices: 1, duration: 'PT10M' })],
      policy: {
        pts: { ...aPolicy().pts, use: 'when_enabled', pollMs: 1_000 },
      },
      wrap: (venue): VenuePort => ({
        ...venue,
        riskModes: () =>
          throwError(() => {
            asked.push(bench.clock.now());
            return new VenueError({
              code: 'rate_limited',
              applied: 'no',
              attempt: 'GET',
              retryAfterMs: 20_000,
            });
          }),
      }),
    });
    bench.start();
    bench.until(59_000);
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThanOrEqual(3);
  });
});
