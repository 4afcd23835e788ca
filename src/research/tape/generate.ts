import { hash32, normalAt } from '../../simulator/market/random.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { columnsBy, tapeOf } from './tape.ts';
import type { Tape } from './tape.ts';

/**
 * Options of a generated market history, for demonstrations and measurements. The same options give the same tape on
 * every machine.
 */
export interface GenerateOptions {
  readonly pair: string;
  readonly rows: number;
  /** Length of a bar, ms. */
  readonly barMs: number;
  /** Start of the first bar. */
  readonly startsAt: Instant;
  readonly seed: string;
  /** Close before the first bar, quote per base. */
  readonly startPrice: number;
  /** Standard deviation of the price's logarithm over one day; 0.03 is 3 % per square root of a day. */
  readonly volatility: number;
  /** Correlation of the steps with those of other pairs of the same seed, 0 to 1. */
  readonly correlation: number;
}

/** Number of digits of the first price: few enough that each double stands for exactly one decimal. */
const DIGITS = 7;

const COMMON = 0;
const OWN = 1;
const UP = 2;
const DOWN = 3;
const VOLUME = 4;

/** Generates bars of a geometric random walk whose price has no drift. Each bar opens at the previous close; there are no gaps. */
export function generateTape(options: GenerateOptions): Tape {
  const { pair, rows, barMs, startsAt, seed, startPrice, volatility, correlation } = options;
  const together = hash32(`tape\n${seed}`);
  const alone = hash32(`tape\n${seed}\n${pair}`);
  const perBar = volatility * Math.sqrt(barMs / DAY_MS);
  const [common, own] = [Math.sqrt(correlation) * perBar, Math.sqrt(1 - correlation) * perBar];
  const columns = columnsBy(() => new Float64Array(rows));
  const scale = 10 ** Math.min(15, Math.max(0, DIGITS - 1 - Math.floor(Math.log10(startPrice))));
  const tick = (price: number): number => Math.max(1, Math.round(price * scale)) / scale;
  let logarithm = Math.log(startPrice);
  let last = tick(startPrice);
  for (let row = 0; row < rows; row++) {
    logarithm += common * normalAt(together, COMMON, row) + own * normalAt(alone, OWN, row) - perBar ** 2 / 2;
    const close = tick(Math.exp(logarithm));
    columns.times[row] = startsAt + row * barMs;
    columns.open[row] = last;
    columns.close[row] = close;
    const [upper, lower] = [Math.max(last, close), Math.min(last, close)];
    columns.high[row] = Math.max(
      upper,
      tick(upper * (1 + 0.4 * perBar * Math.abs(normalAt(alone, UP, row)))),
    );
    columns.low[row] = Math.min(
      lower,
      tick(lower / (1 + 0.4 * perBar * Math.abs(normalAt(alone, DOWN, row)))),
    );
    columns.volume[row] = Math.round(1e4 * Math.exp(normalAt(alone, VOLUME, row))) / 1e4;
    last = close;
  }
  return tapeOf({ pair, barMs, columns });
}
