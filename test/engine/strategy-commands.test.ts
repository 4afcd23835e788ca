import { describe, expect, it } from 'vitest';
import { whyOf } from '../../src/journal/why.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS, isoOf, instant } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import type { CommandAnswer } from '../../src/engine/ports.ts';
import { aStrategy, aTwap, nextProcess, flat, started, START } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { ledgerTrades, wrongOf } from './oracle.ts';

const dca = (over: object = {}): StrategySource =>
  aStrategy('dca', 'recurring', {
    pair: 'btcusd',
    side: 'buy',
    each_quantity: { amount: '0.5', currency: 'btc' },
    schedule: { cron: '0 9 * * *', time_zone: 'UTC' },
    ...over,
  });
const book = (over: object = {}): StrategySource =>
  aStrategy('book', 'rebalance', {
    target_weights: { btc: '0.5', usd: '0.5' },
    drift_threshold: '0.02',
    schedule: { cron: '0 9 * * *' },
    ...over,
  });
const bookVenue = { accounts: [{ balances: { usd: '100000', btc: '1' } }], pairs: { btcusd: flat('50000') } };
const token = { name: 'ann', kind: 'person' } as const;

/** The answers are added to the list as they arrive. */
function runNow(bench: Bench, strategy: string): CommandAnswer[] {
  const answers: CommandAnswer[] = [];
  bench.operator$.next({
    do: 'run',
    strategy,
    by: 'ann',
    why: 'the coupon came early',
    token,
    answer: (answer) => answers.push(answer),
  });
  return answers;
}

function running(strategies: BenchOptions['strategies'], over: Partial<BenchOptions> = {}): Bench {
  return started({ strategies, ...over }, MINUTE_MS);
}

const runs = (bench: Bench): readonly object[] => bench.bodies('wake').filter(({ on }) => on === 'run');
const fillTimes = (bench: Bench): readonly string[] =>
  bench.timed('fill').map(({ at }) => isoOf(instant(START + at)).slice(11, 16));

describe('a recurring strategy run on demand', () => {
  it('trades one occurrence at once, and its scheduled occurrences as usual', () => {
    const bench = running([dca()]);
    const answers = runNow(bench, 'dca');
    bench.until(10 * HOUR_MS);
    expect(answers).toMatchObject([{ isDone: true, says: 'dca runs now: buy 0.5 btc in btcusd' }]);
    expect(fillTimes(bench)).toEqual(['00:01', '09:00']);
    expect(wrongOf(bench)).toEqual([]);
  });

  it('records the run as a wake with its author and reason, and tranche why shows them', () => {
    const bench = running([dca()]);
    runNow(bench, 'dca');
    bench.until(2 * MINUTE_MS);
    expect(runs(bench)).toMatchObject([
      { strategy: 'dca', detail: { by: 'ann', why: 'the coupon came early' }, token },
    ]);
    expect(
      [...whyOf(bench.records(), { currencies: () => undefined })].map(({ says }) => says),
    ).toContainEqual('runs now on request of ann: the coupon came early');
  });

  it('ends its extra occurrence before the next scheduled one begins', () => {
    const bench = running([dca({ window: 'PT30M', slices: 3 })]);
    bench.until(9 * HOUR_MS - 3 * MINUTE_MS);
    runNow(bench, 'dca');
    bench.until(10 * HOUR_MS);
    expect(fillTimes(bench)).toEqual(['08:57', '08:58', '08:59', '09:00', '09:10', '09:20']);
  });

  it('is run exactly once or not at all, at whichever append the process dies', () => {
    const whole = running([dca()]);
    const before = whole.appends();
    runNow(whole, 'dca');
    whole.until(5 * MINUTE_MS);
    const appends = whole.appends();
    expect(appends).toBeGreaterThan(before + 2);
    const traded: number[] = [];
    for (let at = before + 1; at <= appends; at++)
      for (const records of ['lost', 'durable'] as const)
        for (const inFlight of ['arrives', 'lost'] as const) {
          const first = running([dca()], { death: { at, records }, inFlight });
          const answers = runNow(first, 'dca');
          first.until(2 * MINUTE_MS);
          expect(first.life.isOver).toBe(true);
          const next = nextProcess(first, SECOND_MS, { strategies: [dca()] });
          next.until(8 * HOUR_MS);
          expect(wrongOf(next)).toEqual([]);
          const trades = ledgerTrades(next.exchange).length;
          traded.push(trades);
          // An answered run has traded; the journal shows the result of an unanswered one.
          expect(trades).toBeGreaterThanOrEqual(answers.length);
          expect(trades).toBe(runs(next).length);
        }
    expect(new Set(traded)).toEqual(new Set([0, 1]));
  });
});

