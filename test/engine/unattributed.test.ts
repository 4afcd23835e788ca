import { describe, expect, it } from 'vitest';
import { quantity } from '../../src/core/money.ts';
import { HOUR_MS, SECOND_MS, after } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { doubtFacts } from '../../src/engine/account/doubt-alerts.ts';
import { aTwap, bookTrade } from './harness.ts';
import { aDesk, alertsOf, bodies, bought, firstLost, halts, nextDesk, seconds, sold } from './odd-account.ts';
import type { Script, Watched } from './odd-account.ts';

const unnamed = (row: Transaction): Transaction => ({ ...row, clientId: undefined });
/** The list carries order ids only, which V3 allows. */
const orderIdsOnly: Script['shown'] = (rows) => rows.map(unnamed);
/** A list with only order ids, whose rows also look as `over` says. */
const looking =
  (over: (row: Transaction) => Partial<Transaction>): Script['shown'] =>
  (rows) =>
    rows.map((row) => (row.tradeId === undefined ? row : { ...unnamed(row), ...over(row) }));

/** One trade of somebody else, as large as an order of the desk. */
const theirs = ({ bench }: Watched, orderId: string, clientId?: string, size = '0.25'): void => {
  bookTrade(bench, { orderId, clientId, quantity: quantity(size) });
};

const doubtsOf = ({ bench }: Watched): number => bench.desk.state.doubts.length;
const absences = (one: Watched): number =>
  bodies(one, 'attempt').filter(({ result }) => result === 'absent' || result === 'rejected').length;
/** Ids of the rows that hold the doubt open. */
function heldRows({ bench: { desk } }: Watched): readonly string[] {
  const [open] = desk.state.doubts;
  return open === undefined ? [] : (doubtFacts(desk, open).unattributed ?? []).map(({ id }) => id);
}
function attribute(one: Watched, verdict: 'ours' | 'not_ours', rows = heldRows(one)): string {
  const clientOrderId = one.bench.desk.state.doubts[0]?.intent.client_order_id ?? '';
  return one.bench.tell({ do: 'resolve', clientOrderId, verdict, rows, why: 'ticket 1' }).says;
}
/** Whether after ten minutes the doubt is open and told, nothing was proven absent, and nothing was executed twice. */
function isHeld(one: Watched): boolean {
  seconds(one, 600);
  const isTold = alertsOf(one).includes('doubt_unattributed');
  return doubtsOf(one) === 1 && absences(one) === 0 && isTold && Number(sold(one)) <= 1;
}

