import { describe, expect, it } from 'vitest';
import { money, quantity, text } from '../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { QuoteAnswer, QuoteRequest } from '../../src/core/venue.ts';
import { inProcessMarket } from '../support/book-market.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { faultyVenue } from './faulty-venue.ts';
import { aTwap, nextProcess, started, aPolicy } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, ledgerTrades, wrongOf } from './oracle.ts';

const ran = (over: Partial<BenchOptions>, untilMs = 15 * MINUTE_MS): Bench => {
  return started({ strategies: [aTwap()], ...over }, untilMs);
};
const sliceEnds = (bench: Bench): readonly string[] =>
  bench.bodies('slice').map((body) => `${body.result} ${body.reason ?? ''}`.trim());
const maximums = (bench: Bench): readonly string[] =>
  bench.bodies('maximum').map((body) => `${body.why ?? 'told'} ${body.usd}`);

describe('a reserve', () => {
  const account = { accounts: [{ balances: { usd: '30000', btc: '2' } }] };

  it('stays in the account: a twap buys only with funds above it, and then records the reason', () => {
    const keep = new Map([['usd', quantity('12000')]]);
    const bench = ran({ venue: account, policy: { keep } });
    expect(bench.balance('usd')).toBeGreaterThanOrEqual(12_000);
    expect(bench.balance('usd')).toBeLessThan(12_010);
    expect(faultsOf(bench)).toEqual([]);
    expect(sliceEnds(bench).slice(0, 3)).toEqual(['filled', 'filled', 'filled kept_back']);
    expect(sliceEnds(bench).at(-1)).toBe('skipped below_minimum');
    const details = bench
      .bodies('slice')
      .flatMap((body) => (body.reason === 'kept_back' ? [body.detail] : []));
    expect(details[0]).toMatch(/^limit=\d+\.\d+ less 12000 usd value=\d/u);
  });

  it('is checked again in the gate if others spend the funds above it while a quote is in flight', () => {
    const bench = started(
      {
        strategies: [
          aTwap('twap', {
            slices: 1,
            start_time: '2026-01-05T00:00:18Z',
            total_quantity: { amount: '0.15', currency: 'btc' },
          }),
        ],
        venue: { ...account, quoteLifeMs: 40_000 },
        policy: { keep: new Map([['usd', quantity('20000')]]), accountPollMs: 1_000 },
        market: (exchange, clock) => inProcessMarket(exchange, { clock, pairs: ['btcusd'], everyMs: 1_000 }),
        quoteLatencyMs: 9_000,
      },
      18_500,
    );
    const { exchange, clock, account: name } = bench;
    const size = { by: 'amount', amount: money('5000') } as const;
    const quote = exchange.quote(name, { pair: 'ethusd', side: 'buy', size }, clock.wall());
    if (!quote.ok) throw new Error(quote.error);
    const { quoteId } = quote.value;
    exchange.order(name, { pair: 'ethusd', side: 'buy', size, quoteId }, clock.wall());
    bench.until(15 * MINUTE_MS);
    const ends = bench.bodies('attempt');
    expect(ends[0]).toMatchObject({ result: 'discarded', reason: 'no_funds' });
    expect(bench.balance('usd')).toBeGreaterThanOrEqual(20_000);
  });
});

describe('a lot size', () => {
  it('rounds every slice to a multiple, and the slices still sum to the total', () => {
    const minimumOf = () => ({ notional: money('5'), lot: quantity('0.01') });
    const bench = ran({
      policy: { minimumOf },
      strategies: [aTwap('twap', { slices: 7, duration: 'PT7M' })],
    });
    expect(ledgerTrades(bench.exchange).map((trade) => text(trade.quantity))).toEqual([
      '0.14', '0.14', '0.14', '0.14', '0.14', '0.14', '0.16',
    ]); // prettier-ignore
    expect(faultsOf(bench)).toEqual([]);
  });

  it('makes the plan invalid if it does not divide the total', () => {
    const minimumOf = () => ({ lot: quantity('0.1') });
    const total_quantity = { amount: '1.05', currency: 'btc' };
    const bench = ran({ policy: { minimumOf }, strategies: [aTwap('twap', { total_quantity })] });
    expect(bench.desk.state.lives.get('twap')?.finished).toBe('invalid_plan');
  });
});