describe('a scheduled rebalance run on demand', () => {
  it('checks the portfolio at once and trades the drift', () => {
    const bench = running([book()], { venue: bookVenue });
    const answers = runNow(bench, 'book');
    bench.until(5 * MINUTE_MS);
    expect(answers).toMatchObject([{ isDone: true, says: 'book runs now: buy 0.5 btc in btcusd' }]);
    expect(fillTimes(bench)).toEqual(['00:01']);
    expect(wrongOf(bench)).toEqual([]);
  });

  it('gives the reason if it trades nothing inside its band', () => {
    const bench = running([book({ drift_threshold: '0.4' })], { venue: bookVenue });
    const answers = runNow(bench, 'book');
    bench.until(2 * MINUTE_MS);
    expect(answers).toMatchObject([{ isDone: true, facts: { reason: 'inside_band', intents: 0 } }]);
    expect(answers[0]?.says).toContain('book ran, but trades nothing: inside_band');
  });
});

describe('a request to run a strategy now', () => {
  it.each([
    ['a twap has no occurrence', [aTwap('x')], 'x cannot run now: a twap has no occurrence to run'],
    [
      'a continuous rebalance already checks every price',
      [book({ schedule: undefined })],
      'book cannot run now: it already checks every price',
    ],
    [
      'its calendar is closed',
      [
        dca({
          schedule: { cron: '0 9 * * *', time_zone: 'UTC', quiet_hours: [{ from: '00:00', to: '06:00' }] },
        }),
      ],
      'dca cannot run now: its calendar is closed: quiet hours',
    ],
    [
      'it has not started',
      [dca({ start_time: '2026-02-01T00:00:00Z' })],
      'dca cannot run now: it begins at 2026-02-01',
    ],
  ] as const)('is refused because %s', (_, strategies, says) => {
    // prettier-ignore
    const bench = running(strategies, { venue: bookVenue });
    const [{ id }] = strategies;
    const answers = runNow(bench, id);
    bench.until(2 * MINUTE_MS);
    expect(answers).toEqual([{ isDone: false, says: expect.stringContaining(says) as string }]);
    expect(runs(bench)).toEqual([]);
  });

  it('is refused while an occurrence is in progress, so that asking twice does not trade twice', () => {
    const bench = running([dca({ window: 'PT30M', slices: 3 })]);
    runNow(bench, 'dca');
    bench.until(2 * MINUTE_MS);
    expect(runNow(bench, 'dca')).toMatchObject([
      {
        isDone: false,
        says: 'dca cannot run now: its occurrence of 2026-01-05T00:01:00.000Z is in progress',
      },
    ]);
  });

  it('is refused while the desk or the strategy is paused, or the desk is halted', () => {
    const bench = running([dca()]);
    bench.operator$.next({ do: 'pause', strategy: 'dca', by: 'bob', why: 'lunch' });
    expect(runNow(bench, 'dca')).toMatchObject([{ isDone: false, says: 'dca is paused: lunch. Resume it first' }]); // prettier-ignore
    bench.operator$.next({ do: 'resume', strategy: 'dca', by: 'bob', why: 'back' });
    bench.operator$.next({ do: 'pause', by: 'bob', why: 'a look first' });
    expect(runNow(bench, 'dca')).toMatchObject([{ isDone: false, says: 'the desk is paused: a look first' }]);
    bench.operator$.next({ do: 'halt', by: 'bob', why: 'fire' });
    expect(runNow(bench, 'dca')).toMatchObject([{ isDone: false, says: 'the desk is halted: fire' }]);
  });

  it('is refused if no fresh price arrives in time, and the schedule continues', () => {
    let isDown = false;
    const bench = running([dca()], {
      wrap: (venue) => ({
        ...venue,
        quote: (request) => venue.quote(isDown ? { ...request, pair: 'xxxusd' } : request),
      }),
    });
    isDown = true;
    bench.until(2 * HOUR_MS);
    const answers = runNow(bench, 'dca');
    bench.until(2 * HOUR_MS + 10 * SECOND_MS);
    expect(answers).toEqual([{ isDone: false, says: 'no fresh price within 3 s: the strategy did not run' }]);
    isDown = false;
    bench.until(10 * HOUR_MS);
    expect(fillTimes(bench)).toEqual(['09:00']);
  });
});

