import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { ASSETS, settings } from './rebalance-year.ts';
import type { Bars } from './rebalance-year.ts';
import { expectPlainArithmetic } from './rebalance-year-check.ts';

/** Weeks of made-up hours, rough enough to leave every band, with hours missing here and there. */
function someBars(): Bars {
  const random = seededRandom('five assets');
  const begins = { btc: 9000, eth: 400, ltc: 60, sol: 4, xrp: 0.25 };
  const rows = Object.fromEntries(
    ASSETS.map((asset) => {
      let close = begins[asset];
      const lines = ['timestamp_ms,open,high,low,close,volume'];
      for (let hour = 0; hour < 400; hour++) {
        close *= 1 + (random.next() - 0.5) * 0.06;
        if (random.next() < 0.01 && hour > 0) continue;
        const at = Date.UTC(2020, 0, 1) + hour * HOUR_MS;
        lines.push(`${at},1,1,1,${close.toFixed(5)},1`);
      }
      return [asset, lines.join('\n')];
    }),
  );
  return rows as Bars;
}

/** The twin of `rebalance-data.slow.test.ts`, which does the same with real bars. */
describe('a portfolio of five assets over made-up hours', () => {
  const bars = someBars();

  it.each(settings)(
    'is traded as plain arithmetic says, and is in its band after it: $driftType drift, to $rebalanceTo',
    (setting) => {
      expect(expectPlainArithmetic(bars, setting).trades).toBeGreaterThan(20);
    },
  );
});
