import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { START } from '../engine/harness.ts';
import { walkTape } from './bench.ts';
import { checkDca, checkTwapWeek } from './schedules.ts';

describe('schedules over generated bars', () => {
  it('trade a twap of one week as plain arithmetic predicts, to the last decimal', () => {
    const tape = walkTape({
      pair: 'btcusd',
      rows: 8 * 1_440,
      startPrice: 9_000,
      isMissing: (row) => row % 97 < 13,
    });
    expect(checkTwapWeek(tape, START + DAY_MS / 2).trades).toHaveLength(336);
  });

  it('spend the same amount every day and buy at the closes of the tape', () => {
    const tape = walkTape({
      pair: 'btcusd',
      rows: 61 * 24,
      barMs: HOUR_MS,
      startPrice: 9_000,
      volatility: 0.01,
    });
    expect(checkDca(tape, START + HOUR_MS, START + 60 * DAY_MS).trades).toHaveLength(60);
  });
});
