import { HOUR_MS, instant, DAY_MS } from '../../src/core/time.ts';
import type { NextPossible } from '../../src/backtest/tape-market.ts';
import type { Tape } from '../../src/backtest/tape.ts';
import { aStrategy } from '../engine/harness.ts';
import { ASSETS, hoursOf } from '../engine/rebalance-year.ts';
import type { Bars, Setting, Trade } from '../engine/rebalance-year.ts';
import { aRun, closesTape } from './bench.ts';
import type { Ran } from './bench.ts';
import { FRICTIONLESS } from './schedules.ts';

/** As the plain arithmetic of `rebalance-year.ts` has them, hundredths of a percent as fractions. */
const WEIGHTS = { btc: '0.3', eth: '0.25', ltc: '0.1', sol: '0.1', xrp: '0.1', usd: '0.15' };

/** Bars of an hour as tapes. */
export const hourTapes = (bars: Bars): readonly Tape[] =>
  ASSETS.map((asset) => {
    const rows = bars[asset].trimEnd().split('\n').slice(1);
    const cells = rows.map((row) => row.split(',').map(Number));
    return closesTape(`${asset}usd`, {
      barMs: HOUR_MS,
      times: cells.map(([time]) => time ?? 0),
      closes: cells.map(([, , , , close]) => close ?? 0),
    });
  });

/** The trades of a portfolio that waits to drift out of its band, over bars of an hour. */
export function portfolioRun(
  bars: Bars,
  { driftType, rebalanceTo, threshold }: Setting,
  nextPossible?: (tapes: readonly Tape[]) => NextPossible,
): { readonly ran: Ran; readonly trades: readonly Trade[] } {
  const { first, last } = hoursOf(bars);
  const tapes = hourTapes(bars);
  const ran = aRun({
    tapes,
    strategies: [
      aStrategy('five', 'rebalance', {
        target_weights: WEIGHTS,
        drift_type: driftType,
        drift_threshold: (Number(threshold) / 10_000).toFixed(4),
        rebalance_to: rebalanceTo,
        min_trade_notional: { amount: '1', currency: 'usd' },
        continuous: true,
      }),
    ],
    from: instant(first * HOUR_MS),
    until: instant(last * HOUR_MS + 1),
    policy: { minimumOf: () => ({}) },
    model: { ...FRICTIONLESS, gapMax: 7 * DAY_MS },
    nextPossible: nextPossible?.(tapes),
  });
  const trades = [...ran.journal.read()].flatMap(({ at, body }): readonly Trade[] =>
    body.kind !== 'fill'
      ? []
      : [
          {
            hour: Math.floor(at / HOUR_MS),
            side: body.side,
            asset: body.base as Trade['asset'],
            quantity: body.quantity,
            cents: BigInt(Math.round(Number(body.amount) * 100)),
          },
        ],
  );
  return { ran, trades };
}
