import { indexPrices } from '../../research/tape/index.ts';
import type { PriceIndex } from '../../research/tape/index.ts';
import { solvedOver } from '../../research/run/wake-index.ts';
import type { ExecutionModel } from '../../research/run/model.ts';
import { backtest } from '../../research/run/run.ts';
import type { SweepFigures } from '../../research/sweep/sweep-figures.ts';
import type { NextPossible } from '../../research/run/tape-market.ts';
import type { Window } from '../../research/sweep/walk-forward.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { OperatorError, invariant } from '../../core/errors.ts';
import {
  NO_MONEY,
  add,
  approximate,
  fraction,
  money,
  roundEven,
  scale,
  subtract,
  text,
} from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { pack, unpack } from '../../core/text/pack.ts';
import type { FillRecord } from '../../core/record.ts';
import type { Desk } from '../../engine/desk.ts';
import type { BegunDocument, StrategySource } from '../../engine/state/strategy-source.ts';
import type { Journal } from '../../journal/journal.ts';
import { backtestJournal } from '../../journal/backtest-journal.ts';
import { figuresOf } from '../../report/figures/figures.ts';
import type { Figures } from '../../report/figures/figures.ts';
import type { Config } from '../config/config.ts';
import { deskSettingsOf } from '../config/desk-settings.ts';
import { simulatedCurrencies } from '../config/rates.ts';
import { reviveStrategy } from '../strategies/strategies.ts';
import { version } from '../version.ts';

/** Settings shared by all runs of a sweep. */
export interface SweepBase {
  readonly config: Config;
  readonly configHash: string;
  readonly model: ExecutionModel;
  readonly holdings: ReadonlyMap<string, Quantity>;
  readonly seed: string;
}

/** One setting in one window. */
export interface SweepJob extends Window {
  readonly strategies: readonly BegunDocument[];
}

/** Result of a run. Two runs of the same job have the same result, including the last hash. */
export type SweepOutcome = Readonly<
  | {
      figures: SweepFigures;
      /** State in which the desk ended: `halted` if a control stopped it. */
      control: string;
      records: number;
      /** Hash of the last record of its journal. */
      head: string;
    }
  /** Why a desk does not start with this setting. */
  | { refused: string }
>;

/** Returns the base as text for a worker; `unpackBase` restores it with every amount. */
export const packBase = (base: SweepBase): string => pack(base);
export const unpackBase = (packed: string): SweepBase => unpack(packed) as SweepBase; // oxlint-disable-line typescript/no-unsafe-type-assertion -- what `packBase` wrote

/** Runs settings one after another. Computes facts about the tapes only once. */
export class SettingRunner {
  readonly #base: SweepBase;
  readonly #tapes: readonly Tape[];
  readonly #nextPossible: NextPossible;

  /** `indexes`: indexes of tapes, if they exist already. */
  constructor(base: SweepBase, tapes: readonly Tape[], indexes: readonly PriceIndex[] = []) {
    this.#base = base;
    this.#tapes = tapes;
    this.#nextPossible = solvedOver(
      tapes,
      (tape) => indexes.find((index) => isIndexOf(index, tape)) ?? indexPrices(tape),
    );
  }

  /** Runs a job. A setting that cannot run also has an outcome. @throws Error only for a bug */
  run(job: SweepJob): SweepOutcome {
    const { strategies, from, until } = job;
    const { config, configHash, model, holdings, seed } = this.#base;
    const journal = backtestJournal();
    try {
      const running = backtest({
        tapes: this.#tapes,
        from,
        until,
        strategies: strategies.map(revived),
        policy: deskSettingsOf(config, { configHash, adoptFills: false }),
        model,
        holdings,
        seed,
        currencies: simulatedCurrencies(config),
        journal,
        nextPossible: this.#nextPossible,
      });
      const { desk } = running;
      const before = running.valueAt(from);
      running.run();
      const value = running.valueAt(until);
      const { seq, hash: head } = journal.head();
      const figures = this.#report(journal, desk, until);
      return {
        figures: this.#figures(figures, { before, value }),
        control: desk.control,
        records: seq,
        head,
      };
    } catch (error) {
      if (error instanceof OperatorError) return { refused: error.message };
      throw error;
    }
  }

  #report(journal: Journal, desk: Desk, end: Instant): Figures {
    return figuresOf(journal.read(), {
      version,
      end,
      prices: this.#tapes,
      currencies: (pair) => {
        const known = desk.instruments.pair(pair);
        return 'problem' in known ? undefined : known;
      },
    });
  }

  #figures(
    figures: Figures,
    { before, value }: { readonly before: Money; readonly value: Money },
  ): SweepFigures {
    const courses = figures.portfolios.flatMap(({ course }) => course ?? []);
    const tracking = courses.flatMap((course) => course.tracking_error ?? []);
    const worst = (values: readonly number[]): string | undefined =>
      values.length === 0 ? undefined : Math.max(...values).toFixed(6);
    const costs = costsOf(figures);
    return withoutGaps({
      ...costs,
      portfolio_bps: portfolioBps(figures, costs.cost_usd),
      risk_bps: deviationOf(figures),
      tracking_error: worst(tracking),
      drawdown: worst(courses.map(({ drawdown }) => drawdown)),
      untraded: String(figures.untraded.reduce((sum, { slices }) => sum + slices, 0)),
      fills: String(figures.fills.length),
      turnover_usd: text(figures.fills.reduce((sum, fill) => add(sum, money(fill.notional_usd)), NO_MONEY)),
      fees_usd: text(
        roundEven(
          figures.fills.reduce((sum, fill) => add(sum, feesOf(fill)), NO_MONEY),
          8,
        ),
      ),
      value_usd: text(value),
      gain_usd: text(subtract(value, before)),
    });
  }
}

