import { HOUR_MS, instant, DAY_MS } from '../../src/core/time.ts';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import type { NextPossible } from '../../src/research/run/tape-market.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { aStrategy } from '../engine/harness.ts';
import { ASSETS, hoursOf } from './rebalance-year.ts';
import type { Bars, Setting, Trade } from './rebalance-year.ts';
import { aRun, closesTape } from './bench.ts';
import type { Ran, RunShape } from './bench.ts';

/** The weights of `rebalance-year.ts`, with hundredths of a percent as fractions. The rest is cash. */
const WEIGHTS = { btc: '0.3', eth: '0.25', ltc: '0.1', sol: '0.1', xrp: '0.1' };

/** A venue that always quotes the mid price immediately, so that only the schedule and the tape matter. */
export const FRICTIONLESS: Partial<ExecutionModel> = {
  halfSpreadBps: 0,
  impactBps: 0,
  maxUsd: '1000000000',
  pricePrecision: 8,
  quoteLatencyMs: 0,
  orderLatencyMs: 0,
  lastLookBps: undefined,
  rejectedShare: 0,
  unavailableShare: 0,
  feeBps: 0,
  gapMax: DAY_MS,
};

/** Bars of an hour as tapes. */
const hourTapes = (bars: Bars, cash = 'usd'): readonly Tape[] =>
  ASSETS.map((asset) => {
    const rows = bars[asset].trimEnd().split('\n').slice(1);
    const cells = rows.map((row) => row.split(',').map(Number));
    return closesTape(`${asset}${cash}`, {
      barMs: HOUR_MS,
      times: cells.map(([time]) => time ?? 0),
      closes: cells.map(([, , , , close]) => close ?? 0),
    });
  });

/** The currency of a portfolio, if it is not usd. */
export interface Counted extends Pick<Partial<RunShape>, 'policy' | 'model' | 'currencies' | 'observer'> {
  readonly cash?: string | undefined;
  /** The tapes of the rate of the cash. */
  readonly rateTapes?: readonly Tape[] | undefined;
}

/** The trades of a portfolio with a drift band, over hourly bars. */
export function portfolioRun(
  bars: Bars,
  { driftType, rebalanceTo, threshold }: Setting,
  nextPossible?: (tapes: readonly Tape[]) => NextPossible,
  { cash = 'usd', rateTapes = [], ...shape }: Counted = {},
): { readonly ran: Ran; readonly trades: readonly Trade[] } {
  const { first, last } = hoursOf(bars);
  const tapes = [...hourTapes(bars, cash), ...rateTapes];
  const ran = aRun({
    tapes,
    strategies: [
      aStrategy('five', 'rebalance', {
        target_weights: { ...WEIGHTS, [cash]: '0.15' },
        cash,
        drift_type: driftType,
        drift_threshold: (Number(threshold) / 10_000).toFixed(4),
        rebalance_to: rebalanceTo,
        min_trade_notional: { amount: '1', currency: cash },
      }),
    ],
    from: instant(first * HOUR_MS),
    until: instant(last * HOUR_MS + 1),
    policy: { minimumOf: () => ({}), ...shape.policy },
    model: { ...FRICTIONLESS, gapMax: 7 * DAY_MS, ...shape.model },
    holdings: { [cash]: '1000000' },
    currencies: shape.currencies,
    observer: shape.observer,
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
