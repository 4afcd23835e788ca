import { indexPrices } from '../../research/tape/index.ts';
import type { PriceIndex } from '../../research/tape/index.ts';
import { solvedOver } from '../../research/run/wake-index.ts';
import type { ExecutionModel } from '../../research/run/model.ts';
import { backtest } from '../../research/run/run.ts';
import type { Spreads, SweepFigures } from '../../research/sweep/sweep-figures.ts';
import type { NextPossible } from '../../research/run/tape-market.ts';
import type { Window } from '../../research/sweep/walk-forward.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { OperatorError, invariant } from '../../core/errors.ts';
import type { Quantity } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { pack, unpack } from '../../core/text/pack.ts';
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
import { runFigures } from './run-figures.ts';
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
      spreads: Spreads;
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

/** Number of equal parts of a window at whose ends the account is valued. */
const VALUES = 32;

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
      const values = Array.from({ length: VALUES + 1 }, (_, k) => {
        const at = k === VALUES ? until : instant(from + Math.floor(((until - from) * k) / VALUES));
        running.run(k === VALUES ? undefined : at);
        return running.valueAt(at);
      });
      const { seq, hash: head } = journal.head();
      return {
        ...runFigures(this.#report(journal, desk, until), { window: { from, until }, values }),
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
}

const isIndexOf = (index: PriceIndex, { hash, barMs }: Tape): boolean =>
  index.tape === hash && index.barMs === barMs;

function revived(begun: BegunDocument): StrategySource {
  const source = reviveStrategy(begun);
  invariant(source !== undefined, `strategy ${begun.strategy} can be read again after its check`);
  return source;
}
