import { describe, expect, it } from 'vitest';
import { presetModel, venueOf } from '../../src/backtest/model.ts';
import { venueTape } from '../../src/backtest/tape-market.ts';
import type { StoredRecord } from '../../src/core/record.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/clock.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import { Exchange } from '../../src/simulator/exchange.ts';
import { inProcessMarket } from '../../src/simulator/port.ts';
import { aBench, aStrategy, aTwap, START } from '../engine/harness.ts';
import { aRun, amounts, walkTape } from './bench.ts';

/**
 * Prices become known at half past each minute, those of ether ten seconds later: none at the very instant of a slot, and none at that
 * of another. A feed brings them one after another, a tape knows all prices of an instant at once.
 */
const startsAt = START - MINUTE_MS - 30 * SECOND_MS;
const tapes = [
  walkTape({ pair: 'btcusd', rows: 24 * 60, startPrice: 60_000, startsAt }),
  walkTape({
    pair: 'ethusd',
    rows: 24 * 60,
    startPrice: 3_000,
    startsAt: startsAt + 10 * SECOND_MS,
    volatility: 0.003,
  }),
];
const HOLDINGS = { usd: '400000', btc: '2', eth: '60' };
const until = after(START, 5 * 60 * MINUTE_MS);
const model = { ...presetModel('normal'), unavailableShare: 0, quoteLatencyMs: 206, orderLatencyMs: 218 };

const desk: readonly StrategySource[] = [
  aTwap('twap', { duration: 'PT20M', slices: 20, limit_price: '60000' }),
  aTwap('sell', {
    side: 'sell',
    duration: 'PT5H',
    slices: 7,
    total_quantity: { amount: '0.7', currency: 'btc' },
  }),
  aStrategy('dca', 'recurring', {
    pair: 'ethusd',
    side: 'buy',
    each_notional: { amount: '750', currency: 'usd' },
    schedule: { cron: '*/10 * * * *' },
  }),
  aStrategy('dip', 'limit', {
    pair: 'btcusd',
    side: 'buy',
    limit_price: '59500',
    total_quantity: { amount: '3', currency: 'btc' },
    interval: 'PT47.003S',
    max_slice_notional: { amount: '30000', currency: 'usd' },
  }),
  aStrategy('dust', 'recurring', {
    pair: 'ethusd',
    side: 'sell',
    each_notional: { amount: '6', currency: 'usd' },
    limit_price: '2950',
    schedule: { cron: '7 * * * *' },
  }),
];

const portfolio: readonly StrategySource[] = [
  aStrategy('band', 'rebalance', {
    target_weights: { btc: '0.4', eth: '0.3', usd: '0.3' },
    drift_type: 'absolute',
    drift_threshold: '0.006',
    continuous: true,
    min_trade_notional: { amount: '100', currency: 'usd' },
  }),
];

/** What a desk did, without the numbers that only its journal has. */
function deeds(records: Iterable<StoredRecord>): readonly string[] {
  const said: string[] = [];
  for (const { at, body } of records) {
    if (at >= until) continue;
    if (body.kind === 'wake') {
      const { strategy, on, reason = '', intents } = body;
      said.push(`${at} ${strategy} woken by ${on} ${reason}`);
      for (const { leg, slice, pair, side, size, by, limit = '', decision_price: price = '' } of intents)
        said.push(`${at} ${strategy} ${leg}/${slice} ${side} ${size} ${by} of ${pair} ${limit} at ${price}`);
    }
    if (body.kind === 'fill')
      said.push(
        `${at} ${body.strategy} ${body.slice} got ${body.quantity} for ${body.amount} at ${body.price}`,
      );
    if (body.kind === 'slice')
      said.push(`${at} ${body.strategy} ${body.slice} ${body.result} ${body.reason ?? ''}`);
    if (body.kind === 'attempt' && body.reason !== undefined)
      said.push(`${at} ${body.result} ${body.reason}`);
  }
  return said;
}

/** The desk as paper mode has it, with the clock of a test: it watches clocks, reads its account, and gets prices every second. */
function onPaper(strategies: readonly StrategySource[]): readonly string[] {
  const clock = new VirtualClock(START);
  const pairs = tapes.map(({ pair }) => pair);
  const exchange = new Exchange({
    options: venueOf(model, { seed: '1', from: START, pairs, holdings: amounts(HOLDINGS) }),
    tapes: new Map(tapes.map((tape) => [tape.pair, venueTape(tape)])),
    startedAt: START,
  });
  const bench = aBench({
    clock,
    exchange,
    strategies,
    quoteLatencyMs: model.quoteLatencyMs,
    orderLatencyMs: model.orderLatencyMs,
    market: () => inProcessMarket(exchange, { clock, pairs, everyMs: SECOND_MS }),
    policy: { historyMs: DAY_MS },
  });
  bench.start();
  clock.run(until);
  bench.kill();
  return deeds(bench.journal.read());
}

const overTapes = (strategies: readonly StrategySource[]): readonly string[] =>
  deeds(aRun({ tapes, strategies, from: START, until, model, holdings: HOLDINGS }).journal.read());

describe('the same desk on paper and in a backtest', () => {
  it('decides the same slices of the same size at the same time, which fill or fail for the same reason', () => {
    const [paper, backtest] = [onPaper(desk), overTapes(desk)];
    expect(paper.filter((line) => line.includes(' got ')).length).toBeGreaterThan(30);
    expect(paper.filter((line) => line.includes('expired')).length).toBeGreaterThan(2);
    expect(backtest).toEqual(paper);
  });

  it('rebalances at the same instants, by the same trades', () => {
    const [paper, backtest] = [onPaper(portfolio), overTapes(portfolio)];
    expect(paper.filter((line) => line.includes('woken by drift')).length).toBeGreaterThan(2);
    expect(backtest).toEqual(paper);
  });
});
