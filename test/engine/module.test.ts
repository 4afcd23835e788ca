import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { backtestJournal } from '../../src/journal/backtest-journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { defineKernel, later, z } from '../../src/strategy/sdk.ts';
import { aTwap, started, nextProcess } from './harness.ts';
import type { Bench } from './harness.ts';
import { executedTotal, faultsOf, fillsOf } from './oracle.ts';
import { moduleWith } from '../strategy/module-kind.ts';

/** Whether a kernel fails at its next step. Kept outside its state, as a bug would be. */
interface Whim {
  fails: boolean;
}

/** Buys a tenth every minute until its total has traded. */
const kernelOf = (whim: Whim) =>
  defineKernel({
    params: z.strictObject({}),
    start: (_, view) => ({ state: { n: 0 }, waits: [{ on: 'at', at: later(view.at, 'PT1M') }] }),
    step(state: { n: number }, wake, _, view) {
      if (whim.fails) throw new Error('a bad day');
      if (view.left.lt('0.1')) return { state, finished: true };
      const waits = [{ on: 'at' as const, at: later(view.at, 'PT1M') }];
      if (wake.on === 'outcome') return { state, waits };
      const intents = [{ pair: 'btcusd', side: 'buy' as const, quantity: '0.1', within: 'PT30S' }];
      return { state: { n: state.n + 1 }, waits, intents };
    },
  });

const aModule = (whim: Whim = { fails: false }, over: object = {}): StrategySource =>
  sourceOf(kernelOf(whim), over);

function sourceOf(kernel: ReturnType<typeof kernelOf>, over: object = {}): StrategySource {
  const params = {
    module: './own.ts',
    pairs: ['btcusd'],
    side: 'buy',
    total_quantity: { amount: '0.5', currency: 'btc' },
    ...over,
  };
  const bound = moduleWith(kernel).bind(params);
  return { id: 'own', kind: 'module', hash: 'h', document: params, bound };
}

const finishedOf = (bench: Bench, id = 'own'): unknown => bench.desk.state.lives.get(id)?.finished;

describe('a module on a desk', () => {
  it('trades its total and ends', () => {
    const bench = started({ strategies: [aModule()] }, 10 * MINUTE_MS);
    expect(faultsOf(bench)).toEqual([]);
    expect(executedTotal(bench.exchange).toFixed()).toBe('0.5');
    expect(finishedOf(bench)).toBe('finished');
  });

  // Between two steps, with a quote under way, with an order that has arrived.
  it.each([2.5 * MINUTE_MS, 2 * MINUTE_MS + 10, 2 * MINUTE_MS + 50])(
    'continues after a process that died at %i ms, and trades its total once',
    (diedMs) => {
      const strategies = [aModule()];
      const before = started({ strategies, inFlight: 'arrives' }, diedMs);
      const after = nextProcess(before, 0, { strategies });
      after.until(30 * MINUTE_MS);
      expect(faultsOf(after)).toEqual([]);
      expect(executedTotal(after.exchange).toFixed()).toBe('0.5');
      expect(finishedOf(after)).toBe('finished');
    },
  );

  it('is paused if a step fails, with the reason in the journal and an alert, while others continue', () => {
    const whim = { fails: false };
    const bench = started({ strategies: [aModule(whim), aTwap('twap')] }, 90 * SECOND_MS);
    whim.fails = true;
    bench.until(30 * MINUTE_MS);
    const failed = bench.bodies('wake').filter((body) => body.reason === 'strategy_failed');
    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatchObject({ strategy: 'own', note: 'Error: a bad day', intents: [] });
    const facts = { strategy: 'own', why: 'Error: a bad day' };
    expect(bench.raised).toContainEqual(expect.objectContaining({ id: 'strategy_paused', facts }));
    expect([...bench.desk.state.totals.paused]).toEqual([['strategy:own', 'strategy_failed: Error: a bad day']]);
    expect(bench.desk.control).toBe('active');
    expect(fillsOf(bench.records()).filter(({ strategy }) => strategy === 'own')).toHaveLength(1);
    expect(finishedOf(bench, 'twap')).toBe('finished');
  }); // prettier-ignore

  it('repeats the failed step when a person resumes it, even in another process', () => {
    const whim = { fails: true };
    const strategies = [aModule(whim)];
    const before = started({ strategies }, 10 * MINUTE_MS);
    const after = nextProcess(before, 0, { strategies });
    after.until(20 * MINUTE_MS);
    expect(fillsOf(after.records())).toEqual([]);
    whim.fails = false;
    after.tell({ do: 'resume', strategy: 'own' });
    after.until(40 * MINUTE_MS);
    expect(executedTotal(after.exchange).toFixed()).toBe('0.5');
    expect(finishedOf(after)).toBe('finished');
  });

  it('receives an outcome again after the step that handled it has failed', () => {
    const whim = { fails: false };
    const bench = started({ strategies: [aModule(whim)] }, MINUTE_MS + 30);
    whim.fails = true;
    bench.until(5 * MINUTE_MS);
    const life = bench.desk.state.lives.get('own');
    expect(life?.outcomes).toHaveLength(1);
    whim.fails = false;
    bench.tell({ do: 'resume', strategy: 'own' });
    bench.until(20 * MINUTE_MS);
    expect(faultsOf(bench)).toEqual([]);
    expect(executedTotal(bench.exchange).toFixed()).toBe('0.5');
  });

  it('starts over when it is resumed after its first step failed', () => {
    const kernel = kernelOf({ fails: false });
    let fails = true;
    const start: typeof kernel.start = (params, view) => {
      if (fails) throw new Error('too early');
      return kernel.start(params, view);
    };
    const bench = started({ strategies: [sourceOf({ ...kernel, start })] }, MINUTE_MS);
    expect(bench.desk.state.totals.paused.get('strategy:own')).toBe('strategy_failed: Error: too early');
    fails = false;
    bench.tell({ do: 'resume', strategy: 'own' });
    bench.until(20 * MINUTE_MS);
    expect(executedTotal(bench.exchange).toFixed()).toBe('0.5');
  });
});

