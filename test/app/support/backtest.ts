import { MINUTE_MS } from '../../../src/core/time.ts';
import { runLine } from '../../support/command.ts';
import type { CliWorld, Ran } from '../../support/command.ts';

/** 2026-01-05T00:00:00Z, where the prices of most backtests begin. */
export const BEGIN = Date.UTC(2026, 0, 5);

export const TWAP = `
id: hour
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
duration: PT1H
slices: 12
`;

/** Bars as CSV, from BEGIN on: their closes, or how many and the close of each. */
export function bars(rows: number, close: (row: number) => number, barMs: number = MINUTE_MS): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const price = close(row);
    return `${BEGIN + row * barMs},${price},${price},${price},${price},1`;
  });
  return ['timestamp_ms,open,high,low,close,volume', ...lines].join('\n');
}

/** A price that rises and falls within minutes. */
export const wave = (row: number): number => 60_000 + 10 * (row % 17);

/** Runs `tranche backtest` in a folder, with `config.yaml` unless the line or `over` name another config. */
export const backtest = async (
  cwd: string,
  line: readonly string[],
  over: Partial<CliWorld> = {},
): Promise<Ran> => await runLine(['backtest', ...line], { cwd, ...over });
