import { defer, map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { compareRowIds } from '../../src/core/ids.ts';
import { add, quantity } from '../../src/core/money.ts';
import { MINUTE_MS, after } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aBench, aTwap, started } from './harness.ts';
import type { Bench } from './harness.ts';
import { faultsOf } from './oracle.ts';

const twap = aTwap('t', { slices: 4, duration: 'PT20M' });

/** A desk that sees `seen` of its account, and the alerts that it raised. */
function aReader(
  seen: (rows: readonly Transaction[], bench: () => Bench) => readonly Transaction[],
  order: () => 'request lost' | 'answer lost' | undefined = () => undefined,
): Bench {
  const bench: Bench = aBench({
    strategies: [twap],
    wrap: faultyVenue({ order, transactions: (rows) => seen(rows, () => bench) }),
  });
  bench.start({ isUntilDone: true });
  return bench;
}

describe('a desk that reads its account', () => {
  it('halts if known rows stay missing, but not in the first minute', () => {
    const late = (running: () => Bench): boolean => running().clock.wall() >= after(START, 12 * MINUTE_MS);
    const bench = aReader((rows, running) =>
      late(running) ? rows.filter(({ at }) => at < START + 4 * MINUTE_MS) : rows,
    );
    bench.until(13 * MINUTE_MS);
    expect(bench.desk.state.control).toBe('active');
    bench.until(16 * MINUTE_MS);
    expect(bench.desk.state.control).toBe('halted');
    expect(bench.alerts().filter((alert) => alert === 'history_changed')).toHaveLength(1);
  });

  it('does not close a doubt as absent while a gap in the balances could be its trade', () => {
    // The row of the second order stays hidden while rows after it are shown: a replica that lost it.
    let orders = 0;
    let isHidden = true;
    const first = { id: Infinity };
    const hide = (rows: readonly Transaction[]): readonly Transaction[] => {
      const trades = [...new Set(rows.flatMap(({ orderId }) => orderId ?? []))].toSorted();
      const second = trades[1];
      return isHidden ? rows.filter(({ orderId }) => orderId === undefined || orderId !== second) : rows;
    };
    const deposit = (rows: readonly Transaction[]): readonly Transaction[] => {
      const newest = rows.toSorted((a, b) => compareRowIds(b.id, a.id));
      if (newest.length < 4) return rows;
      first.id = Math.min(first.id, Number(newest[0]?.id ?? 0) + 1_000_000);
      const more = ['btc', 'usd'].flatMap((currency, n) => {
        const before = newest.find((row) => row.currency === currency);
        const amount = quantity('1');
        return before === undefined
          ? []
          : [
              {
                ...before,
                id: String(first.id + n),
                orderId: undefined,
                clientId: undefined,
                tradeId: undefined,
                action: 'deposit' as const,
                amount,
                fees: quantity('0'),
                balance: add(before.balance ?? amount, amount),
              },
            ];
      });
      return [...more, ...rows];
    };
    const bench = aReader(
      (rows) => (orders < 2 ? rows : hide(deposit(rows))),
      () => (++orders === 2 ? 'answer lost' : undefined),
    );
    bench.until(15 * MINUTE_MS);
    expect(bench.desk.state.doubts).toHaveLength(1);
    isHidden = false;
    bench.until(16 * MINUTE_MS);
    expect(bench.desk.state.doubts).toHaveLength(0);
    expect(bench.desk.state.fills).toBeGreaterThanOrEqual(2);
  });
});

describe('a read of an account with several pages', () => {
  /** Serves made-up deposits behind the real rows; where `lost` says so, a page begins five rows too late. */
  const paged = (lost: (page: number) => boolean) => {
    let pages = 0;
    return (venue: VenuePort): VenuePort => ({
      ...venue,
      transactions: (query) =>
        defer(() => {
          const skip = Math.max(0, (query.offset ?? 0) - 1) + (lost(++pages) ? 5 : 0);
          const more = Array.from({ length: 1_400 }, (_, n) => made(n)).filter(
            ({ id }) => compareRowIds(id, query.after ?? '') > 0,
          );
          return venue
            .transactions({ ...query, offset: undefined, limit: 1_000 })
            .pipe(map((rows) => [...rows, ...more].slice(skip, skip + query.limit)));
        }),
    });
  };
  const made = (n: number): Transaction => ({
    id: String(10_000 - n),
    orderId: undefined,
    clientId: undefined,
    tradeId: undefined,
    at: after(START, -MINUTE_MS),
    action: 'deposit',
    currency: 'eth',
    amount: quantity('1'),
    price: undefined,
    fees: quantity('0'),
    status: 'done',
    balance: quantity(String(2_000 - n)),
  });

  const reading = (lost: (page: number) => boolean, ms: number): Bench =>
    started({ strategies: [twap], wrap: paged(lost) }, ms, { isUntilDone: true });
  const offsets = ({ sent }: Bench, count: number) => sent.reads.slice(0, count).map(({ offset }) => offset);

  it('continues to the last page, with each page overlapping the previous one', () => {
    const bench = reading(() => false, 25 * MINUTE_MS);
    expect(offsets(bench, 2)).toEqual([undefined, 999]);
    expect(bench.sent.reads.every(({ from }) => from > 0)).toBe(true);
    expect(faultsOf(bench)).toEqual([]);
  });

  it('starts again from the first page if rows are missing between two pages', () => {
    const bench = reading((page) => page === 2, MINUTE_MS);
    expect(offsets(bench, 4)).toEqual([undefined, 999, undefined, 999]);
    expect(bench.seen.phases).toContain('ready');
  });

  it('does not complete if the pages never overlap', () => {
    const bench = reading((page) => page % 2 === 0, 3 * MINUTE_MS);
    expect(bench.sent.reads.length).toBeGreaterThan(4);
    expect(bench.seen.phases).toEqual([]);
  });
});
