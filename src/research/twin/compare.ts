import {
  NO_MONEY,
  NO_QUANTITY,
  add,
  approximate,
  cost,
  fraction,
  priceOf,
  ratio,
  roundEven,
  scale,
  slippageBps,
  subtract,
} from '../../core/money.ts';
import type { Money, Price, Ratio } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import { seededRandom } from '../../simulator/market/random.ts';
import { lastKnownRow, priceAt } from '../tape/tape.ts';
import type { SliceOutcome } from './outcomes.ts';
import { marketOf, play } from './play.ts';
import type { TwinRun } from './play.ts';
import { causes } from './twin-setup.ts';
import type { Cause, TwinMarket, TwinSetup } from './twin-setup.ts';

/** Live compared with its twin: every difference with its causes. Amounts are in USD; a positive amount favours live. */
export interface Comparison {
  readonly from: Instant;
  readonly until: Instant;
  /** Hash of the last record of live. */
  readonly head: string;
  readonly rows: readonly Row[];
  /** Value that live traded, in USD at the final prices. */
  readonly traded: Money;
  readonly total: Money;
  /** Sums exactly to `total`. */
  readonly shares: Readonly<Record<Cause | 'rest', Money>>;
  /** Counts of slices by the decision of live and of the twin: `filled`, or the reason why not. */
  readonly decisions: readonly { readonly live: string; readonly twin: string; readonly slices: number }[];
  /**
   * Mean cost of live minus that of the twin, basis points, over slices that both traded, with the interval that covers 95 % of
   * resamples.
   */
  readonly cost:
    | { readonly mean: number; readonly low: number; readonly high: number; readonly slices: number }
    | undefined;
  /** Number of slices that the model quoted, because live has no quote. */
  readonly modelled: number;
}

export interface Row {
  readonly key: string;
  readonly live: SliceOutcome | undefined;
  /** Outcome on the model alone. */
  readonly twin: SliceOutcome | undefined;
  readonly total: Money;
  readonly shares: Readonly<Record<Cause | 'rest', Money>>;
  /** Cost against the reference of live, or of the twin if live has none; basis points. */
  readonly liveBps: Ratio | undefined;
  readonly twinBps: Ratio | undefined;
  readonly isModelled: boolean;
}

export interface CompareSetup extends TwinSetup {
  /** Includes only slices decided from here on, and before `until`. Default: all. */
  readonly since?: Instant | undefined;
}

/** Decimals of the worth of a slice: sums and differences of such amounts are exact. */
const WORTH_DECIMALS = 12;

/** Runs the twin on the model alone, then once more for each cause. @throws OperatorError */
export function compare(setup: CompareSetup): Comparison {
  const { recorded, since = recorded.from } = setup;
  const until = setup.until ?? recorded.until;
  const market = marketOf(setup);
  const plain = play(setup, market, new Set());
  const runs = causes.map((_, i) => play(setup, market, new Set(causes.slice(0, i + 1))));
  const worth = worthAt(setup, market, until);
  const keys = new Set(
    [recorded.slices, plain.slices, ...runs.map(({ slices }) => slices)].flatMap((slices) => [
      ...slices.keys(),
    ]),
  );
  const last = runs.at(-1) ?? plain;
  const rows = [...keys]
    .map((key): Row => rowOf(key, { live: recorded.slices.get(key), plain, runs, last, worth }))
    .filter(({ live, twin }) => {
      const decidedAt = live?.decidedAt ?? twin?.decidedAt;
      return decidedAt !== undefined && decidedAt >= since && decidedAt < until;
    })
    .toSorted((a, b) => decidedAtOf(a) - decidedAtOf(b) || (a.key < b.key ? -1 : 1));
  return {
    from: since,
    until,
    head: recorded.head,
    rows,
    traded: sum(rows.map(({ live }) => (live === undefined ? NO_MONEY : worth.traded(live)))),
    total: sum(rows.map(({ total }) => total)),
    shares: sharesOf((cause) => sum(rows.map(({ shares }) => shares[cause]))),
    decisions: decisionsOf(rows),
    cost: costOf(rows),
    modelled: rows.filter(({ isModelled }) => isModelled).length,
  };
}

const decidedAtOf = ({ live, twin }: Row): number => live?.decidedAt ?? twin?.decidedAt ?? 0;

const sum = (amounts: readonly Money[]): Money => amounts.reduce((a, b) => add(a, b), NO_MONEY);

export const sharesOf = (of: (cause: Cause | 'rest') => Money): Row['shares'] => ({
  text: of('text'),
  people: of('people'),
  sizing: of('sizing'),
  latency: of('latency'),
  quote: of('quote'),
  last_look: of('last_look'),
  doubt: of('doubt'),
  rest: of('rest'),
});

interface Compared {
  readonly live: SliceOutcome | undefined;
  readonly plain: TwinRun;
  /** One run for each cause, on top of the causes before it. */
  readonly runs: readonly TwinRun[];
  readonly last: TwinRun;
  readonly worth: Worth;
}

