import { MINUTE_MS, SECOND_MS, after } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Ports } from '../ports.ts';
import type { EngineState } from '../state/engine-state.ts';

/** Time from the pause to the first trial; each failed trial doubles the wait for the next. */
const FIRST_MS = 5 * SECOND_MS;
const MOST_MS = MINUTE_MS;
/** Maximum number of parents kept; the oldest are dropped. The next trial of a dropped parent is due immediately. */
const PARENTS_MAX = 1_000;

interface Wait {
  readonly dueAt: Monotonic;
  readonly waitMs: number;
}

/**
 * Decides when a parent may request a quote although it is paused because quotes and reference prices disagreed. A trial
 * never leads to an order: a quote that agrees ends the pause.
 */
export class PriceTrials {
  readonly #waits = new Map<string, Wait>();

  /** The parent is paused now. */
  start(parent: string, now: Monotonic): void {
    this.#waits.delete(parent);
    this.#waits.set(parent, { dueAt: after(now, FIRST_MS), waitMs: FIRST_MS });
    const [oldest] = this.#waits.keys();
    if (this.#waits.size > PARENTS_MAX && oldest !== undefined) this.#waits.delete(oldest);
  }

  /** A trial begins now. */
  begin(parent: string, now: Monotonic): void {
    const waitMs = Math.min(MOST_MS, 2 * (this.#waits.get(parent)?.waitMs ?? FIRST_MS));
    this.#waits.set(parent, { dueAt: after(now, waitMs), waitMs });
  }

  /** When the next trial of a paused parent is due; `undefined`: immediately, as after a start. */
  dueAt(parent: string): Monotonic | undefined {
    return this.#waits.get(parent)?.dueAt;
  }

  isDue(parent: string, now: Monotonic): boolean {
    const dueAt = this.dueAt(parent);
    return dueAt === undefined || now >= dueAt;
  }

  end(parent: string): void {
    this.#waits.delete(parent);
  }
}

/** Describes, one line each, parents that are paused until prices agree. */
export const pricePauseWords = ({
  state,
  priceTrials,
  ports,
}: {
  readonly state: EngineState;
  readonly priceTrials: PriceTrials;
  readonly ports: Pick<Ports, 'clock'>;
}): readonly string[] =>
  [...state.totals.data.pricePauses].map((parent) => {
    const dueAt = priceTrials.dueAt(parent);
    const leftMs = dueAt === undefined ? 0 : Math.max(0, dueAt - ports.clock.monotonic());
    const next = leftMs === 0 ? 'with its next attempt' : `in ${Math.ceil(leftMs / SECOND_MS)} s`;
    return `parent ${parent} is paused until a quote agrees with the reference price: the desk requests one ${next} and then resumes automatically`;
  });
