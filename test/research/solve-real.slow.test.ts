import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readTape } from '../../src/app/research/tape-file.ts';
import { driftSolver, nextPriceAt } from '../../src/research/run/solve.ts';
import type { Holdings, Market } from '../../src/research/run/solve.ts';
import { knownAt, lastKnownRow, priceAt } from '../../src/research/tape/tape.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { money, quantity, quantityDown, ratio } from '../../src/core/money.ts';
import type { Price } from '../../src/core/money.ts';
import { driftOf } from '../../src/core/risk/portfolio.ts';
import { after, instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Wait } from '../../src/core/wake.ts';
import { historyOf } from './markets.ts';

/** Real history lies beside the checkout; the repository never contains any. */
const DATA = fileURLToPath(new URL('../../../shared/data/bars_1m/', import.meta.url));
const FILES = {
  btcusd: 'bitfinex_BTCUSD_1m_2018.csv.gz',
  eosusd: 'bitfinex_EOSUSD_1m_2018Q4.csv.gz',
  ethusd: 'bitfinex_ETHUSD_1m_2018Q4.csv.gz',
  ltcusd: 'bitfinex_LTCUSD_1m_2018Q4.csv.gz',
  xrpusd: 'bitfinex_XRPUSD_1m_2018Q4.csv.gz',
};
const hasData = Object.values(FILES).every((file) => existsSync(DATA + file));
const FROM = instant(Date.UTC(2018, 9, 1, 1));

/** Moves through tapes from instant to instant and returns the price of each pair. */
function lookingAt(tapes: ReadonlyMap<string, Tape>) {
  const rows = new Map<string, number>();
  return (at: Instant) =>
    (pair: string): Price | undefined => {
      const tape = tapes.get(pair);
      if (tape === undefined) return undefined;
      let row = rows.get(pair) ?? lastKnownRow(tape, at);
      while (row + 1 < tape.rows && knownAt(tape, row + 1) <= at) row++;
      rows.set(pair, row);
      return priceAt(tape.close, row);
    };
}

/** Holdings of 200 usd in each asset, at these prices. */
const bought = (midOf: (pair: string) => Price | undefined): Holdings =>
  new Map(
    Object.keys(FILES).map((pair) => {
      const mid = midOf(pair);
      return [pair.slice(0, 3), mid === undefined ? quantity('0') : quantityDown(money('200'), mid, 8)];
    }),
  );

describe(`breaches over real minutes of five markets with different gaps${!hasData ? ` (skipped: there is no market history in ${DATA})` : ''}`, () => {
  it.runIf(hasData).each([
    ['absolute', '0.01'],
    ['relative', '0.08'],
  ] as const)('match a check of every price with decimals: %s drift of %s', async (driftType, threshold) => {
    const tapes = new Map<string, Tape>();
    for (const [pair, file] of Object.entries(FILES))
      tapes.set(pair, await readTape({ pair, name: DATA + file, cwd: '/' }));
    const market: Market = new Map([...tapes].map(([pair, tape]) => [pair, historyOf(tape)]));
    const targets = Object.fromEntries(Object.keys(FILES).map((pair) => [pair.slice(0, 3), '0.2']));
    const wait: Wait & { on: 'drift' } = { on: 'drift', targets, cash: 'usd', driftType, threshold, notBefore: FROM }; // prettier-ignore

    const scanned: number[] = [];
    const pricesAt = lookingAt(tapes);
    let holdings = bought(pricesAt(FROM));
    let looks = 0;
    for (let at = nextPriceAt(tapes.values(), FROM); at !== undefined; at = nextPriceAt(tapes.values(), at)) {
      looks++;
      const midOf = pricesAt(at);
      const drift = driftOf(wait, { holdings, midOf });
      if (drift === undefined || !drift.gt(ratio(wait.threshold))) continue;
      scanned.push(at);
      holdings = bought(midOf);
    }

    const solved: number[] = [];
    const solver = driftSolver(market, wait);
    const pricesThen = lookingAt(tapes);
    let held = bought(pricesThen(FROM));
    for (
      let at = solver({ from: after(FROM, 1), holdings: held });
      at !== undefined;
      at = solver({ from: after(at, 1), holdings: held })
    ) {
      solved.push(at);
      held = bought(pricesThen(at));
    }

    expect(looks).toBeGreaterThan(100_000);
    expect(scanned.length).toBeGreaterThan(10);
    expect(solved).toStrictEqual(scanned);
    process.stdout.write(`${driftType} ${threshold}: ${solved.length} breaches in ${looks} looks\n`);
  });
});