/**
 * Attributes each difference: the worth of a slice changes from run to run, from the model alone to live, and each change belongs
 * to the cause that the run adds.
 */
function rowOf(key: string, { live, plain, runs, last, worth }: Compared): Row {
  const twin = plain.slices.get(key);
  const worths = [plain, ...runs].map(({ slices }) => worth.of(slices.get(key)));
  const end = worth.of(live);
  const step = (i: number): Money => subtract(worths[i + 1] ?? NO_MONEY, worths[i] ?? NO_MONEY);
  const reference = live?.reference ?? twin?.reference;
  return {
    key,
    live,
    twin,
    total: subtract(end, worths[0] ?? NO_MONEY),
    shares: sharesOf((cause) =>
      cause === 'rest' ? subtract(end, worths.at(-1) ?? NO_MONEY) : step(causes.indexOf(cause)),
    ),
    liveBps: bpsOf(live, reference),
    twinBps: bpsOf(twin, reference),
    isModelled: last.modelled.has(key),
  };
}

/** Returns the cost against the reference, including fees. */
function bpsOf(slice: SliceOutcome | undefined, reference: Price | undefined): Ratio | undefined {
  if (slice === undefined || reference === undefined || slice.quantity.isZero()) return undefined;
  const { side, amount, fees, quantity } = slice;
  const paid = side === 'buy' ? add(amount, fees) : subtract(amount, fees);
  return slippageBps(side, priceOf(paid, quantity), reference);
}

/** The worth of slices at the end, in USD. */
export interface Worth {
  /** For a buy, its value at the prices of the end minus the payment; for a sell, the reverse. Zero if nothing traded. */
  of(slice: SliceOutcome | undefined): Money;
  traded(slice: SliceOutcome): Money;
}

export function worthAt({ recorded }: TwinSetup, market: TwinMarket, until: Instant): Worth {
  const tapes = new Map(market.tapes.map((tape) => [tape.pair, tape]));
  const markOf = (pair: string): Price | undefined => {
    const tape = tapes.get(pair);
    return tape === undefined ? undefined : priceAt(tape.close, Math.max(0, lastKnownRow(tape, until)));
  };
  const inUsd = (amount: Money, quote: string): Money => {
    const rate = quote === 'usd' ? undefined : recorded.rates.get(quote);
    return roundEven(rate === undefined ? amount : scale(amount, rate), WORTH_DECIMALS);
  };
  return {
    of(slice) {
      if (slice === undefined || slice.quantity.eq(NO_QUANTITY)) return NO_MONEY;
      const { pair, quote, side, quantity, amount, fees } = slice;
      const marked = cost(markOf(pair) ?? priceOf(amount, quantity), quantity);
      const gained = side === 'buy' ? subtract(marked, amount) : subtract(amount, marked);
      return inUsd(subtract(gained, fees), quote);
    },
    traded: ({ amount, quote }) => inUsd(amount, quote),
  };
}

/** Returns the mean cost of slices against their own references, basis points; `undefined` if none traded. */
export function meanCostOf(slices: readonly SliceOutcome[]): number | undefined {
  const each = slices.flatMap((slice) => bpsOf(slice, slice.reference) ?? []).map(approximate);
  return each.length === 0 ? undefined : meanOf(each);
}

const meanOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** Returns how a slice ended, in one word. */
export const decisionOf = (slice: SliceOutcome | undefined): string => {
  if (slice === undefined) return 'not_decided';
  return slice.result === 'filled' ? 'filled' : (slice.reason ?? slice.result);
};

function decisionsOf(rows: readonly Row[]): Comparison['decisions'] {
  const counts = Map.groupBy(rows, ({ live, twin }) => `${decisionOf(live)}\n${decisionOf(twin)}`);
  return [...counts.values()]
    .map((same) => ({
      live: decisionOf(same[0]?.live),
      twin: decisionOf(same[0]?.twin),
      slices: same.length,
    }))
    .toSorted((a, b) => b.slices - a.slices);
}

const RESAMPLES = 2_000;

/** Returns the mean cost with its interval, from resamples of the slices, drawn with replacement (percentile bootstrap). */
function costOf(rows: readonly Row[]): Comparison['cost'] {
  const each = rows.flatMap(({ liveBps, twinBps }) =>
    liveBps === undefined || twinBps === undefined ? [] : [approximate(subtract(liveBps, twinBps))],
  );
  if (each.length === 0) return undefined;
  const random = seededRandom('twin');
  const means = Array.from({ length: RESAMPLES }, () =>
    meanOf(each.map(() => each[Math.floor(random.next() * each.length)] ?? 0)),
  ).toSorted((a, b) => a - b);
  const at = (share: number): number => means[Math.floor(share * (RESAMPLES - 1))] ?? 0;
  return { mean: meanOf(each), low: at(0.025), high: at(0.975), slices: each.length };
}

/** Returns an amount in basis points of the volume that live traded; `undefined` if it traded nothing. */
export const inBps = (amount: Money, traded: Money): Ratio | undefined =>
  traded.isZero() ? undefined : scale(fraction(amount, traded), ratio('10000'));
