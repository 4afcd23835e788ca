import { EMPTY, Observable, concat, delay, interval, map, merge, mergeMap, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import type { Clock, AccountHint } from '../../src/engine/ports.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { still } from '../simulator/world.ts';
import { aTwap, started, leastGap } from './harness.ts';
import type { Bench } from './harness.ts';

type Hints = (exchange: Exchange, clock: Clock) => Observable<AccountHint>;

/** The hints of a working account feed. */
const faithful: Hints = (exchange) =>
  new Observable((subscriber) => exchange.listen(() => subscriber.next({ why: 'balances' })));
const scrambled: Hints = (exchange, clock) => {
  const random = seededRandom('scrambled');
  return faithful(exchange, clock).pipe(
    mergeMap((hint) => of(hint).pipe(delay(Math.floor(random.next() * 30_000), clock.scheduler))),
  );
};
const doubled: Hints = (exchange, clock) =>
  faithful(exchange, clock).pipe(mergeMap((hint) => concat(of(hint, hint), of(hint).pipe(delay(40, clock.scheduler))))); // prettier-ignore
const storm: Hints = (_, clock) =>
  interval(50, clock.scheduler).pipe(map((): AccountHint => ({ why: 'gap' })));
const lying: Hints = (exchange, clock) => merge(scrambled(exchange, clock), storm(exchange, clock));
const off: Hints = () => EMPTY;

interface Result {
  /** Client id, quantity, price. */
  readonly fills: readonly (readonly [string, string, string])[];
  readonly ends: readonly unknown[];
  readonly balances: Readonly<Record<string, string>>;
  /** Quantities that the venue traded, in order. */
  readonly traded: readonly string[];
  readonly sent: Bench['sent'];
}

/** A moving market that cancels no order, or a still one that cancels some: there the length of a doubt costs nothing. */
const venues: Readonly<Record<'moving' | 'doubtful', VenueInput>> = {
  moving: { seed: '5', unavailableProbability: 0.1 },
  doubtful: { seed: '5', cancelProbability: 0.05, ...still },
};

/** Two twaps to their end, with these hints. */
function run(hints: Hints, world: keyof typeof venues): Result {
  const bench: Bench = started(
    {
      strategies: [
        aTwap('buyer', { total_quantity: { amount: '1', currency: 'btc' }, duration: 'PT20M', slices: 20 }),
        aTwap('seller', { side: 'sell', duration: 'PT20M', slices: 12 }),
      ],
      venue: {
        ...venues[world],
        accounts: [{ balances: { usd: '1000000', btc: '25', eth: '0' } }],
      },
      accountFeed: (exchange, clock) => ({ hints$: hints(exchange, clock) }),
    },
    0,
    { isUntilDone: true },
  );
  bench.clock.run();
  if (bench.seen.error !== undefined) throw new Error('the desk failed', { cause: bench.seen.error });
  const balances = bench.exchange.ledger.balances('desk');
  return {
    fills: bench.bodies('fill').map((body) => [body.client_order_id, body.quantity, body.price]),
    ends: bench.bodies('slice').map((body) => [body.parent, body.slice, body.result]),
    balances: Object.fromEntries([...balances].map(([currency, amount]) => [currency, text(amount)])),
    traded: bench.exchange.registry.tradesOf('desk').map(({ quantity }) => text(quantity)),
    sent: bench.sent,
  };
}

describe.each(['moving', 'doubtful'] as const)('a hint of the account feed on a %s market', (world) => {
  const without = run(off, world);

  it.each([
    ['faithful', faithful],
    ['doubled', doubled],
    ['late and out of order', scrambled],
    ['a storm', storm],
    ['all of it', lying],
  ])('affects only the time of the next read: %s', (_, hints) => {
    const { fills, balances, traded } = run(hints, world);
    expect(balances).toStrictEqual(without.balances);
    // Every trade of the venue is in the journal, once.
    const quantities = fills.map(([, quantity]) => quantity);
    expect(quantities.toSorted()).toStrictEqual(traded.toSorted());
    expect(new Set(fills.map(([id]) => id)).size).toBe(fills.length);
  });

  it.each([
    ['faithful', faithful],
    ['a storm', storm],
  ])('permits more frequent account reads, within the rate limit of the route: %s', (_, hints) => {
    const { reads } = run(hints, world).sent;
    expect(reads.length).toBeGreaterThan(without.sent.reads.length);
    expect(leastGap(reads)).toBeGreaterThanOrEqual(10_000);
  });
});

describe('a hint while no order is in doubt', () => {
  it.each([
    ['faithful', faithful],
    ['all of it', lying],
  ])('changes no fill, price or slice result: %s', (_, hints) => {
    const [{ fills, ends }, without] = [run(hints, 'moving'), run(off, 'moving')];
    expect({ fills, ends }).toStrictEqual({ fills: without.fills, ends: without.ends });
  });
});

describe('the wait for the next account read', () => {
  it('is cut to one second by a hint, and is a minute again afterwards', () => {
    const { sent } = started(
      {
        strategies: [aTwap('later', { start_time: '2026-01-05T06:00:00Z' })],
        accountFeed: (_, clock) => ({
          hints$: of<AccountHint>({ why: 'fills' }).pipe(delay(30_000, clock.scheduler)),
        }),
      },
      200_000,
    );
    const [start = { at: 0 }, ...reads] = sent.reads;
    expect(reads.map(({ at }) => at - start.at)).toStrictEqual([31_000, 91_000, 151_000]);
  });
});
