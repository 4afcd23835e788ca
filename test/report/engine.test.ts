import { concatMap, from, interval, startWith } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { venueTape } from '../../src/research/run/tape-market.ts';
import { tapeOf } from '../../src/research/tape/tape.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { money } from '../../src/core/money.ts';
import type { FillRecord, StoredRecord } from '../../src/core/record.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, after, instant } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../../src/simulator/options/options.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { START, aBench, aStrategy, aTwap } from '../engine/harness.ts';
import type { Bench, BenchOptions } from '../engine/harness.ts';
import { bps, meanText, times, units, wide, wideText } from './plain.ts';
import { problemsOf } from './validator.ts';

/** The first close is known at the start, and each other close one bar after the previous one. */
function aTape(pair: string, barMs: number, closes: readonly number[]): Tape {
  const close = Float64Array.from(closes);
  const at = Float64Array.from(closes, (_, i) => START + (i - 1) * barMs);
  const high = close.map((each) => each + 2);
  const columns = {
    times: at,
    open: close,
    high,
    low: close,
    close,
    volume: close.map((_, i) => 1 + (i % 3)),
  };
  return tapeOf({ pair, barMs, columns });
}

/** Runs the whole engine on a market made from these tapes. */
function ran(
  tapes: readonly Tape[],
  untilMs: number,
  { venue, ...options }: Omit<BenchOptions, 'venue'> & { readonly venue?: VenueInput },
): Bench {
  const clock = new VirtualClock(START);
  const exchange = new Exchange({
    options: venueOptions(venue),
    tapes: new Map(tapes.map((tape) => [tape.pair, venueTape(tape)])),
    startedAt: START,
  });
  const bench = aBench({ ...options, clock, exchange });
  bench.start();
  clock.run(after(START, untilMs));
  return bench;
}

function reported(bench: Bench, prices: readonly Tape[]): Report {
  const report = reportOf(figuresOf(bench.records(), { version: 't', prices }));
  expect(problemsOf(JSON.parse(JSON.stringify(report)))).toEqual([]);
  return report;
}

const fillsOf = (records: readonly StoredRecord[]): readonly FillRecord[] =>
  records.flatMap(({ body }) => (body.kind === 'fill' ? [body] : []));
const sum = (all: readonly bigint[]): bigint => all.reduce((a, b) => a + b, 0n);