describe('a lost answer on an account whose list carries only order ids', () => {
  it('stays a doubt that names the rows, and marks those that equal the quote', () => {
    const one = aDesk({ order: firstLost, shown: orderIdsOnly });
    expect(isHeld(one)).toBe(true);
    expect(heldRows(one)).toHaveLength(2);
    const told = one.alerts.filter(({ id }) => id === 'doubt_unattributed');
    expect(told).toHaveLength(1);
    expect(told[0]?.facts).toMatchObject({
      client_order_id: one.bench.desk.state.doubts[0]?.intent.client_order_id,
      rows: [{ equals_quote: true }, { equals_quote: true }],
    });
  });

  it('is booked once a person says that the rows are ours', () => {
    const one = aDesk({ order: firstLost, shown: orderIdsOnly });
    seconds(one, 60);
    const rows = heldRows(one);
    expect(attribute(one, 'ours')).toMatch(/belong to/u);
    seconds(one, 75);
    expect(doubtsOf(one)).toBe(0);
    expect(bodies(one, 'resolved')).toMatchObject([{ verdict: 'ours', rows, by: 'ann', why: 'ticket 1' }]);
    seconds(one, 700);
    expect([bought(one), sold(one)]).toEqual(['1', '1']);
  });

  it('stays a doubt in the next process, and a word of a person counts there too', () => {
    const script = { order: firstLost, shown: orderIdsOnly };
    const before = aDesk(script);
    seconds(before, 30);
    expect(doubtsOf(before)).toBe(1);
    const next = nextDesk(before, { shown: orderIdsOnly });
    seconds(next, 55);
    expect(heldRows(next)).toHaveLength(2);
    attribute(next, 'ours');
    const last = nextDesk(next, { shown: orderIdsOnly });
    seconds(last, 700);
    expect([bought(last), sold(last), absences(last)]).toEqual(['1', '1', 0]);
  });

  it.each<readonly [string, Script['shown']]>([
    ['three seconds before the quote', looking(({ at }) => ({ at: after(at, -3 * SECOND_MS) }))],
    ['five hours before', looking(({ at }) => ({ at: after(at, -5 * HOUR_MS) }))],
    ['five hours ahead', looking(({ at }) => ({ at: after(at, 5 * HOUR_MS) }))],
    ['without a stamp', looking(() => ({ at: 0 as Instant }))],
    ['with a direction for each leg', looking(({ currency }) => ({ action: currency === 'btc' ? 'buy' : 'sell' }))],
    ['with the other direction', looking(() => ({ action: 'sell' }))],
    ['without trade ids', looking(() => ({ tradeId: undefined }))],
    ['with an amount that cannot be read', looking(() => ({ amount: quantity('0'), spoiled: ['amount'] }))],
    ['with a currency that cannot be read', looking(() => ({ currency: '', spoiled: ['currency'] }))],
    ['with an action that cannot be read', looking(() => ({ action: 'other' }))],
  ])('stays a doubt however the rows look: %s', (_, shown) => {
    // Each order's own rows show by the order id of its answer.
    expect(isHeld(aDesk({ order: firstLost, shown }))).toBe(true);
  });

  it('stays a doubt of an order for an amount, with a direction for each leg', () => {
    const shown = looking(({ currency }) => ({ action: currency === 'btc' ? 'buy' : 'sell' }));
    const total = { total_quantity: undefined, total_notional: { amount: '6000', currency: 'usd' } };
    const strategies = [aTwap('t', { slices: 2, duration: 'PT4M', ...total })];
    expect(isHeld(aDesk({ order: firstLost, shown }, { strategies }))).toBe(true);
  });
}); // prettier-ignore

describe('a lost answer on an account that shows a client id which is not exactly ours', () => {
  const manglings: Readonly<Record<string, (id: string) => string | undefined>> = {
    'in upper case': (id) => id.toUpperCase(),
    'cut at the end': (id) => id.slice(0, 16),
    'cut at the beginning': (id) => id.slice(5),
    'with a prefix': (id) => `API-${id}`,
    'without dashes': (id) => id.replaceAll('-', ''),
    'as -': () => '-',
    'as 0': () => '0',
    'as empty text': () => '',
    'as none': () => undefined,
  };
  const uuid = { 'as a uuid': () => '3f2c9a1e-0b77-4c55-9d11-7e2f6a8b9c0d' };
  const mangle = (rows: readonly Transaction[], which: (id: string) => string | undefined, only?: string) =>
    rows.map((row) =>
      row.clientId === undefined || (only !== undefined && row.clientId !== only) ? row : { ...row, clientId: which(row.clientId) },
    );

  it.each(Object.entries({ ...manglings, ...uuid }))('stays a doubt if it shows every id %s', (_, which) => {
    expect(isHeld(aDesk({ order: firstLost, shown: (rows) => mangle(rows, which) }))).toBe(true);
  });

  it.each(Object.entries(manglings))('stays a doubt if it showed ours exactly before, and one %s', (_, which) => {
    // The third order is lost; a read has shown the first two.
    let lost: string | undefined;
    const one = aDesk({
      order: (nth, id) => (nth === 3 ? ((lost = id), 'answer lost') : undefined),
      shown: (rows) => mangle(rows, which, lost ?? ''),
    });
    seconds(one, 119);
    expect(one.bench.desk.state.rows.echoesIds).toBe(true);
    expect(isHeld(one)).toBe(true);
  });
}); // prettier-ignore

