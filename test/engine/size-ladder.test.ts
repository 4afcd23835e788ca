import { describe, expect, it } from 'vitest';
import { parseClientId } from '../../src/core/ids.ts';
import { text } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { QuoteAnswer, QuoteRequest } from '../../src/core/venue.ts';
import { dryRunVenue } from '../../src/venue/dry-run.ts';
import { aTwap, started, leastGap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, ledgerTrades } from './oracle.ts';
import { faultyVenue } from './faulty-venue.ts';

/** Slices of 600 000 usd; a quote costs ten basis points more at a million, with the square root of its size. */
const MARKET = {
  accounts: [{ balances: { usd: '9000000', btc: '200' } }],
  pairs: {
    btcusd: {
      startPrice: '60000',
      volatilityPctYear: 10,
      halfSpreadBps: 5,
      impactBps: 10,
      maxUsd: '1000000',
    },
  },
};
const PLAN = {
  total_quantity: { amount: '60', currency: 'btc' },
  slices: 6,
  duration: 'PT30M',
  start_time: '2026-01-05T00:04:00Z',
};
const LADDER = { size_ladder: { max_impact_bps: 2 } };

interface Watched {
  readonly bench: Bench;
  readonly probes: readonly { readonly at: number; readonly size: string }[];
  /** How long quotes of slices waited for their turn. */
  readonly waits: readonly number[];
}

function ran(
  own: Record<string, unknown>,
  over: Partial<BenchOptions> = {},
  answer?: (request: QuoteRequest) => QuoteAnswer | undefined,
): Watched {
  const waits: number[] = [];
  const isLadder = ({ clientId, size }: QuoteRequest): boolean =>
    clientId === undefined && size.by === 'quantity';
  const bench = started(
    {
      strategies: [aTwap('twap', { ...PLAN, ...own })],
      venue: MARKET,
      wrap: faultyVenue({ quote: (request) => (isLadder(request) ? answer?.(request) : undefined) }),
      observer: {
        paced: (route, priority, waitedMs) => {
          if (route === 'quote' && priority === 'quote') waits.push(waitedMs);
        },
      },
      ...over,
    },
    40 * MINUTE_MS,
  );
  const probes = bench.sent.quotes
    .filter(isLadder)
    .map(({ at, size }) => ({ at, size: size.by === 'quantity' ? text(size.quantity) : '' }));
  return { bench, probes, waits };
}
const sizes = (bench: Bench): readonly string[] =>
  ledgerTrades(bench.exchange).map((trade) => text(trade.quantity));
const cost = (bench: Bench): number =>
  ledgerTrades(bench.exchange).reduce((sum, trade) => sum + Number(trade.amount), 0);
/** Everything that the desk decided, asked for and traded, with its times. */
const deeds = (bench: Bench): readonly string[] =>
  bench.records().flatMap(({ at, body }) => {
    if (body.kind === 'wake' || body.kind === 'intent') return [`${at} ${JSON.stringify(body)}`];
    return body.kind === 'fill' ? [`${body.slice} ${body.quantity} ${body.price}`] : [];
  });