describe('the report of a twap that the engine ran', () => {
  // The price rises by 3 a minute with small fluctuations, and exceeds the limit before the end.
  const closes = Array.from(
    { length: 60 },
    (_, i) => Math.round((60_000 + 3 * i + ((i * 7) % 5)) * 100) / 100,
  );
  const tape = aTape('btcusd', MINUTE_MS, closes);
  const bench = ran([tape], 12 * MINUTE_MS, {
    strategies: [
      aTwap('twap', { total_quantity: { amount: '1.00000007', currency: 'btc' }, limit_price: '60028' }),
    ],
    venue: {
      seed: '3',
      accounts: [{ balances: { usd: '1000000' } }],
      pairs: { btcusd: { halfSpreadBps: 1.5, impactBps: 2 } },
      unavailableProbability: 0.1,
      cancelProbability: 0.2,
      feeBps: 2,
    },
  });
  const records = bench.records();
  const fills = fillsOf(records);
  const report = reported(bench, [tape]);
  const [parent] = report.parents;
  const wakes = records.flatMap(({ at, body }) => (body.kind === 'wake' ? [{ at, body }] : []));
  const first = wakes.find(({ body }) => body.intents.length > 0);
  const finished = wakes.findLast(({ body }) => body.finished !== undefined);

  it('is of a run with several fills and an untraded remainder', () => {
    expect(fills.length).toBeGreaterThan(4);
    expect(fills.length).toBeLessThan(10);
    expect(finished?.body.finished).toBe('window_over');
    expect(parent?.arrival_price).toBe(String(closes[0]));
  });

  it('has the shortfall of a plain calculation from the records and the closes, to the last digit', () => {
    const q = units('1.00000007');
    const f = sum(fills.map(({ quantity }) => units(quantity)));
    const paid = wide(sum(fills.map(({ amount }) => units(amount))));
    const fees = wide(sum(fills.map((fill) => units(fill.fees))));
    const pa = units(first?.body.intents[0]?.decision_price ?? '');
    const pe = units(String(closes[Math.floor(((finished?.at ?? 0) - START) / MINUTE_MS)]));
    const trading = paid - times(f, pa);
    const opportunity = times(q - f, pe - pa);
    expect(parent?.costs).toMatchObject({
      delay: '0',
      trading: wideText(trading),
      opportunity: wideText(opportunity),
      fees: wideText(fees),
      total: wideText(trading + opportunity + fees),
      arrival_slippage_bps: bps(trading, times(f, pa)),
      bps: {
        trading: bps(trading, times(q, pa)),
        opportunity: bps(opportunity, times(q, pa)),
        fees: bps(fees, times(q, pa)),
        total: bps(trading + opportunity + fees, times(q, pa)),
      },
    });
    expect(opportunity).toBeGreaterThan(0n);
    expect(fees).toBeGreaterThan(0n);
  });

  it('has the benchmarks of the closes over its window, from start to end', () => {
    const [begun, ended] = [Date.parse(parent?.window.from ?? ''), Date.parse(parent?.window.until ?? '')];
    expect(begun).toBe(START);
    let area = 0;
    let [amount, volume] = [0, 0];
    for (const [i, close] of closes.entries()) {
      const known = START + i * MINUTE_MS;
      const overlap = Math.min(ended, known + MINUTE_MS) - Math.max(begun, known);
      if (overlap > 0) area += close * overlap;
      if (known <= begun || known > ended) continue;
      amount += (1 + (i % 3)) * ((close + 2 + close + close) / 3);
      volume += 1 + (i % 3);
    }
    const twap = meanText(area, ended - begun);
    expect(parent?.twap?.price).toBe(twap);
    expect(parent?.vwap?.price).toBe(meanText(amount, volume));
    const f = sum(fills.map(({ quantity }) => units(quantity)));
    const over = wide(sum(fills.map((fill) => units(fill.amount)))) - times(f, units(twap));
    expect(parent?.twap?.slippage_bps).toBe(bps(over, times(f, units(twap))));
  });

  it('has the spread, the mark-outs and the quote ages of its fills', () => {
    const [group] = report.groups;
    const reference = new Map(
      records.flatMap(({ body }) =>
        body.kind === 'intent' ? [[body.client_order_id, body.reference_price] as const] : [],
      ),
    );
    const at = sum(fills.map((fill) => times(units(fill.quantity), units(reference.get(fill.client_order_id) ?? '')))); // prettier-ignore
    const paid = wide(sum(fills.map(({ amount }) => units(amount))));
    expect(group?.fills.spread_bps).toBe(bps(paid - at, at));
    // The last close is known 59 minutes after the start, and is not used once it is older than 15 minutes.
    const laterOf = (fill: FillRecord, minutes: number): bigint | undefined => {
      const then = fill.executed_at - START + minutes * MINUTE_MS;
      const row = Math.min(Math.floor(then / MINUTE_MS), closes.length - 1);
      return then - row * MINUTE_MS > 15 * MINUTE_MS ? undefined : units(String(closes[row]));
    };
    expect(group?.fills.mark_outs).toEqual(
      [1, 5, 30, 60, 1440].map((minutes) => {
        const seen = fills.flatMap((fill) => {
          const later = laterOf(fill, minutes);
          return later === undefined ? [] : [{ fill, later }];
        });
        if (seen.length === 0) return { minutes, fills: 0 };
        const amounts = wide(sum(seen.map(({ fill }) => units(fill.amount))));
        const worth = sum(seen.map(({ fill, later }) => times(units(fill.quantity), later)));
        return { minutes, fills: seen.length, bps: bps(worth - amounts, amounts) };
      }),
    );
    expect(group?.fills.mark_outs.map(({ fills: of }) => of).slice(0, 3)).toEqual([fills.length, fills.length, fills.length]); // prettier-ignore
    const ages = records.flatMap(({ body }) => (body.kind === 'quote' ? [body.age_ms] : []));
    expect(report.quoting).toMatchObject({
      requests: reference.size,
      orders: ages.length,
      fills: fills.length,
      quote_age_ms: { count: ages.length, max: Math.max(...ages) },
    });
  });

  it('has a cost for each slice, and these costs sum to the trading cost', () => {
    const pa = units(first?.body.intents[0]?.decision_price ?? '');
    const bySlice = Map.groupBy(fills, ({ slice }) => slice);
    for (const { slice, cost } of parent?.slices ?? []) {
      const own = bySlice.get(slice) ?? [];
      const paid = wide(sum(own.map(({ amount }) => units(amount))));
      expect(cost).toBe(wideText(paid - times(sum(own.map(({ quantity }) => units(quantity))), pa)));
    }
    expect(wideText(wide(sum((parent?.slices ?? []).map(({ cost = '' }) => units(cost)))))).toBe(
      parent?.costs?.trading,
    );
    const sums = (parent?.costs?.timing ?? '') !== '' && units(parent?.costs?.timing ?? '') + units(parent?.costs?.execution ?? ''); // prettier-ignore
    expect(sums).toBe(units(parent?.costs?.trading ?? ''));
  });
});