/** Ten slices, a minute apart. */
const twap = aTwap('btc');

const stop = (bench: Bench, strategy = 'btc'): CommandAnswer =>
  bench.tell({ do: 'stop', strategy, why: 'the fund has changed its mind' });

function twoRunning(): Bench {
  return started({ strategies: [twap, aTwap('other')] }, 3 * MINUTE_MS + SECOND_MS);
}

const tradesOf = (bench: Bench, strategy: string): number =>
  bench.records().filter(({ body }) => body.kind === 'fill' && body.strategy === strategy).length;

describe('stopping a strategy as an operator', () => {
  it('prevents further trades, even after a restart, while other strategies continue', () => {
    const bench = twoRunning();
    const before = tradesOf(bench, 'btc');
    expect(before).toBe(4);
    expect(stop(bench)).toEqual({
      isDone: true,
      says: 'btc is stopped permanently. To trade the rest, give it another id',
    });
    bench.until(5 * MINUTE_MS);
    const next = nextProcess(bench, SECOND_MS, { strategies: [twap, aTwap('other')] });
    next.until(HOUR_MS);
    expect(tradesOf(next, 'btc')).toBe(before);
    expect(tradesOf(next, 'other')).toBe(10);
    expect(ledgerTrades(next.exchange)).toHaveLength(before + 10);
  });

  it('finishes the strategy, and records who stopped it and why', () => {
    const bench = twoRunning();
    stop(bench);
    const bodies = bench.records().map(({ body }) => body);
    expect(bodies.filter(({ kind }) => kind === 'reload')).toMatchObject([
      { by: 'ann', why: 'the fund has changed its mind', changes: [{ strategy: 'btc', what: 'stops' }] },
    ]);
    expect(bodies.at(-1)).toMatchObject({
      kind: 'wake',
      strategy: 'btc',
      finished: 'by_operator',
      note: 'ann: the fund has changed its mind',
    });
    expect(bench.desk.state.lives.get('btc')?.finished).toBe('by_operator');
  });

  it('ends an open slice without another order', () => {
    // No quote is ever good enough: the slice is tried again and again.
    const dear = aTwap('btc', { limit_price: '1', slices: 1 });
    const bench = started({ strategies: [dear] }, MINUTE_MS);
    expect(bench.desk.state.slices.size).toBe(1);
    expect(stop(bench).says).toContain('open slices end without another order');
    bench.until(2 * MINUTE_MS);
    expect(bench.desk.state.slices.size).toBe(0);
    expect(bench.records().map(({ body }) => body).filter(({ kind }) => kind === 'slice')).toMatchObject([
      { result: 'skipped', reason: 'aborted' },
    ]); // prettier-ignore
  });

  it('is refused if the strategy does not exist or has already ended', () => {
    const bench = twoRunning();
    expect(stop(bench, 'eth')).toEqual({
      isDone: false,
      says: 'no strategy eth runs; there are btc, other',
    });
    stop(bench);
    expect(stop(bench)).toEqual({ isDone: false, says: 'btc has ended already: by_operator' });
  });
});
