import type { Subject } from 'rxjs';
import type { Instruments } from '../market/instruments.ts';
import type { EngineState, StrategyRun } from './engine-state.ts';
import { planOf } from './strategy-plan.ts';
import type { StrategyPlan } from './strategy-plan.ts';
import type { StrategySource } from './strategy-source.ts';

interface RunningStrategiesParts {
  readonly state: EngineState;
  readonly instruments: Instruments;
  readonly changed$: Subject<void>;
}

/** The strategies that the desk runs now. */
export class RunningStrategies {
  /** By id. A reload replaces the whole map. */
  sources: ReadonlyMap<string, StrategySource>;
  /** Strategies that changed since the pipeline last looked. */
  #changed: readonly string[] = [];
  readonly #plans = new Map<
    string,
    { readonly life: StrategyRun; readonly plan: StrategyPlan | undefined }
  >();
  readonly #parts: RunningStrategiesParts;

  constructor(sources: readonly StrategySource[], parts: RunningStrategiesParts) {
    this.sources = new Map(sources.map((one) => [one.id, one]));
    this.#parts = parts;
  }

  /** Runs these strategies from now on, and no others. */
  run(sources: readonly StrategySource[]): void {
    this.sources = new Map(sources.map((one) => [one.id, one]));
  }

  rearm(strategies: readonly string[]): void {
    this.#changed = [...this.#changed, ...strategies];
    this.#parts.changed$.next();
  }

  /** Returns the strategies to re-arm, each once. */
  takeChanged(): readonly string[] {
    const changed = this.#changed;
    if (changed.length > 0) this.#changed = [];
    return changed;
  }

  /** Strategies with an outcome that no step has consumed yet. */
  withOutcomes(): ReadonlySet<string> {
    const strategies = new Set<string>();
    for (const { strategy, outcomes, late } of this.#parts.state.lives.values())
      if (outcomes.length > 0 || late.length > 0) strategies.add(strategy);
    return strategies;
  }

  /** Whether the strategy of a slice still runs the document that decided the slice, and has not been stopped since. */
  isRun({ strategy, hash }: { readonly strategy: string; readonly hash: string }): boolean {
    return (
      this.sources.get(strategy)?.hash === hash &&
      this.#parts.state.lives.get(strategy)?.finished !== 'by_operator'
    );
  }

  /** The strategy's plan, with the precision of its pair; `undefined` if it has none. */
  plan(strategy: string): StrategyPlan | undefined {
    const { state, instruments } = this.#parts;
    const life = state.lives.get(strategy);
    const source = this.sources.get(strategy);
    // Until recovery has restored the runs, the source may be an edited file, whose plan differs from the run's plan.
    if (life === undefined || source?.hash !== life.hash) return undefined;
    const { bound } = source;
    const known = this.#plans.get(strategy);
    if (known?.life === life) return known.plan;
    // There is no plan before the venue has been queried.
    if (bound.pairs.some((pair) => 'problem' in instruments.pair(pair))) return undefined;
    const plan = planOf(bound, life.begunAt, (pair) => instruments.of(pair));
    this.#plans.set(strategy, { life, plan });
    return plan;
  }
}
