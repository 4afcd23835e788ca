import type { Bar, BarWish } from '../core/bar.ts';
import type { MissedSlice } from '../core/record.ts';
import type { z } from 'zod';
import type { Instrument, Minimum, Precisions } from '../core/instrument.ts';
import type { ReferencePrice } from '../core/reference-price.ts';
import type { Money, Quantity, Ratio } from '../core/money.ts';
import type { Basis, Targets, Valued } from '../core/risk/portfolio.ts';
import type { Reason } from '../core/reasons.ts';
import type { Debt } from '../core/risk/settling.ts';
import type { Instant } from '../core/time.ts';
import type { FundingRate, RiskMode, Side, Size } from '../core/venue.ts';
import type { Intent, Wait, Wake } from '../core/wake.ts';
import type { ModuleCode } from './kinds/module/module-call.ts';

/** The data that a kernel may read, as of `at`. It does not change during a step. */
export interface View {
  readonly at: Instant;
  /** Returns the instrument of a pair that the strategy names. */
  instrument(pair: string): Instrument;
  /** Returns the newest reference price of a pair; `undefined` if there is none or it is stale. */
  reference(pair: string): ReferencePrice | undefined;
  /**
   * Returns the volume of the pair that the market has traded since its day began, in base currency, from the newest
   * report. A lower figure starts a new day. `undefined` if unknown or too old.
   */
  volume(pair: string): Quantity | undefined;
  /** Whether the pair is delisted, so that it keeps its last price and can no longer be bought. Known only in backtests. */
  isDelisted(pair: string): boolean;
  /** Returns the newest `count` finished bars of a pair, oldest first, among those that the strategy requested; fewer if fewer exist. */
  bars(pair: string, intervalMs: number, count: number): readonly Bar[];
  /** Balance of each currency, including own fills; `undefined` while the account is unknown. */
  readonly holdings: ReadonlyMap<string, Quantity> | undefined;
  /** The venue's own newest valuation of the whole account, in USD, if it is recent. */
  readonly valuation: Money | undefined;
  /** Balances below zero, by currency. */
  readonly debts: ReadonlyMap<string, Debt>;
  /** Returns the cost of borrowing a currency, as last reported; `undefined` if the venue reported none. */
  rateOf(currency: string): FundingRate | undefined;
  /**
   * Returns how much of which debt must be repaid until equity / exposure is `headroom` above the liquidation level, the largest
   * debt first; nothing if it is. `undefined` if unknown.
   */
  excessDebts(headroom: Ratio): ReadonlyMap<string, Quantity> | undefined;
  /** Returns the risk mode of a pair; `undefined` if unknown or too old. */
  modeOf(pair: string): RiskMode | undefined;
  /**
   * Returns the largest order of a pair, in base currency, within the per-order limits at its reference price;
   * `undefined` if there is no limit or no price.
   */
  orderMax(pair: string, side: Side): Quantity | undefined;
  /** Values the currencies of `targets` and cash in cash; `undefined` when a price is missing or nothing is held. */
  value(targets: Targets, basis: Basis): Valued | undefined;
  /** Returns the value in cash of everything in the account, including reserves, and the currencies without a price. */
  accountValue(basis: Basis): { readonly value: Money; readonly unpriced: readonly string[] };
}

/** The result of a step: plain data, which is recorded before any of it takes effect. */
export interface Step<State> {
  readonly state: State;
  readonly waits: readonly Wait[];
  readonly intents?: readonly Intent[];
  /** Slots that passed without an attempt. */
  readonly missed?: readonly MissedSlice[];
  /** Why the step trades nothing, or less than planned. */
  readonly reason?: Reason | undefined;
  /** Figures behind the reason, for people. */
  readonly note?: string | undefined;
  /** Set when the strategy has ended. */
  readonly finished?: Reason | undefined;
  /** Why the step failed. The desk then discards the rest of the step and pauses the strategy until a person resumes it. */
  readonly fault?: string | undefined;
}

/**
 * A planned slice, for `validate`, `plan` and progress. It also sets the caps of the controls. More slices with an
 * order than planned, or a slice above 1.5 times its plan, halt the desk. A kind whose sizes shift returns no planned
 * slices, and gives a `ceiling` instead.
 */
