import { approximate, price, quantity } from '../core/money.ts';
import type { Price, Quantity } from '../core/money.ts';
import { sidesOf } from '../core/pairs.ts';
import type { StoredRecord } from '../core/record.ts';
import { pack, unpack } from '../core/text/pack.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { DeskSettings } from '../engine/desk-settings.ts';
import type { EngineState, StrategyRun } from '../engine/state/engine-state.ts';
import type { SavedState } from '../engine/state/snapshot.ts';
import type { StrategySource } from '../engine/state/strategy-source.ts';
import { backtestJournal } from '../journal/backtest-journal.ts';
import { presetModel } from '../research/run/model.ts';
import type { ExecutionModel } from '../research/run/model.ts';
import { backtest } from '../research/run/run.ts';
import type { Backtest, BacktestSetup } from '../research/run/run.ts';
import { builtIn, pricedInUsd } from '../simulator/exchange/listing.ts';
import { PRECISION_MAX } from '../simulator/options/options-parts.ts';
import type { CurrencyOptions } from '../simulator/options/options.ts';
import { tapeOf } from '../research/tape/tape.ts';
import type { Tape } from '../research/tape/tape.ts';

/** A price, and its source in words. */
export interface KnownPrice {
  readonly mid: Price;
  readonly from: string;
  /** Half of the difference between the prices of a buy and a sell, in basis points; omitted if the venue was not queried. */
  readonly halfSpreadBps?: number | undefined;
}

/** What is known about the account and the market. */
export interface Facts {
  readonly prices: ReadonlyMap<string, KnownPrice>;
  /** Decimals of currencies that the venue stated. */
  readonly precisions: ReadonlyMap<string, number>;
  /** Current balances, or why they are unknown. */
  readonly funds:
    | { readonly balances: ReadonlyMap<string, Quantity>; readonly from: string }
    | { readonly missing: string };
}

/** What a desk knows about its strategies and its trades. */
export type KnownState = { readonly lives: ReadonlyMap<string, StrategyRun> } & Partial<
  Pick<EngineState, 'slices' | 'maximums' | 'totals'>
>;

export interface RehearsalSetup {
  readonly strategies: readonly StrategySource[];
  /** Pairs that they trade, and that convert into the currency of the limits. */
  readonly pairs: readonly string[];
  /** Settings of the desk, as the config defines them. */
  readonly policy: DeskSettings;
  readonly facts: Facts;
  readonly from: Instant;
  readonly until: Instant;
  /** Runs, totals of the day and learned maximums of the desk; omitted: nothing has begun. */
  readonly state?: KnownState | undefined;
  /** What differs from a venue that fills everything at `COST`: in paper mode the settings of the simulated venue. */
  readonly model?: Partial<ExecutionModel> | undefined;
  /** Settings of the venue's currencies, if known. */
  readonly currencies?: BacktestSetup['currencies'];
  /** Number of decided slices after which the rehearsal ends; default: no limit. */
  readonly slicesMax?: number | undefined;
}

/** What the desk recorded on virtual time. */
export interface Rehearsal {
  readonly setup: RehearsalSetup;
  readonly desk: Backtest['desk'];
  readonly model: ExecutionModel;
  readonly records: readonly StoredRecord[];
  /** Pairs whose price is unknown, so that nothing depends on it. */
  readonly unpriced: ReadonlySet<string>;
  /** End of the rehearsal, if it ended early because of `slicesMax`. */
  readonly cutAt: Instant | undefined;
}

/**
 * Price of a pair without one. It is so low that no notional limit depends on the quantities of the pair; amounts in
 * quote currency count as they are.
 */
const UNKNOWN_PRICE = price('0.000000001');
const PLENTY = `1${'0'.repeat(24)}`;
/** Half spread and impact of a million, basis points, where neither the venue nor the config states them. */
export const COST = { halfSpreadBps: 5, impactBps: 10 };

/** Number of parts of a rehearsal between which other work of the process may run. */
const PARTS = 1_000;

/** Runs the strategies through the desk's own pipeline over constant prices, on virtual time. @throws OperatorError */
export function rehearse(setup: RehearsalSetup): Rehearsal {
  const parts = rehearsing(setup);
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
  }
}

