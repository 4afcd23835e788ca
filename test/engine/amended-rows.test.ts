import { describe, expect, it } from 'vitest';
import { compareRowIds } from '../../src/core/ids.ts';
import { add, quantity } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { START, aTwap } from './harness.ts';
import { aDesk, alertsOf, bodies, bought, faultsIn, firstLost, nextDesk, seconds } from './odd-account.ts';
import type { Script, Watched } from './odd-account.ts';

type Writable = { -readonly [K in keyof Script]: Script[K] };

const differs = (one: Watched): number => alertsOf(one).filter((id) => id === 'fill_differs').length;
const corrections = (one: Watched, script: Script) =>
  bodies(one, 'correction').filter(({ client_order_id: id }) => id === script.target);

/** From then on, in seconds, the account shows what `change` makes of its rows. */
const from =
  (second: number, change: (row: Transaction) => Transaction): Script['shown'] =>
  (rows, now) =>
    now < after(START, second * SECOND_MS) ? rows : rows.map(change);
const ofTarget = (script: Script, change: (row: Transaction) => Transaction) => (row: Transaction) =>
  row.clientId !== undefined && row.clientId === script.target ? change(row) : row;

/** Rows whose balances from `leg` on are higher by `amount`. */
const balanced = (rows: readonly Transaction[], leg: Transaction, amount: Quantity): readonly Transaction[] =>
  rows.map((row) =>
    row.currency === leg.currency && compareRowIds(row.id, leg.id) >= 0 && row.balance !== undefined
      ? { ...row, balance: add(row.balance, amount) }
      : row,
  );

describe('a row of a fill that the venue amends', () => {
  const amended = (row: Transaction): Transaction =>
    row.currency === 'usd' ? { ...row, amount: add(row.amount, quantity('-1')), fees: quantity('2.5') } : row;
  const amending = (order?: Script['order'], second = 130): Writable => {
    const script: Writable = { order };
    script.shown = from(second, (row) => ofTarget(script, amended)(row));
    return script;
  };

  it.each([undefined, firstLost])('corrects the fill once, with an alert, with answer lost: %s', (order) => {
    const script = amending(order);
    const one = aDesk(script);
    expect(faultsIn(one, 900)).toEqual([]);
    expect(corrections(one, script)).toMatchObject([{ quantity: '0.25', fees: '2.5', was_fees: '0' }]);
    const [{ amount, was_amount: before, changes } = { amount: '0', was_amount: '0', changes: [] }] = corrections(one, script);
    expect(Number(amount) - Number(before)).toBeCloseTo(1, 6);
    expect(changes).toHaveLength(1);
    expect(differs(one)).toBe(1);
  });

  it.each([undefined, firstLost])('explains balances that change with it, with answer lost: %s', (order) => {
    const script = amending(order);
    const { shown } = script;
    script.shown = (rows, now) => {
      const seen = shown?.(rows, now) ?? rows;
      const leg = rows.find((row, n) => row.amount !== seen[n]?.amount);
      return leg === undefined ? seen : balanced(seen, leg, quantity('-3.5'));
    };
    const one = aDesk(script);
    expect(faultsIn(one, 900)).toEqual([]);
    expect(differs(one)).toBe(1);
    expect(alertsOf(one)).not.toContain('balance_difference');
  });

  it('corrects the fill although it was amended while no process ran, and not again in the next process', () => {
    const script = amending();
    const one = aDesk(script);
    seconds(one, 70);
    const next = nextDesk(one, script);
    expect(faultsIn(next, 300)).toEqual([]);
    expect(corrections(next, script)).toHaveLength(1);
    const last = nextDesk(next, script);
    expect(faultsIn(last, 500)).toEqual([]);
    expect([corrections(last, script).length, differs(last)]).toEqual([1, 0]);
  });
}); // prettier-ignore

