import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { text } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { faultyVenue, DOWN, NO_QUOTES, faultAt } from './faulty-venue.ts';
import { aStrategy, aTwap, START, nextProcess, slowJournal, started } from './harness.ts';
import type { Bench } from './harness.ts';
import { executedTotal, faultsOf, fillsOf, wrongOf } from './oracle.ts';
import { running } from './strategy-files.ts';

const slow = (id = 'twap', over: Record<string, unknown> = {}): StrategySource =>
  aTwap(id, { slices: 10, duration: 'PT10M', ...over });
const weights = (btc: string): Record<string, unknown> => ({
  target_weights: { btc, usd: text0(1 - Number(btc)) },
  cash: 'usd',
  drift_type: 'absolute',
  drift_threshold: '0.9',
});
const text0 = (n: number): string => n.toFixed(1);

/** Buys for this amount an hour, in four slices of two minutes, from the given minute on. */
const daily = (amount: string, minute = 1): StrategySource =>
  aStrategy('daily', 'recurring', {
    pair: 'btcusd',
    side: 'buy',
    each_notional: { amount, currency: 'usd' },
    schedule: { every: 'PT1H', first: new Date(START + minute * MINUTE_MS).toISOString() },
    window: 'PT8M',
    slices: 4,
  });
const withoutBtc = (venue: VenuePort): VenuePort => ({
  ...venue,
  currencies: () => venue.currencies().pipe(map((all) => all.filter(({ symbol }) => symbol !== 'btc'))),
});
const reloadsIn = (bench: Bench) => bench.bodies('reload');
const begunIn = (bench: Bench): readonly string[] => bench.bodies('strategy').map((body) => body.strategy);
const boughtBy = (bench: Bench, id: string): number =>
  fillsOf(bench.records()).filter(({ strategy }) => strategy === id).length;

