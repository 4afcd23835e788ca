import { mergeMap, throwError, timer, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { text, NO_MONEY, add, money, quantity } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { doubtFacts } from '../../src/engine/account/doubt-alerts.ts';
import type { Money } from '../../src/core/money.ts';
import { certain } from '../../src/core/cycle/proof.ts';
import type { AttemptEnd } from '../../src/engine/attempt/execute.ts';
import { record } from '../../src/engine/stages/record.ts';
import { allOrderFaults, faultyVenue, isExecuted, DOWN, faultAt } from './faulty-venue.ts';
import { aPolicy, aTwap, started, START, nextProcess, aBench } from './harness.ts';
import type { Bench, BenchOptions, Raised } from './harness.ts';
import { executedTotal, faultsOf, intentsInDoubt, ledgerTrades } from './oracle.ts';

/** Five minutes a slice: any doubt is proven within one. */
const slow = aTwap('twap', { slices: 3, duration: 'PT15M' });

function ran(options: Partial<BenchOptions>, minutes = 30): Bench {
  return started({ strategies: [slow], ...options }, minutes * MINUTE_MS);
}

describe('an order with a lost or faulty answer', () => {
  it.each(allOrderFaults)('is a doubt until the account proves its outcome: %s', (fault) => {
    const bench = ran({ wrap: faultAt(fault, 2) });
    expect(faultsOf(bench)).toEqual([]);
    expect(intentsInDoubt(bench.records())).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('1');
    expect(bench.bodies('slice')).toHaveLength(3);
    if (fault === 'certainly unsent') return;
    const id = bench.bodies('attempt').find(({ result }) => result === 'doubt')?.client_order_id;
    expect(id).toBeDefined();
    const isOurs = (body: { readonly client_order_id: string }): boolean => body.client_order_id === id;
    const end = bench.bodies('attempt').find((body) => isOurs(body) && body.result !== 'doubt');
    expect(isExecuted(fault) ? ['filled'] : ['absent', 'rejected']).toContain(end?.result);
    const source = bench.bodies('fill').find(isOurs)?.source;
    expect(source).toBe(isExecuted(fault) ? 'transactions' : undefined);
  });

  it('is not proven absent before the quote has expired and the booking margin has passed', () => {
    const bench = ran({ wrap: faultAt('request lost', 2) });
    const at = (result: string): number =>
      bench.timed('attempt').find((one) => one.result === result)?.at ?? 0;
    const { inDoubt, orderTimeoutMs } = aPolicy();
    // A quote lives for 10 s from its arrival; the doubt began when the order had gone unanswered.
    const sentAt = at('doubt') - orderTimeoutMs;
    const earliest = sentAt + 10 * SECOND_MS + inDoubt.bookingMarginMs + 10 * SECOND_MS;
    expect(at('absent')).toBeGreaterThanOrEqual(earliest);
    expect(at('absent')).toBeLessThan(earliest + 2 * inDoubt.pollMs + SECOND_MS);
  });

  it('is looked for again ten seconds after a failed read has ended', () => {
    let isLost = false;
    let reads = 0;
    const bench = started(
      {
        strategies: [slow],
        wrap: (venue, clock) => ({
          ...venue,
          order: () => ((isLost = true), NEVER),
          // The venue thinks for four seconds before it says that it cannot answer.
          transactions: (query) =>
            isLost && reads++ < 2
              ? timer(4 * SECOND_MS, clock).pipe(mergeMap(() => throwError(() => DOWN)))
              : venue.transactions(query),
        }),
      },
      2 * MINUTE_MS,
    );
    const [order = { at: 0 }] = bench.sent.orders;
    const begun = bench.sent.reads.flatMap(({ at }) => (at > order.at ? [at] : []));
    const gaps = begun.slice(1, 4).map((at, n) => Math.round((at - (begun[n] ?? 0)) / SECOND_MS));
    expect(gaps).toEqual([14, 14, 10]);
  });

  it('stays in doubt as long as the account cannot be read', () => {
    let isDown = true;
    const wrap = faultAt('request lost', 1, (rows) => (isDown ? DOWN : rows));
    const bench = started({ strategies: [slow], wrap }, 60 * MINUTE_MS);
    expect(bench.desk.state.doubts).toHaveLength(1);
    expect(bench.desk.state.slices.size).toBe(1);
    isDown = false;
    bench.until(62 * MINUTE_MS);
    expect(bench.desk.state.doubts).toHaveLength(0);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
  });

  it('stays in doubt until the account shows both rows of its trade', () => {
    let isHalf = true;
    const wrap = faultAt('answer lost', 1, (rows) =>
      isHalf ? rows.filter((row) => row.clientId === undefined || row.currency === 'btc') : rows,
    );
    const bench = started({ strategies: [slow], wrap }, 4 * MINUTE_MS);
    expect(bench.desk.state.doubts).toHaveLength(1);
    expect(bench.desk.state.fills).toBe(0);
    isHalf = false;
    bench.until(30 * MINUTE_MS);
    expect(faultsOf(bench)).toEqual([]);
  });
});

describe('a doubt', () => {
  it.each([
    [2, true],
    [1, false],
  ])('with a limit of %i open doubts lets another pair trade: %s', (openDoubtsMax, trades) => {
    const start_time = '2026-01-05T00:00:10Z';
    const eth = aTwap('eth', {
      pair: 'ethusd',
      start_time,
      total_quantity: { amount: '9', currency: 'eth' },
    });
    const bench = ran(
      {
        strategies: [slow, eth],
        wrap: faultyVenue({ order: ({ pair }) => (pair === 'btcusd' ? 'request lost' : undefined) }),
        policy: { limits: { ...aPolicy().limits, openDoubtsMax } },
      },
      0.3,
    );
    expect(bench.desk.state.doubts).toHaveLength(1);
    expect(ledgerTrades(bench.exchange).some(({ pair }) => pair === 'ethusd')).toBe(trades);
  });
});

const hourly = { strategies: [aTwap('t', { slices: 1, duration: 'PT60M' })] };

/** A desk whose first order is never answered, and the alerts about doubts that it raised. */
function aWatched(over: Partial<BenchOptions> = {}, seen: Parameters<typeof faultAt>[2] = () => DOWN): Bench {
  return started({ ...hourly, wrap: faultAt('request lost', 1, seen), ...over }, 0, { isUntilDone: true });
}
const doubtsOf = (bench: Bench): readonly Raised[] =>
  bench.raised.filter(({ id }) => id.startsWith('doubt_'));
/** When the doubt began: the order went unanswered for eight seconds. */
const openedAt = (bench: Bench): number => doubtsOf(bench).find(({ id }) => id === 'doubt_open')?.at ?? NaN;
const ages = (bench: Bench): readonly unknown[] =>
  doubtsOf(bench)
    .filter(({ id }) => id !== 'doubt_open')
    .map(({ id, at }) => [id, at - openedAt(bench)]);

describe('alerts about a doubt', () => {
  it('are raised once each when it is one minute and five minutes old', () => {
    const bench = aWatched();
    bench.until(30 * MINUTE_MS);
    expect(ages(bench)).toEqual([
      ['doubt_60s', 60 * SECOND_MS],
      ['doubt_5min', 5 * MINUTE_MS],
    ]);
  });

  it('stop once the doubt has ended', () => {
    const bench = aWatched({}, (rows) => rows);
    bench.until(30 * MINUTE_MS);
    expect(bench.desk.state.doubts).toEqual([]);
    expect(doubtsOf(bench).map(({ id }) => id)).toEqual(['doubt_open']);
  });

  it('contain the order, its worst case and the earliest time at which the account can prove the outcome', () => {
    const bench = aWatched();
    bench.until(15 * SECOND_MS);
    const [open] = bench.desk.state.doubts;
    const early = open === undefined ? undefined : doubtFacts(bench.desk, open);
    bench.until(2 * MINUTE_MS);
    const first = bench.raised.find(({ id }) => id === 'doubt_60s');
    expect(first?.facts).toMatchObject({
      pair: 'btcusd',
      side: 'buy',
      why: 'outcome_unknown',
      client_order_id: open?.intent.client_order_id,
      notional: `${open?.intent.notional_usd ?? ''} usd`,
      earliest_answer_at: expect.any(String) as string,
    });
    // Ten seconds of life, ten to be booked, and a second read ten seconds after the first.
    const sentAt = openedAt(bench) - 8 * SECOND_MS;
    const earliest = Date.parse(early?.earliest_answer_at ?? '') - START;
    expect(Math.abs(earliest - sentAt - 30 * SECOND_MS)).toBeLessThanOrEqual(20);
  });

  it.each<readonly [string, (bench: Bench) => void, readonly string[]]>([
    [
      'that stopped cleanly, with new alerts only',
      (bench) => {
        bench.operator$.next({ do: 'drain', why: 'SIGTERM' });
      },
      ['doubt_5min'],
    ],
    [
      // Its last record is older than its alerts: a repeated alert is better than a lost one.
      'that died, and repeat those that nobody may have read',
      (bench) => {
        bench.kill();
      },
      ['doubt_60s', 'doubt_5min'],
    ],
  ])('continue in the process after one %s', (_, end, expected) => {
    const bench = aWatched();
    bench.until(90 * SECOND_MS);
    expect(doubtsOf(bench).map(({ id }) => id)).toEqual(['doubt_open', 'doubt_60s']);
    end(bench);
    bench.until(3 * MINUTE_MS);
    const wrap = faultyVenue({ transactions: () => DOWN });
    const next = nextProcess(bench, 0, { ...hourly, wrap }, { isUntilDone: true });
    next.until(20 * MINUTE_MS);
    expect(doubtsOf(next).map(({ id }) => id)).toEqual(expected);
    expect(doubtsOf(next).at(-1)?.at).toBe(openedAt(bench) + 5 * MINUTE_MS);
  });
});

const { pts } = aPolicy();
const btcFirst = aTwap('first', { slices: 1, duration: 'PT60M' });
/** Trades another pair while the first is in doubt. */
const ethLater = aTwap('second', {
  pair: 'ethusd',
  start_time: '2026-01-05T00:05:00Z',
  total_quantity: { amount: '10', currency: 'eth' },
  slices: 1,
  duration: 'PT50M',
});

/** The order of the first pair is never answered, and the account cannot be read from then on. */
function firstInDoubt(over: Partial<BenchOptions>): Bench {
  let isDown = false;
  const options: BenchOptions = {
    strategies: [btcFirst, ethLater],
    wrap: faultyVenue({
      order: ({ pair }) => {
        if (pair !== 'btcusd') return undefined;
        isDown = true;
        return 'request lost';
      },
      transactions: (rows) => (isDown ? DOWN : rows),
    }),
    ...over,
  };
  return started(options, 0, { isUntilDone: true });
}

/** Checks a doubt as it is, and again in the next process after the first has died. */
function throughRestart(over: Partial<BenchOptions>, check: (bench: Bench) => void): void {
  const bench = firstInDoubt(over);
  bench.until(20 * MINUTE_MS);
  expect(bench.desk.state.doubts).toHaveLength(1);
  check(bench);

  const young = firstInDoubt(over);
  young.until(2 * MINUTE_MS);
  let reads = 0;
  const next = nextProcess(
    young,
    0,
    {
      strategies: [btcFirst, ethLater],
      ...over,
      // One read lets the desk start; nothing after it may prove anything.
      wrap: faultyVenue({ transactions: (rows) => (reads++ === 0 ? rows : DOWN) }),
    },
    { isUntilDone: true },
  );
  next.until(20 * MINUTE_MS);
  expect(next.seen.phases).toEqual(['ready']);
  expect(next.desk.state.doubts).toHaveLength(1);
  check(next);
}
const spentOf = (bench: Bench): Money =>
  ledgerTrades(bench.exchange).reduce((sum, { amount }) => add(sum, amount), NO_MONEY);
const reasons = (bench: Bench): readonly unknown[] =>
  bench.records().flatMap(({ body }) => ('reason' in body && body.reason !== undefined ? [body.reason] : []));

describe('a doubt, before and after a restart,', () => {
  it('keeps its funds reserved', () => {
    throughRestart({ venue: { accounts: [{ balances: { usd: '80000' } }] } }, (bench) => {
      const [open] = bench.desk.state.doubts;
      const atWorst = quantity(open?.intent.size ?? '0').times(open?.intent.worst_price ?? '0');
      const spent = spentOf(bench);
      expect(spent.plus(atWorst).lte(80_000)).toBe(true);
      expect(reasons(bench).join()).toMatch(/no_funds/u);
    });
  });

  it('keeps its credit reserved', () => {
    const creditMax = { amount: money('70000'), currency: 'usd' };
    const policy = { pts: { ...pts, use: 'when_enabled', creditMax } } as const;
    const modes = { btcusd: 'Enabled', ethusd: 'Enabled' } as const;
    const venue = { accounts: [{ balances: { usd: '0' } }], pts: { modes } };
    throughRestart({ policy, venue }, (bench) => {
      const [open] = bench.desk.state.doubts;
      const atWorst = quantity(open?.intent.size ?? '0').times(open?.intent.worst_price ?? '0');
      expect(atWorst.gt(0)).toBe(true);
      const lent = spentOf(bench);
      expect(lent.plus(atWorst).lte(70_000)).toBe(true);
      // The remaining credit may be used.
      expect(lent.gt(5_000)).toBe(true);
    });
  });
});

/** From the intent of the first attempt to the proof that it did not trade, milliseconds; `undefined`: still in doubt. */
function proofMs(bench: Bench): number | undefined {
  const [asked] = bench.timed('intent');
  const absent = bench.timed('attempt').find(({ result }) => result === 'absent');
  return asked && absent && absent.at - asked.at;
}

describe('the proof of a doubt', () => {
  it('takes at most twice as long when the process is killed every fifteen seconds', () => {
    const options = (): BenchOptions => ({
      strategies: [aTwap('twap', { slices: 1, duration: 'PT10M' })],
      bootId: 'one',
      wrap: faultAt('request lost'),
    });
    const quiet = started(options(), 3 * MINUTE_MS);
    const withoutKills = proofMs(quiet) ?? 0;
    expect(withoutKills).toBeGreaterThan(20 * SECOND_MS);

    const shared = options();
    let bench = aBench(shared);
    bench.start();
    bench.until(12 * SECOND_MS);
    for (let kills = 0; kills < 8 && proofMs(bench) === undefined; kills++) {
      bench = nextProcess(bench, SECOND_MS, shared);
      bench.run(14 * SECOND_MS);
    }
    expect(proofMs(bench) ?? Infinity).toBeLessThanOrEqual(2 * withoutKills);
    expect(faultsOf(bench)).toEqual([]);
  });
});

/** What a read found before it was known that the order traded, and what arrives after that is known. */
const lateEnds = {
  'one read of its absence': 'doubt',
  'the proof of its absence': 'closed',
} as const;

describe('a doubt whose order is known to have traded', () => {
  it.each(Object.entries(lateEnds))('stays open although %s was found just before', (_, kind) => {
    const bench = aBench({
      strategies: [aTwap('t')],
      wrap: (venue) => ({ ...venue, order: () => NEVER }),
    });
    bench.start();
    const { desk } = bench;
    for (let n = 1; n < 60 && desk.state.doubts.length === 0; n++) bench.until(n * SECOND_MS);
    const [open] = desk.state.doubts;
    const phase = open && desk.account.doubts.get(open.intent.client_order_id);
    if (open === undefined || phase === undefined) throw new Error('no order is in doubt');
    const { intent } = open;
    const found: AttemptEnd =
      kind === 'doubt'
        ? { end: 'doubt', intent, phase: { ...phase, proof: { ...phase.proof, readsLeft: 1 } } }
        : {
            end: 'closed',
            intent,
            phase: {
              state: 'ended',
              result: 'absent',
              reason: 'proven_absent',
              detail: '',
              next: { do: 'again' },
            },
          };
    const ends = of<AttemptEnd[]>({ end: 'doubt', intent, phase: certain(phase) }, found);
    ends.pipe(record(desk, NEVER)).subscribe();
    expect(desk.account.doubts.get(intent.client_order_id)?.proof.proves).toBe('nothing');
    expect(desk.state.attempts.get(intent.client_order_id)?.doubt?.reason).toBe('certainly_traded');
  });
});
