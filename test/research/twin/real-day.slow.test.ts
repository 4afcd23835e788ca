import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readTape } from '../../../src/app/research/tape-file.ts';
import { NO_MONEY, add, approximate, text } from '../../../src/core/money.ts';
import type { Money } from '../../../src/core/money.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts';
import { inBps } from '../../../src/research/twin/compare.ts';
import { lastKnownRow, tapeOf } from '../../../src/research/tape/tape.ts';
import type { Tape } from '../../../src/research/tape/tape.ts';
import { instant } from '../../../src/core/time.ts';
import { START, aStrategy } from '../../engine/harness.ts';
import { aHardDay, compared, live } from './live-day.ts';

/** Real history lies beside the checkout; the repository never contains any. */
const FILE = fileURLToPath(
  new URL('../../../../shared/data/bars_1m/bitfinex_BTCUSD_1m_2018.csv.gz', import.meta.url),
);
const isThere = existsSync(FILE);

/** Two days from an hour before `from`, moved to an hour before the desk starts. */
function moved(tape: Tape, from: number): Tape {
  const first = lastKnownRow(tape, instant(from - HOUR_MS));
  const last = lastKnownRow(tape, instant(from + 2 * DAY_MS));
  const part = (column: Float64Array): Float64Array => column.slice(first, last);
  return tapeOf({
    pair: tape.pair,
    barMs: tape.barMs,
    columns: {
      times: part(tape.times).map((at) => at - from + START),
      open: part(tape.open),
      high: part(tape.high),
      low: part(tape.low),
      close: part(tape.close),
      volume: part(tape.volume),
    },
  });
}

const sum = (amounts: readonly Money[]): Money => amounts.reduce((a, b) => add(a, b), NO_MONEY);

describe(`a twin of a day of real minutes${isThere ? '' : ` (skipped: there is no ${FILE})`}`, () => {
  it.runIf(isThere).each([
    ['a calm day', Date.UTC(2018, 8, 18)],
    ['a day of large moves', Date.UTC(2018, 1, 6)],
  ])('explains %s by its causes to the last decimal', async (_, from) => {
    const tape = moved(await readTape({ pair: 'btcusd', name: FILE, cwd: '/' }), from);
    const basket = aStrategy('basket', 'rebalance', {
      target_weights: { btc: '0.5', usd: '0.5' },
      drift_threshold: '0.01',
      continuous: true,
      valuation_tolerance: '0.9',
    });
    const day = { ...aHardDay(), tape, holdings: { usd: '400000', btc: '40' } };
    const found = compared(live({ ...day, strategies: [...(day.strategies ?? []), basket] }), { tape });
    const bps = approximate(inBps(found.shares.rest, found.traded) ?? NO_MONEY);
    process.stdout.write(
      `${found.rows.length} slices, ${text(found.traded)} usd, difference ${text(found.total)}: ${JSON.stringify(Object.fromEntries(Object.entries(found.shares).map(([cause, usd]) => [cause, text(usd)])))}; rest ${bps.toFixed(4)} bps; ${found.modelled} modelled\n`,
    );
    expect(found.rows.length).toBeGreaterThan(150);
    expect(text(sum(Object.values(found.shares)))).toBe(text(found.total));
    expect(Math.abs(bps)).toBeLessThanOrEqual(0.1);
  });
});
