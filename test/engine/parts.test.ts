import { describe, expect, it } from 'vitest';
import { money, quantity, size, text } from '../../src/core/money.ts';
import { SECOND_MS } from '../../src/core/time.ts';
import { bookingWords } from '../../src/engine/account/still-booking.ts';
import { aStrategy, bookTrade } from './harness.ts';
import { aDesk, alertsOf, bodies, bought, firstLost, halts, nextDesk, seconds, sold } from './odd-account.ts';
import type { Script, Watched } from './odd-account.ts';

/** Two parts of an order: three fifths at once, the rest later. */
const threeFifths = (afterMs: number): NonNullable<Script['parts']> => [
  { share: '0.6', afterMs: 0 },
  { share: '0.4', afterMs },
];
/** The answer is lost, and two fifths of the order are never booked. */
const short: Script = { parts: threeFifths(1e9), order: firstLost };

describe('an order booked as several trades, with its answer lost', () => {
  it.each([
    ['a tiny part after the booking margin', ['0.9995', '0.0005'], 42],
    ['two fifths long after the rest', ['0.6', '0.4'], 90],
    ['three parts one by one', ['0.3', '0.3', '0.4'], 30],
  ])('is executed once: %s', (_, shares, lastSeconds) => {
    const parts = shares.map((share, n) => ({
      share,
      afterMs: n === 0 ? 0 : (n * lastSeconds * SECOND_MS) / (shares.length - 1),
    }));
    const one = aDesk({ parts, order: firstLost });
    seconds(one, 200);
    for (let n = 1; one.bench.desk.control !== 'active' && n < 4; n++) {
      one.bench.tell({ do: 'resume' });
      seconds(one, 200 + n * 60);
    }
    seconds(one, 700);
    expect(bought(one)).toBe(sold(one));
    expect(Number(sold(one))).toBeLessThanOrEqual(1);
    expect(bodies(one, 'intent').filter((body) => 'slice' in body && body.slice === 0)).toHaveLength(1);
  });

  it('stays in doubt, with its slice open, while a part can still be booked', () => {
    const one = aDesk({ parts: [{ share: '0.9995', afterMs: 0 }, { share: '0.0005', afterMs: 12_000 }], order: firstLost }); // prettier-ignore
    seconds(one, 11);
    expect(one.bench.desk.state.doubts).toHaveLength(1);
    seconds(one, 21);
    expect(bodies(one, 'fill')).toMatchObject([{ quantity: '0.25', source: 'transactions' }]);
    expect(bodies(one, 'slice')).toMatchObject([{ slice: 0, result: 'filled', filled: '0.25' }]);
    expect(alertsOf(one)).not.toContain('fill_differs');
  });

  it('counts as filled, with its missing part, if a part is never booked', () => {
    const one = aDesk({ ...short }, { policy: { onDifference: 'alert' } });
    seconds(one, 60);
    expect(bodies(one, 'fill')).toMatchObject([{ quantity: '0.15', missing: { quantity: '0.1' } }]);
    expect(bodies(one, 'slice')).toMatchObject([{ filled: '0.15', missing: '0.1' }]);
    expect(alertsOf(one)).toContain('fill_differs');
    one.bench.tell({ do: 'resume' });
    seconds(one, 600);
    // The missing part of the first slice is not bought again.
    expect(bought(one)).toBe('0.9');
    expect(sold(one)).toBe('1');
  });
});

describe('the missing part of a rebalance order', () => {
  it('is not bought again by the rebalancing until a person closes it', () => {
    const balanced = aStrategy('r', 'rebalance', { target_weights: { btc: '0.7', usd: '0.3' }, drift_threshold: '0.01', valuation_tolerance: '0.9' }); // prettier-ignore
    const one = aDesk({ ...short }, { strategies: [balanced], policy: { onDifference: 'ignore' } });
    const lift = (until: number): void => {
      for (let at = 70; at <= until; at += 10) {
        seconds(one, at);
        if (one.bench.desk.control === 'paused') one.bench.tell({ do: 'resume' }); // prettier-ignore
      }
    };
    lift(600);
    expect(bodies(one, 'fill')).toHaveLength(1);
    const [id = ''] = one.bench.desk.state.lacking.keys();
    one.bench.operator$.next({ do: 'resolve', clientOrderId: id, verdict: 'not_executed', by: 'ann', why: 'ticket 1', answer: () => undefined }); // prettier-ignore
    lift(1_200);
    expect(bodies(one, 'fill').length).toBeGreaterThan(1);
  });
});