describe('the report of a rebalancing that the engine ran', () => {
  const hours = 24 * 15;
  const wave = (base: number, swing: number, days: number) =>
    Array.from({ length: hours + 10 }, (_, i) => Math.round(base * (1 + swing * Math.sin((i / 24 / days) * 6.283)) * 100) / 100); // prettier-ignore
  const tapes = [
    aTape('btcusd', HOUR_MS, wave(60_000, 0.2, 7)),
    aTape('ethusd', HOUR_MS, wave(3_000, 0.3, 4)),
  ];
  const bench = ran(tapes, hours * HOUR_MS - MINUTE_MS, {
    strategies: [
      aStrategy('two', 'rebalance', {
        target_weights: { btc: '0.5', eth: '0.3', usd: '0.2' },
        drift_threshold: '0.03',
        valuation_tolerance: '1',
        schedule: { cron: '1 0 * * * *' },
      }),
    ],
    venue: {
      accounts: [{ balances: { usd: '200000', btc: '5', eth: '60' } }],
      pairs: { btcusd: { halfSpreadBps: 2, impactBps: 0 }, ethusd: { halfSpreadBps: 3, impactBps: 0 } },
      feeBps: 1,
    },
    policy: {
      continuity: { everyMs: DAY_MS, divergenceMs: 2_000, lateMs: DAY_MS },
      accountPollMs: 6 * HOUR_MS,
      reference: { intervalMs: 5_000, maxAgeMs: 30_000, probe: { amount: money('50'), currency: 'usd' }, waitMs: 5_000 }, // prettier-ignore
    },
    market: (exchange, clock) => ({
      prices$: interval(HOUR_MS, clock).pipe(
        startWith(0),
        concatMap(() => {
          const at = clock.wall();
          return from(
            tapes.map(({ pair }) => ({
              pair,
              mid: exchange.market.mid(pair, at),
              at,
              source: 'tape' as const,
            })),
          );
        }),
      ),
    }),
  });
  const records = bench.records();
  const fills = fillsOf(records);
  const report = reported(bench, tapes);
  const [portfolio] = report.portfolios;
  const end = records.at(-1)?.at ?? START;

  it('is of a run with many fills and no unexpected warnings', () => {
    expect(fills.length).toBeGreaterThan(10);
    expect(report.warnings).toEqual([
      'Paper: the venue was simulated; spreads, fills and ages come from its model.',
      'The bars of btcusd, ethusd are 60 min long: mark-outs at 1, 5, 30 min are omitted.',
    ]);
  });

  it('has the value and the weights of a plain calculation, to the last digit', () => {
    const held = new Map([['usd', units('200000')], ['btc', units('5')], ['eth', units('60')]]); // prettier-ignore
    const move = (currency: string, by: bigint): void => {
      held.set(currency, (held.get(currency) ?? 0n) + by);
    };
    for (const { side, base, quantity, amount, fees } of fills) {
      const sign = side === 'buy' ? 1n : -1n;
      move(base, sign * units(quantity));
      move('usd', -sign * units(amount) - units(fees));
    }
    const priceOf = (tape: Tape | undefined): bigint =>
      units(String(tape?.close[Math.floor((end - START) / HOUR_MS)]));
    const values = {
      btc: times(held.get('btc') ?? 0n, priceOf(tapes[0])),
      eth: times(held.get('eth') ?? 0n, priceOf(tapes[1])),
      usd: wide(held.get('usd') ?? 0n),
    };
    const total = sum(Object.values(values));
    expect(portfolio?.end?.value).toBe(wideText(total));
    for (const [currency, value] of Object.entries(values))
      expect(Number(portfolio?.end?.weights[currency])).toBeCloseTo(
        Number((value * 10n ** 12n) / total) / 1e12,
        6,
      );
    expect(portfolio?.traded).toBe(wideText(wide(sum(fills.map(({ amount }) => units(amount))))));
    expect(units(report.totals[0]?.costs.fees ?? '')).toBe(sum(fills.map((fill) => units(fill.fees))));
  });

  it('has the course of a plain walk from day to day, up to the end of the period', () => {
    const course = portfolio?.course;
    const begun = Date.parse(portfolio?.start?.at ?? '');
    const days: { value: number; index: number }[] = [];
    const held: Record<string, number> = { usd: 200_000, btc: 5, eth: 60 };
    let [done, peak, drawdown, target, before] = [0, 0, 0, 1, [0, 0]];
    const differences: number[] = [];
    const whole = Math.floor((end - begun) / DAY_MS);
    const share = (end - begun) / DAY_MS - whole;
    expect(share).toBeGreaterThan(0);
    for (const at of [...Array.from({ length: whole + 1 }, (_, i) => begun + i * DAY_MS), end]) {
      for (; done < fills.length && (fills[done]?.executed_at ?? 0) <= at; done++) {
        const { side = 'buy', base = '', quantity = '', amount = '', fees = '' } = fills[done] ?? {};
        const sign = side === 'buy' ? 1 : -1;
        held[base] = (held[base] ?? 0) + sign * Number(quantity);
        held['usd'] = (held['usd'] ?? 0) - sign * Number(amount) - Number(fees);
      }
      const prices = tapes.map(({ close }) => close[Math.floor((at - START) / HOUR_MS)] ?? 0);
      const value =
        (held['usd'] ?? 0) + (held['btc'] ?? 0) * (prices[0] ?? 0) + (held['eth'] ?? 0) * (prices[1] ?? 0);
      const last = days.at(-1);
      if (last !== undefined) {
        const wanted =
          0.5 * ((prices[0] ?? 0) / (before[0] ?? 1) - 1) + 0.3 * ((prices[1] ?? 0) / (before[1] ?? 1) - 1);
        target *= 1 + wanted;
        differences.push(value / last.value - 1 - wanted);
      }
      days.push({ value, index: value / (days[0]?.value ?? value) });
      peak = Math.max(peak, value);
      drawdown = Math.max(drawdown, 1 - value / peak);
      before = prices;
    }
    const mean = days.reduce((total, { value }) => total + value, 0) / days.length;
    const weights = differences.map((_, i) => (i < whole ? 1 : share));
    const middle = differences.reduce((a, b) => a + b, 0) / (whole + share);
    const variance =
      differences.reduce((a, b, i) => a + (b - middle * (weights[i] ?? 0)) ** 2, 0) /
      (whole + share - (whole + share ** 2) / (whole + share));
    const nine = (value: number): number => Number(value.toPrecision(9));
    expect(course?.step_ms).toBe(DAY_MS);
    expect(course?.points.map(({ value }) => value)).toEqual(days.map(({ value }) => nine(value)));
    expect(course?.return).toBeCloseTo((days.at(-1)?.index ?? 0) - 1, 9);
    expect(course?.target_return).toBeCloseTo(target - 1, 9);
    expect(course?.drawdown).toBeCloseTo(drawdown, 9);
    expect(course?.tracking_error).toBeCloseTo(Math.sqrt(variance * 365.25), 9);
    expect(course?.turnover).toBeCloseTo(
      fills.reduce((all, { amount }) => all + Number(amount), 0) / 2 / mean,
      9,
    );
    expect(drawdown).toBeGreaterThan(0.02);
  });

  it('omits the course without prices, and still states the value', () => {
    const bare = reportOf(figuresOf(records, { version: 't' })).portfolios[0];
    expect(bare?.course).toBeUndefined();
    expect(bare?.decisions).toBe(portfolio?.decisions);
    expect(Number(bare?.end?.value)).toBeGreaterThan(100_000);
    expect(instant(Date.parse(bare?.end?.at ?? ''))).toBe(end);
  });
});
