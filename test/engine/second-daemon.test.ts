import { describe, expect, it } from 'vitest';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import { START, aBench, aTwap } from './harness.ts';
import type { Bench } from './harness.ts';
import { ledgerTrades } from './oracle.ts';

describe('a second daemon on the same account with another journal', () => {
  it.each([
    ['at the same time', 0],
    ['later', 2 * MINUTE_MS],
  ])(
    'is halted by its first whole read of the account before it trades, and the first continues: started %s',
    (_, laterMs) => {
      const told: string[] = [];
      const strategies = (id: string) => [aTwap(id, { slices: 60, duration: 'PT30M' })];
      const observer = { alert: (id: string) => told.push(id) };
      const first = aBench({ strategies: strategies('one'), observer });
      first.start();
      first.until(laterMs);
      const { clock, exchange } = first;
      const second = aBench({ strategies: strategies('two'), clock, exchange, observer });
      second.start();
      clock.run(instant(START + laterMs + 3 * MINUTE_MS));
      expect([first.desk.control, second.desk.control]).toEqual(['active', 'halted']);
      expect(told).toContain('fill_adopted');
      const traded = (bench: Bench): readonly string[] =>
        bench.bodies('fill').flatMap((body) => (body.source === 'order' ? [body.order_id] : []));
      clock.run(instant(START + laterMs + 10 * MINUTE_MS));
      expect(traded(second)).toEqual([]);
      expect(traded(first).length).toBeGreaterThan(10);
      expect(ledgerTrades(exchange)).toHaveLength(traded(first).length);
    },
  );
});