describe('a trade of somebody else beside a doubt', () => {
  /** The third order never arrives, after a read has shown our ids if the account echoes them. */
  const thirdNever: Script['order'] = (nth) => (nth === 3 ? 'request lost' : undefined);

  it('is harmless if a whole read showed it before the intent', () => {
    const one = aDesk({ order: thirdNever });
    seconds(one, 20);
    theirs(one, '900');
    seconds(one, 132);
    expect(doubtsOf(one)).toBe(1);
    seconds(one, 170);
    expect([doubtsOf(one), absences(one)]).toEqual([0, 1]);
    seconds(one, 700);
    expect([bought(one), sold(one)]).toEqual(['1', '1']);
  });

  it('is harmless after a restart too', () => {
    const one = aDesk({ order: thirdNever });
    seconds(one, 20);
    theirs(one, '900');
    seconds(one, 132);
    const next = nextDesk(one, {});
    seconds(next, 500);
    expect([doubtsOf(next), absences(next), alertsOf(next).includes('doubt_unattributed')]).toEqual([0, 1, false]);
  });

  it('holds the doubt open if it appeared since, until a person says that it is not ours', () => {
    const one = aDesk({ order: thirdNever });
    seconds(one, 132);
    theirs(one, '900');
    expect(isHeld(one)).toBe(true);
    expect(attribute(one, 'not_ours', [])).toMatch(/name the rows/u);
    expect(attribute(one, 'not_ours', ['12'])).toMatch(/does not hold/u);
    const rows = heldRows(one);
    expect(attribute(one, 'not_ours')).toMatch(/are not ours/u);
    seconds(one, 640);
    expect([doubtsOf(one), absences(one)]).toEqual([0, 1]);
    expect(bodies(one, 'resolved')).toMatchObject([{ verdict: 'not_ours', rows }]);
    expect(halts(one)).toEqual([]);
  });

  it('is harmless with a client id of its own on an account that shows our ids, and holds the doubt open on another', () => {
    const doubts = [undefined, orderIdsButTheirs].map((shown) => {
      const one = aDesk({ order: thirdNever, shown });
      seconds(one, 132);
      theirs(one, '900', 'their-own-id');
      seconds(one, 170);
      return doubtsOf(one);
    });
    expect(doubts).toEqual([0, 1]);
  });

  const orderIdsButTheirs: Script['shown'] = (rows) =>
    rows.map((row) => (row.clientId === 'their-own-id' ? row : unnamed(row)));

  it('is harmless if it is larger than the whole order', () => {
    const one = aDesk({ order: thirdNever});
    seconds(one, 132);
    theirs(one, '900', undefined, '0.5');
    seconds(one, 170);
    expect(doubtsOf(one)).toBe(0);
  });

  it('holds the doubt open if a field of it cannot be read', () => {
    const one = aDesk({ order: thirdNever, shown: (rows) => rows.map((row) => (row.orderId === '900' ? { ...row, amount: quantity('0'), spoiled: ['amount'] } : row)) });
    seconds(one, 132);
    theirs(one, '900', 'their-own-id');
    expect(isHeld(one)).toBe(true);
  });
}); // prettier-ignore

describe('rows of our order of which a field cannot be read', () => {
  it('are named, and become the fill once they can be read', () => {
    let isSpoiled = true;
    const one = aDesk({
      order: firstLost,
      over: (row) => (isSpoiled && row.currency === 'usd' ? { amount: quantity('0'), spoiled: ['amount'] } : {}),
    });
    seconds(one, 100);
    expect([doubtsOf(one), absences(one)]).toEqual([1, 0]);
    expect(heldRows(one)).toHaveLength(1);
    isSpoiled = false;
    seconds(one, 700);
    expect([bought(one), sold(one)]).toEqual(['1', '1']);
  });
}); // prettier-ignore
