import { map, of, switchMap, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { clientId } from '../../src/core/ids.ts';
import { add, money, quantity, text } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS, after, DAY_MS } from '../../src/core/time.ts';
import type { Order, Transaction } from '../../src/core/venue.ts';
import { toObservable, andThen } from '../../src/engine/maybe-async.ts';
import { VenueError } from '../../src/core/errors.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import type { Money, Quantity } from '../../src/core/money.ts';
import { showing, faultAt } from './faulty-venue.ts';
import { START, aBench, aTwap, nextProcess, started, aPolicy } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

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

const twoSlices = { strategies: [aTwap('t', { slices: 2, duration: 'PT20M' })] };

/** A desk whose first order gets no answer. `seen` changes the rows that the account shows. */
function aDoubt(seen: (rows: readonly Transaction[]) => readonly Transaction[]): Bench {
  const wrap: BenchOptions['wrap'] = (venue, clock) => faultAt('answer lost')(showing(seen)(venue), clock);
  return started({ ...twoSlices, wrap }, 0, { isUntilDone: true });
}

const filled = (bench: Bench): readonly string[] => bench.bodies('fill').map((body) => body.quantity);

describe('account rows of an order in doubt', () => {
  it('are dated by the local clock, so that a future timestamp does not bypass the daily limit', () => {
    const bench = aDoubt((rows) => rows.map((row) => ({ ...row, at: after(row.at, 3 * DAY_MS) })));
    bench.until(5 * MINUTE_MS);
    expect(filled(bench)).toEqual(['0.5']);
    expect(bench.desk.state.totals.dayNotional(bench.clock.wall()).gt(25_000)).toBe(true);
    bench.until(30 * MINUTE_MS);
    expect(bench.desk.state.totals.dayNotional(bench.clock.wall()).gt(55_000)).toBe(true);
  });

  it('halt the desk if they appear after a proven absence, and count towards the total once it is re-armed', () => {
    let isHidden = true;
    const bench = aDoubt((rows) => (isHidden ? rows.filter((row) => !isTrade(row)) : rows));
    bench.until(5 * MINUTE_MS);
    isHidden = false;
    bench.until(7 * MINUTE_MS);
    expect(bench.desk.state.control).toBe('halted');
    const again = nextProcess(bench, 0, twoSlices, { isUntilDone: true, rearm: 'looked into' });
    again.until(40 * MINUTE_MS);
    const traded = filled(again).reduce((sum, each) => sum + Number(each), 0);
    expect(traded).toBeLessThanOrEqual(1);
    const held = again.exchange.ledger
      .rows('desk')
      .filter((row) => row.currency === 'btc' && row.clientId !== undefined);
    expect(held.reduce((sum, row) => sum + Number(text(row.amount)), 0)).toBe(traded);
  });
});

describe('balances', () => {
  it('count an order once if the account shows its trade before its answer arrives', () => {
    const bench = aBench({
      strategies: [aTwap('t', { slices: 1, duration: 'PT10M', start_time: '2026-01-05T00:01:00Z' })],
      // The answer is 5 s on its way back; the account is read at 60 s, in between.
      wrap: (venue): VenuePort => ({
        ...venue,
        order: (request) =>
          toObservable(venue.order(request)).pipe(
            switchMap((answer) => timer(5_000, bench.clock).pipe(map(() => answer))),
          ),
      }),
      policy: { accountPollMs: 61_000 },
    });
    bench.start();
    bench.until(90_000);
    expect(bench.desk.state.fills).toBe(1);
    expect(text(bench.desk.state.balances?.get('btc') ?? quantity('0'))).toBe('26');
  });
});

describe('a desk on a venue that rejects requests', () => {
  it('does not repeat quote requests rapidly if the venue finds every size too large', () => {
    const { sent } = started(
      {
        strategies: [aTwap('t', { slices: 1, duration: 'PT1M' })],
        wrap: (venue): VenuePort => ({
          ...venue,
          quote: (request) => {
            if (request.clientId === undefined) return venue.quote(request);
            const error = 'request USD value 60000 greater than max USD value 20000 for pair btcusd';
            return of({ kind: 'error', status: 422, error } as const);
          },
        }),
      },
      MINUTE_MS,
    );
    const quotes = sent.quotes.filter(({ clientId: id }) => id !== undefined);
    expect(quotes.length).toBeGreaterThan(1);
    expect(quotes.length).toBeLessThan(30);
  });

  it('waits for the time stated in a 429, also when it polls the risk modes', () => {
    const asked: number[] = [];
    const bench = aBench({
      strategies: [aTwap('t', { slices: 1, duration: 'PT10M' })],
      policy: {
        pts: { ...aPolicy().pts, use: 'when_enabled', pollMs: 1_000 },
      },
      wrap: (venue): VenuePort => ({
        ...venue,
        riskModes: () =>
          throwError(() => {
            asked.push(bench.clock.now());
            return new VenueError({
              code: 'rate_limited',
              applied: 'no',
              attempt: 'GET',
              retryAfterMs: 20_000,
            });
          }),
      }),
    });
    bench.start();
    bench.until(59_000);
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThanOrEqual(3);
  });
});

/** A desk whose first answer is lost, and which may look its order up; the account shows nothing for a while. */
function lookedUp(share: string): Bench {
  let told: Order | undefined;
  return started({
    strategies: [aTwap('t', { slices: 1, duration: 'PT4M' })],
    wrap: (venue, clock) => {
      const noted: VenuePort = {
        ...venue,
        order: (request) =>
          andThen(venue.order(request), (answer) => {
            if (answer.kind === 'order') told ??= answer.order;
            return answer;
          }),
      };
      const shown = (rows: readonly Transaction[]): readonly Transaction[] =>
        clock.wall() < after(START, 120_000) ? rows.filter(({ clientId: id }) => id === undefined) : rows;
      const part = (amount: Quantity | Money, digits?: number): string => amount.times(share).toFixed(digits);
      return {
        ...faultAt('answer lost', 1, shown)(noted, clock),
        lookup: () =>
          of(
            told && {
              ...told,
              filled: quantity(part(told.filled)),
              filledAmount: money(part(told.filledAmount, 2)),
            },
          ),
      };
    },
  });
}

describe('an order in doubt that is looked up', () => {
  it('is booked at once if the lookup equals the quote', () => {
    const bench = lookedUp('1');
    bench.until(30 * SECOND_MS);
    expect(bench.bodies('fill')).toMatchObject([{ source: 'lookup', quantity: '1' }]);
  });

  it('is known to have traded if the lookup shows slightly less, and waits for the account', () => {
    const bench = lookedUp('0.9995');
    bench.until(110 * SECOND_MS);
    expect(bench.desk.state.fills).toBe(0);
    expect(bench.desk.state.doubts).toMatchObject([{ doubt: { reason: 'certainly_traded' } }]);
    bench.until(200 * SECOND_MS);
    expect(bench.bodies('fill')).toMatchObject([{ source: 'transactions', quantity: '1' }]);
  });
});