/** The same in parts, between which the process may do other work. @throws OperatorError */
export function* rehearsing(setup: RehearsalSetup): Generator<undefined, Rehearsal> {
  const { facts, from, until, state, slicesMax = Infinity } = setup;
  const strategies = setup.strategies.filter(({ bound }) => !bound.runsCode);
  const pairs = new Set([...setup.pairs, ...facts.prices.keys()]);
  const unpriced = new Set([...pairs].filter((pair) => !facts.prices.has(pair)));
  const byAmount = amountPairs(strategies);
  const records: StoredRecord[] = [];
  const journal = backtestJournal();
  const model = modelOf(setup);
  let slices = 0;
  let cutAt: Instant | undefined;
  const running = backtest({
    tapes: [...pairs].map((pair) =>
      constant(pair, facts.prices.get(pair)?.mid ?? fallback(pair, strategies), from),
    ),
    from,
    until,
    strategies,
    policy: policyOf(setup, unpriced, byAmount),
    model,
    holdings: 'missing' in facts.funds ? plenty(pairs) : facts.funds.balances,
    seed: 'plan',
    currencies: currenciesOf(setup, [...pairs], byAmount),
    journal,
    // Prices never change, so no wait for one is met later.
    nextPossible: () => undefined,
    observer: {
      record(record) {
        if (cutAt !== undefined && record.at > cutAt) return;
        records.push(record);
        if (record.body.kind === 'wake') slices += record.body.intents.length;
        if (slices >= slicesMax) cutAt ??= record.at;
      },
    },
  });
  if (state !== undefined) continueFrom(running.desk.state, state, strategies);
  // What else happens at that time, such as a halt, is still recorded.
  const isCut = (): boolean => cutAt !== undefined && running.clock.wall() > cutAt;
  for (let part = 1; part < PARTS && !isCut(); part++) {
    if (running.run(instant(from + Math.round(((until - from) * part) / PARTS)), isCut)) break;
    yield;
  }
  if (!isCut()) running.run(undefined, isCut);
  return { setup, desk: running.desk, model, records, unpriced, cutAt };
}

/** A tape with one row, whose price stays. */
function constant(pair: string, mid: Price, from: Instant): Tape {
  const column = (value: number): Float64Array => Float64Array.of(value);
  const close = column(approximate(mid));
  const columns = {
    times: column(from),
    open: close,
    high: close,
    low: close,
    close,
    volume: column(Number.NaN),
  };
  return tapeOf({ pair, barMs: 0, columns });
}

/** A price at which every limit order of the pair may trade, if there is one. */
function fallback(pair: string, strategies: readonly StrategySource[]): Price {
  const limits = strategies.flatMap(({ bound, document }) => {
    const { limit_price: limit, side } = document;
    return bound.pairs[0] === pair && typeof limit === 'string' ? [{ side, limit: price(limit) }] : [];
  });
  const [buys, sells] = ['buy', 'sell'].map((side) =>
    limits.filter((one) => one.side === side).map(({ limit }) => limit),
  );
  const lowest = buys?.reduce<Price | undefined>((a, b) => (a?.lt(b) === true ? a : b), undefined);
  return (
    lowest ??
    sells?.reduce<Price | undefined>((a, b) => (a?.gt(b) === true ? a : b), undefined) ??
    UNKNOWN_PRICE
  );
}

/**
 * Currencies of the venue, of the pairs and of the account: with the decimals that the venue stated, and with some value
 * in usd, which a plan does not use. A quote currency on which no size depends has enough decimals for an amount at the
 * price of an unpriced pair.
 */
function currenciesOf(
  { currencies = {}, facts }: RehearsalSetup,
  pairs: readonly string[],
  byAmount: ReadonlySet<string>,
): RehearsalSetup['currencies'] {
  const { funds, precisions, prices } = facts;
  const known = new Set([...Object.keys(currencies), ...precisions.keys()]);
  const sides = pairs.map((pair) => ({ pair, ...sidesOf(pair, known) }));
  const held = 'missing' in funds ? [] : funds.balances.keys();
  const names = [...known, ...held, ...sides.flatMap(({ base, quote }) => [base, quote])];
  const valued = pricedInUsd(currencies, pairs);
  const sized = new Set(
    sides.flatMap(({ pair, base, quote }) => (byAmount.has(pair) ? [base, quote] : base)),
  );
  const rough = new Set(sides.flatMap(({ pair, quote }) => (prices.has(pair) ? [] : quote)));
  const settingsOf = (name: string): CurrencyOptions => {
    const precision = precisions.get(name);
    return {
      canDeposit: true,
      canWithdraw: true,
      ...builtIn(name),
      ...currencies[name],
      ...(precision === undefined ? {} : { precision }),
      ...(rough.has(name) && !sized.has(name) ? { precision: PRECISION_MAX } : {}),
      ...(valued.has(name) ? {} : { usdRate: '1' }),
    };
  };
  return Object.fromEntries(
    names.filter((name) => name !== undefined).map((name) => [name, settingsOf(name)]),
  );
}