const isIndexOf = (index: PriceIndex, { hash, barMs }: Tape): boolean =>
  index.tape === hash && index.barMs === barMs;

function revived(begun: BegunDocument): StrategySource {
  const source = reviveStrategy(begun);
  invariant(source !== undefined, `strategy ${begun.strategy} can be read again after its check`);
  return source;
}

/** Returns the fees of a fill in USD, at the rate at which its amount was converted. */
function feesOf({ amount, fees, notional_usd: usd }: FillRecord): Money {
  const [paid, all] = [money(fees), money(amount)];
  return paid.isZero() || all.isZero() ? NO_MONEY : scale(paid, fraction(money(usd), all));
}

/** Relative risk aversion of an investor. Half of it is the weight of the variance relative to the portfolio's targets. */
const RISK_AVERSION = 4;
const YEAR_MS = 365.25 * DAY_MS;

/** Returns the yearly cost of trading plus the value of avoiding drift, bps. Defined only for a single portfolio in USD. */
function portfolioBps({ portfolios }: Figures, costUsd = '0'): string | undefined {
  const [one, another] = portfolios;
  if (one?.course?.tracking_error === undefined || another !== undefined || one.cash !== 'usd')
    return undefined;
  const { points, mean_value: meanValue, tracking_error: trackingError } = one.course;
  const years = (Date.parse(points.at(-1)?.at ?? '') - Date.parse(points[0]?.at ?? '')) / YEAR_MS;
  const trading = Number(costUsd) / meanValue / years;
  return (10_000 * (trading + (RISK_AVERSION / 2) * trackingError ** 2)).toFixed(4);
}

/**
 * Returns the cost in USD, summed over quote currencies. Also returns the cost rates, but only for a single quote
 * currency, because rates cannot be added up.
 */
function costsOf(figures: Figures): SweepFigures {
  const [first, second] = figures.totals;
  if (first === undefined) return {};
  const sums = figures.totals.map(({ quote, costs }) => inUsd(money(costs.total), quote, figures));
  const whole = sums.reduce(
    (sum, one) => (sum === undefined || one === undefined ? undefined : add(sum, one)),
    NO_MONEY,
  );
  const { bps, arrival_slippage_bps: slipped } = first.costs;
  return withoutGaps({
    cost_usd: whole && text(roundEven(whole, 2)),
    ...(second === undefined ? { cost_bps: bps?.total, slippage_bps: slipped } : {}),
  });
}

/** Converts an amount to USD at the mean rate of the fills in that currency; `undefined` if there are no such fills. */
function inUsd(amount: Money, quote: string, { fills }: Figures): Money | undefined {
  if (quote === 'usd') return amount;
  let [sum, usd] = [NO_MONEY, NO_MONEY];
  for (const fill of fills) {
    if (fill.quote !== quote) continue;
    sum = add(sum, money(fill.amount));
    usd = add(usd, money(fill.notional_usd));
  }
  return sum.isZero() ? undefined : scale(amount, fraction(usd, sum));
}

/** Returns the standard deviation of slice prices from the arrival prices of their parents, weighted by size, in bps. */
function deviationOf({ parents }: Figures): string | undefined {
  let [weights, sum, squares, count] = [0, 0, 0, 0];
  for (const { slices } of parents)
    for (const { cost, paper } of slices) {
      if (cost === undefined || paper === undefined || paper.isZero()) continue;
      const weight = approximate(paper);
      const bps = (approximate(cost) / weight) * 10_000;
      weights += weight;
      sum += weight * bps;
      squares += weight * bps * bps;
      count++;
    }
  if (count < 2) return undefined;
  const mean = sum / weights;
  return Math.sqrt(Math.max(0, squares / weights - mean * mean)).toFixed(4);
}

function withoutGaps(figures: Readonly<Record<string, string | undefined>>): SweepFigures {
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined));
}
