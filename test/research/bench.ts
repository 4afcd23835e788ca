import { quantity } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import type { FillRecord } from '../../src/core/record.ts';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { presetModel } from '../../src/research/run/model.ts';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import { backtest, coverOf } from '../../src/research/run/run.ts';
import type { Backtest, BacktestSetup } from '../../src/research/run/run.ts';
import { tapeOf } from '../../src/research/tape/tape.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { backtestJournal } from '../../src/journal/backtest-journal.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { normalAt, hash32 } from '../../src/simulator/market/random.ts';
import { aPolicy, START } from '../engine/harness.ts';
import { frozen } from '../journal/frozen.ts';

export interface WalkShape {
  readonly pair: string;
  readonly rows: number;
  readonly seed?: string | undefined;
  readonly barMs?: number | undefined;
  readonly startsAt?: number | undefined;
  readonly startPrice?: number | undefined;
  /** Standard deviation of the logarithm over one bar. */
  readonly volatility?: number | undefined;
  /** Rows that are missing, by number. */
  readonly isMissing?: ((row: number) => boolean) | undefined;
}

/** Bars of a seeded random walk, in which a changed row does not affect the others. */
export function walkTape({
  pair,
  rows,
  seed = '1',
  barMs = MINUTE_MS,
  startsAt = START,
  startPrice = 100,
  volatility = 0.002,
  isMissing = () => false,
}: WalkShape): Tape {
  const key = hash32(`${pair} ${seed}`);
  const [times, closes]: [number[], number[]] = [[], []];
  let logarithm = Math.log(startPrice);
  for (let row = 0; row < rows; row++) {
    logarithm += volatility * normalAt(key, 0, row);
    if (isMissing(row)) continue;
    times.push(startsAt + row * barMs);
    closes.push(Number(Math.exp(logarithm).toPrecision(8)));
  }
  return closesTape(pair, { barMs, times, closes });
}

/** A tape on which only the closes matter. */
export function closesTape(
  pair: string,
  {
    barMs,
    times,
    closes,
  }: { readonly barMs: number; readonly times: readonly number[]; readonly closes: readonly number[] },
): Tape {
  const close = Float64Array.from(closes);
  return tapeOf({
    pair,
    barMs,
    columns: {
      times: Float64Array.from(times),
      open: close.slice(),
      high: close.slice(),
      low: close.slice(),
      close,
      volume: new Float64Array(close.length).fill(1),
    },
  });
}

export interface RunShape
  extends
    Pick<BacktestSetup, 'tapes' | 'strategies'>,
    Partial<Pick<BacktestSetup, 'nextPossible' | 'observer' | 'currencies' | 'changes'>> {
  readonly from?: Instant | undefined;
  readonly until?: Instant | undefined;
  readonly policy?: Partial<DeskSettings> | undefined;
  readonly model?: Partial<ExecutionModel> | undefined;
  readonly holdings?: Readonly<Record<string, string>> | undefined;
  readonly seed?: string | undefined;
  /** Left out: the one that backtests have. What is appended to either is frozen. */
  readonly journal?: Journal | undefined;
}

export interface Ran extends Backtest {
  readonly journal: Journal;
}

/** A backtest with plain settings, not begun yet. */
export function aBacktest(shape: RunShape): Ran {
  const journal = frozen(shape.journal ?? backtestJournal());
  const cover = coverOf(shape.tapes);
  const built = backtest({
    tapes: shape.tapes,
    strategies: shape.strategies,
    from: shape.from ?? cover.from,
    until: shape.until ?? cover.until,
    policy: aPolicy(shape.policy),
    model: { ...presetModel('normal'), ...shape.model },
    holdings: amounts(shape.holdings ?? { usd: '1000000' }),
    seed: shape.seed ?? '1',
    journal,
    nextPossible: shape.nextPossible,
    observer: shape.observer,
    currencies: shape.currencies,
    changes: shape.changes,
  });
  return { ...built, journal };
}

export const amounts = (held: Readonly<Record<string, string>>): ReadonlyMap<string, Quantity> =>
  new Map(Object.entries(held).map(([currency, amount]) => [currency, quantity(amount)]));

/** Runs a backtest to its end. */
export function aRun(shape: RunShape): Ran {
  const ran = aBacktest(shape);
  ran.run();
  return ran;
}

export const at = (minutes: number): Instant => instant(START + minutes * MINUTE_MS);

/** A market with a constant price, in bars of a minute. */
export const stillTape = (rows: number, close: number, pair = 'btcusd'): Tape =>
  closesTape(pair, {
    barMs: MINUTE_MS,
    times: Array.from({ length: rows }, (_, n) => START + n * MINUTE_MS),
    closes: Array.from({ length: rows }, () => close),
  });

export const fillsOf = ({ journal }: Ran): readonly (FillRecord & { readonly at: Instant })[] =>
  [...journal.read()].flatMap(({ at: when, body }) => (body.kind === 'fill' ? [{ ...body, at: when }] : []));