/** Some 780 000 usd an hour, in one slice each: four pieces of what the venue quotes at most. */
const LARGE = aTwap('twap', {
  slices: 3,
  duration: 'PT3H',
  total_quantity: { amount: '39', currency: 'btc' },
});

const tooLarge = (most: string): QuoteAnswer => ({
  kind: 'error',
  status: 422,
  error: `request USD value 780000.00 greater than max USD value ${most} for pair btcusd`,
});

/** A venue that names this maximum once, to the nth request of a slice. */
const naming = (most: string, nth: number): BenchOptions['wrap'] => {
  let asked = 0;
  return faultyVenue({
    quote: (request: QuoteRequest) =>
      request.clientId !== undefined && ++asked === nth ? tooLarge(most) : undefined,
  });
};
const ample = {
  accounts: [{ balances: { usd: '9000000' } }],
  pairs: { btcusd: { startPrice: '60000', maxUsd: '1000000' } },
};

describe('the maximum quote size of the venue', () => {
  it('is raised cautiously after fills of that size, and costs only one quote when the venue states it again', () => {
    const bench = ran({ strategies: [LARGE], venue: { accounts: ample.accounts } }, 4 * HOUR_MS);
    expect(faultsOf(bench)).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('39');
    const told = maximums(bench);
    expect(told[0]).toBe('told 250000');
    expect(new Set(told)).toEqual(new Set(['told 250000', 'raised 375000']));
    const intents = bench.bodies('intent').length;
    expect(intents - ledgerTrades(bench.exchange).length).toBeLessThanOrEqual(3);
  });

  it('recovers from a wrong answer: fills raise it until the full size is requested again', () => {
    const wrap = naming('60000', 1);
    const half = aTwap('twap', {
      slices: 8,
      duration: 'PT80M',
      total_quantity: { amount: '104', currency: 'btc' },
    });
    const bench = ran({ strategies: [half], venue: ample, wrap }, 4 * HOUR_MS);
    expect(faultsOf(bench)).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('104');
    const [told, ...raised] = maximums(bench);
    expect(told).toBe('told 60000');
    expect(raised.length).toBeGreaterThan(3);
    expect(raised.every((one) => one.startsWith('raised '))).toBe(true);
    // The last slices go out whole again, well before the hour in which the odd answer would have been forgotten.
    const last = ledgerTrades(bench.exchange).slice(-3);
    expect(last.map((trade) => text(trade.quantity))).toEqual(['13', '13', '13']);
  });

  it.each([
    ['0.01', 'after a minute', MINUTE_MS],
    ['3', 'after a minute', MINUTE_MS],
    ['900', 'at once', 0],
  ])(
    'of %s usd, stated once, leaves much of a slice, so the whole is requested again %s',
    (most, _when, waitMs) => {
      const bench = ran({ strategies: [LARGE], venue: ample, wrap: naming(most, 1) }, 4 * HOUR_MS);
      expect(faultsOf(bench)).toEqual([]);
      expect(ledgerTrades(bench.exchange).map((trade) => text(trade.quantity))).toEqual(['13', '13', '13']);
      const quoted = bench.timed('intent');
      expect(quoted.length).toBeLessThanOrEqual(5);
      const [first, second] = quoted.map(({ at }) => at);
      expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(waitMs);
      expect((second ?? 0) - (first ?? 0)).toBeLessThan(waitMs + MINUTE_MS);
    },
  );

  /** 12 000 000 usd in a slice, of which 40 pieces of at most 250 000 usd trade. */
  const HUGE = aTwap('twap', {
    slices: 3,
    duration: 'PT3H',
    total_quantity: { amount: '600', currency: 'btc' },
  });
  const huge: Partial<BenchOptions> = {
    strategies: [HUGE],
    venue: { accounts: [{ balances: { usd: '90000000' } }] },
    policy: { limits: { ...aPolicy().limits, orderNotionalMax: money('1e9') } },
  };
  const ordersOf = (bench: Bench): readonly number[] =>
    [0, 1, 2].map((slice) => bench.bodies('fill').filter((fill) => fill.slice === slice).length);

  it('makes 40 pieces of a slice that would need more; the rest goes to later slices, or is left with its reason', () => {
    const bench = ran(huge, 4 * HOUR_MS);
    expect(faultsOf(bench)).toEqual([]);
    expect(ordersOf(bench)).toEqual([40, 40, 40]);
    expect(sliceEnds(bench)).toEqual(Array.from({ length: 3 }, () => 'filled venue_maximum'));
    for (const { detail } of bench.bodies('slice'))
      expect(detail).toMatch(/^limit=40 pieces of at most [34]\.\d+ btc value=\d+\.\d+ btc left$/u);
    expect(bench.bodies('intent').length).toBeLessThanOrEqual(126);
  });

  it('makes no more than 40 pieces of a slice across a restart', () => {
    const first = started({ ...huge, strategies: [HUGE] }, 3_000);
    expect(ordersOf(first)[0]).toBeGreaterThan(0);
    const second = nextProcess(first, 0, { strategies: [HUGE], policy: huge.policy ?? {} });
    second.until(30 * MINUTE_MS);
    expect(ordersOf(second)[0]).toBe(40);
    expect(wrongOf(second)).toEqual([]);
  });

  it('survives a restart, because the journal contains it with its origin', () => {
    const first = started({ strategies: [LARGE], venue: { accounts: ample.accounts } }, 3_000);
    const second = nextProcess(first, 0, { strategies: [LARGE] });
    second.until(30 * MINUTE_MS);
    expect(second.desk.state.maximums.get('btcusd')).toMatchObject({ why: 'told' });
    expect(maximums(second).filter((one) => one.startsWith('told'))).toHaveLength(1);
    expect(text(executedTotal(second.exchange))).toBe('13');
  });
});

