import { describe, expect, it } from 'vitest';
import type { WakeRecord } from '../../src/core/record.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { strategies } from '../../src/strategy/registry.ts';
import { aRun, walkTape } from './bench.ts';
import { everyKind } from './every-kind.ts';

const tapes = [
  walkTape({ pair: 'btcusd', rows: 180, startPrice: 60_000, volatility: 0.0015 }),
  walkTape({ pair: 'ethusd', rows: 180, startPrice: 3_000, volatility: 0.002 }),
  walkTape({ pair: 'ethbtc', rows: 180, startPrice: 0.05, volatility: 0.001 }),
];

/** Outages of 15 minutes, more than half of the time: some slices end without a quote, and later ones trade. */
const model = { unavailableShare: 0.6, unavailableMs: 15 * MINUTE_MS };

describe('a venue with repeated outages of 15 minutes', () => {
  it.each(Object.keys(everyKind))('does not halt the desk %s, whose slices end without a quote', (name) => {
    const desk = everyKind[name];
    if (desk === undefined) throw new Error(`there is no desk ${name}`);
    const { desk: ended, journal } = aRun({ ...desk, tapes, model });
    const records = [...journal.read()].map(({ body }) => body);
    const wanted = records.filter(
      (body): body is WakeRecord => body.kind === 'wake' && body.intents.length > 0,
    );
    expect(wanted.length, 'the strategies decide to trade').toBeGreaterThan(0);
    expect(
      records.filter(
        (body) =>
          body.kind === 'attempt' && body.result === 'discarded' && body.reason === 'quotes_unavailable',
      ).length,
      'the venue refuses quotes',
    ).toBeGreaterThan(0);
    expect([ended.control, ended.controlWhy]).toEqual(['active', expect.anything()]);
  });

  it('is tested with every registered kind', () => {
    const tried = Object.values(everyKind).flatMap((desk) => desk.strategies.map(({ kind }) => kind));
    expect(new Set(tried)).toEqual(new Set(strategies.keys()));
  });
});
