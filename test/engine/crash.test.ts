import { describe, expect, it } from 'vitest';
import { instant, MINUTE_MS } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import { isDone } from '../../src/engine/run.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { aBench, aTwap, START } from './harness.ts';
import type { Bench } from './harness.ts';
import type { Death } from './mortal.ts';
import { books, faultsOf } from './oracle.ts';

/** Long enough for every doubt to be proven and every strategy to end. */
const END = instant(START + 60 * MINUTE_MS);
const RESTART_AFTER_MS = 1_500;

interface Story {
  readonly strategies: readonly StrategySource[];
  readonly venue?: VenueInput;
}

const stories: Readonly<Record<string, Story>> = {
  'a twap': { strategies: [aTwap('twap', { slices: 4, duration: 'PT4M' })] },
  'a twap whose orders are often canceled': {
    strategies: [aTwap('twap', { slices: 3, duration: 'PT6M' })],
    venue: { cancelProbability: 0.4, unavailableProbability: 0.2 },
  },
  'two twaps on opposite sides of one pair': {
    strategies: [
      aTwap('buys', { slices: 2, duration: 'PT2M' }),
      aTwap('sells', { slices: 2, duration: 'PT2M', side: 'sell' }),
    ],
  },
  'a slice that the venue cuts into pieces': {
    strategies: [
      aTwap('pieces', { slices: 1, duration: 'PT5M', total_quantity: { amount: '10', currency: 'btc' } }),
    ],
  },
};

interface Fate {
  readonly death: Death;
  readonly inFlight: 'arrives' | 'lost';
}

/** Runs until the process dies, then starts a new one on the same journal against the same exchange, until the end. */
function restarted(story: Story, fate: Fate): Bench | undefined {
  const first = aBench({ ...story, ...fate });
  first.start();
  while (!first.life.isOver && first.clock.wall() < END) first.run(250);
  if (!first.life.isOver) return undefined;
  const { clock, exchange, journal } = first;
  clock.run(instant(clock.wall() + RESTART_AFTER_MS));
  const second = aBench({ ...story, clock, exchange, journal });
  second.start();
  clock.run(END);
  return second;
}

describe.each(Object.keys(stories))('a process that dies while it works on %s', (name) => {
  const story = stories[name] ?? { strategies: [] };
  const whole = aBench(story);
  whole.start();
  whole.clock.run(END);
  const appends = whole.appends();

  it('completes the undisturbed reference run without error', () => {
    expect(whole.seen.error).toBeUndefined();
    expect(isDone(whole.desk)).toBe(true);
    const { ledger, journal } = books(whole.exchange, whole.records());
    expect(journal).toEqual(ledger);
    expect(ledger.length).toBeGreaterThan(0);
  });

  it.each(['lost', 'durable'] as const)(
    'never executes twice and loses no fill, at whichever append it dies (records %s)',
    (records) => {
      const wrong: string[] = [];
      for (const inFlight of ['arrives', 'lost'] as const) {
        for (let at = 1; at <= appends; at++) {
          const bench = restarted(story, { death: { at, records }, inFlight });
          const faults = bench === undefined ? ['did not die'] : faultsOf(bench);
          wrong.push(...faults.map((fault) => `append ${at} ${records}, in flight ${inFlight}: ${fault}`));
        }
      }
      expect(wrong).toEqual([]);
      expect(appends).toBeGreaterThan(15);
    },
  );
});
