import type { Report } from '../json/schema.ts';

/** A command that answers a question that the report of a backtest cannot. */
export interface Rerun {
  /** What its answer contains. */
  readonly tells: string;
  readonly command: string;
}

/**
 * The same backtest at other costs and with other settings; none if the report does not know its
 * arguments.
 */
export function rerunsOf({ backtest, strategies, portfolios }: Report): readonly Rerun[] {
  const given = backtest?.arguments;
  if (backtest === undefined || given === undefined) return [];
  const halfSpread = Number(backtest.settings['half_spread_bps']);
  const isWhole = backtest.delisted === undefined;
  const [first] = portfolios;
  const field = strategies.length > 1 && first !== undefined ? `${first.strategy}.drift_threshold` : 'drift_threshold';
  const tried = [0.5, 1, 2].map((by) => Number((by * Number(first?.drift_threshold)).toPrecision(6)));
  return [
    ...(Number.isFinite(halfSpread)
      ? [{ tells: 'The same backtest with twice the half spread of the model; the strategies decide every trade again', command: `tranche backtest ${given} --assume half_spread_bps=${2 * halfSpread}` }]
      : []),
    ...(first !== undefined && isWhole
      ? [{ tells: 'Half and twice the band', command: `tranche sweep ${given} --vary ${field}=${tried.join(',')}` }]
      : []),
  ];
} // prettier-ignore
