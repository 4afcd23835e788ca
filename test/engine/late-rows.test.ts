import { describe, expect, it } from 'vitest';
import { quantity } from '../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { andThen } from '../../src/engine/maybe-async.ts';
import { START, aPolicy, aTwap } from './harness.ts';
import {
  aDesk,
  alertsOf,
  bodies,
  bought,
  faultsIn,
  firstLost,
  nextDesk,
  seconds,
  sold,
} from './odd-account.ts';
import type { Part, Script } from './odd-account.ts';

const margin = (ms: number) => ({ policy: { inDoubt: { ...aPolicy().inDoubt, bookingMarginMs: ms } } });
const late = (ms: number): readonly Part[] => [{ share: '1', afterMs: ms }];
const twoParts = (ms: number): readonly Part[] => [{ share: '0.6', afterMs: 0 }, { share: '0.4', afterMs: ms }]; // prettier-ignore

describe('an order that an intermediary delivers twice', () => {
  it.each(['hidden by a cancel', 'hidden by a refusal'] as const)(
    'is executed once, with rows that appear up to the margin after the end of its quote: %s',
    (fault) => {
      // The quote lives for ten seconds, the margin has ten.
      for (const ms of [0, 5_000, 11_000, 15_000, 19_500]) {
        const one = aDesk({ order: (nth) => (nth === 1 ? fault : undefined), parts: late(ms) });
        expect(faultsIn(one, 900)).toEqual([]);
        expect(bodies(one, 'fill')[0]).toMatchObject({ source: 'transactions', quantity: '0.25' });
      }
    },
  );
});

describe('a process that dies before the quote of its order is durable', () => {
  it.each<readonly [string, Script['over']]>([
    ['one trade id', (row) => ({ tradeId: row.orderId })],
    ['no trade id', () => ({ tradeId: undefined })],
    ['a trade id for each part', undefined],
  ])('leaves an order that is whole no earlier than the margin, in parts with %s', (_, over) => {
    // The quote leg of the second part comes last: three of four legs already show the whole quantity.
    const parts = [{ share: '0.6', afterMs: 0 }, { share: '0.4', afterMs: 0 }];
    const isLast = (row: Transaction): boolean => row.currency === 'usd' && row.id.endsWith('1');
    const shown: Script['shown'] = (rows, now) =>
      rows.filter((row) => !isLast(row) || now >= row.at + 9_000);
    const one = aDesk({ order: (nth) => (nth === 1 ? 'died' : undefined), parts, over, shown }, { inFlight: 'arrives' });
    const script: Script = { parts, over, shown };
    seconds(one, 4);
    expect(one.bench.life.isOver).toBe(true);
    expect([bodies(one, 'intent').length, bodies(one, 'quote').length]).toEqual([1, 0]);
    script.target = bodies(one, 'intent')[0]?.client_order_id ?? '';
    const next = nextDesk(one, script, { policy: { inDoubt: { ...aPolicy().inDoubt, lifeMaxMs: 15_000 } } });
    seconds(next, 8);
    expect(bodies(next, 'fill')).toEqual([]);
    expect(next.bench.desk.state.doubts).toHaveLength(1);
    expect(faultsIn(next, 900)).toEqual([]);
    const [trade] = next.bench.exchange.registry.tradesOf('desk').toReversed();
    expect(bodies(next, 'fill')[0]).toMatchObject({ quantity: '0.25', amount: trade?.amount.toFixed(), rows: { length: 4 } });
    expect(bodies(next, 'correction').filter(({ client_order_id: id }) => id === script.target)).toEqual([]);
  });
}); // prettier-ignore