export interface Slot {
  readonly slice: number;
  readonly at: Instant;
  /** Size as text, with its currency. */
  readonly size: string;
  readonly currency: string;
}

/** Bounds that no run of a strategy may exceed. */
export interface Ceiling {
  /** All slices together, as text, in `currency`. */
  readonly total: string;
  /** Base or quote currency of the pair. */
  readonly currency: string;
  /** Number of slices with an order, including orders that the venue did not fill. */
  readonly slices: number;
}

/** How much of a parent has traded, as text in `currency`. */
export interface ParentProgress {
  readonly total: string;
  /** Not yet traded. Slices in progress count as not traded. */
  readonly left: string;
  readonly currency: string;
}

/** A time of a strategy's calendar, for people. */
export interface Occurrence {
  readonly at: Instant;
  /** IANA time zone in which the calendar is written. */
  readonly zone: string;
  /** Why nothing runs then; omitted if it runs. */
  readonly closed?: string | undefined;
  /** What is easily misread in the calendar; omitted if nothing is. */
  readonly note?: string | undefined;
}

/** Expected cost of a plan compared with the price at its start, in basis points of its value. Positive is bad. */
export interface Estimate {
  readonly costBps: number;
  /** Standard deviation of the cost, from the market alone. */
  readonly riskBps: number;
}
export interface Forecast extends Estimate {
  /** The same total in equal slices over the same window, for comparison. */
  readonly even: Estimate;
}

/** Sizes of a pair that a strategy wants probed while the quote limit is idle. */
export interface LadderWish {
  readonly pair: string;
  readonly side: Side;
  /** The largest slice. */
  readonly size: Size;
}

/** A problem across parameters that are each valid. `path` names the field to change. */
export interface Problem {
  readonly path: readonly (string | number)[];
  /** The fault, and what to write instead. */
  readonly message: string;
}

/** Facts with which parameters are checked without a venue. */
export interface CheckWorld {
  minimum(pair: string): Minimum;
  /** Returns the base and quote currency of a pair, if known without asking the venue. */
  currencies(pair: string): { readonly base: string; readonly quote: string } | undefined;
  /** Whether the market reports its volume; `undefined` when unknown. */
  readonly hasVolume?: boolean | undefined;
  /** Returns the decimals in which the desk will size the pair, if known without a venue. */
  precisions(pair: string): Precisions;
}

export interface Context {
  readonly begunAt: Instant;
  readonly view: View;
}

/** A strategy with its parameters: a pure step that returns what it waits for next. A state is plain JSON between steps. */
export interface Strategy<State> {
  /** The pairs whose reference price the strategy needs. */
  readonly pairs: readonly string[];
  /** Returns the bars that its steps use. */
  bars(): readonly BarWish[];
  /** Whether steps use the venue's own valuation of the account. */
  readonly needsValuation: boolean;
  /** Whether steps use the venue's credit terms: funding rates and risk modes. */
  readonly needsTerms: boolean;
  /** Whether steps run a user's code in another process, which `plan` does not do. */
  readonly runsCode: boolean;
  /**
   * Returns why a person cannot start an occurrence now. `undefined` if they can, in which case a step on `run` starts
   * it. Omitted by kinds without occurrences.
   */
  runFault(state: State, at: Instant): string | undefined;
  /** Whether another document may replace the running one without leaving a decision unfinished. */
  isReplaceable(state: State): boolean;
  /** Checks across fields. */
  check(world: CheckWorld): readonly Problem[];
  /** Takes the first step of a run that starts at `begunAt`. */
  start(begunAt: Instant, view: View): Step<State>;
  step(state: State, wake: Wake, context: Context): Step<State>;
  /**
   * Returns how much of the parent has traded, from the state after the last step. Omitted by kinds without a total;
   * `undefined` between two parents.
   */
  progress(state: State): ParentProgress | undefined;
  /** Returns the remaining slots, if times and sizes are fixed in advance. The controls hold the run to these slots. */
  slots(begunAt: Instant, known: Precisions | undefined): readonly Slot[];
  /** Returns the times of a run at which it decides on sizes that are unknown in advance. */
  looks(begunAt: Instant): readonly Instant[];
  /** Returns the bounds of a run, for a kind that knows its total but not its slots. The controls enforce them. */
  ceiling(instrument: Instrument): Ceiling | undefined;
  /**
   * Returns the next `count` times after `from` at which the calendar lets the strategy run, or one closed time with
   * its reason if none is open within nine years. Empty if there is no later time; `undefined` if there is no calendar.
   */
  occurrences(from: Instant, count: number): readonly Occurrence[] | undefined;
  /** Notes for people, shown by `plan`, such as what happens when a trade fails. */
  readonly notes: readonly string[];
  /** The sizes to probe for the strategy. */
  readonly ladder: LadderWish | undefined;
  /** Returns the expected cost of the remaining slots, if the kind has a cost model. */
  forecast(begunAt: Instant, known: Precisions | undefined): Forecast | undefined;
}

