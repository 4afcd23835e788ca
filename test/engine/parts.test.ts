import { concat, defer, ignoreElements, map, NEVER, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { add, money, quantity, subtract, text } from '../../src/core/money.ts';
import { HOUR_MS, SECOND_MS, after } from '../../src/core/time.ts';
import type { Quantity } from '../../src/core/money.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { mergeMapMaybe } from '../../src/engine/maybe-async.ts';
import { bookingWords } from '../../src/engine/account/still-booking.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { inProcessMarket } from '../../src/simulator/port.ts';
import { frozen } from '../journal/frozen.ts';
import { START, aBench, aStrategy, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

/** One trade that an order is booked as: its share of the order, and how long after the order it shows. */
interface Part {
  readonly share: string;
  readonly afterMs: number;
}

/** What becomes of the first order; the others are booked whole and at once. */
interface Script {
  readonly parts: readonly Part[];
  /** The answer to the first order never comes. */
  readonly isLost?: boolean;
  /** What stands on the rows instead of the ids. */
  readonly over?: (row: Transaction, part: number) => Partial<Transaction>;
  /** Its client id. */
  target?: string;
}

const UNIT = { btc: 8, usd: 2 };
const cut = (amount: Quantity, share: string, currency: string): Quantity =>
  quantity(amount.times(share).toFixed(currency === 'btc' ? UNIT.btc : UNIT.usd));

/** Books one order as the script says: its rows, taken apart. What is left to a whole goes to the last part. */
function booked(rows: readonly Transaction[], script: Script, at: number): readonly Transaction[] {
  const isWhole = script.parts.reduce((sum, { share }) => sum + Number(share), 0) === 1;
  return rows.flatMap((row) => {
    const spread = { ...row, id: row.id * 10 };
    if (row.clientId === undefined || row.clientId !== script.target) return [spread];
    let given = quantity('0');
    return script.parts.flatMap((part, n) => {
      const isRest = isWhole && n === script.parts.length - 1;
      const amount = isRest ? subtract(row.amount, given) : cut(row.amount, part.share, row.currency);
      given = add(given, amount);
      if (at < row.at + part.afterMs) return [];
      const balance = add(subtract(row.balance, row.amount), given);
      const one = { ...spread, id: spread.id + n, tradeId: `${row.tradeId ?? ''}-${n}`, amount, balance };
      return [{ ...one, ...script.over?.(one, n) }];
    });
  });
}

const twap = aTwap('t', {
  slices: 4,
  duration: 'PT4M',
  catch_up: 'pace',
  total_quantity: { amount: '1', currency: 'btc' },
});

interface Watched {
  readonly bench: Bench;
  readonly alerts: string[];
}

function aDesk(script: Script, over: Partial<BenchOptions> = {}): Watched {
  const alerts: string[] = [];
  const bench: Bench = aBench({
    strategies: [twap],
    ...over,
    wrap: (venue, clock) => ({
      ...venue,
      order: (request) => {
        script.target ??= request.clientId;
        return script.isLost === true && script.target === request.clientId
          ? concat(toObservable(venue.order(request)).pipe(ignoreElements()), NEVER)
          : venue.order(request);
      },
      transactions: (query) =>
        venue
          .transactions({ ...query, from: START })
          .pipe(map((rows) => booked(rows, script, clock.wall()).filter((row) => row.at > query.from))),
    }),
    observer: { alert: (alert) => alerts.push(alert) },
  });
  bench.start();
  return { bench, alerts };
}

const seconds = ({ bench }: Watched, count: number): void => {
  bench.clock.run(after(START, count * SECOND_MS));
};
const bodies = ({ bench }: Watched, kind: string): readonly object[] =>
  bench.records().flatMap(({ body }) => (body.kind === kind ? [body] : []));

/** What the journal says was bought: fills as corrected. */
function bought({ bench }: Watched): string {
  const figures = new Map<string, string>();
  for (const { body } of bench.records())
    if (body.kind === 'fill' || body.kind === 'correction') figures.set(body.client_order_id, body.quantity);
  return text([...figures.values()].reduce((sum, each) => add(sum, quantity(each)), quantity('0')));
}
/** What the venue sold us. */
const sold = ({ bench }: Watched): string =>
  text(
    bench.exchange.registry
      .tradesOf('desk', { limit: 1_000 })
      .reduce((sum, trade) => add(sum, trade.quantity), quantity('0')),
  );
const halts = (one: Watched): readonly object[] =>
  bodies(one, 'control').filter((body) => 'state' in body && body.state === 'halted');

describe('an order that is booked as several trades, its answer lost', () => {
  it.each([
    ['a crumb of it after the margin of the proof', ['0.9995', '0.0005'], 42],
    ['two fifths of it long after', ['0.6', '0.4'], 90],
    ['its parts one by one', ['0.3', '0.3', '0.4'], 30],
  ])('is traded once: %s', (_, shares, lastSeconds) => {
    const parts = shares.map((share, n) => ({
      share,
      afterMs: n === 0 ? 0 : (n * lastSeconds * SECOND_MS) / (shares.length - 1),
    }));
    const one = aDesk({ parts, isLost: true });
    seconds(one, 200);
    for (let n = 1; one.bench.desk.control !== 'active' && n < 4; n++) {
      one.bench.operator$.next({ do: 'resume', by: 'ann', why: 'looked at' });
      seconds(one, 200 + n * 60);
    }
    seconds(one, 700);
    expect(bought(one)).toBe(sold(one));
    expect(Number(sold(one))).toBeLessThanOrEqual(1);
    expect(bodies(one, 'intent').filter((body) => 'slice' in body && body.slice === 0)).toHaveLength(1);
  });

  it('stays open, its slice held, until the rest may be booked no more', () => {
    const one = aDesk({ parts: [{ share: '0.9995', afterMs: 0 }, { share: '0.0005', afterMs: 12_000 }], isLost: true }); // prettier-ignore
    seconds(one, 11);
    expect(one.bench.desk.state.doubts).toHaveLength(1);
    seconds(one, 21);
    expect(bodies(one, 'fill')).toMatchObject([{ quantity: '0.25', source: 'transactions' }]);
    expect(bodies(one, 'slice')).toMatchObject([{ slice: 0, result: 'filled', filled: '0.25' }]);
    expect(one.alerts).not.toContain('fill_differs');
  });

  it('counts as filled, what is missing with it, where a part is never booked', () => {
    const one = aDesk({ parts: [{ share: '0.6', afterMs: 0 }, { share: '0.4', afterMs: 1e9 }], isLost: true }, { policy: { onDifference: 'alert' } }); // prettier-ignore
    seconds(one, 60);
    expect(bodies(one, 'fill')).toMatchObject([{ quantity: '0.15', missing: { quantity: '0.1' } }]);
    expect(bodies(one, 'slice')).toMatchObject([{ filled: '0.15', missing: '0.1' }]);
    expect(one.alerts).toContain('fill_differs');
    one.bench.operator$.next({ do: 'resume', by: 'ann', why: 'looked at' });
    seconds(one, 600);
    // What is missing of the first slice is bought by nobody.
    expect(bought(one)).toBe('0.9');
    expect(sold(one)).toBe('1');
  });
});

describe('what an order of a rebalance lacks', () => {
  it('is not bought again for what the account holds without it, until a person closes it', () => {
    const short: Script = { parts: [{ share: '0.6', afterMs: 0 }, { share: '0.4', afterMs: 1e9 }], isLost: true }; // prettier-ignore
    const balanced = aStrategy('r', 'rebalance', { target_weights: { btc: '0.7', usd: '0.3' }, drift_threshold: '0.01', continuous: true, valuation_tolerance: '0.9' }); // prettier-ignore
    const one = aDesk(short, { strategies: [balanced], policy: { onDifference: 'ignore' } });
    const lift = (until: number): void => {
      for (let at = 70; at <= until; at += 10) {
        seconds(one, at);
        if (one.bench.desk.control === 'paused') one.bench.operator$.next({ do: 'resume', by: 'ann', why: 'looked at' }); // prettier-ignore
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

describe('what an order lacks', () => {
  const short: Script = { parts: [{ share: '0.6', afterMs: 0 }, { share: '0.4', afterMs: 1e9 }], isLost: true }; // prettier-ignore

  it('is closed by a person who says that it never traded', () => {
    const one = aDesk({ ...short }, { policy: { onDifference: 'alert' } });
    seconds(one, 60);
    const [id = ''] = one.bench.desk.state.lacking.keys();
    expect(bookingWords(one.bench.desk)).toEqual([expect.stringMatching(/ lacks 0\.1 btc of its order/u)]);
    const answers: string[] = [];
    const say = (why: string): void => {
      one.bench.operator$.next({ do: 'resolve', clientOrderId: id, verdict: 'not_executed', by: 'ann', why, answer: ({ says }) => answers.push(says) }); // prettier-ignore
    };
    say('');
    say('ticket 1');
    expect(answers).toEqual([
      expect.stringMatching(/reason/u),
      `the missing part of ${id} is closed as not executed`,
    ]);
    expect(one.bench.desk.state.lacking.size).toBe(0);
    expect(text(one.bench.desk.state.reserved('usd'))).toBe('0');
  });

  it('keeps its funds and its worst case reserved, also in the next process', () => {
    const script = { ...short };
    const one = aDesk(script, { policy: { onDifference: 'alert' } });
    seconds(one, 59);
    const reserved = text(one.bench.desk.state.reserved('usd'));
    const notional = text(one.bench.desk.state.openNotional());
    expect(Number(reserved)).toBeGreaterThan(5_900);
    expect(Number(notional)).toBeGreaterThan(5_900);
    one.bench.kill();
    const { clock, exchange, journal } = one.bench;
    const next = aDesk(script, { clock, exchange, journal, policy: { onDifference: 'alert' } });
    next.bench.clock.run(after(START, 75 * SECOND_MS));
    expect(text(next.bench.desk.state.reserved('usd'))).toBe(reserved);
    expect(text(next.bench.desk.state.openNotional())).toBe(notional);
  });
});

describe('what an order lacks, booked hours after while the desk trades on', () => {
  const long = aTwap('t', {
    slices: 24,
    duration: 'PT2H',
    catch_up: 'pace',
    total_quantity: { amount: '6', currency: 'btc' },
  });

  it.each([true, false])(
    'is booked, though its rows carry the time of the trade: answer lost: %s',
    (isLost) => {
      const parts = [
        { share: '0.6', afterMs: 0 },
        { share: '0.4', afterMs: 3 * HOUR_MS },
      ];
      const one = aDesk({ parts, isLost }, { strategies: [long] });
      for (let minute = 1; minute < 240; minute++) {
        seconds(one, 60 * minute);
        const { control } = one.bench.desk;
        if (control === 'active') continue;
        one.bench.operator$.next({ do: control === 'halted' ? 'rearm' : 'resume', by: 'ann', why: 'seen' });
      }
      expect(sold(one)).toBe('6');
      expect(bought(one)).toBe('6');
      expect(one.bench.desk.state.lacking.size).toBe(0);
    },
  );
});

describe('an order that is booked as several trades, answered', () => {
  const parts = [{ share: '0.6', afterMs: 0 }, { share: '0.4', afterMs: 62_000 }]; // prettier-ignore

  it('is still being booked until the margin is over: nothing is corrected, nothing halts', () => {
    const one = aDesk({ parts: [{ share: '0.6', afterMs: 0 }, { share: '0.4', afterMs: 15_000 }] }, { policy: { accountPollMs: 5_000 } }); // prettier-ignore
    seconds(one, 12);
    expect([...one.bench.desk.account.booking.values()]).toEqual(['0.15 of 0.25 so far']);
    expect(bookingWords(one.bench.desk)).toEqual([
      expect.stringMatching(/ is still being booked: the account shows 0\.15 of 0\.25 so far/u),
    ]);
    seconds(one, 30);
    expect([...one.bench.desk.account.booking.values()]).toEqual([]);
    expect(bodies(one, 'correction')).toEqual([]);
    expect(one.alerts).toEqual([]);
    expect(one.bench.desk.control).toBe('active');
    expect(bodies(one, 'shown')).toHaveLength(1);
  });

  it('is still being booked for the margin though the wall clock was set forward after the fill', () => {
    const one = aDesk({ parts: [{ share: '0.6', afterMs: 0 }, { share: '0.4', afterMs: 65_000 }] }, { policy: { accountPollMs: 5_000 } }); // prettier-ignore
    seconds(one, 2);
    one.bench.clock.stepWall(50 * SECOND_MS);
    seconds(one, 12);
    expect([...one.bench.desk.account.booking.values()]).toEqual(['0.15 of 0.25 so far']);
    seconds(one, 30);
    expect([...one.bench.desk.account.booking.values()]).toEqual([]);
    expect(bodies(one, 'correction')).toEqual([]);
    expect(one.bench.desk.control).toBe('active');
  });

  it('is corrected after the margin, and corrected back by the part that comes later', () => {
    const one = aDesk({ parts });
    seconds(one, 61);
    expect(bodies(one, 'correction')).toMatchObject([{ quantity: '0.15', missing: { quantity: '0.1' } }]);
    expect(halts(one)).toHaveLength(1);
    seconds(one, 125);
    expect(bought(one)).toBe('0.25');
    expect(bodies(one, 'correction')).toHaveLength(2);
    expect(one.alerts).not.toContain('executed_twice');
    expect(one.bench.desk.state.lacking.size).toBe(0);
    one.bench.operator$.next({ do: 'rearm', by: 'ann', why: 'all there' });
    seconds(one, 700);
    expect(bought(one)).toBe(sold(one));
    expect(Number(sold(one))).toBeLessThanOrEqual(1);
  });
});

describe('a quote that the venue executes twice', () => {
  it.each([
    ['20 s later', true, 20],
    ['20 s later', false, 20],
    ['an hour later', true, 3_600],
    ['an hour later', false, 3_600],
  ])('is noticed within one read, halts the desk and counts: %s, answer lost: %s', (_, isLost, later) => {
    const one = aDesk({
      isLost,
      parts: [{ share: '1', afterMs: 0 }, { share: '1', afterMs: later * SECOND_MS }], // prettier-ignore
      // A venue that executes again does so then.
      over: (row, n) => (n === 0 ? {} : { at: after(row.at, later * SECOND_MS) }),
    });
    const asLong = (): void => {
      seconds(one, later + 75);
    };
    asLong();
    expect(one.alerts.filter((alert) => alert === 'executed_twice')).toHaveLength(1);
    expect(one.bench.desk.control).toBe('halted');
    expect(bodies(one, 'correction')).toMatchObject([{ quantity: '0.5', was_quantity: '0.25' }]);
    const intents = bodies(one, 'intent').length;
    one.bench.operator$.next({ do: 'rearm', by: 'ann', why: 'the venue keeps it' });
    seconds(one, later + 800);
    // The strategy took it off its total.
    expect(Number(bought(one))).toBeLessThanOrEqual(later < 240 ? 1 : 1.25);
    expect(bodies(one, 'intent').length - intents).toBeLessThanOrEqual(3);
  });

  it('is heard of by the strategy before its next step, however slow the disk is that takes it in', () => {
    const clock = new VirtualClock(START);
    const journal = frozen(memoryJournal());
    let freeAt = clock.monotonic();
    // From the correction on, nothing is durable for eight seconds.
    const slow: Journal = {
      ...journal,
      append: (records, at) =>
        defer(() => {
          if (records.some(({ kind }) => kind === 'correction')) freeAt = after(clock.monotonic(), 8_000);
          return timer(Math.max(0, freeAt - clock.monotonic()), clock).pipe(
            mergeMapMaybe(() => journal.append(records, at)),
          );
        }),
    };
    const one = aDesk(
      {
        parts: [{ share: '1', afterMs: 0 }, { share: '1', afterMs: 20_000 }], // prettier-ignore
        over: (row, n) => (n === 0 ? {} : { at: after(row.at, 20_000) }),
      },
      {
        clock,
        journal: slow,
        policy: { accountPollMs: 55_000 },
        market: (exchange) => inProcessMarket(exchange, { clock, pairs: ['btcusd'], everyMs: SECOND_MS }),
      },
    );
    seconds(one, 75);
    const kinds = one.bench.records().map(({ body }) => body);
    const corrected = kinds.findIndex(({ kind }) => kind === 'correction');
    expect(corrected).toBeGreaterThan(0);
    // It hears of the trade, and then decides.
    expect(kinds.slice(corrected + 1)).toMatchObject([{ kind: 'wake', intents: [] }, { kind: 'wake' }]);
    one.bench.operator$.next({ do: 'rearm', by: 'ann', why: 'the venue keeps it' });
    seconds(one, 800);
    expect(Number(bought(one))).toBeLessThanOrEqual(1);
  });

  it('is noticed by the next process, though the rows of the first trade are not read again', () => {
    const script: Script = {
      parts: [{ share: '1', afterMs: 0 }, { share: '1', afterMs: 3_000_000 }], // prettier-ignore
      over: (row, n) => (n === 0 ? {} : { at: after(row.at, 3_000_000) }),
    };
    const before = aDesk(script);
    seconds(before, 400);
    expect(bought(before)).toBe('1');
    before.bench.kill();
    before.bench.clock.run(after(START, 2_990_000));
    const { clock, exchange, journal } = before.bench;
    const next = aDesk(script, { clock, exchange, journal });
    seconds(next, 3_300);
    expect(next.alerts).toContain('executed_twice');
    expect(bought(next)).toBe('1.25');
  });
});

describe('a fill that a person reported', () => {
  it('takes the figures and the price of the account once that shows it', () => {
    const one = aDesk({ parts: [{ share: '1', afterMs: 100_000 }], isLost: true });
    seconds(one, 15);
    const [open] = one.bench.desk.state.doubts;
    const [trade] = one.bench.exchange.registry.tradesOf('desk', { limit: 1 });
    if (open === undefined || trade === undefined) throw new Error('nothing is in doubt');
    one.bench.operator$.next({
      do: 'resolve',
      clientOrderId: open.intent.client_order_id,
      verdict: 'filled',
      figures: {
        orderId: trade.orderId,
        quantity: trade.quantity,
        amount: money(open.quote?.amount ?? '0'),
        fees: money('0'),
      },
      by: 'ann',
      why: 'the statement',
      answer: () => undefined,
    });
    seconds(one, 180);
    const [fill] = bodies(one, 'fill');
    expect(fill).toMatchObject({ source: 'operator' });
    expect(bodies(one, 'correction')).toMatchObject([{ price: open.quote?.price }]);
    expect(one.alerts).not.toContain('fill_differs');
  });
});
