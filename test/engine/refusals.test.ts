import { delay } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { money, price, quantity, ratio, text } from '../../src/core/money.ts';
import type { Reason } from '../../src/core/reasons.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { QuoteAnswer, Order } from '../../src/core/venue.ts';
import { shortQuoteWords } from '../../src/engine/attempt/short-quotes.ts';
import { faultyVenue, NO_QUOTES } from './faulty-venue.ts';
import { aPolicy, aTwap, START, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, fillsOf, ledgerTrades } from './oracle.ts';
import { toObservable, andThen } from '../../src/engine/maybe-async.ts';
import type { VenuePort } from '../../src/engine/ports.ts';

/** One slice that may be tried for an hour. */
const patient = (over: Record<string, unknown> = {}): BenchOptions['strategies'][number] =>
  aTwap('twap', { slices: 1, duration: 'PT1H', ...over });

const error = (status: number, said: string, retryAfterMs?: number): QuoteAnswer => ({
  kind: 'error',
  status,
  error: said,
  retryAfterMs,
});

/** When the attempts of slices asked for a quote, ms after the start. Probes are left out. */
const asked = ({ sent }: Bench): readonly number[] =>
  sent.quotes.flatMap(({ clientId, at }) => (clientId === undefined ? [] : [at]));

/** Answers quote requests of attempts with `answer`, as long as it gives one. */
function asking(
  answer: (nth: number, at: number) => QuoteAnswer | undefined,
  over: Partial<BenchOptions> = {},
): Bench {
  let count = 0;
  return started({
    strategies: [patient()],
    ...over,
    wrap: (venue, clock) =>
      faultyVenue({
        quote: ({ clientId }) => (clientId === undefined ? undefined : answer(++count, clock.now() - START)),
      })(venue, clock),
  });
}

const sliceEnds = (bench: Bench): readonly { result: string; reason?: Reason | undefined }[] =>
  bench.bodies('slice');

describe('a venue without quotes', () => {
  it.each([
    'quotes temporarily unavailable. please try again later.',
    'btcusd quotes temporarily unavailable. please try again later.',
  ])('is asked again with growing, jittered waits, and trading continues when it recovers: %s', (said) => {
    const bench = asking((_, at) => (at < 3 * MINUTE_MS ? error(503, said) : undefined));
    bench.until(10 * MINUTE_MS);
    const { baseMs, capMs } = aPolicy().retry;
    const waits = asked(bench)
      .slice(1)
      .map((at, i) => at - (asked(bench)[i] ?? 0));
    for (const [i, wait] of waits.entries())
      expect(wait).toBeLessThanOrEqual(Math.min(capMs, baseMs * 2 ** i) + 100);
    expect(Math.max(...waits)).toBeGreaterThan(5_000);
    expect(asked(bench).length).toBeLessThan(30);
    expect(new Set(waits).size).toBe(waits.length);
    expect(text(executedTotal(bench.exchange))).toBe('1');
    expect(faultsOf(bench)).toEqual([]);
  });

  it('causes a slice to be skipped when its retry budget is spent, and the next slice has a new budget', () => {
    const bench = asking((_, at) => (at < HOUR_MS ? NO_QUOTES : undefined), {
      strategies: [aTwap('twap', { slices: 2, duration: 'PT2H' })],
    });
    bench.until(3 * HOUR_MS);
    expect(sliceEnds(bench)[0]).toMatchObject({ result: 'skipped', reason: 'retry_budget' });
    expect(sliceEnds(bench)[1]).toMatchObject({ result: 'filled' });
    const spent = asked(bench).filter((at) => at < HOUR_MS);
    expect(Math.max(...spent)).toBeLessThan(11 * MINUTE_MS);
  });

  it('leaves a partly traded slice filled with the traded amount when the budget is spent', () => {
    const total_quantity = { amount: '10', currency: 'btc' };
    const bench = asking((nth) => (nth > 3 ? NO_QUOTES : undefined), {
      strategies: [patient({ total_quantity })],
    });
    bench.until(2 * HOUR_MS);
    const [end] = sliceEnds(bench);
    expect(end).toMatchObject({ result: 'filled', reason: 'retry_budget' });
    expect(text(executedTotal(bench.exchange))).not.toBe('0');
    expect(faultsOf(bench)).toEqual([]);
  });

  it('does not use up the budget of a slice with failures that lie far apart', () => {
    const bench = asking((nth) => (nth % 2 === 1 ? NO_QUOTES : undefined), {
      strategies: [patient({ duration: 'PT12H', slices: 12, limit_price: '1' })],
      policy: { retry: { ...aPolicy().retry, requoteMs: 20_000 } },
    });
    bench.until(13 * HOUR_MS);
    expect(sliceEnds(bench)).toHaveLength(12);
    expect(new Set(sliceEnds(bench).map(({ result }) => result))).toEqual(new Set(['expired']));
  });
});

