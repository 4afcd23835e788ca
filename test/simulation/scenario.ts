/**
 * What the frame knows of a simulation. A scenario plays one history of desk and venue from a seed, or from a plan that an
 * earlier run wrote down, and judges it by what the venue did: never by what the desk thinks of itself.
 */
export interface Scenario {
  /** One letter, as the command line names it. */
  readonly name: string;
  /** What it plays, for people. */
  readonly title: string;
  /** Rare things that must have happened in a run of `enough` seeds: one that did not is a fault of the test. */
  readonly sometimes: readonly string[];
  /** Seeds in which every one of them is expected. */
  readonly enough: number;
  run(from: number | Plan, options?: RunOptions): RunResult;
}

export interface RunOptions {
  /** Takes a line for everything that happens. */
  readonly trace?: ((line: string) => void) | undefined;
}

/** Something that goes wrong, and where: at a point that the logic of the run names, not at a count of draws. */
export interface Fault {
  /** Such as `order.answer@3.0`: the answer to the first attempt of slice 3. */
  readonly at: string;
  readonly kind: string;
  /** In [0, 1): how far it goes, whatever that means for the kind. */
  readonly value: number;
}

/** One history, written out: replayed for ever, and small enough to be read once it was shrunk. */
export interface Plan {
  readonly scenario: string;
  /** What is not a fault (latencies, prices) is drawn from it. */
  readonly seed: number;
  /** Size of the work and the manners of the venue. */
  readonly settings: Readonly<Record<string, number>>;
  readonly faults: readonly Fault[];
}

/** A plan that went wrong once, kept for ever in `regressions/`. */
export interface Regression {
  readonly invariant: string;
  /** The broken rule under which it goes wrong; absent when it was a fault of the product that is mended. */
  readonly mutant?: string | undefined;
  readonly plan: Plan;
}

export interface Violation {
  /** `I1` … `I18`, or `crash` when the desk threw. */
  readonly invariant: string;
  readonly detail: string;
  /** Virtual time since the run began. */
  readonly atMs: number;
  /** Number of the event at which it was seen. */
  readonly event: number;
}

export interface RunResult {
  /** In the order in which they were seen; a run ends at the first. */
  readonly violations: readonly Violation[];
  /** Names out of `sometimes`, each once. */
  readonly probes: readonly string[];
  readonly crashes: number;
  readonly virtualMs: number;
  readonly events: number;
  /** Over everything that happened: the same seed gives the same. */
  readonly traceHash: string;
  /** The faults that really happened, in order. */
  readonly plan: Plan;
}

export function clockText(ms: number): string {
  const two = (count: number): string => String(Math.floor(count)).padStart(2, '0');
  const rest = String(Math.floor(ms % 1_000)).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}.${rest}`;
}

export const seedText = (seed: number): string => `0x${seed.toString(16).padStart(8, '0')}`;