describe('the missing part of an order', () => {
  it('is closed by a person who resolves it as not executed', () => {
    const one = aDesk({ ...short }, { policy: { onDifference: 'alert' } });
    seconds(one, 60);
    const [id = ''] = one.bench.desk.state.lacking.keys();
    expect(bookingWords(one.bench.desk)).toEqual([expect.stringMatching(/ lacks 0\.1 btc of its order/u)]);
    const say = (why: string): string =>
      one.bench.tell({ do: 'resolve', clientOrderId: id, verdict: 'not_executed', why }).says;
    expect(say('')).toMatch(/reason/u);
    expect(say('ticket 1')).toBe(`the missing part of ${id} is closed as not executed`);
    expect(one.bench.desk.state.lacking.size).toBe(0);
    expect(text(one.bench.desk.state.reserved('usd'))).toBe('0');
  });

  it('keeps its funds and its worst case reserved, even in the next process', () => {
    const script = { ...short };
    const one = aDesk(script, { policy: { onDifference: 'alert' } });
    seconds(one, 59);
    const reserved = text(one.bench.desk.state.reserved('usd'));
    const notional = text(one.bench.desk.state.openNotional());
    expect(Number(reserved)).toBeGreaterThan(5_900);
    expect(Number(notional)).toBeGreaterThan(5_900);
    const next = nextDesk(one, script, { policy: { onDifference: 'alert' } });
    next.bench.until(75 * SECOND_MS);
    expect(text(next.bench.desk.state.reserved('usd'))).toBe(reserved);
    expect(text(next.bench.desk.state.openNotional())).toBe(notional);
  });
});

describe('an answered order booked as several trades', () => {
  const isUncorrected = (one: Watched): boolean =>
    one.bench.desk.account.booking.size === 0 &&
    bodies(one, 'correction').length === 0 &&
    one.bench.desk.control === 'active';

  it('is not corrected and does not halt the desk before the booking margin is over', () => {
    const one = aDesk({ parts: threeFifths(15_000) }, { policy: { accountPollMs: 5_000 } });
    seconds(one, 12);
    expect([...one.bench.desk.account.booking.values()]).toMatchObject([{ shown: '0.15 of 0.25 so far' }]);
    expect(bookingWords(one.bench.desk)).toEqual([
      expect.stringMatching(/ is still being booked: the account shows 0\.15 of 0\.25 so far/u),
    ]);
    seconds(one, 30);
    expect(bodies(one, 'shown')).toHaveLength(1);
    expect(isUncorrected(one)).toBe(true);
    expect(alertsOf(one)).toEqual([]);
  });

  it('is corrected after the margin, and corrected back when the missing part appears', () => {
    const one = aDesk({ parts: threeFifths(62_000) });
    seconds(one, 61);
    expect(bodies(one, 'correction')).toMatchObject([{ quantity: '0.15', missing: { quantity: '0.1' } }]);
    expect(halts(one)).toHaveLength(1);
    seconds(one, 125);
    expect(bought(one)).toBe('0.25');
    expect(bodies(one, 'correction')).toHaveLength(2);
    expect(alertsOf(one)).not.toContain('executed_twice');
    expect(one.bench.desk.state.lacking.size).toBe(0);
    one.bench.tell({ do: 'rearm' });
    seconds(one, 700);
    expect(bought(one)).toBe(sold(one));
    expect(Number(sold(one))).toBeLessThanOrEqual(1);
  });
});

/** The venue executes the quote of the first order once more. */
function executeAgain({ bench }: Watched): void {
  const trade = bench.exchange.registry.tradesOf('desk').at(-1);
  if (trade === undefined) throw new Error('no trade');
  const { orderId, price, quantity: traded } = trade;
  const rows = bench.exchange.ledger.rows('desk').filter((row) => row.orderId === orderId);
  const paid = rows.find(({ currency }) => currency === 'usd')?.amount ?? quantity('0');
  const amount = money(text(size(paid)));
  bookTrade(bench, {
    orderId,
    price,
    quantity: traded,
    amount,
    clientId: rows[0]?.clientId,
    tradeId: 'again',
  });
}

describe('a quote that the venue executes twice', () => {
  it.each([
    ['20 s later', true, 20],
    ['20 s later', false, 20],
    ['an hour later', true, 3_600],
    ['an hour later', false, 3_600],
  ])(
    'is detected by the next read, halts the desk and counts towards the total: %s, answer lost: %s',
    (_, isLost, later) => {
      const one = aDesk({
        order: isLost ? firstLost : undefined,
      });
      seconds(one, later);
      executeAgain(one);
      seconds(one, later + 75);
      expect(alertsOf(one).filter((alert) => alert === 'executed_twice')).toHaveLength(1);
      expect(one.bench.desk.control).toBe('halted');
      expect(bodies(one, 'correction')).toMatchObject([{ quantity: '0.5', was_quantity: '0.25' }]);
      const intents = bodies(one, 'intent').length;
      one.bench.tell({ do: 'rearm' });
      seconds(one, later + 800);
      // The strategy subtracted it from its total.
      expect(Number(bought(one))).toBeLessThanOrEqual(later < 240 ? 1 : 1.25);
      expect(bodies(one, 'intent').length - intents).toBeLessThanOrEqual(3);
    },
  );

  it('is detected by the next process although it does not read the rows of the first trade again', () => {
    const before = aDesk({});
    seconds(before, 400);
    expect(bought(before)).toBe('1');
    before.bench.kill();
    before.bench.until(2_990_000);
    const next = nextDesk(before, {});
    seconds(next, 3_000);
    executeAgain(next);
    seconds(next, 3_300);
    expect(alertsOf(next)).toContain('executed_twice');
    expect(bought(next)).toBe('1.25');
  });
});
