import { aPolicy } from './harness.ts';
import { defer, map, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { compareRowIds } from '../../src/core/ids.ts';
import { add, quantity, roundDown } from '../../src/core/money.ts';
import { VenueError } from '../../src/core/errors.ts';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import type { Balance } from '../../src/core/venue.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../../src/simulator/options/options.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aTwap, bookTrade, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const twap = aTwap('t', { slices: 8, duration: 'PT20M' });

const watched = (options: Partial<BenchOptions>): Bench => started({ strategies: [twap], ...options });
const minutes = (bench: Bench, count: number): void => {
  bench.until(count * MINUTE_MS);
};

/** Comes after all ids of rows. */
const NEVER_YET = '9'.repeat(20);
const isAfter = (id: string, since: string): boolean => compareRowIds(id, since) > 0;

/** A desk that has run for six minutes, on an account of which 100 usd go without a row from `leak` on. */
function leakingDesk(options: Partial<BenchOptions> = {}): {
  readonly one: Bench;
  readonly leak: () => void;
} {
  let since = NEVER_YET;
  const { wrap = (venue) => venue } = options;
  const leaks = faultyVenue({
    transactions: (rows) =>
      rows.map((row) =>
        row.currency === 'usd' && isAfter(row.id, since)
          ? { ...row, balance: add(row.balance ?? quantity('0'), quantity('-100')) }
          : row,
      ),
  });
  const one = watched({ ...options, wrap: (venue, clock) => wrap(leaks(venue, clock), clock) });
  minutes(one, 6);
  return { one, leak: () => (since = newestId(one)) };
}

const differences = (bench: Bench) => bench.raised.filter(({ id }) => id === 'balance_difference');
const halts = (bench: Bench): readonly string[] =>
  bench.bodies('control').flatMap((body) => (body.state === 'halted' ? [body.why] : []));

const newestId = (bench: Bench): string =>
  String(Math.max(...bench.exchange.ledger.rows(bench.account).map(({ id }) => id)));

describe('a balance difference without a row', () => {
  it('halts the desk after it has lasted for a minute, with both figures as the reason', () => {
    const { one, leak } = leakingDesk();
    expect(one.desk.control).toBe('active');
    leak();
    minutes(one, 7.2);
    expect(one.desk.control).toBe('active');
    minutes(one, 12);
    expect(one.desk.control).toBe('halted');
    const figures = /^balance_difference: limit=(?<expected>[\d.]+) usd value=(?<told>[\d.]+) usd$/u.exec(
      halts(one)[0] ?? '',
    );
    expect(Number(figures?.groups?.['expected']) - Number(figures?.groups?.['told'])).toBeCloseTo(100, 6);
    expect(differences(one)).toHaveLength(1);
  });

  it('only raises an alert if the config says so', () => {
    const { one, leak } = leakingDesk({ policy: { onDifference: 'alert' } });
    leak();
    minutes(one, 25);
    expect(halts(one)).toEqual([]);
    expect(differences(one)).toHaveLength(1);
  });
});

/** Moves funds into the account, or out of it if below zero, with a row. */
function deposit(bench: Bench, currency: string, amount: string): void {
  bench.exchange.ledger.move(bench.account, { currency, amount: quantity(amount) }, bench.clock.wall());
}

describe('the balance check', () => {
  it('raises no alert for deposits, withdrawals, fees and interest that the account shows', () => {
    const one = watched({});
    for (const at of [3, 5, 7, 9, 11]) {
      minutes(one, at);
      const { ledger } = one.exchange;
      deposit(one, 'usd', '1234.56');
      deposit(one, 'btc', '-0.25');
      const fee = quantity('0.5');
      ledger.move(one.account, { currency: 'usd', amount: quantity('-20'), fee }, one.clock.wall());
      ledger.charge(
        one.account,
        { currency: 'usd', amount: quantity('0.07'), description: 'interest' },
        one.clock.wall(),
      );
    }
    minutes(one, 25);
    expect(halts(one)).toEqual([]);
    expect(differences(one)).toEqual([]);
    expect(one.desk.state.fills).toBe(8);
  });

  it('does not halt the desk for rows that become visible half a minute after newer ones', () => {
    const clock = new VirtualClock(START);
    const lagging = faultyVenue({
      // Every third row is late, the newest of all among them.
      transactions: (rows) =>
        rows.filter(({ id, at }) => Number(id) % 3 !== 0 || clock.wall() - at > MINUTE_MS / 2),
    });
    const inDoubt = { ...aPolicy().inDoubt, bookingMarginMs: 40_000 };
    const one = watched({ clock, wrap: lagging, policy: { inDoubt } });
    for (const at of [3, 5, 7, 9]) {
      minutes(one, at);
      deposit(one, 'usd', '100');
      deposit(one, 'usd', '10');
      deposit(one, 'btc', '-0.1');
    }
    minutes(one, 25);
    expect(one.desk.state.fills).toBe(8);
    expect(halts(one)).toEqual([]);
  });
});

/** The balances of the account, as a balances route returns them. */
const heldIn = (exchange: Exchange, digits = 18): readonly Balance[] =>
  [...exchange.ledger.balances(exchange.accounts[0]?.name ?? '')].map(([currency, exact]) => {
    const balance = roundDown(exact, currency === 'usd' ? Math.min(digits, 2) : digits);
    return { currency, balance, available: balance };
  });

const long = aTwap('t', { slices: 24, duration: 'PT3H' });

describe('the balance check on difficult accounts', () => {
  it('does not halt the desk if the balances route rounds', () => {
    const exchange = new Exchange({ options: venueOptions({}), startedAt: START });
    const wrap = (venue: VenuePort): VenuePort => ({
      ...venue,
      balances: () => defer(() => of(heldIn(exchange, 8))),
    });
    const one = watched({ exchange, wrap });
    minutes(one, 4);
    deposit(one, 'usd', '0.004');
    deposit(one, 'btc', '0.000000006');
    minutes(one, 8);
    deposit(one, 'usd', '0.007');
    deposit(one, 'btc', '-0.000000003');
    minutes(one, 25);
    expect(differences(one)).toEqual([]);
    expect(halts(one)).toEqual([]);
  });
});

describe('a real balance difference', () => {
  it.each([
    ['refuses to list pending rows', 'refused'],
    ['cannot be reached for a while', 'unavailable'],
  ] as const)('halts the desk even if the venue %s', (_, code) => {
    let failures = 0;
    const { one, leak } = leakingDesk({
      wrap: (venue) => ({
        ...venue,
        transactions: (query) =>
          query.types === undefined || (code === 'unavailable' && failures++ > 2)
            ? venue.transactions(query)
            : throwError(() => new VenueError({ code, applied: 'no', attempt: 'GET' })),
      }),
    });
    leak();
    minutes(one, 20);
    expect(halts(one)[0]).toMatch(/^balance_difference: limit=/u);
  });
});

describe('trades of others on the account', () => {
  it('are not reported again when a later read goes further back', () => {
    let isLong = false;
    const one = watched({
      strategies: [long],
      wrap: (venue) => ({
        ...venue,
        transactions: (query) =>
          venue.transactions(isLong ? { ...query, from: instant(0), after: undefined } : query),
      }),
    });
    minutes(one, 8);
    bookTrade(one, { orderId: 'theirs' });
    minutes(one, 70);
    isLong = true;
    minutes(one, 75);
    expect(one.raised.filter(({ id }) => id === 'foreign_trades')).toHaveLength(1);
  });

  it('are reported once, with their number and ids', () => {
    const one = watched({});
    minutes(one, 3);
    bookTrade(one, { orderId: '1' });
    bookTrade(one, { orderId: '2', clientId: 'their-own-id' });
    minutes(one, 25);
    const told = one.raised.filter(({ id }) => id === 'foreign_trades');
    expect(told).toMatchObject([{ facts: { count: 2, trades: 't-1, t-2' } }]);
    expect(halts(one)).toEqual([]);
  });
});

describe('a deposit that the venue holds', () => {
  const DEPOSITED = '1000';
  const available = (bench: Bench): string | undefined => bench.desk.state.available('usd')?.toFixed();

  /** A desk whose account got a deposit after a minute and a half, held for five minutes. */
  function holding(options: Partial<BenchOptions> = {}): Bench {
    const one = started({ strategies: [], ...options });
    minutes(one, 1.5);
    const [now, amount] = [one.clock.wall(), quantity(DEPOSITED)];
    one.exchange.deposit(one.account, 'usd', amount, now, instant(now + 5 * MINUTE_MS));
    return one;
  }

  it.each([
    ['without a balances route', false],
    ['with one', true],
  ])('is not spent before its hold ends: %s', (_, hasRoute) => {
    const exchange = new Exchange({
      options: venueOptions({ limits: { enforced: false } }),
      startedAt: START,
    });
    const balances = () => of(exchange.balances('desk')).pipe(map((reply) => (reply.ok ? reply.value : [])));
    const one = holding({ exchange, wrap: (venue) => (hasRoute ? { ...venue, balances } : venue) });
    minutes(one, 4);
    expect([available(one), one.balance('usd')]).toEqual(['1000000', 1_001_000]);
    minutes(one, 9);
    expect(available(one)).toBe('1001000');
    expect(halts(one)).toEqual([]);
  });

  it('stays held in the next process, although its reads no longer show the deposit', () => {
    const before = holding();
    minutes(before, 4);
    before.kill();
    const { clock, exchange, journal } = before;
    const after = started({ strategies: [], clock, exchange, journal });
    minutes(after, 5.5);
    expect(available(after)).toBe('1000000');
    minutes(after, 9);
    expect(available(after)).toBe('1001000');
  });
});
