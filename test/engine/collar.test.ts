import { describe, expect, it } from 'vitest';
import { cost, price, ratio, scale } from '../../src/core/money.ts';
import type { ControlRecord } from '../../src/core/record.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { QuoteRequest } from '../../src/core/venue.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { inProcessMarket } from '../support/book-market.ts';
import { START, aTwap, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, ledgerTrades } from './oracle.ts';
import { andThen } from '../../src/engine/maybe-async.ts';

/** What happens to the price of each quote; 1: nothing. */
type Factor = (request: QuoteRequest, at: number) => string;

/** A venue that quotes its own price times a factor, and would execute at that. */
const pricing =
  (factor: Factor) =>
  (venue: VenuePort, clock: { now(): number }): VenuePort => ({
    ...venue,
    quote: (request) =>
      andThen(venue.quote(request), (answer) => {
        const by = factor(request, clock.now() - START);
        if (by === '1' || answer.kind !== 'quote') return answer;
        const quoted = price(scale(answer.quote.price, ratio(by)).toFixed(8));
        const amount = cost(quoted, answer.quote.quantity);
        return { ...answer, quote: { ...answer.quote, price: quoted, amount } };
      }),
  });

const isOrder = ({ clientId }: QuoteRequest): boolean => clientId !== undefined;

const pauses = (bench: Bench): readonly ControlRecord[] => bench.bodies('control');

const asked = (bench: Bench, from = 0): number => bench.timed('intent').filter(({ at }) => at >= from).length;

const twap = () => aTwap('twap', { slices: 10, duration: 'PT10M' });

/** Quotes of orders that are wrong once, in the third minute. */
function onceWrong(by: string): Factor {
  let isWrong = true;
  return (request, at) => {
    if (!isOrder(request) || at < 2 * MINUTE_MS || !isWrong) return '1';
    isWrong = false;
    return by;
  };
}

const wrongUntil =
  (until: () => number, by = '1.05'): Factor =>
  (request, at) =>
    isOrder(request) && at >= 2 * MINUTE_MS && at < until() ? by : '1';

const sources: readonly (readonly [string, Partial<BenchOptions>])[] = [
  ['probes', {}],
  [
    'the feed',
    {
      market: (exchange, clock) =>
        inProcessMarket(exchange, { clock, pairs: ['btcusd', 'ethusd'], everyMs: 1_000 }),
    },
  ],
];

const ended = (options: Partial<BenchOptions>): Bench =>
  started({ strategies: [twap()], ...options }, 12 * MINUTE_MS, { isUntilDone: true });

describe.each(sources)('a single wrong quote, with reference prices from %s,', (_, of) => {
  it.each(['10', '0.1', '1.02'])(
    'is discarded at %s times the price, and the parent continues to trade',
    (by) => {
      const bench = ended({ wrap: pricing(onceWrong(by)), ...of });
      const discarded = bench.bodies('attempt').filter(({ result }) => result === 'discarded');
      expect(discarded).toMatchObject([{ reason: 'collar' }]);
      expect(pauses(bench)).toEqual([]);
      expect(ledgerTrades(bench.exchange)).toHaveLength(10);
      expect(faultsOf(bench)).toEqual([]);
    },
  );
});

describe('a wrong probe quote', () => {
  it.each([
    ['10', 1, 'is not used as a reference price'],
    ['0.1', 1, 'is not used as a reference price'],
    ['10', 2, 'gives one until a quote disagrees'],
  ])('at %s times the price, on %i sides, %s, and the next probe replaces it', (by, sides) => {
    let wrong = 0;
    const factor: Factor = (request, at) =>
      !isOrder(request) && (request.side === 'buy' || sides === 2) && at >= 2 * MINUTE_MS && wrong++ < sides
        ? by
        : '1';
    const bench = ended({ wrap: pricing(factor) });
    expect(wrong).toBeGreaterThan(sides);
    expect(pauses(bench)).toEqual([]);
    expect(ledgerTrades(bench.exchange)).toHaveLength(10);
  });
});

describe.each(sources)('quotes that keep disagreeing with reference prices from %s', (_, of) => {
  it('pause their parent after 30 s, are then requested rarely, and end the pause once they agree', () => {
    const factor = wrongUntil(() => 6 * MINUTE_MS);
    const options = { strategies: [twap()], wrap: pricing(factor), ...of };
    const bench = started(options);
    bench.until(2 * MINUTE_MS + 29 * SECOND_MS);
    expect(pauses(bench)).toEqual([]);
    bench.until(6 * MINUTE_MS);
    expect(pauses(bench)).toMatchObject([{ state: 'paused', by: 'tranche', ends: 'prices_agree' }]);
    expect(pauses(bench)[0]?.why).toMatch(/^collar/u);
    expect(ledgerTrades(bench.exchange)).toHaveLength(2);
    expect(asked(bench, 3 * MINUTE_MS)).toBeLessThan(8);
    bench.until(12 * MINUTE_MS);
    expect(pauses(bench)).toMatchObject([{ state: 'paused' }, { state: 'active', by: 'tranche' }]);
    expect(pauses(bench)[1]?.why).toMatch(/^prices_agree: /u);
    expect(ledgerTrades(bench.exchange).length).toBeGreaterThanOrEqual(5);
    expect(bench.alerts()).toContain('parent_paused');
    expect(bench.desk.state.totals.paused.size).toBe(0);
    expect(faultsOf(bench)).toEqual([]);
  });

  it('pause their parent even across a restart, and the next process ends the pause', () => {
    const factor = wrongUntil(() => 6 * MINUTE_MS);
    const options = { strategies: [twap()], wrap: pricing(factor), ...of };
    const before = started(options, 2 * MINUTE_MS + 20 * SECOND_MS);
    const second = nextProcess(before, SECOND_MS, options);
    second.until(4 * MINUTE_MS);
    expect(pauses(second)).toMatchObject([{ state: 'paused', by: 'tranche' }]);
    const third = nextProcess(second, SECOND_MS, options);
    third.until(12 * MINUTE_MS);
    expect(pauses(third)).toMatchObject([{ state: 'paused' }, { state: 'active', by: 'tranche' }]);
    expect(executedTotal(third.exchange).gt('0.4')).toBe(true);
  });
});

describe('a pause of a parent', () => {
  it('does not end automatically if a person made it, even if prices disagreed before', () => {
    const wrap = pricing(wrongUntil(() => 4 * MINUTE_MS));
    const bench = started({ strategies: [twap()], wrap }, 3.5 * MINUTE_MS);
    const parent = pauses(bench)[0]?.parent;
    expect(parent).toBeDefined();
    bench.operator$.next({ do: 'pause', by: 'ops', why: 'collar: I look at it', parent });
    bench.until(9 * MINUTE_MS);
    expect(pauses(bench).map(({ state, by }) => `${state} ${by}`)).toEqual(['paused tranche', 'paused ops']);
    expect(ledgerTrades(bench.exchange)).toHaveLength(2);
  });
});