describe('rows that come under other ids', () => {
  const renumbered = (row: Transaction): Transaction =>
    row.tradeId === undefined ? row : { ...row, id: `9${row.id}` };

  it.each<readonly [string, Script['over']]>([
    ['with trade ids', undefined],
    ['without trade ids', () => ({ tradeId: undefined })],
  ])('stay one trade, and are told once: %s', (_, over) => {
    const script: Script = { over, shown: (rows, now) => (now < after(START, 90 * SECOND_MS) ? rows : rows.map((row) => (row.orderId === undefined ? row : { ...row, id: `9${row.id}` }))) };
    const one = aDesk(script);
    expect(faultsIn(one, 900)).toEqual([]);
    // Only the first fill had been shown before.
    expect(differs(one)).toBe(1);
    expect(corrections(one, script)).toEqual([]);
  });

  it('stay one trade in the next process', () => {
    const script: Script = {};
    const one = aDesk(script);
    seconds(one, 70);
    const next = nextDesk(one, { target: script.target, shown: (rows) => rows.map(renumbered) });
    expect(faultsIn(next, 900)).toEqual([]);
    expect(bought(next)).toBe('1');
    expect(bodies(next, 'correction')).toEqual([]);
  });

  it('stay one trade half an hour later, when no read goes back to the old ids by itself', () => {
    const script: Script = { shown: from(1_800, renumbered) };
    const one = aDesk(script, { strategies: [aTwap('t', { slices: 12, duration: 'PT60M' })] });
    expect(faultsIn(one, 4_000)).toEqual([]);
    expect(bought(one)).toBe('1');
    expect(differs(one)).toBeGreaterThan(0);
  });

  it('stay one trade if a row is also amended', () => {
    const script: Script = {
      shown: from(90, (row) => {
        const moved = renumbered(row);
        return row.currency === 'usd' && row.clientId !== undefined && row.clientId === script.target ? { ...moved, fees: quantity('2.5') } : moved;
      }),
    };
    const one = aDesk(script);
    expect(faultsIn(one, 900)).toEqual([]);
    expect(corrections(one, script)).toMatchObject([{ quantity: '0.25', fees: '2.5' }]);
  });
}); // prettier-ignore

describe('a fee that is booked elsewhere than on the quote leg', () => {
  /** A row of its own with both ids of the first order, after its legs; the balances of later rows follow from it. */
  const extra = (script: Script, over: Partial<Transaction>, second = 0): Script['shown'] => (rows, now) => {
    const leg = rows.find((row) => row.clientId !== undefined && row.clientId === script.target && row.currency === (over.currency ?? 'usd'));
    if (leg === undefined || now < after(START, second * SECOND_MS)) return rows;
    const amount = over.amount ?? quantity('-2.4');
    const fee: Transaction = { ...leg, id: `${leg.id.slice(0, -1)}5`, action: 'charge', fees: quantity('0'), ...over, amount, balance: leg.balance && add(leg.balance, amount) };
    return [...balanced(rows, fee, amount), fee];
  };
  const charging = (order: Script['order'], over: Partial<Transaction>, second?: number): Script => {
    const script: Writable = { order };
    script.shown = (rows, now) => extra(script, over, second)?.(rows, now) ?? rows;
    return script;
  };
  /** Fees of the first fill, as corrected. */
  const feesOf = (one: Watched, script: Script): readonly unknown[] => {
    const fill = script.target === undefined ? undefined : one.bench.desk.state.filledIds.get(script.target)?.fill;
    return [fill?.quantity, fill?.fees, fill?.other_fees];
  };

  it.each<readonly [string, Partial<Transaction>, readonly unknown[]]>([
    ['a charge in quote', {}, ['0.25', '2.4', undefined]],
    ['a charge in base', { currency: 'btc', amount: quantity('-0.0001') }, ['0.25', '0', { btc: '0.0001' }]],
    ['a charge without our client id', { clientId: undefined }, ['0.25', '2.4', undefined]],
    ['a rebate', { action: 'credit', amount: quantity('1.2') }, ['0.25', '-1.2', undefined]],
  ])('is part of the fill: %s', (_, over, fees) => {
    for (const order of [undefined, firstLost])
      for (const second of [0, 100]) {
        const script = charging(order, over, second);
        const one = aDesk(script);
        expect(faultsIn(one, 900)).toEqual([]);
        expect(feesOf(one, script)).toEqual(fees);
      }
  });

  it.each([undefined, firstLost])('is part of the fill on the base leg, with answer lost: %s', (order) => {
    const script: Script = { order, over: (row) => (row.currency === 'btc' ? { fees: quantity('0.0001') } : {}) };
    const one = aDesk(script);
    expect(faultsIn(one, 900)).toEqual([]);
    expect(feesOf(one, script)).toEqual(['0.25', '0', { btc: '0.0001' }]);
  });

  it('counts in the totals of the plan only in its quote currency, and survives a restart', () => {
    const script = charging(undefined, { currency: 'btc', amount: quantity('-0.0001') });
    const one = aDesk(script);
    seconds(one, 70);
    const next = nextDesk(one, script);
    expect(faultsIn(next, 10 * MINUTE_MS / SECOND_MS)).toEqual([]);
    expect(feesOf(next, script)).toEqual(['0.25', '0', { btc: '0.0001' }]);
    expect(corrections(next, script)).toHaveLength(1);
  });
}); // prettier-ignore
