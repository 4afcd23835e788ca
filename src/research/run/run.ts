import { Observable, share } from 'rxjs';
import { OperatorError } from '../../core/errors.ts';
import { add, NO_MONEY, roundEven } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { HOUR_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { VirtualClock } from '../../engine/time/virtual-clock.ts';
import { Desk } from '../../engine/desk.ts';
import { noObserver } from '../../engine/observer.ts';
import type { Observer } from '../../engine/observer.ts';
import type { DeskSettings } from '../../engine/desk-settings.ts';
import type { Command, JournalPort, StrategiesPort } from '../../engine/ports.ts';
import { runDesk } from '../../engine/run.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import { Exchange } from '../../simulator/exchange/exchange.ts';
import { Impact } from '../../simulator/exchange/impact.ts';
import type { CurrencyOptions } from '../../simulator/options/options.ts';
import { inProcessVenue } from '../../simulator/port.ts';
import { hash32, mix, seededRandom } from '../../simulator/market/random.ts';
import { closingVenue } from './delisting.ts';
import type { Delisting } from './delisting.ts';
import { millionBpsOf } from './market-depth.ts';
import { gapMaxOf, venueOf } from './model.ts';
import type { ExecutionModel } from './model.ts';
import { TapeReader, tapeMarket, venueTape } from './tape-market.ts';
import type { NextPossible } from './tape-market.ts';
import { knownAt } from '../tape/tape.ts';
import type { Tape } from '../tape/tape.ts';

export interface BacktestSetup {
  /** One tape for each pair that is traded or needed for valuation. */
  readonly tapes: readonly Tape[];
  /** Start of the desk. The first close of every tape is known by then. */
  readonly from: Instant;
  /** The desk drains at this instant, and makes no decisions at it. */
  readonly until: Instant;
  readonly strategies: readonly StrategySource[];
  /** Settings of the desk, as the config defines them for paper mode. */
  readonly policy: DeskSettings;
  readonly model: ExecutionModel;
  /** Opening balances, by currency. */
  readonly holdings: ReadonlyMap<string, Quantity>;
  /** Seed of the venue's randomness and the desk's jitter. */
  readonly seed: string;
  /** Currencies that are not built into the simulated venue, or differ. */
  readonly currencies?: Readonly<Record<string, CurrencyOptions>> | undefined;
  readonly journal: JournalPort;
  /** Finds where a wait can be met. Without it, every row of every tape reaches the desk. */
  readonly nextPossible?: NextPossible | undefined;
  readonly observer?: Partial<Observer> | undefined;
  /** Treatment of tapes whose pair is delisted at their end; default: the price stays frozen at the last price. */
  readonly delisting?: Delisting | undefined;
  /** What changed while the desk ran whose journal is played; default: nothing. */
  readonly changes?: RecordedChanges | undefined;
}

/** What changed at a desk while it ran, as its journal records it. */
export interface RecordedChanges {
  /** Instants at which the desk reads its documents and limits again. */
  readonly reloads: readonly Instant[];
  /** Documents and limits in force by the clock. */
  readonly strategies: (clock: VirtualClock) => StrategiesPort;
  /** Deposits, and withdrawals as negative amounts. */
  readonly flows: readonly { readonly at: Instant; readonly currency: string; readonly amount: Quantity }[];
  /** Interval between reads of the account, ms: only a read shows a deposit. */
  readonly accountPollMs?: number | undefined;
}

/** A desk on virtual time over tapes: the live pipeline with other ports. */
export interface Backtest {
  readonly desk: Desk;
  readonly clock: VirtualClock;
  readonly exchange: Exchange;
  /**
   * Returns the value of the account in USD, at the prices of an instant. A desk that has finished early keeps its
   * holdings, and backtests and sweeps value them at the end of the window.
   */
  valueAt(moment: Instant): Money;
  /**
   * Continues to `until`, or to the end. Synchronous, so nothing else runs meanwhile. Returns whether the desk has
   * ended.
   *
   * @throws the error that ended the desk: `OperatorError` for a strategy that cannot run, otherwise a bug.
   */
  run(until?: Instant, isEnough?: () => boolean): boolean;
}

/** Prepares a backtest. @throws OperatorError (`config`) when a currency has no value in USD or the name of a pair cannot be split. */
export function backtest(setup: BacktestSetup): Backtest {
  const { tapes, from, until, model, seed, holdings, changes } = setup;
  const clock = new VirtualClock(from, { pieceMs: Number.POSITIVE_INFINITY });
  const pairs = tapes.map(({ pair }) => pair);
  // The desk and the venue share one price source.
  const readers = new Map(tapes.map((tape) => [tape.pair, new TapeReader(tape, gapMaxOf(model, tape))]));
  const options = venueOf(model, { seed, from, pairs, holdings, currencies: setup.currencies });
  const isOut = outages(model, seed);
  const exchange = new Exchange({
    options: {
      ...options,
      get unavailableProbability() {
        return isOut(clock.now()) ? 1 : 0;
      },
    },
    tapes: new Map(tapes.map((tape) => [tape.pair, venueTape(tape, readers.get(tape.pair))])),
    startedAt: from,
    impact: impactOf(model, setup),
  });
  const { nextPossible, journal } = setup;
  const venue = inProcessVenue(exchange, {
    clock,
    capabilities: 'none',
    quoteLatencyMs: model.quoteLatencyMs,
    orderLatencyMs: model.orderLatencyMs,
  });
  const account = exchange.accounts[0]?.name ?? '';
  for (const { at, currency, amount } of changes?.flows ?? [])
    clock.pushFirst(at, () => exchange.deposit(account, currency, amount, at));
  const desk = new Desk(
    {
      clock,
      random: seededRandom(`desk ${seed}`),
      venue: closingVenue(venue, {
        clock,
        tapes,
        sellsForMs: (tape) => (setup.delisting === 'liquidate' ? gapMaxOf(model, tape) : 0),
      }),
      market: tapeMarket({ clock, tapes, readers, until, nextPossible }),
      journal,
      operator$: commandsOf(clock, until, changes?.reloads),
      strategies: changes?.strategies(clock),
    },
    {
      ...backtestPolicy(setup.policy),
      ...(changes?.accountPollMs === undefined ? {} : { accountPollMs: changes.accountPollMs }),
    },
    { ...noObserver, ...setup.observer },
    setup.strategies,
  );
  // A reload may start a strategy after all others have finished.
  const run = runner(desk, clock, { isUntilDone: (changes?.reloads ?? []).length === 0 });
  return {
    desk,
    clock,
    exchange,
    valueAt: (moment) => valueAt(exchange, moment),
    run(to, isEnough) {
      const isOver = run(to, isEnough);
      // Interest is charged until then, even if the desk ended before.
      if (isOver) exchange.advance(until);
      return isOver;
    },
  };
}

/**
 * Returns the impact of trades; `undefined` if the settings of the pairs apply. @throws OperatorError (`config`) when a tape lacks
 * the required volume.
 */
function impactOf(
  { impactMemory, impactParticipation: coefficient }: ExecutionModel,
  { tapes, from, until }: Pick<BacktestSetup, 'tapes' | 'from' | 'until'>,
): Impact | undefined {
  if (impactMemory === 'none' && coefficient === undefined) return undefined;
  const depths = new Map<string, (at: Instant) => number | undefined>();
  for (const tape of coefficient === undefined ? [] : tapes) {
    const depth = millionBpsOf(tape, coefficient ?? 0);
    if (depth(from) === undefined && depth(until) === undefined)
      throw new OperatorError('config', `impact_participation needs volume: the prices of ${tape.pair} have none, or fewer than 20 bars; omit it to use impact_bps`); // prettier-ignore
    depths.set(tape.pair, depth);
  }
  return new Impact({
    halfLifeMs: impactMemory === 'none' ? 0 : impactMemory,
    bpsAt: (pair, at) => depths.get(pair)?.(at),
  });
}

/** Returns the account's value, to the nearest cent; the venue itself truncates the value against which it lends. */
function valueAt({ accounts, ledger, market }: Exchange, moment: Instant): Money {
  let value = NO_MONEY;
  for (const [currency, held] of ledger.balances(accounts[0]?.name ?? ''))
    value = add(value, market.usdValue(currency, held, moment));
  return roundEven(value, 2);
}

function runner(
  desk: Desk,
  clock: VirtualClock,
  options: { readonly isUntilDone: boolean },
): Backtest['run'] {
  const seen: { isOver: boolean; failure: { readonly error: unknown } | undefined } = {
    isOver: false,
    failure: undefined,
  };
  let isBegun = false;
  return (until, isEnough) => {
    if (!isBegun) {
      isBegun = true;
      runDesk(desk, options).subscribe({
        error: (error: unknown) => {
          seen.failure = { error };
        },
        complete: () => {
          seen.isOver = true;
        },
      });
    }
    if (!seen.isOver && seen.failure === undefined) clock.run(until, isEnough);
    if (seen.failure !== undefined) throw seen.failure.error;
    return seen.isOver;
  };
}

/**
 * Disables features that only a live desk needs, because nobody adjusts this clock, the venue's terms are constant, and
 * nobody else trades on the account. Only interest changes a balance without a trade, so an account with credit is read
 * every hour.
 */
export const backtestPolicy = (policy: DeskSettings): DeskSettings => ({
  ...policy,
  mode: 'backtest',
  account: 'backtest',
  accountPollMs: policy.pts.use === 'never' ? Number.POSITIVE_INFINITY : HOUR_MS,
  accountAgeMaxMs: undefined,
  continuity: { ...policy.continuity, everyMs: Number.POSITIVE_INFINITY },
  pts: { ...policy.pts, pollMs: Number.POSITIVE_INFINITY, maxAgeMs: Number.POSITIVE_INFINITY },
});

/** Emits the reloads, then a drain at the end of the tape. */
const commandsOf = (
  clock: VirtualClock,
  until: Instant,
  reloads: readonly Instant[] = [],
): Observable<Command> =>
  new Observable<Command>((subscriber) => {
    const drain = { at: until, command: { do: 'drain', why: 'the end of the tape' } as const };
    const recorded = reloads.map((at) => ({
      at,
      command: { do: 'reload', by: 'tranche', why: 'as recorded' } as const,
    }));
    const taken = [...recorded.filter(({ at }) => at < until), drain].map(({ at, command }) =>
      clock.pushFirst(at, () => {
        subscriber.next(command);
      }),
    );
    return () => {
      for (const takeOff of taken) takeOff();
    };
  }).pipe(share());

/**
 * Returns whether the venue gives no quotes at a time. Outages last for whole periods, so that refusals come in clusters, and
 * depend only on the seed.
 */
export function outages(
  { unavailableShare, unavailableMs }: ExecutionModel,
  seed: string,
): (at: number) => boolean {
  const key = hash32(`outage ${seed}`);
  return (at) => {
    if (unavailableShare === 0) return false;
    const piece = Math.floor(at / unavailableMs);
    const drawn = mix(mix(key ^ (piece | 0)) ^ Math.floor(piece / 2 ** 32));
    return drawn / 2 ** 32 < unavailableShare;
  };
}

/** Returns the window covered by all tapes: from the first instant at which each has a price to the end of the shortest. */
export function coverOf(tapes: readonly Tape[]): { readonly from: Instant; readonly until: Instant } {
  const firsts = tapes.map((tape) => knownAt(tape, 0));
  const lasts = tapes.map((tape) => knownAt(tape, tape.rows - 1) + Math.max(tape.barMs, 1));
  return { from: instant(Math.max(...firsts)), until: instant(Math.min(...lasts)) };
}