/** A constant market, five basis points on either side of 60 000. */
const CALM = {
  accounts: [{ balances: { usd: '1000000', btc: '25' } }],
  pairs: { btcusd: { startPrice: '60000', volatilityPctYear: 0, halfSpreadBps: 5, impactBps: 0 } },
};
const tactical = (
  tactics: Record<string, unknown>,
  over: Partial<BenchOptions> = {},
  minutes = 15,
): Bench => {
  return started({ strategies: [aTwap('twap', tactics)], venue: CALM, ...over }, minutes * MINUTE_MS);
};
/** The policy of a desk that waits this long between two quotes of a slice. */
const requotingAfter = (requoteMs: number): Partial<DeskSettings> => ({
  retry: { ...aPolicy().retry, requoteMs },
});
const attempts = (bench: Bench): readonly string[] =>
  bench.bodies('attempt').map(({ reason, result }) => reason ?? result);

describe('a quote under price tactics', () => {
  it.each([
    [{ max_slippage_bps: 4.9 }, 'tactics_refused'],
    [{ max_slippage_bps: 5.1 }, undefined],
    [{ max_spread_bps: 9.9 }, 'tactics_refused'],
    [{ max_spread_bps: 10.1 }, undefined],
  ])('with %j is refused as %s (undefined: executed)', (tactics, reason) => {
    const bench = tactical(tactics, { policy: requotingAfter(10 * SECOND_MS) });
    const trades = ledgerTrades(bench.exchange).length;
    expect(trades).toBe(reason === undefined ? 10 : 0);
    expect(new Set(attempts(bench))).toEqual(new Set([reason ?? 'filled']));
    expect(bench.bodies('slice').map((slice) => slice.result)).toEqual(
      Array.from({ length: 10 }, () => (reason === undefined ? 'filled' : 'expired')),
    );
    const figures = bench.bodies('slice').filter(({ detail = '' }) => /^limit=.* value=.* bps/u.test(detail));
    expect(figures).toHaveLength(reason === undefined ? 0 : 10);
    expect(faultsOf(bench)).toEqual([]);
  });
});

describe('the reserve and minimum of a strategy', () => {
  const venue = { ...CALM, accounts: [{ balances: { usd: '30000' } }] };

  it('keep the larger of the reserves of the strategy and the desk in the account', () => {
    const keep = { amount: '12000', currency: 'usd' };
    expect(tactical({ keep }, { venue }).balance('usd')).toBeGreaterThanOrEqual(12_000);
    const policy = { keep: new Map([['usd', quantity('20000')]]) };
    expect(tactical({ keep }, { venue, policy }).balance('usd')).toBeGreaterThanOrEqual(20_000);
  });
});
