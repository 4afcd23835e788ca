import { describe, expect, it } from 'vitest';
import { add, quantity } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS, after, instant } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aBench, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

/** A trade of someone else on the account, without a client id and of the same size as the orders of the desk. */
const stranger = (at: number, over: Partial<Transaction> = {}): readonly Transaction[] => {
  const row = {
    id: 5,
    orderId: '900',
    clientId: undefined,
    tradeId: 't-900',
    at: instant(at),
    action: 'buy',
    price: undefined,
    fees: quantity('0'),
    status: 'done',
    pair: 'btcusd',
    ...over,
  } as const;
  return [
    { ...row, currency: 'btc', amount: quantity('0.5'), balance: quantity('1') },
    { ...row, id: row.id + 1, currency: 'usd', amount: quantity('-30000'), balance: quantity('1000') },
  ];
};

/** Adds rows of someone else from when they first appear, with balances that follow from the rows before; old rows were always there. */
function mixer(
  isOld: boolean,
): (own: readonly Transaction[], theirs: readonly Transaction[]) => readonly Transaction[] {
  let newest: number | undefined;
  return (own, theirs) => {
    if (theirs.length > 0) newest ??= Math.max(0, ...own.map(({ id }) => id));
    if (isOld) return [...own, ...theirs];
    const all = [...own];
    for (const row of theirs) {
      const id = (newest ?? 0) + row.id;
      const before = all
        .filter((one) => one.currency === row.currency && one.id < id)
        .toSorted((a, b) => a.id - b.id);
      all.push({ ...row, id, balance: add(before.at(-1)?.balance ?? quantity('1'), row.amount) });
    }
    return all;
  };
}

/** A desk whose second order never arrives at the venue. */
function aDesk(
  rows: (now: number) => readonly Transaction[],
  { isOld = false, ...over }: Partial<BenchOptions> & { readonly isOld?: boolean } = {},
): Bench {
  let orders = 0;
  const mix = mixer(isOld);
  const bench: Bench = aBench({
    strategies: [aTwap('t', { slices: 2, duration: 'PT4M' })],
    wrap: (venue, clock) =>
      faultyVenue({
        order: () => (orders++ === 1 ? 'request lost' : undefined),
        transactions: (own) => mix(own, rows(clock.wall())),
      })(venue, clock),
    ...over,
  });
  bench.start();
  return bench;
}

const doubts = (bench: Bench, atMs: number): number => {
  bench.clock.run(after(START, atMs));
  return bench.desk.state.doubts.length;
};

describe('a doubt beside an equally large trade of someone else', () => {
  it('is not held open by a trade that was read before its attempt, whatever the time of the trade', () => {
    const bench = aDesk(() => stranger(after(START, 10 * MINUTE_MS)), { isOld: true });
    expect(doubts(bench, 2 * MINUTE_MS + 20 * SECOND_MS)).toBe(1);
    expect(doubts(bench, 3 * MINUTE_MS)).toBe(0);
  });

  it('is not held open by a trade that is older than its quote and appears late', () => {
    const bench = aDesk((now) =>
      now < after(START, 2 * MINUTE_MS + 5_000) ? [] : stranger(after(START, MINUTE_MS)),
    );
    expect(doubts(bench, 2 * MINUTE_MS + 20 * SECOND_MS)).toBe(1);
    expect(doubts(bench, 3 * MINUTE_MS)).toBe(0);
  });

  it('is held open by a trade at the time of its order', () => {
    const at = after(START, 2 * MINUTE_MS + 2_000);
    const bench = aDesk((now) => (now < at ? [] : stranger(at)));
    expect(doubts(bench, 30 * MINUTE_MS)).toBe(1);
  });

  it('is held open by a trade at the time of its order that was booked in two parts', () => {
    const at = after(START, 2 * MINUTE_MS + 2_000);
    const parts = [0, 2].flatMap((n) =>
      stranger(at, { id: 5 + n, tradeId: `t-${n}` }).map((row) => ({
        ...row,
        amount: quantity(row.amount.times('0.5').toFixed()),
      })),
    );
    const bench = aDesk((now) => (now < at ? [] : parts));
    expect(doubts(bench, 30 * MINUTE_MS)).toBe(1);
  });

  it('is judged only by the time of the row if an earlier process began its attempt', () => {
    const rows = (): readonly Transaction[] => stranger(after(START, MINUTE_MS));
    const before = aDesk(rows, { isOld: true });
    expect(doubts(before, 2 * MINUTE_MS + 20 * SECOND_MS)).toBe(1);
    before.kill();
    const { clock, exchange, journal } = before;
    const next = aDesk(rows, { clock, exchange, journal, wrap: faultyVenue({ transactions: (own) => [...own, ...rows()] }) }); // prettier-ignore
    expect(doubts(next, 4 * MINUTE_MS)).toBe(0);
  });
});