describe('the booking margin', () => {
  it('counts from the end of the quote: a second part 15 s after the execution is no difference', () => {
    const one = aDesk({ parts: twoParts(15_000) }, { policy: { accountPollMs: 5_000 } });
    expect(faultsIn(one, 900)).toEqual([]);
    expect(bodies(one, 'correction')).toEqual([]);
    expect(alertsOf(one)).not.toContain('fill_differs');
  });

  it.each([undefined, firstLost])('is waited for by the closing read, with answer lost: %s', (order) => {
    const one = aDesk(
      { order, parts: twoParts(15_000) },
      { strategies: [aTwap('t', { slices: 1, duration: 'PT1M' })], isUntilDone: true },
    );
    expect(faultsIn(one, 900)).toEqual([]);
    expect(one.bench.seen.phases.at(-1)).toBe('stopped');
    expect(one.bench.records().at(-1)?.body).toMatchObject({ kind: 'stopped', closing_read: true });
    expect(bodies(one, 'fill').at(-1)).toMatchObject({ quantity: '1' });
  });

  it.each([undefined, firstLost])('may be five minutes, with answer lost: %s', (order) => {
    const over = { ...margin(5 * MINUTE_MS), strategies: [aTwap('t', { slices: 4, duration: 'PT40M' })] };
    const one = aDesk({ order, parts: twoParts(4 * MINUTE_MS) }, over);
    expect(faultsIn(one, 4_000)).toEqual([]);
    expect(alertsOf(one)).not.toContain('fill_differs');
    expect(alertsOf(one)).not.toContain('fill_unbooked');
  });

  it('of five minutes is also waited for by a fill of which nothing shows', () => {
    const one = aDesk({ parts: late(4 * MINUTE_MS) }, margin(5 * MINUTE_MS));
    expect(faultsIn(one, 900)).toEqual([]);
    expect(alertsOf(one)).not.toContain('fill_unbooked');
  });

  it('does not keep rows from counting that come an hour after it', () => {
    const one = aDesk({ parts: twoParts(HOUR_MS) });
    seconds(one, 120);
    expect(bodies(one, 'correction')).toMatchObject([{ quantity: '0.15', missing: { quantity: '0.1' } }]);
    one.bench.operator$.next({ do: 'rearm', by: 'ann', why: 'the venue is slow' });
    seconds(one, 4_000);
    expect([bought(one), sold(one)]).toEqual(['1', '1']);
    expect(one.bench.desk.state.lacking.size).toBe(0);
    expect(alertsOf(one)).not.toContain('executed_twice');
  });

  it('does not keep a fill from being shown eleven minutes late', () => {
    const one = aDesk({ parts: late(11 * MINUTE_MS) }, { policy: { onDifference: 'alert' } });
    seconds(one, 300);
    expect(alertsOf(one)).toContain('fill_unbooked');
    one.bench.operator$.next({ do: 'resume', by: 'ann', why: 'the venue is slow' });
    seconds(one, 900);
    expect(one.bench.desk.state.unshown.size).toBe(0);
    expect(bought(one)).toBe(sold(one));
  });
});

describe('ids of a row that come late', () => {
  const idless = { clientId: undefined, orderId: undefined, tradeId: undefined } as const;

  it.each([undefined, firstLost])('are no change of history, and tie it to its order, with answer lost: %s', (order) => {
    const shown: Script['shown'] = (rows, now) => rows.map((row) => (row.tradeId === undefined || now >= row.at + 8_000 ? row : { ...row, ...idless }));
    // A read shows the rows before they have ids.
    const one = aDesk({ order, shown }, { policy: { accountPollMs: 4_000 } });
    expect(faultsIn(one, 900)).toEqual([]);
    expect(alertsOf(one)).not.toContain('history_changed');
    expect(one.bench.desk.state.doubts).toEqual([]);
  });

  it.each(['btc', 'usd'])('may be a client id on the leg of %s only', (currency) => {
    const shown: Script['shown'] = (rows) => rows.map((row) => (row.currency === currency ? row : { ...row, clientId: undefined }));
    expect(faultsIn(aDesk({ order: firstLost, shown }), 900)).toEqual([]);
    // Without an order id, the trade id ties the other leg.
    const tied: Script['shown'] = (rows) => (shown(rows, START)).map((row) => (row.currency === currency ? row : { ...row, orderId: undefined }));
    expect(faultsIn(aDesk({ order: firstLost, shown: tied }), 900)).toEqual([]);
  });
}); // prettier-ignore