describe('an answer to a quote request', () => {
  const unusable: readonly (readonly [string, QuoteAnswer])[] = [
    ['garbled', { kind: 'garbled', status: 200, why: 'not JSON' }],
    ['lost', { kind: 'lost', sent: true, why: 'timeout' }],
    ['500', error(500, 'oops')],
    ['400', error(400, 'what')],
  ];
  it.each(unusable)('causes another request if it is %s', (_, answer) => {
    const bench = asking((nth) => (nth <= 2 ? answer : undefined));
    bench.until(5 * MINUTE_MS);
    expect(asked(bench)).toHaveLength(3);
    expect(faultsOf(bench)).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('1');
  });

  it('cools the whole route down for the time that the venue states if it is a 429', () => {
    const bench = asking((nth) => (nth === 1 ? error(429, 'too many requests', 7_000) : undefined), {
      strategies: [
        patient(),
        aTwap('other', { start_time: '2026-01-05T00:00:01Z', slices: 1, duration: 'PT1H' }),
      ],
    });
    bench.until(5 * MINUTE_MS);
    expect(asked(bench)).toHaveLength(3);
    expect((asked(bench)[1] ?? 0) - (asked(bench)[0] ?? 0)).toBeGreaterThanOrEqual(7_000);
    expect(faultsOf(bench)).toEqual([]);
  });

  it('ends the slice after one request if it says that the pair is not supported', () => {
    const bench = asking(() =>
      error(422, 'btcusd not currently supported for RFQ. please contact support for more information.'),
    );
    bench.until(5 * MINUTE_MS);
    expect(asked(bench)).toHaveLength(1);
    expect(sliceEnds(bench)).toMatchObject([{ result: 'skipped', reason: 'unsupported_pair' }]);
  });

  it.each([401, 403])(
    'halts the desk if it is a %i: a restart does not lift the halt, but a person does',
    (status) => {
      let isRefused = true;
      const refuse = (): QuoteAnswer | undefined => (isRefused ? error(status, 'no') : undefined);
      const bench = asking(refuse);
      bench.until(5 * MINUTE_MS);
      expect(bench.desk.state.control).toBe('halted');
      expect(asked(bench)).toHaveLength(1);
      isRefused = false;
      const again = nextProcess(bench, 0, { strategies: [patient()] });
      again.until(20 * MINUTE_MS);
      expect(again.desk.state.control).toBe('halted');
      expect(ledgerTrades(again.exchange)).toEqual([]);
      const rearmed = nextProcess(again, 0, { strategies: [patient()] }, { rearm: 'new token' });
      again.until(50 * MINUTE_MS);
      expect(faultsOf(rearmed)).toEqual([]);
      expect(ledgerTrades(again.exchange)).toHaveLength(1);
    },
  );

  it('also halts the desk if it is a 401 to a probe, and no further probes are sent', () => {
    const wrap = faultyVenue({ quote: () => error(401, 'invalid token. check authorization header.') });
    const bench = started({ strategies: [patient()], wrap }, 30 * MINUTE_MS);
    expect(bench.desk.state.control).toBe('halted');
    expect(bench.sent.quotes).toHaveLength(2);
  });

  it('is not executed again if its quote was received before', () => {
    let first: QuoteAnswer | undefined;
    const wrap = (venue: VenuePort): VenuePort => ({
      ...venue,
      quote: (request) =>
        andThen(venue.quote(request), (answer) =>
          request.clientId === undefined || answer.kind !== 'quote' ? answer : (first ??= answer),
        ),
    });
    const bench = started(
      { strategies: [aTwap('twap', { slices: 2, duration: 'PT10M' })], wrap },
      10 * MINUTE_MS,
    );
    expect(bench.sent.orders).toHaveLength(1);
    expect(reasons(bench)).toContain('quote_reused');
  });
});

const reasons = (bench: Bench): readonly (Reason | undefined)[] =>
  bench.bodies('attempt').map((body) => body.reason);

/** The facts of alerts about quotes that cannot be used. */
const shortages = (bench: Bench): readonly unknown[] =>
  bench.raised.flatMap(({ id, facts }) => (id === 'no_quotes' ? [facts] : []));

