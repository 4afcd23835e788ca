import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { add, quantity, size, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aBench, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import type { Death } from './mortal.ts';

const END = instant(START + 30 * MINUTE_MS);
const RESTART_AFTER_MS = 1_500;
const TOTAL = '1';

interface Story {
  readonly venue: VenueInput;
  /** Orders, from 0, whose answer never comes. */
  readonly lost: readonly number[];
  /** The venue may book after the booking margin. */
  readonly isLate?: boolean;
}

const inThree = { tradesPerOrder: 3, shares: ['0.5', '0.4995'] };
const stories: Readonly<Record<string, Story>> = {
  'whose parts all appear within the booking margin, with some answers lost': {
    venue: { booking: { ...inThree, delaysMs: [0, 3_000, 9_000] } },
    lost: [0, 2],
  },
  'whose last part appears after the booking margin, with one answer lost': {
    venue: { booking: { ...inThree, delaysMs: [0, 3_000, 70_000] } },
    lost: [0],
    isLate: true,
  },
};

const total = (amounts: Iterable<Quantity>): string =>
  text([...amounts].reduce((sum, each) => add(sum, each), quantity('0')));

/** What the ledger of the exchange says was bought. */
const ledger = (exchange: Exchange): string =>
  total(
    exchange.ledger
      .rows(exchange.accounts[0]?.name ?? '')
      .filter((row) => row.clientId !== undefined && row.currency === 'btc')
      .map((row) => size(row.amount)),
  );

/** What the journal says was bought, as corrected. */
function journal(bench: Bench): string {
  const fills = new Map<string, Quantity>();
  for (const { body } of bench.records())
    if (body.kind === 'fill' || body.kind === 'correction') fills.set(body.client_order_id, quantity(body.quantity)); // prettier-ignore
  return total(fills.values());
}

function aDesk(story: Story, over: Partial<BenchOptions>): Bench {
  let orders = 0;
  return aBench({
    strategies: [aTwap('t', { slices: 3, duration: 'PT3M', catch_up: 'pace', total_quantity: { amount: TOTAL, currency: 'btc' } })], // prettier-ignore
    venue: story.venue,
    policy: { onDifference: 'alert' },
    wrap: faultyVenue({ order: () => (story.lost.includes(orders++) ? 'answer lost' : undefined) }),
    ...over,
  });
}

/** Lifts every halt and pause within ten seconds, as a person who trusts the desk. */
function lift(bench: Bench, until: number): void {
  while (!bench.life.isOver && bench.clock.wall() < until) {
    bench.run(10_000);
    const { control } = bench.desk;
    if (control === 'halted') bench.operator$.next({ do: 'rearm', by: 'ann', why: 'looked', withOpenDoubts: true });
    else if (control === 'paused') bench.operator$.next({ do: 'resume', by: 'ann', why: 'looked' });
  } // prettier-ignore
}

function faults(bench: Bench): readonly string[] {
  const [venue, ours] = [ledger(bench.exchange), journal(bench)];
  const found: string[] = [];
  if (venue !== ours) found.push(`the ledger has ${venue}, the journal ${ours}`);
  if (Number(venue) > Number(TOTAL)) found.push(`${venue} of ${TOTAL} was bought`);
  if (bench.seen.error !== undefined) found.push(`failed: ${inspect(bench.seen.error)}`);
  return found;
}

describe.each(Object.keys(stories))('a desk that buys in orders %s', (name) => {
  const story = stories[name];
  if (story === undefined) throw new Error('no story');
  const whole = aDesk(story, {});
  whole.start();
  lift(whole, END);

  it('buys and books each part once', () => {
    expect(faults(whole)).toEqual([]);
    expect(Number(ledger(whole.exchange))).toBeGreaterThan(0.3);
  });

  it.each(['lost', 'durable'] as const)(
    'buys and books each part once, at whichever append it dies (records %s)',
    (records) => {
      const wrong: string[] = [];
      const appends = whole.appends();
      for (let at = 1; at <= appends; at++) {
        const death: Death = { at, records };
        const first = aDesk(story, { death, inFlight: 'arrives' });
        first.start();
        lift(first, END);
        if (!first.life.isOver) continue;
        const { clock, exchange, journal: written } = first;
        clock.run(instant(clock.wall() + RESTART_AFTER_MS));
        const second = aDesk({ ...story, lost: [] }, { clock, exchange, journal: written });
        second.start();
        lift(second, END);
        wrong.push(...faults(second).map((fault) => `append ${at}: ${fault}`));
      }
      expect(wrong).toEqual([]);
      expect(appends).toBeGreaterThan(15);
    },
  );
});
