import { describe, expect, it } from 'vitest';
import { presetModel, venueOf } from '../../src/research/run/model.ts';
import { TapeReader, venueTape } from '../../src/research/run/tape-market.ts';
import type { StoredRecord } from '../../src/core/record.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { exactPrice, inProcessMarket } from '../support/book-market.ts';
import { aBench, START } from '../engine/harness.ts';
import { aRun, amounts, walkTape } from './bench.ts';
import { everyKind } from './every-kind.ts';
import type { EveryKind } from './every-kind.ts';

/**
 * Prices become known at second 30 of each minute, those of ether ten seconds later: none at the instant of a slot, and none at that
 * of another price. A feed delivers prices one after another; a tape has all prices of an instant at once.
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
  walkTape({
    pair: 'ethbtc',
    rows: 24 * 60,
    startPrice: 0.05,
    startsAt: startsAt + 20 * SECOND_MS,
    volatility: 0.001,
  }),
];
const until = after(START, 5 * 60 * MINUTE_MS);
const model = { ...presetModel('normal'), unavailableShare: 0, quoteLatencyMs: 206, orderLatencyMs: 218 };

/** The actions of a desk, without figures that exist only in its journal. */
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

/** A desk as in paper mode, with the clock of a test: it checks clocks, reads its account, and receives prices every second. */
function onPaper({ strategies, holdings, policy, pts }: EveryKind): readonly string[] {
  const clock = new VirtualClock(START);
  const pairs = tapes.map(({ pair }) => pair);
  const settings = pts === undefined ? model : { ...model, pts };
  const readers = new Map(tapes.map((tape) => [tape.pair, new TapeReader(tape)]));
  const exchange = new Exchange({
    options: venueOf(settings, { seed: '1', from: START, pairs, holdings: amounts(holdings) }),
    tapes: new Map(tapes.map((tape) => [tape.pair, venueTape(tape)])),
    startedAt: START,
  });
  const bench = aBench({
    clock,
    exchange,
    strategies,
    quoteLatencyMs: model.quoteLatencyMs,
    orderLatencyMs: model.orderLatencyMs,
    market: () => ({
      ...inProcessMarket(exchange, { priceOf: exactPrice, clock, pairs, everyMs: SECOND_MS }),
      volume: (pair) => readers.get(pair)?.volume(clock.wall()),
    }),
    policy: { historyMs: DAY_MS, ...policy },
  });
  bench.start();
  clock.run(until);
  bench.kill();
  return deeds(bench.journal.read());
}

function overTapes({ strategies, holdings, policy, pts }: EveryKind): readonly string[] {
  const settings = pts === undefined ? model : { ...model, pts };
  return deeds(
    aRun({ tapes, strategies, from: START, until, model: settings, policy, holdings }).journal.read(),
  );
}

const fillsOf = (said: readonly string[]): readonly string[] => said.filter((line) => line.includes(' got '));

describe('the same desk on paper and in a backtest', () => {
  it.each(Object.entries(everyKind))(
    'decides the same slices at the same times, with the same results and reasons: %s',
    { timeout: 300_000 },
    (_, one) => {
      const desk = { ...one, policy: { ...one.policy, minimumOf: () => ({}) } };
      const [paper, backtest] = [onPaper(desk), overTapes(desk)];
      const traded = fillsOf(paper).map((line) => line.split(' ')[1]);
      expect(new Set(traded)).toEqual(new Set(one.strategies.map(({ id }) => id)));
      expect(backtest).toEqual(paper);
    },
  );
});