describe('a quote', () => {
  it('is not executed if it lives too briefly for an order', () => {
    const bench = started(
      {
        strategies: [patient()],
        venue: { quoteLifeMs: 1_500 },
        policy: { orderMarginMs: 1_490 },
      },
      MINUTE_MS,
    );
    expect(new Set(reasons(bench))).toEqual(new Set(['quote_too_short']));
    expect(ledgerTrades(bench.exchange)).toEqual([]);
  });

  it.each([1_000, 1_500, 5_000, 8_400])(
    'is executed if it lives %i ms, which is shorter than the order timeout and its margin',
    (quoteLifeMs) => {
      const bench = started({ strategies: [aTwap()], venue: { quoteLifeMs } }, 12 * MINUTE_MS, {
        isUntilDone: true,
      });
      expect(ledgerTrades(bench.exchange)).toHaveLength(10);
      expect(faultsOf(bench)).toEqual([]);
    },
  );

  it('is filled by the answer to its order, even long after the quote has expired', () => {
    const bench = started(
      {
        strategies: [patient()],
        venue: { quoteLifeMs: 1_500 },
        wrap: (venue, clock) => ({
          ...venue,
          order: (request) => toObservable(venue.order(request)).pipe(delay(5 * SECOND_MS, clock)),
        }),
      },
      MINUTE_MS,
    );
    expect(fillsOf(bench.records()).map(({ source }) => source)).toEqual(['order']);
    expect(reasons(bench)).toEqual([undefined]);
  });

  it.each<readonly [string, Partial<BenchOptions>, number]>([
    ['live too briefly', { venue: { quoteLifeMs: 1_500 }, policy: { orderMarginMs: 2_000 } }, 2_020],
    ['take too long to arrive', { venue: { quoteLifeMs: 1_500 }, quoteLatencyMs: 1_200 }, 1_700],
  ])('raises one alert with both figures when three in a row %s', (_, over, needsMs) => {
    const bench = started({ strategies: [patient()], ...over }, 5 * MINUTE_MS);
    expect(reasons(bench).length).toBeGreaterThan(10);
    expect(shortages(bench)).toEqual([
      {
        pair: 'btcusd',
        reason: 'quote_too_short',
        quotes: 3,
        life_ms: 1_500,
        needs_ms: needsMs,
        order_margin_ms: over.policy?.orderMarginMs ?? 500,
      },
    ]);
    expect(shortQuoteWords(bench.desk)).toEqual([
      expect.stringContaining(`the quotes of btcusd live 1500 ms and an order needs ${needsMs} ms`),
    ]);
  });

  it('ends the report when it lives long enough again, and the next three short ones raise a new alert', () => {
    let lifeMs = 1_500;
    const wrap = (venue: VenuePort): VenuePort => ({
      ...venue,
      quote: (request) =>
        andThen(venue.quote(request), (answer) =>
          answer.kind === 'quote' ? { ...answer, quote: { ...answer.quote, lifeMs } } : answer,
        ),
    });
    const strategies = [aTwap('twap', { slices: 20, duration: 'PT20M' })];
    const bench = started({ strategies, policy: { orderMarginMs: 2_000 }, wrap }, 2 * MINUTE_MS);
    lifeMs = 5_000;
    bench.until(4 * MINUTE_MS);
    expect(shortQuoteWords(bench.desk)).toEqual([]);
    expect(ledgerTrades(bench.exchange).length).toBeGreaterThan(0);
    lifeMs = 1_500;
    bench.until(6 * MINUTE_MS);
    expect(shortages(bench)).toHaveLength(2);
  });

  it('is not executed while it is worse than the limit price', () => {
    const bench = started({ strategies: [patient({ duration: 'PT6H', limit_price: '59900' })] }, 7 * HOUR_MS);
    expect(reasons(bench)).toContain('limit_price');
    const fills = fillsOf(bench.records());
    expect(fills).toHaveLength(1);
    expect(price(fills[0]?.price ?? '0').lte('59900')).toBe(true);
  });

  it('is not executed if it drifted too far from the decision price', () => {
    const { limits } = aPolicy();
    const bench = started(
      {
        strategies: [patient({ limit_price: undefined })],
        venue: {
          accounts: [{ balances: { usd: '1000000' } }],
          pairs: { btcusd: { startPrice: '60000', volatilityPctYear: 900 } },
        },
        policy: { limits: { ...limits, collarBps: ratio('500'), driftBpsMax: ratio('0.5') } },
      },
      10 * MINUTE_MS,
    );
    expect(reasons(bench)).toContain('price_drift');
  });
});