describe('a reload', () => {
  it('begins a new strategy beside a running twap, which continues unchanged', () => {
    const { bench, files, until, reload } = running([slow()]);
    until(4.5 * MINUTE_MS);
    files.sources = [slow(), slow('late', { side: 'sell', duration: 'PT5M', slices: 5 })];
    expect(reload()).toMatchObject({ isDone: true, says: expect.stringMatching(/^reloaded:\n {2}late begins \(/u) as string });
    until(20 * MINUTE_MS);
    expect(faultsOf(bench)).toEqual([]);
    expect([boughtBy(bench, 'twap'), boughtBy(bench, 'late')]).toEqual([10, 5]);
    const late = bench.records().find(({ body }) => body.kind === 'strategy' && body.strategy === 'late');
    expect(late?.at).toBe(START + 4.5 * MINUTE_MS);
    expect(reloadsIn(bench)).toEqual([
      { kind: 'reload', by: 'ann', why: 'new texts', result: 'applied', changes: [{ strategy: 'late', what: 'begins', to: expect.any(String) as string }] },
    ]);
  }); // prettier-ignore

  it('is applied once the desk trades if it is patient and comes while the venue is away', () => {
    let isAway = true;
    const away = new VenueError({ code: 'connect', applied: 'no', attempt: 'GET /v1/account/transactions' });
    const wrap = faultyVenue({ transactions: (rows) => (isAway ? away : rows) });
    const { bench, files, until, reload } = running([slow()], { wrap });
    files.sources = [slow(), slow('late', { side: 'sell', duration: 'PT5M', slices: 5 })];
    const said = [reload({ isPatient: true }), reload()];
    until(MINUTE_MS);
    said.push(reload({ isPatient: true }));
    expect([said.map(({ says }) => says), files.reads]).toEqual([Array(3).fill('no answer'), 0]);
    isAway = false;
    until(30 * MINUTE_MS);
    said.push(reload({ isPatient: true }));
    expect(said.map(({ says }) => says.split('\n')[0])).toEqual([
      'reloaded:',
      'no answer',
      'nothing has changed',
      'nothing has changed',
    ]);
    expect(faultsOf(bench)).toEqual([]);
    expect([boughtBy(bench, 'twap'), boughtBy(bench, 'late')]).toEqual([10, 5]);
    expect(reloadsIn(bench)).toHaveLength(1);
  });

  it('does not change a running twap, names the differences, and the twap keeps its text to the end', () => {
    const { bench, files, until, reload } = running([slow()]);
    until(4.5 * MINUTE_MS);
    files.sources = [slow('twap', { total_quantity: { amount: '2', currency: 'btc' } })];
    const { isDone, says } = reload();
    expect(isDone).toBe(true);
    expect(says).toMatch(/twap is NOT changed \(\S+ → \S+\): its parent is running and keeps the text it started with/u);
    expect(says).toContain('    total_quantity.amount: 1 → 2');
    until(20 * MINUTE_MS);
    expect(text(executedTotal(bench.exchange))).toBe('1');
    expect(faultsOf(bench)).toEqual([]);
    expect(reloadsIn(bench)[0]?.changes).toMatchObject([{ strategy: 'twap', what: 'kept', from: expect.any(String) as string, to: expect.any(String) as string }]);
  }); // prettier-ignore

  it('drops the wake of a replaced life, even if its text is back by then', () => {
    let isAway = false;
    const { bench, files, until, reload } = running([daily('4000', 5)], { wrap: faultyVenue({ quote: () => (isAway ? NO_QUOTES : undefined) }) });
    until(4 * MINUTE_MS);
    isAway = true;
    until(5 * MINUTE_MS + SECOND_MS);
    for (const amount of ['8000', '4000']) {
      files.sources = [daily(amount, 5)];
      expect(reload().says).toContain('daily replaces its running version');
      until(5 * MINUTE_MS + (amount === '8000' ? 2 : 3) * SECOND_MS);
    }
    isAway = false;
    until(20 * MINUTE_MS);
    const decided = bench.bodies('wake').flatMap((body) => body.intents);
    // The occurrence was due before the life that runs now began.
    expect(decided).toEqual([]);
    until(80 * MINUTE_MS);
    expect(new Set(fillsOf(bench.records()).map(({ parent }) => parent)).size).toBe(1);
    expect(wrongOf(bench)).toEqual([]);
  }); // prettier-ignore

  it.each([
    ['begins a strategy once', 'both', ['1']],
    ['applies the latest files', 'there and back', ['4000']],
  ])('%s, although an earlier reload is still being written to a slow disk (%s)', (_, how, amounts) => {
    const clock = new VirtualClock(START);
    const journal = slowJournal(clock, () => 300);
    const { bench, files, until, reload } = running([slow(), ...(how === 'both' ? [] : [daily('4000', 30)])], { clock, journal });
    until(2.5 * MINUTE_MS);
    const texts = how === 'both' ? ['1', '1'] : ['8000', '4000'];
    const said = texts.map((amount, i) => {
      files.sources = [slow(), daily(amount, 30)];
      const answer = reload();
      until(2.5 * MINUTE_MS + (i + 1) * 100);
      return answer;
    });
    until(3.5 * MINUTE_MS);
    expect(said.map(({ says }) => says.split('\n')[0])).toEqual(['reloaded:', how === 'both' ? 'nothing has changed' : 'reloaded:']);
    expect(bench.desk.state.lives.get('daily')?.hash).toBe(bench.desk.strategies.sources.get('daily')?.hash);
    expect(bench.desk.state.lives.get('daily')?.document).toEqual(daily(amounts[0] ?? '', 30).document);
    expect(begunIn(bench).filter((id) => id === 'daily')).toHaveLength(how === 'both' ? 1 : 3);
  }); // prettier-ignore

  it('does not report a trade of an earlier life to a later life of the same text', () => {
    let isHidden = true;
    const wrap = faultAt('answer lost', 1, (rows) => (isHidden ? DOWN : rows));
    const plan = { slices: 2, duration: 'PT4M' };
    const { bench, files, until, reload } = running([aTwap('twap', plan)], { wrap, policy: { accountAgeMaxMs: undefined } });
    until(1.5 * MINUTE_MS);
    const clientOrderId = [...bench.desk.state.attempts.keys()][0] ?? '';
    bench.operator$.next({ do: 'resolve', clientOrderId, verdict: 'not_executed', by: 'ann', why: 'a mail', answer: () => undefined });
    until(10 * MINUTE_MS);
    expect(bench.desk.state.lives.get('twap')?.finished).toBe('finished');
    for (const [minute, source] of [[16, aTwap('twap', { ...plan, side: 'sell' })], [17, aTwap('twap', plan)]] as const) {
      files.sources = [source];
      expect(reload().says).toContain('twap begins');
      until(minute * MINUTE_MS);
    }
    isHidden = false;
    until(18.5 * MINUTE_MS);
    expect(bench.desk.state.fills).toBeGreaterThan(2);
    expect(bench.desk.state.lives.get('twap')).toMatchObject({ late: [] });
    const late = bench.bodies('fill').filter((body) => body.client_order_id === clientOrderId);
    expect(late).toHaveLength(1);
    bench.operator$.next({ do: 'rearm', by: 'ann', why: 'seen' });
    until(30 * MINUTE_MS);
    const { parent } = fillsOf(bench.records()).at(-1) ?? { parent: '' };
    expect(fillsOf(bench.records()).filter((fill) => fill.parent === parent)).toHaveLength(2);
  }); // prettier-ignore

  it('begins the new text after the old parent has ended', () => {
    const { bench, files, until, reload } = running([slow()]);
    until(20 * MINUTE_MS);
    files.sources = [slow('twap', { total_quantity: { amount: '0.5', currency: 'btc' } })];
    reload();
    until(40 * MINUTE_MS);
    expect(text(executedTotal(bench.exchange))).toBe('1.5');
    expect(begunIn(bench)).toEqual(['twap', 'twap']);
  });

  it('replaces the text of a recurring strategy only between two occurrences', () => {
    const { bench, files, until, reload } = running([daily('4000')]);
    until(4 * MINUTE_MS);
    files.sources = [daily('8000')];
    expect(reload().says).toContain('daily is NOT changed');
    until(20 * MINUTE_MS);
    expect(boughtBy(bench, 'daily')).toBe(4);
    expect(reload().says).toContain('daily replaces its running version');
    until(80 * MINUTE_MS);
    expect(boughtBy(bench, 'daily')).toBe(8);
  });

  it('lets a new text take over if that leaves no decision unfinished', () => {
    const { bench, files, until, reload } = running([aStrategy('book', 'rebalance', weights('0.5'))]);
    until(5 * MINUTE_MS);
    files.sources = [aStrategy('book', 'rebalance', weights('0.6'))];
    expect(reload().says).toContain('book replaces its running version');
    until(10 * MINUTE_MS);
    expect(begunIn(bench)).toEqual(['book', 'book']);
    expect(bench.desk.state.lives.get('book')?.waits[0]).toMatchObject({ targets: { btc: '0.6' } });
  });

  it('stops a strategy whose document is gone, and resumes it when the same text returns', () => {
    const { bench, files, until, reload } = running([slow(), slow('other', { side: 'sell' })]);
    until(4.5 * MINUTE_MS);
    files.sources = [slow('other', { side: 'sell' })];
    expect(reload().says).toMatch(/twap stops \(\S+\): its document is gone; the same text resumes where it stopped/u);
    until(7.5 * MINUTE_MS);
    expect([boughtBy(bench, 'twap'), boughtBy(bench, 'other')]).toEqual([5, 8]);
    files.sources = [slow(), slow('other', { side: 'sell' })];
    expect(reload().says).toContain('twap resumes');
    until(30 * MINUTE_MS);
    expect(begunIn(bench)).toEqual(['twap', 'other']);
    expect(wrongOf(bench)).toEqual([]);
    const bought = fillsOf(bench.records()).filter(({ strategy }) => strategy === 'twap');
    expect(bought.length).toBeGreaterThan(5);
    expect(new Set(bought.map(({ slice }) => slice)).size).toBe(bought.length);
  }); // prettier-ignore

  it('sends no further order for a slice of a stopped strategy, even if its quote is in flight', () => {
    const { bench, files, until, reload } = running([slow()], { quoteLatencyMs: 3_000 });
    until(4_000);
    expect(bench.desk.state.slices.size).toBe(1);
    files.sources = [];
    reload();
    until(20 * MINUTE_MS);
    expect(fillsOf(bench.records())).toEqual([]);
    const ends = bench.bodies('slice');
    expect(ends).toMatchObject([{ strategy: 'twap', slice: 0, filled: '0' }]);
  });

  it.each(['filled', 'absent'])('keeps an open doubt of a stopped strategy until it is proven %s', (outcome) => {
    const wrap = faultAt(outcome === 'filled' ? 'answer lost' : 'connection reset before', 3);
    const { bench, files, until, reload } = running([slow(), slow('other', { pair: 'ethusd', total_quantity: { amount: '10', currency: 'eth' } })], { wrap });
    let ms: number = SECOND_MS;
    until(ms);
    while (bench.desk.state.doubts.length === 0 && ms < 5 * MINUTE_MS) until((ms += 100));
    const [doubt] = bench.desk.state.doubts;
    const stopped = doubt?.intent.strategy ?? '';
    files.sources = files.sources.filter(({ id }) => id !== stopped);
    expect(reload().says).toContain(`${stopped} stops`);
    expect(bench.desk.state.doubts).toHaveLength(1);
    expect(text(bench.desk.state.reserved('usd'))).not.toBe('0');
    const before = fillsOf(bench.records()).filter(({ strategy }) => strategy === stopped).length;
    until(ms + 10 * MINUTE_MS);
    expect(bench.desk.state.doubts).toHaveLength(0);
    expect(text(bench.desk.state.reserved('usd'))).toBe('0');
    const after = fillsOf(bench.records()).filter(({ strategy }) => strategy === stopped).length;
    expect(after - before).toBe(outcome === 'filled' ? 1 : 0);
    expect(wrongOf(bench)).toEqual([]);
    expect([...bench.desk.state.slices.values()].filter(({ strategy }) => strategy === stopped)).toEqual([]);
  }); // prettier-ignore

  it('changes nothing if one file is broken, reports that and records it', () => {
    const { bench, files, until, reload } = running([slow()]);
    until(4.5 * MINUTE_MS);
    Object.assign(files, { sources: [slow('fine')], problems: 'x.yaml:3:7  side\n  expected buy or sell' });
    expect(reload()).toEqual({
      isDone: false,
      says: 'nothing was changed:\nx.yaml:3:7  side\n  expected buy or sell',
    });
    until(20 * MINUTE_MS);
    expect(faultsOf(bench)).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('1');
    expect(bench.raised).toContainEqual(
      expect.objectContaining({ id: 'reload_refused', facts: { problems: files.problems } }),
    );
    const { problems } = files;
    expect(reloadsIn(bench)).toMatchObject([{ by: 'ann', result: 'refused', changes: [], problems }]);
  });

  it('is refused as a whole if the account cannot access a new pair', () => {
    const { bench, files, until, reload } = running([slow()]);
    until(MINUTE_MS);
    files.sources = [slow(), slow('fine'), slow('odd', { pair: 'zzzqqq', total_quantity: { amount: '1', currency: 'zzz' } })];
    expect(reload()).toMatchObject({ isDone: false, says: expect.stringContaining('strategy odd: ') as string });
    until(2 * MINUTE_MS);
    expect(begunIn(bench)).toEqual(['twap']);
  }); // prettier-ignore

  it('refuses a new strategy that could never trade, and does not check running ones', () => {
    const { bench, files, until, reload } = running([slow()]);
    until(MINUTE_MS);
    Object.assign(files.port, {
      infeasible: (run: readonly StrategySource[]) => run.map(({ id }) => ({ strategy: id, says: 'too large' })),
    });
    files.sources = [slow(), slow('large')];
    expect(reload()).toEqual({ isDone: false, says: 'nothing was changed:\nstrategy large: too large' });
    files.sources = [slow()];
    expect(reload()).toMatchObject({ isDone: true });
    until(20 * MINUTE_MS);
    expect(begunIn(bench)).toEqual(['twap']);
    expect(text(executedTotal(bench.exchange))).toBe('1');
  }); // prettier-ignore

  it('only reports the changes if it is a dry run', () => {
    const { bench, files, until, reload } = running([slow()]);
    until(MINUTE_MS);
    const length = bench.records().length;
    files.sources = [slow(), slow('late')];
    expect(reload({ isDryRun: true }).says).toMatch(/^a reload would apply these changes:\n {2}late begins/u);
    files.problems = 'broken';
    expect(reload({ isDryRun: true }).isDone).toBe(false);
    expect(bench.records()).toHaveLength(length);
    expect([...bench.desk.strategies.sources.keys()]).toEqual(['twap']);
  });
});

describe('a restart after a reload', () => {
  it('continues although the account can no longer access the pair of a recent fill', () => {
    const { bench, until } = running([slow()]);
    until(2 * MINUTE_MS);
    const wrap = withoutBtc;
    const again = nextProcess(bench, 0, { strategies: [], wrap });
    until(5 * MINUTE_MS);
    expect(again.seen).toEqual({ phases: ['ready'], error: undefined });
  });

  it.each(['kept', 'restored'])('refuses a %s text whose pair the account can no longer access', (how) => {
    const pairs = { btcusd: { startPrice: '60000' }, ethusd: { startPrice: '3000' } };
    const before = started({ strategies: [slow()], venue: { pairs } }, 2.5 * MINUTE_MS);
    const wrap = withoutBtc;
    const eth = { pair: 'ethusd', total_quantity: { amount: '1', currency: 'eth' } };
    const { bench, files, until, reload } = running([aTwap(how === 'kept' ? 'twap' : 'other', eth)], { wrap }, before);
    const why = 'strategy twap: "btcusd" is not two currencies that the account can access';
    until(4 * MINUTE_MS);
    const error = how === 'kept' ? { message: why } : undefined;
    const says = how === 'kept' ? 'no answer' : `nothing was changed:\n${why}`;
    files.sources = [...files.sources, slow()];
    expect(reload()).toEqual({ isDone: false, says });
    until(20 * MINUTE_MS);
    expect(bench.seen).toMatchObject({ phases: how === 'kept' ? [] : ['ready'], error });
  }); // prettier-ignore

  it.each(['0.2', '5'])('checks a fill that the first read shows against the text of its life, not against one edited to %s btc', (amount) => {
    const plan = { slices: 4, duration: 'PT20M' };
    const wrap = faultAt('answer lost', 1, () => DOWN);
    const { bench, files, until } = running([aTwap('twap', plan)], { wrap });
    until(2 * MINUTE_MS);
    files.sources = [aTwap('twap', { ...plan, total_quantity: { amount, currency: 'btc' } })];
    const again = nextProcess(bench, 0, { strategies: files.sources, files: files.port });
    until(5 * MINUTE_MS);
    expect(again.desk.state.fills).toBe(1);
    expect(again.desk.control).toBe('active');
    expect(again.desk.strategies.plan('twap')?.total.toFixed()).toBe('1');
  }); // prettier-ignore

  it('continues with the text of a running parent although its file differs', () => {
    const { bench, files, until, reload } = running([slow()]);
    until(4.5 * MINUTE_MS);
    files.sources = [
      slow('twap', { total_quantity: { amount: '2', currency: 'btc' } }),
      slow('late', { side: 'sell' }),
    ];
    reload();
    until(5.25 * MINUTE_MS);
    const after = nextProcess(bench, 0, { strategies: files.sources, files: files.port });
    after.until(60 * MINUTE_MS);
    expect(after.seen.error).toBeUndefined();
    expect(begunIn(after)).toEqual(['twap', 'late']);
    expect(boughtBy(after, 'twap')).toBe(10);
    expect(boughtBy(after, 'late')).toBe(10);
    expect(faultsOf(after)).toEqual([]);
  });

  it('is refused if the old text can no longer be read', () => {
    const { bench, files, until } = running([slow()]);
    until(4.5 * MINUTE_MS);
    const port = { ...files.port, revive: () => undefined };
    const after = nextProcess(bench, 0, { strategies: [slow('twap', { slices: 5 })], files: port });
    after.until(6 * MINUTE_MS);
    expect(String(after.seen.error)).toContain('strategy twap was edited while its parent is running');
  });
});
