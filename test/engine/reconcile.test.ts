import { defer, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { add, price, quantity } from '../../src/core/money.ts';
import { MINUTE_MS, after } from '../../src/core/time.ts';
import type { Balance } from '../../src/core/venue.ts';
import { Exchange } from '../../src/simulator/exchange.ts';
import { venueOptions } from '../../src/simulator/options.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aBench, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const twap = aTwap('t', { slices: 8, duration: 'PT20M' });

interface Watched {
  readonly bench: Bench;
  readonly alerts: { readonly id: string; readonly facts: unknown }[];
}

function watched(options: Partial<BenchOptions>): Watched {
  const alerts: { id: string; facts: unknown }[] = [];
  const bench = aBench({
    strategies: [twap],
    ...options,
    observer: { alert: (id, facts) => alerts.push({ id, facts }) },
  });
  bench.start();
  return { bench, alerts };
}

const minutes = ({ bench }: Watched, count: number): void => {
  bench.clock.run(after(START, count * MINUTE_MS));
};

/** The venue loses `missing` of the dollars from row `after` on, and no row says so. */
const leaking = (since: () => number): ReturnType<typeof faultyVenue> =>
  faultyVenue({
    transactions: (rows) =>
      rows.map((row) =>
        row.currency === 'usd' && row.id > since()
          ? { ...row, balance: add(row.balance, quantity('-100')) }
          : row,
      ),
  });

const halts = (bench: Bench): readonly string[] =>
  bench
    .records()
    .flatMap(({ body }) => (body.kind === 'control' && body.state === 'halted' ? [body.why] : []));

const name = ({ exchange }: Bench): string => exchange.accounts[0]?.name ?? '';

const newestId = (bench: Bench): number =>
  Math.max(...bench.exchange.ledger.rows(name(bench)).map(({ id }) => id));

describe('a balance that no row explains', () => {
  it('halts the desk once it has lasted for a minute, with both figures', () => {
    let since = Infinity;
    const one = watched({ wrap: leaking(() => since) });
    minutes(one, 6);
    expect(one.bench.desk.control).toBe('active');
    since = newestId(one.bench);
    minutes(one, 7.2);
    expect(one.bench.desk.control).toBe('active');
    minutes(one, 12);
    expect(one.bench.desk.control).toBe('halted');
    const [why] = halts(one.bench);
    const figures = /^balance_difference: limit=(?<expected>[\d.]+) usd value=(?<told>[\d.]+) usd$/u.exec(
      why ?? '',
    );
    expect(Number(figures?.groups?.['expected']) - Number(figures?.groups?.['told'])).toBeCloseTo(100, 6);
    expect(one.alerts.filter(({ id }) => id === 'balance_difference')).toHaveLength(1);
  });

  it('halts once: a person who arms the desk again has seen the figures, and from there on they count', () => {
    let since = Infinity;
    const one = watched({ wrap: leaking(() => since) });
    minutes(one, 6);
    since = newestId(one.bench);
    minutes(one, 12);
    one.bench.operator$.next({ do: 'rearm', by: 'ann', why: 'a fee that the venue took' });
    minutes(one, 25);
    expect(one.bench.desk.control).toBe('active');
    expect(halts(one.bench)).toHaveLength(1);
  });

  it('is told and no more where the config says so', () => {
    let since = Infinity;
    const one = watched({ wrap: leaking(() => since), policy: { onDifference: 'alert' } });
    minutes(one, 6);
    since = newestId(one.bench);
    minutes(one, 25);
    expect(halts(one.bench)).toEqual([]);
    expect(one.alerts.filter(({ id }) => id === 'balance_difference')).toHaveLength(1);
  });

  it('is found by the next process too, when it came while none was running', () => {
    let since = Infinity;
    const options = { wrap: leaking(() => since) };
    const before = watched(options);
    minutes(before, 6);
    before.bench.kill();
    before.bench.clock.run(after(START, 7 * MINUTE_MS));
    since = newestId(before.bench);
    const { clock, exchange, journal } = before.bench;
    const next = watched({ ...options, clock, exchange, journal });
    minutes(next, 15);
    expect(halts(next.bench)[0]).toMatch(/^balance_difference: limit=/u);
  });

  it('halts whatever moves next to it, with reads of a balances route as well', () => {
    let leak = '0';
    const exchange = new Exchange({ options: venueOptions({}), startedAt: START });
    const account = exchange.accounts[0]?.name ?? '';
    const balances = (): readonly Balance[] =>
      [...exchange.ledger.balances(account)].map(([currency, balance]) => {
        const told = currency === 'usd' ? add(balance, quantity(leak)) : balance;
        return { currency, balance: told, available: told };
      });
    const one = watched({
      exchange,
      wrap: (venue) => ({ ...venue, balances: () => defer(() => of(balances())) }),
    });
    minutes(one, 6);
    expect(halts(one.bench)).toEqual([]);
    leak = '-0.01';
    deposit(one.bench, 'btc', '1');
    minutes(one, 12);
    expect(halts(one.bench)[0]).toMatch(/^balance_difference: limit=[\d.]+ usd value=[\d.]+ usd$/u);
  });
});

/** Money that comes in, or leaves when below zero: the account shows a row of it. */
function deposit(bench: Bench, currency: string, amount: string): void {
  bench.exchange.ledger.move(name(bench), { currency, amount: quantity(amount) }, bench.clock.wall());
}

describe('no false alarm is raised', () => {
  it('for deposits, withdrawals, fees and interest that the account shows', () => {
    const one = watched({});
    for (const at of [3, 5, 7, 9, 11]) {
      minutes(one, at);
      const { ledger } = one.bench.exchange;
      deposit(one.bench, 'usd', '1234.56');
      deposit(one.bench, 'btc', '-0.25');
      const fee = quantity('0.5');
      ledger.move(name(one.bench), { currency: 'usd', amount: quantity('-20'), fee }, one.bench.clock.wall());
      ledger.charge(
        name(one.bench),
        { currency: 'usd', amount: quantity('0.07'), description: 'interest' },
        one.bench.clock.wall(),
      );
    }
    minutes(one, 25);
    expect(halts(one.bench)).toEqual([]);
    expect(one.alerts.map(({ id }) => id)).not.toContain('balance_difference');
    expect(one.bench.desk.state.fills).toBe(8);
  });

  it('for rows that become visible half a minute after newer ones', () => {
    const seenAt = new Map<number, number>();
    const lagging = faultyVenue({
      transactions: (rows) =>
        rows.filter(({ id }, index) => {
          const now = one.bench.clock.wall();
          const since = seenAt.get(id) ?? now;
          seenAt.set(id, since);
          // Every third row is late, the newest of all among them.
          return (id % 3 !== 0 && index >= 0) || now - since > MINUTE_MS / 2;
        }),
    });
    const one: Watched = watched({ wrap: lagging });
    for (const at of [3, 5, 7, 9]) {
      minutes(one, at);
      deposit(one.bench, 'usd', '100');
      deposit(one.bench, 'usd', '10');
      deposit(one.bench, 'btc', '-0.1');
    }
    minutes(one, 25);
    expect(halts(one.bench)).toEqual([]);
  });

  it('for money that moved while no process was running, with rows', () => {
    const before = watched({});
    minutes(before, 6);
    before.bench.kill();
    deposit(before.bench, 'usd', '-5000');
    before.bench.clock.run(after(START, 10 * MINUTE_MS));
    deposit(before.bench, 'btc', '2');
    const { clock, exchange, journal } = before.bench;
    const next = watched({ clock, exchange, journal });
    minutes(next, 25);
    expect(halts(next.bench)).toEqual([]);
    expect(next.bench.desk.state.balances?.get('btc')?.toFixed()).toBe(
      exchange.ledger.balance(name(next.bench), 'btc').toFixed(),
    );
  });
});

describe('trades of others on the account', () => {
  it('are told once, with their number', () => {
    const one = watched({});
    minutes(one, 3);
    const { ledger } = one.bench.exchange;
    const trade = { pair: 'btcusd', base: 'btc', quote: 'usd', side: 'buy', price: price('60000') } as const;
    for (const n of [1, 2]) {
      ledger.book(
        name(one.bench),
        {
          ...trade,
          orderId: `theirs-${n}`,
          tradeId: `9000${n}`,
          clientId: n === 1 ? undefined : 'their-own-id',
          quantity: quantity('0.1'),
          amount: quantity('6000'),
          fees: quantity('0'),
        },
        one.bench.clock.wall(),
      );
    }
    minutes(one, 25);
    const told = one.alerts.filter(({ id }) => id === 'foreign_trades');
    expect(told).toEqual([{ id: 'foreign_trades', facts: { count: 2, trades: '90002, 90001' } }]);
    expect(halts(one.bench)).toEqual([]);
  });
});
