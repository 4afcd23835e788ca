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
  /** By id. A reload replaces the whole. */
  sources: ReadonlyMap<string, StrategySource>;
  /** Strategies that changed since the pipeline looked last. */
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

  /** Runs these strategies from now on, and no others. `rearm` arms what they wait for, once it is durable. */
  run(sources: readonly StrategySource[]): void {
    this.sources = new Map(sources.map((one) => [one.id, one]));
  }

  rearm(strategies: readonly string[]): void {
    this.#changed = [...this.#changed, ...strategies];
    this.#parts.changed$.next();
  }

  /** Strategies to re-arm, each returned once. */
  takeChanged(): readonly string[] {
    const changed = this.#changed;
    if (changed.length > 0) this.#changed = [];
    return changed;
  }

  /** Whether the strategy of a slice still runs as it did when the slice was decided, and nobody has ended it since. */
  isRun({ strategy, hash }: { readonly strategy: string; readonly hash: string }): boolean {
    return (
      this.sources.get(strategy)?.hash === hash &&
      this.#parts.state.lives.get(strategy)?.finished !== 'stopped_by_operator'
    );
  }

  /** What the strategy plans, with the precision of its pair; `undefined` when it has no plan. */
  plan(strategy: string): StrategyPlan | undefined {
    const { state, instruments } = this.#parts;
    const life = state.lives.get(strategy);
    const source = this.sources.get(strategy);
    // Until the lives go on, at start, what its file says now may stand there: the plan of an edited text is not that of its life.
    if (life === undefined || source?.hash !== life.hash) return undefined;
    const { bound } = source;
    const known = this.#plans.get(strategy);
    if (known?.life === life) return known.plan;
    // Nor can any be made before the venue could be asked.
    if (bound.pairs.some((pair) => 'problem' in instruments.pair(pair))) return undefined;
    const plan = planOf(bound, life.begunAt, (pair) => instruments.of(pair));
    this.#plans.set(strategy, { life, plan });
    return plan;
  }
}
