import { describe, expect, it } from 'vitest';
import { modelFileSchema, presetModel, presets, settingsOf } from '../../src/research/run/model.ts';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import { outages } from '../../src/research/run/run.ts';
import { add, cost, money, NO_MONEY, price, quantity, subtract } from '../../src/core/money.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { aTwap, START } from '../engine/harness.ts';
import { aRun, fillsOf, stillTape, walkTape } from './bench.ts';
import type { Ran } from './bench.ts';

const still = stillTape(200, 1_000);
const quiet: Partial<ExecutionModel> = { ...presetModel('tight'), halfSpreadBps: 0, impactBps: 0 };

const runWith = (model: Partial<ExecutionModel>, over: Record<string, unknown> = {}): Ran =>
  aRun({
    tapes: [still],
    strategies: [
      aTwap('twap', {
        duration: 'PT100M',
        slices: 10,
        total_quantity: { amount: '100', currency: 'btc' },
        ...over,
      }),
    ],
    model: { ...quiet, ...model },
  });
const attemptsOf = (ran: Ran): readonly string[] =>
  [...ran.journal.read()].flatMap(({ body }) =>
    body.kind === 'attempt' && body.reason !== undefined ? [body.reason] : [],
  );

describe('an execution model', () => {
  it.each([
    ['btcusd', 60_000],
    ['dogeusd', 0.000_2],
    ['shibusd', 0.000_012_34],
    ['xrpbtc', 0.000_000_01],
  ])('rounds quotes of %s at %d by far less than the spread', (pair, mid) => {
    const tape = stillTape(30, mid, pair);
    const quote = pair.slice(-3);
    const spend = quote === 'usd' ? '2000' : '1';
    const ran = aRun({
      tapes: quote === 'usd' ? [tape] : [tape, still],
      strategies: [
        aTwap('twap', {
          pair,
          duration: 'PT10M',
          slices: 2,
          total_quantity: undefined,
          total_notional: { amount: spend, currency: quote },
        }),
      ],
      policy: { minimumOf: () => ({}) },
      model: { ...quiet, halfSpreadBps: 3 },
      holdings: quote === 'usd' ? { usd: '10000' } : { usd: '10000', btc: '5' },
    });
    const [fill] = fillsOf(ran);
    expect((Number(fill?.price) / mid - 1) * 10_000).toBeCloseTo(3, 0);
  });

  it('has outages of the stated share and length that depend only on its seed', () => {
    const model = { ...presetModel('normal'), unavailableShare: 0.2, unavailableMs: 60_000 };
    const isOut = outages(model, 'a');
    const minutes = Array.from({ length: 20_000 }, (_, n) => isOut(START + n * MINUTE_MS));
    expect(minutes.filter(Boolean).length / minutes.length).toBeCloseTo(0.2, 1);
    for (let n = 0; n < 100; n++) {
      const at = START + n * MINUTE_MS;
      expect(new Set([isOut(at), isOut(at + 1), isOut(at + 59_999)]).size).toBe(1);
    }
    expect(minutes).not.toEqual(
      Array.from({ length: 20_000 }, (_, n) => outages(model, 'b')(START + n * MINUTE_MS)),
    );
    expect(attemptsOf(runWith({ unavailableShare: 0.5 }))).toContain('quotes_unavailable');
  });

  it('costs more from tight to normal to stressed', () => {
    const tapes = [walkTape({ pair: 'btcusd', rows: 300, startPrice: 1_000, volatility: 0.0001 })];
    const costs = (['tight', 'normal', 'stressed'] as const).map((name) => {
      const ran = aRun({
        tapes,
        strategies: [aTwap('t', { duration: 'PT4H', slices: 24 })],
        model: presetModel(name),
      });
      let over = NO_MONEY;
      for (const { amount, decision_price: decided, quantity: of } of fillsOf(ran))
        over = add(over, subtract(money(amount), cost(price(decided), quantity(of))));
      return over;
    });
    expect(costs.map((over, i) => i === 0 || over.gt(costs[i - 1] ?? 0))).toEqual([true, true, true]);
  });

  it('is restored unchanged from a file of all its settings', () => {
    for (const name of ['tight', 'normal', 'stressed'] as const) {
      const written = settingsOf(presetModel(name));
      expect(modelFileSchema.parse({ base: name, ...written })).toEqual(presetModel(name));
      expect(written).toMatchObject(presets[name]);
    }
    expect(modelFileSchema.safeParse({ base: 'normal', half_spread: 3 }).success).toBe(false);
  });
});
