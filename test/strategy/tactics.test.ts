import { describe, expect, it } from 'vitest';
import type { Tactics } from '../../src/core/risk/tactics.ts';
import type { AnyStrategy } from '../../src/strategy/kernel.ts';
import { strategies } from '../../src/strategy/registry.ts';
import { aView, NINE } from './views.ts';

const TACTICS = {
  max_slippage_bps: 12.5,
  max_spread_bps: 30,
  keep: { amount: '1000', currency: 'usd' },
  min_trade_notional: { amount: '50', currency: 'usd' },
  jitter: { time_pct: 40, seed: 7 },
};
const SLICED = { total_quantity: { amount: '1', currency: 'btc' }, duration: 'PT1H', slices: 2 };
const documents: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  twap: SLICED,
  vwap: { ...SLICED, profile: { weights: [1, 2] } },
  shortfall: {
    ...SLICED,
    risk_aversion: 1,
    volatility: '0.5',
    impact: { bps: 1, per_hour: { amount: '10', currency: 'btc' } },
  },
  recurring: {
    each_quantity: { amount: '1', currency: 'btc' },
    schedule: { cron: '0 10 * * *', time_zone: 'UTC' },
  },
};
const documentOf = (kind: string, over: object): object => ({
  pair: 'btcusd',
  side: 'buy',
  ...documents[kind],
  ...over,
});
function kindOf(kind: string): AnyStrategy {
  const known = strategies.get(kind);
  if (known === undefined) throw new Error(`no kind ${kind}`);
  return known;
}

/** The tactics of its first intents. */
function firstTactics(kind: string, over: object): readonly (Tactics | undefined)[] {
  const strategy = kindOf(kind).bind(documentOf(kind, over));
  let step = strategy.start(NINE, aView());
  for (let n = 0; n < 5 && step.intents === undefined; n++) {
    const [wait] = step.waits;
    if (wait?.on !== 'at') throw new Error('waits for no time');
    const context = { begunAt: NINE, view: aView({ at: wait.at }) };
    step = strategy.step(step.state, { on: 'at', at: wait.at, due: wait.at }, context);
  }
  return (step.intents ?? []).map((intent) => intent.tactics);
}

describe.each(Object.keys(documents))('the tactics of a %s', (kind) => {
  it('are sent with every intent, as text for the journal', () => {
    expect(firstTactics(kind, TACTICS)).toEqual([
      {
        slippage_bps: '12.5',
        spread_bps: '30',
        keep: '1000',
        min_notional: '50',
        jitter: { pct: 40, seed: 7 },
      },
    ]);
  });

  it('are omitted if the document has none', () => {
    expect(firstTactics(kind, {})).toEqual([undefined]);
  });
});