describe('a size ladder', () => {
  it('probes the cost of size while the desk is idle, and cuts slices into pieces that cost little more', () => {
    const { bench, probes } = ran(LADDER);
    expect(faultsOf(bench)).toEqual([]);
    expect(new Set(probes.map(({ size }) => size))).toEqual(new Set(['1', '4', '10']));
    expect(text(executedTotal(bench.exchange))).toBe('60');
    // Ten coins cost 5.3 basis points more than one, four cost 2.4: three pieces each, of which none is larger than four.
    expect(sizes(bench).length).toBeGreaterThanOrEqual(18);
    expect(sizes(bench).every((size) => Number(size) <= 4)).toBe(true);
    const cuts = bench.bodies('intent').flatMap((body) => [...body.cuts]);
    expect(new Set(cuts)).toEqual(new Set(['size_impact']));
    const whole = ran({});
    expect(sizes(whole.bench)).toHaveLength(6);
    expect(cost(bench)).toBeLessThan(cost(whole.bench));
  });

  it('makes no more pieces than fit into the time of a slice', () => {
    const { bench } = ran({ size_ladder: { max_impact_bps: 0 }, slices: 60 });
    expect(faultsOf(bench)).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('60');
    const pieces = new Map<number, number>();
    for (const { clientId } of ledgerTrades(bench.exchange)) {
      const slice = parseClientId(clientId)?.slice ?? -1;
      pieces.set(slice, (pieces.get(slice) ?? 0) + 1);
    }
    // Half a minute a slice, six seconds a piece; without the bound there would be ten.
    expect(Math.max(...pieces.values())).toBeLessThanOrEqual(5);
    expect(Math.max(...pieces.values())).toBeGreaterThan(1);
  });

  it('never delays quotes of slices, and sends no probe in the three seconds before a slot', () => {
    const busy = aTwap('busy', {
      pair: 'ethusd',
      slices: 90,
      duration: 'PT15M',
      total_quantity: { amount: '90', currency: 'eth' },
    });
    const pairs = { ...MARKET.pairs, ethusd: { startPrice: '3000', volatilityPctYear: 10 } };
    const { bench, probes, waits } = ran(LADDER, {
      strategies: [aTwap('twap', { ...PLAN, ...LADDER }), busy],
      venue: { ...MARKET, pairs },
    });
    expect(faultsOf(bench)).toEqual([]);
    expect(probes.length).toBeGreaterThan(9);
    expect(Math.max(...waits)).toBe(0);
    const slots = [
      ...Array.from({ length: 6 }, (_, slot) => (4 + 5 * slot) * MINUTE_MS),
      ...Array.from({ length: 90 }, (_, slot) => slot * 10 * SECOND_MS),
    ];
    for (const { at } of probes)
      expect(slots.filter((slot) => at >= slot - 3 * SECOND_MS && at < slot)).toEqual([]);
    expect(leastGap(probes)).toBeGreaterThanOrEqual(1_000);
  });

  it('does not let unusable answers to probes pause or slow a slice', () => {
    const garbled: QuoteAnswer = { kind: 'garbled', status: 200, why: 'not JSON' };
    const { bench, probes } = ran(LADDER, { policy: {} }, () => garbled);
    expect(probes.length).toBeGreaterThan(3);
    expect(faultsOf(bench)).toEqual([]);
    expect(sizes(bench)).toHaveLength(6);
    expect(bench.desk.state.totals.malformed('btcusd')).toBe(0);
    expect(bench.desk.failures.size).toBe(0);
  });

  it('learns a venue maximum for the slices from a refused probe', () => {
    const venue = { ...MARKET, pairs: { btcusd: { ...MARKET.pairs.btcusd, maxUsd: '400000' } } };
    const { bench } = ran(LADDER, { venue });
    const first = bench.records().findIndex(({ body }) => body.kind === 'maximum');
    const intent = bench.records().findIndex(({ body }) => body.kind === 'intent');
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(intent);
    expect(faultsOf(bench)).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('60');
  });

  it('halts the desk if the venue refuses the token for a probe', () => {
    const refused: QuoteAnswer = { kind: 'error', status: 401, error: 'no' };
    const { bench } = ran(LADDER, {}, () => refused);
    expect(bench.desk.control).toBe('halted');
  });

  it('probes the same for the same seed, and a dry run decides as a live desk does', () => {
    const live = deeds(ran(LADDER, { policy: { onDifference: 'ignore' } }).bench);
    expect(deeds(ran(LADDER, { policy: { onDifference: 'ignore' } }).bench)).toEqual(live);
    const dry = started(
      {
        strategies: [aTwap('twap', { ...PLAN, ...LADDER })],
        venue: MARKET,
        policy: { mode: 'dry_run', onDifference: 'ignore' },
        wrap: (venue, clock) => dryRunVenue(venue, { clock, past: [] }),
        orderLatencyMs: 0,
      },
      40 * MINUTE_MS,
    );
    const instantly = ran(LADDER, { policy: { mode: 'live', onDifference: 'ignore' }, orderLatencyMs: 0 });
    expect(deeds(dry)).toEqual(deeds(instantly.bench));
    expect(ledgerTrades(dry.exchange)).toEqual([]);
  });
});
