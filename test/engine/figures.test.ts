import { showing } from './faulty-venue.ts';
import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { clientId } from '../../src/core/ids.ts';
import { add, money, quantity, text } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import type { Order, Transaction } from '../../src/core/venue.ts';
import { START, aBench, aTwap, nextProcess } from './harness.ts';
import type { Bench } from './harness.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

const twap = aTwap('t', { slices: 2, duration: 'PT20M' });
const isTrade = ({ clientId: id }: Transaction): boolean => id !== undefined;

/** A desk whose order answers are changed by `told` and whose account rows are changed by `shown`. */
function aDesk({
  told = (order) => order,
  shown = (rows) => rows,
}: {
  readonly told?: (order: Order) => Order;
  readonly shown?: (rows: readonly Transaction[], bench: () => Bench) => readonly Transaction[];
}): Bench {
  const bench: Bench = aBench({
    strategies: [twap],
    wrap: (venue) => ({
      ...showing((rows) => shown(rows, () => bench))(venue),
      order: (request) =>
        toObservable(venue.order(request)).pipe(
          map((answer) => (answer.kind === 'order' ? { ...answer, order: told(answer.order) } : answer)),
        ),
    }),
  });
  bench.start({ isUntilDone: true });
  return bench;
}
/** A fifth less of everything. */
const less = (order: Order): Order => ({
  ...order,
  filled: quantity(text(quantity(order.filled.times('0.8').toFixed()))),
  filledAmount: money(order.filledAmount.times('0.8').toFixed()),
});

describe('a fill for less than the quoted size', () => {
  it('is booked as stated, raises an alert and pauses the desk', () => {
    const bench = aDesk({
      told: less,
      shown: (rows) =>
        rows.map((row) =>
          isTrade(row) ? { ...row, amount: quantity(row.amount.times('0.8').toFixed()) } : row,
        ),
    });
    bench.until(30 * SECOND_MS);
    expect(bench.bodies('fill')).toMatchObject([{ quantity: '0.4' }]);
    expect(bench.alerts()).toContain('fill_differs');
    expect(bench.desk.state.control).toBe('paused');
    bench.until(9 * MINUTE_MS);
    expect(bench.bodies('fill')).toHaveLength(1);
  });
});

describe('a fill whose figures differ in the account', () => {
  const dear =
    (by: string) =>
    (row: Transaction): Transaction =>
      isTrade(row) && row.currency === 'usd'
        ? {
            ...row,
            fees: add(row.fees, quantity(by)),
            balance: add(row.balance ?? quantity('0'), quantity(`-${by}`)),
          }
        : row;
  const dearer = (by: string): Bench => aDesk({ shown: (rows) => rows.map(dear(by)) });

  it('is corrected to the account figures, and both stay in the journal', () => {
    const bench = dearer('3');
    bench.until(2 * MINUTE_MS);
    const [fill] = bench.bodies('fill');
    expect(bench.bodies('correction')).toMatchObject([{ fees: '3', was_fees: '0', quantity: '0.5' }]);
    expect(fill).toMatchObject({ fees: '0', source: 'order' });
    expect(bench.alerts().filter((alert) => alert === 'fill_differs')).toHaveLength(1);
    expect(bench.desk.state.control).toBe('active');
  });

  it('is corrected without an alert if the difference is rounding', () => {
    const bench = dearer('0.01');
    bench.until(2 * MINUTE_MS);
    expect(bench.bodies('correction')).toHaveLength(1);
    expect(bench.alerts()).not.toContain('fill_differs');
  });

  it('is corrected only once, even after a restart', () => {
    const bench = dearer('3');
    bench.until(2 * MINUTE_MS);
    const again = nextProcess(bench, 0, { strategies: [twap], wrap: showing((rows) => rows.map(dear('3'))) });
    again.until(4 * MINUTE_MS);
    expect(again.bodies('correction')).toHaveLength(1);
  });

  it('halts the desk if the size differs, and limits count the size actually traded', () => {
    const bench = aDesk({ told: (order) => ({ ...less(order), vwap: order.vwap }) });
    bench.until(90 * SECOND_MS);
    expect(bench.bodies('correction')).toMatchObject([{ quantity: '0.5', was_quantity: '0.4' }]);
    expect(bench.alerts()).toContain('fill_differs');
    expect(bench.desk.state.control).toBe('halted');
    // The answer stated less than the order: the missing part counted as filled, so that it was not bought again.
    expect(bench.bodies('slice')).toMatchObject([{ filled: '0.4', missing: '0.1' }]);
    // Limits count the size traded, not the size stated in the answer.
    const { totals } = bench.desk.state;
    const [correction] = bench.bodies('correction');
    const [fill] = bench.bodies('fill');
    expect(correction?.amount).not.toBe(correction?.was_amount);
    expect(text(totals.dayNotional(bench.clock.wall()))).toBe(correction?.amount);
    expect(text(totals.dayNotional(bench.clock.wall(), 'btcusd'))).toBe(correction?.amount);
    expect(String(totals.parent(fill?.parent ?? '')?.filled)).toBe('0.5');
  });
});

describe('a fill missing from the account', () => {
  it('raises an alert after a minute, pauses the desk and stays booked', () => {
    const bench = aDesk({ shown: (rows) => rows.filter((row) => !isTrade(row)) });
    bench.until(55 * SECOND_MS);
    expect(bench.alerts()).not.toContain('fill_unbooked');
    bench.until(4 * MINUTE_MS);
    expect(bench.alerts().filter((alert) => alert === 'fill_unbooked')).toHaveLength(1);
    expect(bench.desk.state.control).toBe('paused');
    expect(bench.desk.state.fills).toBe(1);
  });
});

describe('a trade with a client order id of the desk for an attempt that it never made', () => {
  it('halts the desk at the read that shows it', () => {
    const theirs = clientId({ desk: 'main', parent: 'abcdefgh', slice: 3, attempt: 0 });
    let at: number | undefined;
    const bench = aDesk({
      shown: (rows, running) => {
        if (running().clock.wall() < after(START, 90 * SECOND_MS)) return rows;
        at ??= running().clock.now();
        return rows.flatMap((row) =>
          isTrade(row)
            ? [row, { ...row, id: `${row.id}000`, clientId: theirs, orderId: '99', tradeId: 'x' }]
            : [row],
        );
      },
    });
    bench.until(4 * MINUTE_MS);
    expect(bench.alerts()).toContain('fill_adopted');
    expect(bench.desk.state.control).toBe('halted');
    const halted = bench.records().find(({ body }) => body.kind === 'control' && body.state === 'halted');
    expect(halted?.at).toBe(at);
  });
});