/** Overwrites and adds to whatever it reaches. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const members = value as Record<string, unknown>;
  for (const [key, member] of Object.entries(members)) {
    spoil(member);
    if (typeof member !== 'object') members[key] = 'spoilt';
  }
  if (Array.isArray(value)) value.push('more');
  else members['more'] = true;
}

describe('a module that changes objects after it has handed them over', () => {
  /** The journal of a run in which `meddle` receives all that steps were given and returned, at each later step and once at the end. */
  function linesOf(journal: Journal, meddle: (held: unknown) => void): readonly unknown[] {
    const plain = kernelOf({ fails: false });
    const held: unknown[] = [];
    const kept = <T>(step: T): T => {
      held.push(step);
      return step;
    };
    const kernel: typeof plain = {
      ...plain,
      start: (params, view) => kept(plain.start(params, view)),
      step(state, wake, params, view) {
        meddle(held);
        kept(state);
        return kept(plain.step(structuredClone(state), wake, params, view));
      },
    };
    const bench = started({ strategies: [sourceOf(kernel)], journal }, 10 * MINUTE_MS);
    meddle(held);
    expect(executedTotal(bench.exchange).toFixed()).toBe('0.5');
    return [...journal.lines()];
  }

  it('affects neither the journal nor its own decisions, however late records are serialized', () => {
    const tidy = linesOf(memoryJournal(), () => undefined);
    expect(linesOf(memoryJournal(), spoil)).toEqual(tidy);
    expect(linesOf(backtestJournal(), spoil)).toEqual(tidy);
  });
});

describe('a strategy paused by a person', () => {
  it('starts nothing until it is resumed, and then continues where it stopped', () => {
    const bench = started({ strategies: [aModule(), aTwap('twap')] }, 150 * SECOND_MS);
    const said = [bench.tell({ do: 'pause', strategy: 'own' })];
    bench.until(20 * MINUTE_MS);
    expect(fillsOf(bench.records()).filter(({ strategy }) => strategy === 'own')).toHaveLength(2);
    expect(finishedOf(bench, 'twap')).toBe('finished');
    said.push(bench.tell({ do: 'resume', strategy: 'own' }), bench.tell({ do: 'pause', strategy: 'nobody' }));
    bench.until(40 * MINUTE_MS);
    expect(said.map(({ says }) => says)).toEqual([
      'strategy own is paused',
      'strategy own is active',
      'there is no strategy nobody; there are own, twap',
    ]);
    expect(executedTotal(bench.exchange).toFixed()).toBe('1.5');
    expect(faultsOf(bench)).toEqual([]);
  });

  it('sends no order for a slice decided before the pause', () => {
    const bench = started({ strategies: [aTwap('twap')], quoteLatencyMs: 3_000 }, 500);
    bench.operator$.next({ do: 'pause', by: 'ann', why: 'now', strategy: 'twap' });
    bench.until(10 * SECOND_MS);
    expect(fillsOf(bench.records())).toEqual([]);
  });
});