function plenty(pairs: ReadonlySet<string>): ReadonlyMap<string, Quantity> {
  const currencies = [...pairs].flatMap((pair) => Object.values(sidesOf(pair, [])));
  return new Map(['usd', ...currencies].map((currency) => [currency, quantity(PLENTY)]));
}

/** Pairs in which some strategy does not trade a stated quantity. */
const amountPairs = (strategies: readonly StrategySource[]): ReadonlySet<string> =>
  new Set(
    strategies
      .filter(({ document }) => !('total_quantity' in document || 'each_quantity' in document))
      .flatMap(({ bound }) => bound.pairs),
  );

/** Approvals are stated, not awaited. What depends on an unknown account or price is not checked. */
function policyOf(
  { policy, facts }: RehearsalSetup,
  unpriced: ReadonlySet<string>,
  byAmount: ReadonlySet<string>,
): DeskSettings {
  const { limits } = policy;
  // An amount has no quantity without a price.
  const isKnown = ([pair]: readonly [string, unknown]): boolean => !unpriced.has(pair) || !byAmount.has(pair);
  const known: DeskSettings = {
    ...policy,
    approvals: undefined,
    limits: {
      ...limits,
      orderQuantityMax: new Map([...limits.orderQuantityMax].filter(isKnown)),
      ...(unpriced.size === 0 ? {} : { shortfallBpsMax: undefined, dayCostMax: undefined }),
    },
    minimumOf(pair) {
      const minimum = policy.minimumOf(pair);
      return unpriced.has(pair) ? { lot: minimum.lot } : minimum;
    },
  };
  return 'missing' in facts.funds
    ? {
        ...known,
        keep: new Map(),
        limits: { ...known.limits, positionMin: undefined, positionMax: undefined },
        pts: { ...policy.pts, use: 'never' },
      }
    : known;
}

function modelOf({ facts, policy, model = {} }: RehearsalSetup): ExecutionModel {
  const quoted = [...facts.prices].flatMap(([pair, { halfSpreadBps }]) =>
    halfSpreadBps === undefined ? [] : [[pair, { halfSpreadBps }] as const],
  );
  const { pts } = presetModel('tight');
  return {
    ...presetModel('tight'),
    ...COST,
    maxUsd: PLENTY,
    quoteLatencyMs: 0,
    orderLatencyMs: 0,
    gapMax: Number.POSITIVE_INFINITY,
    ...model,
    pairs: { ...model.pairs, ...Object.fromEntries(quoted) },
    pts: model.pts ?? {
      ...pts,
      enabled: policy.pts.use === 'when_enabled',
      creditLimitUsd: PLENTY,
      defaultMode: 'Enabled',
    },
  };
}

/**
 * Lets the desk continue from the runs of another state: those with the same document, with their open slices, the
 * totals and the learned maximums. The account is that of the facts, and nothing is in flight.
 */
function continueFrom(
  own: EngineState,
  { lives, slices, maximums, totals }: KnownState,
  strategies: readonly StrategySource[],
): void {
  const hashes = new Map(strategies.map(({ id, hash }) => [id, hash]));
  const copy = unpack(pack({ lives, slices, maximums, totals: totals?.saved() })) as Copied; // oxlint-disable-line typescript/no-unsafe-type-assertion -- packed here
  for (const [id, life] of copy.lives) if (hashes.get(id) === life.hash) own.lives.set(id, life);
  for (const [key, slice] of copy.slices ?? [])
    if (own.lives.has(slice.strategy)) own.slices.set(key, { ...slice, openAttempt: undefined });
  for (const [pair, known] of copy.maximums ?? []) own.maximums.set(pair, known);
  if (copy.totals !== undefined) own.totals.restore(copy.totals);
}
type Copied = Omit<KnownState, 'totals'> & { readonly totals?: SavedState['totals'] | undefined };