describe('a row of others that becomes visible below newer ones', () => {
  it('is read once the gap that it leaves has lasted, so that the gap holds no doubt open', () => {
    let hidden = '';
    const shown: Script['shown'] = (rows, now) =>
      rows.filter(({ id }) => id !== hidden || now >= after(START, 1_230 * SECOND_MS));
    const one = aDesk(
      { order: (nth) => (nth === 2 ? 'request lost' : undefined), shown },
      {
        strategies: [aTwap('t', { slices: 2, duration: 'PT40M', catch_up: 'pace' })],
        policy: { accountPollMs: 5_000 },
      },
    );
    const pay = (second: number, currency: string): string => {
      seconds(one, second);
      const { exchange, clock } = one.bench;
      const account = exchange.accounts[0]?.name ?? '';
      exchange.ledger.move(account, { currency, amount: quantity('100') }, clock.wall());
      return `${exchange.ledger.rows(account).at(-1)?.id ?? ''}0`;
    };
    hidden = pay(1_000, 'usd');
    // Later reads begin after these.
    for (const second of [1_010, 1_030]) pay(second, 'btc');
    pay(1_190, 'usd');
    seconds(one, 1_260);
    expect(one.bench.desk.state.doubts).toHaveLength(1);
    expect(faultsIn(one, 3_000)).toEqual([]);
    expect(one.bench.desk.state.doubts).toEqual([]);
  });
});

describe('a stamp of the ledger', () => {
  it.each([-5 * HOUR_MS, -3_000, 5 * HOUR_MS, 50 * HOUR_MS])(
    'decides nothing about an order whose rows have its ids: %i ms off',
    (ms) => {
      const shown: Script['shown'] = (rows) =>
        rows.map((row) => (row.tradeId === undefined ? row : { ...row, at: after(row.at, ms) }));
      expect(faultsIn(aDesk({ order: firstLost, shown }), 900)).toEqual([]);
    },
  );
});

describe('a buy that the journal does not know', () => {
  it('is adopted as a buy although its first leg says Sell', () => {
    const before = aDesk({});
    seconds(before, 30);
    expect(sold(before)).toBe('0.25');
    const shown: Script['shown'] = (rows) =>
      rows.map((row) => (row.tradeId === undefined ? row : { ...row, action: row.currency === 'usd' ? 'sell' : 'buy' }));
    const next = nextDesk(before, { shown }, { journal: undefined, policy: { adoptFills: true } });
    seconds(next, 40);
    expect(bodies(next, 'fill')).toMatchObject([{ adopted: true, side: 'buy', quantity: '0.25' }]);
  });
}); // prettier-ignore

describe('a quote', () => {
  /** Quotes with other stamps, and with the clock of the answer. */
  const stamped =
    (over: (quotedAt: number) => { readonly quotedAt?: number; readonly expiresAt?: number; readonly answeredAt: number }) =>
    (venue: VenuePort): VenuePort => ({
      ...venue,
      quote: (request) =>
        andThen(venue.quote(request), (answer) => {
          if (answer.kind !== 'quote' || request.clientId === undefined) return answer;
          const { quote } = answer;
          const told = { ...quote, ...over(quote.quotedAt) } as typeof quote;
          return { ...answer, quote: { ...told, lifeMs: told.expiresAt - told.quotedAt } };
        }),
    });

  it('is not executed if its stamps are more than two seconds from the clock of the venue', () => {
    const one = aDesk({}, { wrap: stamped((at) => ({ answeredAt: at - 5_000 })) });
    seconds(one, 120);
    expect(sold(one)).toBe('0');
    expect(bodies(one, 'attempt').map(({ reason }) => reason)).toContain('quote_invalid');
  });

  it('is over only at its expiry by the clock of the venue, which its proof of absence waits for', () => {
    // By its own stamps it lives for ten seconds; by the clock of the venue for a minute.
    const one = aDesk(
      { order: (nth) => (nth === 1 ? 'request lost' : undefined) },
      { wrap: stamped((at) => ({ quotedAt: at, expiresAt: at + MINUTE_MS, answeredAt: at })) },
    );
    seconds(one, 200);
    const left = one.bench.records().find(({ body }) => body.kind === 'intent')?.at ?? 0;
    const absent = one.bench.records().find(({ body }) => body.kind === 'attempt' && body.result === 'absent')?.at ?? 0;
    expect(absent - left).toBeGreaterThanOrEqual(MINUTE_MS + aPolicy().inDoubt.bookingMarginMs + 10 * SECOND_MS);
  });
}); // prettier-ignore
