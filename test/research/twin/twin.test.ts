import { describe, expect, it } from 'vitest';
import { NO_MONEY, add, approximate, quantity, text } from '../../../src/core/money.ts';
import type { Money } from '../../../src/core/money.ts';
import { compare, inBps } from '../../../src/research/twin/compare.ts';
import type { Comparison } from '../../../src/research/twin/compare.ts';
import type { Cause } from '../../../src/research/twin/twin-setup.ts';
import { MINUTE_MS, after } from '../../../src/core/time.ts';
import type { Bench } from '../../engine/harness.ts';
import { MODEL, aHardDay, compared, edited, hour, live, losing, setupOf, tightened } from './live-day.ts';
import type { LiveDay } from './live-day.ts';

type Event = NonNullable<LiveDay['events']>[number];

const shown = ({ total, shares, traded, modelled }: Comparison): unknown => ({
  total: text(total),
  bps: Number(inBps(total, traded)?.toFixed(4)),
  shares: Object.fromEntries(Object.entries(shares).map(([cause, amount]) => [cause, text(amount)])),
  modelled,
});

const sum = (amounts: readonly Money[]): Money => amounts.reduce((a, b) => add(a, b), NO_MONEY);

/** The share of the difference that belongs to one cause. */
const partOf = ({ shares }: Comparison, cause: Cause): number => {
  const all = Object.values(shares).reduce((whole, each) => whole + Math.abs(approximate(each)), 0);
  return Math.abs(approximate(shares[cause])) / all;
};

/** A pause from five minutes after one slot to five minutes after another. */
const paused: readonly Event[] = [
  {
    at: after(hour(5), 5 * MINUTE_MS),
    happens: ({ operator$ }) => {
      operator$.next({ do: 'pause', by: 'ana', why: 'a call' });
    },
  },
  {
    at: after(hour(8), 5 * MINUTE_MS),
    happens: ({ operator$ }) => {
      operator$.next({ do: 'resume', by: 'ana', why: 'it is over' });
    },
  },
];

const withdrawn: Event = {
  at: after(hour(6), 5 * MINUTE_MS),
  happens: ({ exchange, clock }: Bench) => {
    exchange.deposit('desk', 'usd', quantity('-1700000'), clock.wall());
  },
};

describe('a twin', () => {
  it('does the same as live if there is no difference between them', () => {
    const found = compared(live({}));
    expect(found.rows).toHaveLength(120);
    expect(found.decisions).toEqual([{ live: 'filled', twin: 'filled', slices: 120 }]);
    expect(shown(found)).toMatchObject({ total: '0', modelled: 0 });
  });

  it('lets a slice end although its model answers after the end of the journal', () => {
    const setup = setupOf(live({}));
    const last = [...setup.recorded.slices.values()].at(-1)?.executedAt;
    const found = compare({
      ...setup,
      model: { ...MODEL, quoteLatencyMs: 900 },
      until: last === undefined ? undefined : after(last, 1),
    });
    expect(found.decisions).toEqual([{ live: 'filled', twin: 'filled', slices: 120 }]);
  });

  const edit = edited();
  const alone: Readonly<Record<Cause, LiveDay>> = {
    text: { strategies: edit.strategies, files: edit.files, events: [edit.event] },
    people: { events: paused },
    sizing: { events: [withdrawn] },
    latency: { venue: { quoteLatencyMs: 8_000 } },
    quote: { venue: { halfSpreadBps: 6 } },
    last_look: { venue: { rejectedShare: 0.5 } },
    doubt: { wrap: losing((order) => order % 10 === 3) },
  };
  for (const [cause, day] of Object.entries(alone) as [Cause, LiveDay][])
    it(`attributes a difference caused only by ${cause} to that cause`, () => {
      const found = compared(live(day));
      expect(text(found.total)).not.toBe('0');
      expect(partOf(found, cause)).toBeGreaterThanOrEqual(0.9);
      expect(text(sum(Object.values(found.shares)))).toBe(text(found.total));
    });

  it('applies the limits together with the texts', () => {
    const found = compared(live(tightened()));
    expect(found.decisions.find(({ live: decision }) => decision !== 'filled')).toBeDefined();
    expect(text(found.total)).not.toBe('0');
    expect(partOf(found, 'text')).toBe(1);
  });

  it('explains a hard day to the last decimal, with a remainder of at most 0.1 bps', () => {
    const found = compared(live(aHardDay()));
    expect(text(sum(Object.values(found.shares)))).toBe(text(found.total));
    for (const { shares, total } of found.rows) expect(text(sum(Object.values(shares)))).toBe(text(total));
    expect(Math.abs(approximate(inBps(found.shares.rest, found.traded) ?? NO_MONEY))).toBeLessThanOrEqual(
      0.1,
    );
  });
});