describe('an operator', () => {
  it('complaint 13: can pause the desk for a limited time, after which it continues automatically', () => {
    const bench = started({ strategies: [aTwap('twap', { slices: 6, duration: 'PT6M' })] }, 90 * SECOND_MS);
    const { says } = bench.tell({ do: 'pause', forMs: 2 * MINUTE_MS });
    expect(says).toBe('the desk is paused until 2026-01-05T00:03:30.000Z');
    bench.until(3.5 * MINUTE_MS - 1);
    expect([bench.desk.control, ledgerTrades(bench.exchange).length]).toEqual(['paused', 2]);
    bench.until(10 * MINUTE_MS);
    expect(faultsOf(bench)).toEqual([]);
    expect(ledgerTrades(bench.exchange).length).toBeGreaterThan(3);
    const said = bench.bodies('control').map((body) => [body.state, body.by]);
    expect(said).toEqual([
      ['paused', 'ann'],
      ['active', 'tranche'],
    ]);
  });

  it('can pause the desk for a limited time, and the next process ends the pause in time', () => {
    const strategies = [aTwap('twap', { slices: 6, duration: 'PT6M' })];
    const before = started({ strategies }, 90 * SECOND_MS);
    before.operator$.next({ do: 'pause', by: 'ops', why: 'lunch', forMs: 2 * MINUTE_MS });
    before.until(2 * MINUTE_MS);
    const bench = nextProcess(before, 0, { strategies });
    bench.until(3.4 * MINUTE_MS);
    expect(bench.desk.control).toBe('paused');
    bench.until(3.6 * MINUTE_MS);
    expect(bench.desk.control).toBe('active');
  });

  it.each([
    ['pause', 'paused'],
    ['halt', 'halted'],
    ['resume', 'active'],
  ])(
    'can replace a limited pause by a %s without an end, and the end of the pause then has no effect',
    (act, state) => {
      const bench = started({ strategies: [patient()] }, SECOND_MS);
      bench.operator$.next({ do: 'pause', by: 'ops', why: 'lunch', forMs: MINUTE_MS });
      bench.until(10 * SECOND_MS);
      bench.tell({ do: act });
      const before = bench.bodies('control').length;
      bench.until(5 * MINUTE_MS);
      expect(bench.desk.control).toBe(state);
      expect(bench.bodies('control')).toHaveLength(before);
    },
  );

  it.each([[{ do: 'pause', pair: 'btcusd' } as const], [{ do: 'resume' } as const]])(
    'cannot set an end for %j',
    (command) => {
      const bench = started({ strategies: [patient()] }, SECOND_MS);
      expect(bench.tell({ forMs: 1, ...command }).isDone).toBe(false);
    },
  );

  it('can halt the desk between quote and order, and no order is sent', () => {
    const bench: Bench = started({ strategies: [patient()], quoteLatencyMs: 100 });
    const sent = bench.sent.orders;
    while (bench.desk.state.attempts.size === 0) bench.run(10);
    bench.operator$.next({ do: 'halt', by: 'ops', why: 'now' });
    bench.until(10 * MINUTE_MS);
    expect(sent).toEqual([]);
    bench.operator$.next({ do: 'resume', by: 'ops', why: 'a halt is not lifted like this' });
    bench.until(20 * MINUTE_MS);
    expect([bench.desk.state.control, sent.length]).toEqual(['halted', 0]);
  });
});

/** The venue states something else of each order that it filled. */
const answering =
  (over: (order: Order) => Partial<Order>) =>
  (venue: VenuePort): VenuePort => ({
    ...venue,
    order: (request) =>
      andThen(venue.order(request), (answer) =>
        answer.kind === 'order' ? { ...answer, order: { ...answer.order, ...over(answer.order) } } : answer,
      ),
  });

describe('a fill', () => {
  it('keeps the desk paused beyond the end of a limited pause if it differs from its quote', () => {
    const bench = started(
      {
        strategies: [aTwap('twap', { slices: 4, duration: 'PT4M' })],
        orderLatencyMs: 2_000,
        policy: { orderMarginMs: 100, accountPollMs: 10 * MINUTE_MS },
        wrap: answering(() => ({ filled: quantity('0.2') })),
      },
      SECOND_MS,
    );
    bench.operator$.next({ do: 'pause', by: 'ops', why: 'lunch', forMs: MINUTE_MS });
    expect([bench.desk.state.attempts.size, bench.desk.state.fills]).toEqual([1, 0]);
    bench.until(5 * SECOND_MS);
    expect([bench.desk.state.fills, bench.desk.state.controlUntil]).toEqual([1, undefined]);
    bench.until(2 * MINUTE_MS);
    expect(bench.desk.state.control).toBe('paused');
  });

  it('does not stop the desk if it is a cent away from its quote', () => {
    const wrap = answering(({ filledAmount }) => ({
      filledAmount: money(filledAmount.plus('0.01').toFixed()),
    }));
    const bench = started(
      { strategies: [aTwap('twap', { slices: 4, duration: 'PT4M' })], wrap },
      10 * MINUTE_MS,
    );
    expect(bench.desk.state.control).toBe('active');
    expect(ledgerTrades(bench.exchange)).toHaveLength(4);
  });
});
