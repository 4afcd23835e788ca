import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { price, quantity } from '../../src/core/money.ts';
import type { WakeRecord } from '../../src/core/record.ts';
import { after, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Wait, Wake } from '../../src/core/wake.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import { inProcessMarket } from '../support/book-market.ts';
import { defineStrategy } from '../../src/strategy/kernel.ts';
import type { Step } from '../../src/strategy/kernel.ts';
import { nextProcess, START, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { ledgerTrades } from './oracle.ts';

interface Own {
  readonly steps: number;
}

/** A strategy whose step each test defines. */
function aKind(step: (was: Own, wake: Wake) => Omit<Step<Own>, 'state'>): StrategySource {
  const params = z.strictObject({});
  const next = (was: Own, wake: Wake): Step<Own> => ({ state: { steps: was.steps + 1 }, ...step(was, wake) });
  const kind = defineStrategy<z.output<typeof params>, Own>({
    kind: 'own',
    summary: 'does what a test says',
    params,
    state: z.strictObject({ steps: z.number() }),
    of: () => ({
      pairs: ['btcusd'],
      check: () => [],
      start: (at) => next({ steps: 0 }, { on: 'start', at }),
      step: next,
    }),
  });
  return { id: 'own', kind: 'own', hash: 'h', document: {}, bound: kind.bind({}) };
}

const soon = (at: Instant, ms = 1): Wait => ({ on: 'at', at: after(at, ms) });
const atOrAbove = (level: string, notBefore: Instant): Wait => ({
  on: 'price',
  pair: 'btcusd',
  is: 'at_or_above',
  level,
  notBefore,
});

function ran(strategy: StrategySource, forMs: number, options: Partial<BenchOptions> = {}): Bench {
  const bench = started({ strategies: [strategy], ...options });
  bench.run(forMs);
  return bench;
}

const wakesOf = (bench: Bench): readonly (WakeRecord & { readonly at: Instant })[] =>
  bench.records().flatMap(({ at, body }) => (body.kind === 'wake' ? [{ ...body, at }] : []));
const spins = (bench: Bench): number => bench.alerts().filter((id) => id === 'strategy_blocked').length;
const lastReason = (bench: Bench): string | undefined => bench.desk.state.lives.get('own')?.lastReason;

describe('a spinning strategy', () => {
  it.each<readonly [string, (wake: Wake) => Wait]>([
    ['a time that is a millisecond away', ({ at }) => soon(at)],
    ['a time that has passed', ({ at }) => soon(at, -HOUR_MS)],
    ['a price that holds already', ({ at }) => atOrAbove('1', at)],
    ['a price that holds already a millisecond later', ({ at }) => atOrAbove('1', after(at, 1))],
  ])('is woken ten times, then once a minute, and reported once if it waits for %s', (_, wait) => {
    const bench = ran(
      aKind((_was, wake) => ({ waits: [wait(wake)], reason: 'blackout', note: 'closed' })),
      10 * MINUTE_MS + 30 * SECOND_MS,
    );
    const wakes = wakesOf(bench).filter(({ on }) => on !== 'start');
    expect(wakes.length).toBeGreaterThanOrEqual(11 + 9);
    expect(wakes.length).toBeLessThanOrEqual(12 + 10);
    expect(spins(bench)).toBe(1);
    expect(lastReason(bench)).toBe('strategy_blocked');
    const first = wakes.findIndex(({ reason }) => reason === 'strategy_blocked');
    expect(wakes[first]?.note).toContain('blackout: closed');
    expect(wakes[first - 1]?.reason).toBe('blackout');
  });

  it('is detected even if it waits longer between some of its steps', () => {
    const bench = ran(
      aKind(({ steps }, { at }) => ({ waits: [soon(at, steps % 9 === 0 ? 150 : 1)] })),
      10 * MINUTE_MS,
    );
    expect(wakesOf(bench).length).toBeLessThan(30);
    expect(spins(bench)).toBe(1);
  });

  it('continues within a minute after it decides something, and is no longer reported', () => {
    const opensAt = after(START, 5 * MINUTE_MS);
    const bench = ran(
      aKind((_was, { at }) => ({
        waits: [soon(at, at < opensAt ? 1 : HOUR_MS)],
        ...(at < opensAt ? {} : { missed: [{ leg: 'all', slice: 0 }] }),
      })),
      10 * MINUTE_MS,
    );
    const last = wakesOf(bench).at(-1);
    expect(last?.missed).toHaveLength(1);
    expect((last?.at ?? 0) - opensAt).toBeLessThanOrEqual(MINUTE_MS);
    expect(lastReason(bench)).toBeUndefined();
    expect(spins(bench)).toBe(1);
  });

  it('is reported again only after it has waited for a while in between', () => {
    const bench = ran(
      aKind(({ steps }, { at }) => ({ waits: [soon(at, steps === 15 ? HOUR_MS : 1)] })),
      2 * HOUR_MS,
    );
    expect(spins(bench)).toBe(2);
    expect(wakesOf(bench).length).toBeLessThan(100);
  });

  it('receives an outcome at once', () => {
    const seen: string[] = [];
    const bench = ran(
      aKind(({ steps }, wake) => {
        seen.push(wake.on);
        const intent = {
          leg: 'all',
          slice: 0,
          pair: 'btcusd',
          side: 'buy',
          size: { by: 'quantity', quantity: quantity('0.1') },
          deadline: after(START, HOUR_MS),
        } as const;
        const isOver = wake.on === 'outcome';
        return {
          waits: isOver ? [] : [{ on: 'outcome', leg: 'all', slice: 0 }, soon(wake.at)],
          ...(steps === 0 ? { intents: [intent] } : {}),
          ...(isOver ? { finished: 'finished' } : {}),
        };
      }),
      30 * SECOND_MS,
      { orderLatencyMs: 2_000 },
    );
    expect(ledgerTrades(bench.exchange)).toHaveLength(1);
    expect(seen.at(-1)).toBe('outcome');
    const ended = bench.records().find(({ body }) => body.kind === 'slice');
    expect(wakesOf(bench).at(-1)?.at).toBe(ended?.at);
  });

  it('is limited after a restart as well, and the same seed gives the same journal', () => {
    const spinning = (): StrategySource => aKind((_was, { at }) => ({ waits: [soon(at)] }));
    const once = ran(spinning(), 5 * MINUTE_MS);
    const again = ran(spinning(), 5 * MINUTE_MS);
    expect(again.records().at(-1)?.hash).toBe(once.records().at(-1)?.hash);
    const count = wakesOf(once).length;
    const reborn = nextProcess(once, SECOND_MS, { strategies: [spinning()] });
    reborn.run(5 * MINUTE_MS);
    expect(wakesOf(reborn).length - count).toBeLessThanOrEqual(11 + 5);
  });

  it('is held for at most a minute if the wall clock goes back meanwhile', () => {
    const bench = ran(
      aKind((_was, { at }) => ({ waits: [soon(at)] })),
      30 * SECOND_MS,
    );
    const count = wakesOf(bench).length;
    bench.clock.stepWall(-2 * HOUR_MS);
    bench.run(5 * MINUTE_MS);
    // Its next time on the wall clock is now two hours away; a held wake is held for at most a minute.
    expect(wakesOf(bench).length - count).toBeLessThanOrEqual(5);
  });
});

describe('a busy strategy that does not spin', () => {
  it('may react to every price, fifty times a second', () => {
    const bench = ran(
      aKind((_was, wake) => ({
        waits: [
          {
            on: 'price',
            pair: 'btcusd',
            is: wake.on === 'price' && wake.price.gte(price('100')) ? 'at_or_below' : 'at_or_above',
            level: '100',
            notBefore: wake.at,
          },
        ],
      })),
      SECOND_MS,
      { market: (exchange, clock) => inProcessMarket(exchange, { clock, pairs: ['btcusd'], everyMs: 20 }) },
    );
    const { exchange, clock } = bench;
    const before = wakesOf(bench).length;
    for (let n = 0; n < 500; n++) {
      exchange.pin('btcusd', price(n % 2 === 0 ? '101' : '99'), clock.wall());
      clock.run(after(clock.wall(), 20));
    }
    expect(wakesOf(bench).length - before).toBeGreaterThan(450);
    expect(spins(bench)).toBe(0);
  });

  it('may wake ten times a second, or take many steps at one instant that each skip a slot', () => {
    const calm = ran(
      aKind((_was, { at }) => ({ waits: [soon(at, 100)] })),
      10 * SECOND_MS,
    );
    expect(wakesOf(calm)).toHaveLength(101);
    const busy = ran(
      aKind(({ steps }, { at }) => ({
        waits: [soon(at, steps < 500 ? 0 : HOUR_MS)],
        missed: [{ leg: 'all', slice: steps }],
      })),
      SECOND_MS,
    );
    expect(wakesOf(busy)).toHaveLength(501);
    expect(spins(calm) + spins(busy)).toBe(0);
  });
});