/** What a kind states for parameters; the rest has defaults. */
type Stated<State> = Pick<Strategy<State>, 'pairs' | 'check' | 'start' | 'step'> & Partial<Strategy<State>>;

/** One kind of strategy. */
export interface StrategyKind<Params, State> {
  readonly kind: string;
  /** One sentence for `--help` and the schema. */
  readonly summary: string;
  /** Shape of the YAML document, without `id` and `kind`. Every field states its unit. */
  readonly params: z.ZodType<Params>;
  /** Schema of the state, which parses a state from the journal. */
  readonly state: z.ZodType<State>;
  /** Returns the strategy of a document. */
  of(plan: Params): Stated<State>;
}

/** A strategy bound to its parameters, whose states are of any shape. */
export interface BoundStrategy extends Strategy<unknown> {
  /** True unless the document has `side: buy`. */
  readonly maySell: boolean;
}

/** Ties the types of parameters and state together, then erases them, because the registry holds kinds of any shape. */
export const defineStrategy = <Params, State>(kind: StrategyKind<Params, State>): AnyStrategy => ({
  ...kind,
  bind(raw) {
    const params = kind.params.parse(raw);
    const defaults = {
      bars: () => [],
      needsValuation: false,
      needsTerms: false,
      runsCode: false,
      runFault: () => noOccurrences(kind.kind),
      isReplaceable: () => false,
      progress: () => undefined,
      slots: () => [],
      looks: () => [],
      ceiling: () => undefined,
      occurrences: () => undefined,
      notes: [],
      ladder: undefined,
      forecast: () => undefined,
    };
    const own: Strategy<State> = { ...defaults, ...kind.of(params) };
    // A state from the last step needs no parsing; a state from a journal is parsed by its schema.
    let made: Step<State> | undefined;
    const read = (state: unknown): State =>
      made !== undefined && state === made.state ? made.state : kind.state.parse(state);
    const keep = (step: Step<State>): Step<State> => (made = step);
    return {
      ...own,
      maySell: sideOf(params) !== 'buy',
      runFault: (state, at) => own.runFault(read(state), at),
      isReplaceable: (state) => own.isReplaceable(read(state)),
      start: (begunAt, view) => keep(own.start(begunAt, view)),
      step: (state, wake, context) => keep(own.step(read(state), wake, context)),
      progress: (state) => own.progress(read(state)),
    };
  },
});

const noOccurrences = (kind: string): string =>
  `a ${kind} has no occurrence to run: recurring strategies have, and rebalance and sweep with a schedule. tranche execute places one order now`;

const sideOf = (params: unknown): unknown =>
  typeof params === 'object' && params !== null && 'side' in params ? params.side : undefined;

export interface AnyStrategy {
  readonly kind: string;
  readonly summary: string;
  readonly params: z.ZodType;
  /** Binds the parameters of a document. @throws ZodError when `raw` does not fit `params`. */
  bind(raw: unknown): BoundStrategy;
  /** Returns the kind with the code of a user's module. Only kinds that run user code have it. */
  readonly withCode?: (code: ModuleCode) => AnyStrategy;
}
