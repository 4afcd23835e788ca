import {
  EMPTY,
  defer,
  distinctUntilChanged,
  filter,
  groupBy,
  map,
  merge,
  mergeMap,
  of,
  switchMap,
  take,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { isBeyond } from '../../core/reference-price.ts';
import { driftOf, hasDrifted, tradedPair } from '../../core/risk/portfolio.ts';
import { money, NO_QUANTITY, price, quantity, ratio } from '../../core/money.ts';
import type { Ratio } from '../../core/money.ts';
import { duesOf, earliest } from '../../core/risk/settling.ts';
import { after } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { SliceOutcome, Wait, Wake } from '../../core/wake.ts';
import { untilTime } from '../time/watch-clocks.ts';
import { debtsOf } from '../account/debts.ts';
import { excessDebts, valuingPairs } from '../market/headroom.ts';
import type { Desk } from '../desk.ts';
import type { StrategyRun } from '../state/engine-state.ts';
import type { Command, Lookout } from '../ports.ts';
import { AT_ONCE_MS } from '../operator/spin-guard.ts';
import { watch } from '../watch.ts';

/** A person's command to run a strategy now. */
export type RunCommand = Command & { readonly do: 'run' };

/** A wake of one strategy. */
export interface StrategyWake {
  readonly strategy: string;
  readonly wake: Wake;
  /** Whether the wait was already met, or nearly met, when it was armed. */
  readonly isAtOnce: boolean;
  /** The command of a person who awaits the response. */
  readonly command?: RunCommand | undefined;
}

/** Arms the waits of each arriving strategy; the first wait that is met is its next wake. */
export const wakes = (desk: Desk, armed$: Observable<string>): Observable<StrategyWake> =>
  armed$.pipe(
    groupBy((strategy) => strategy),
    mergeMap((armings$) => armings$.pipe(switchMap((strategy) => nextWake(desk, strategy)))),
  );

function nextWake(desk: Desk, strategy: string): Observable<StrategyWake> {
  const life = desk.state.lives.get(strategy);
  if (life === undefined || life.finished !== undefined || !desk.strategies.isRun(life)) return EMPTY;
  const isPaused = (): boolean => desk.state.totals.strategyPausedWhy(strategy) !== undefined;
  if (!isPaused()) return firstWake(desk, life);
  // The waits of a paused strategy are armed again when it resumes. A wait that was met meanwhile wakes it then.
  return desk.changed$.pipe(
    filter(() => !isPaused()),
    take(1),
    mergeMap(() => nextWake(desk, strategy)),
  );
}

function firstWake(desk: Desk, life: StrategyRun): Observable<StrategyWake> {
  const { strategy, waits, state } = life;
  const { clock } = desk.ports;
  if (state === undefined) return of({ strategy, wake: { on: 'start', at: clock.wall() }, isAtOnce: false });
  const ended = endedBefore(life);
  if (ended !== undefined) return of(outcomeWake(desk.ports, strategy, ended));
  if (waits.length === 0) return EMPTY;
  // A wait due before this time counts as already met.
  const soon = after(clock.wall(), AT_ONCE_MS);
  const holdMs = desk.spins.holdMs(life);
  const fired$: Observable<StrategyWake>[] = [];
  // Only between slices, because a strategy that waits for an outcome must not mistake a late outcome for it.
  if (waits.every(isNoOutcome)) fired$.push(whenLate(desk, strategy));
  const armed = (wait: Wait): Observable<StrategyWake> =>
    when(desk, wait, { strategy, soon, isHeld: holdMs > 0 });
  if (holdMs === 0) fired$.push(...waits.map(armed));
  else {
    const held$ = defer(() => merge(...waits.filter(isNoOutcome).map(armed)));
    fired$.push(
      ...waits.filter(isOutcome).map(armed),
      timer(holdMs, clock.scheduler).pipe(mergeMap(() => held$)),
    );
  }
  return merge(...fired$).pipe(take(1));
}

/**
 * The outcome that a strategy must receive first, if it is known before the strategy waits, because the venue may
 * respond immediately.
 */
function endedBefore(life: StrategyRun): SliceOutcome | undefined {
  if (life.waits.every(isNoOutcome)) return life.late[0];
  for (const wait of life.waits) {
    if (wait.on !== 'outcome') return undefined;
    const ended = outcomeOf(life, wait);
    if (ended !== undefined) return ended;
  }
  return undefined;
}

const outcomeOf = (life: StrategyRun | undefined, wait: Wait & { on: 'outcome' }): SliceOutcome | undefined =>
  life?.outcomes.find(({ leg, slice }) => leg === wait.leg && slice === wait.slice);

const isOutcome = ({ on }: Wait): boolean => on === 'outcome';
const isNoOutcome = ({ on }: Wait): boolean => on !== 'outcome';

/** Emits what `look` finds, now or at the first change at which it finds something. */
const whenFound = <T>(changed$: Observable<unknown>, look: () => T | undefined): Observable<T> =>
  defer(() => {
    const found = look();
    if (found !== undefined) return of(found);
    return changed$.pipe(
      map(() => look()),
      filter((later) => later !== undefined),
    );
  });

/** The outcome that `look` finds in the run of a strategy, once its outcomes have changed. */
const whenTold = (
  { outcomes$, state, ports }: Desk,
  strategy: string,
  look: (life: StrategyRun) => SliceOutcome | undefined,
): Observable<StrategyWake> =>
  outcomes$.pipe(
    // Every waiting strategy is asked after every outcome, so the others must cost little.
    filter((strategies) => strategies.has(strategy)),
    mergeMap(() => {
      const life = state.lives.get(strategy);
      const outcome = life && look(life);
      return outcome === undefined ? [] : [outcomeWake(ports, strategy, outcome)];
    }),
  );

/** A trade found after its slice had ended. A strategy that waits for its next scheduled time must receive the trade before it decides. */
const whenLate = (desk: Desk, strategy: string): Observable<StrategyWake> =>
  whenTold(desk, strategy, ({ late }) => late[0]);

const whenEnded = (desk: Desk, strategy: string, wait: Wait & { on: 'outcome' }): Observable<StrategyWake> =>
  defer(() => {
    const known = outcomeOf(desk.state.lives.get(strategy), wait);
    return known === undefined
      ? whenTold(desk, strategy, (life) => outcomeOf(life, wait))
      : of(outcomeWake(desk.ports, strategy, known));
  });

const outcomeWake = ({ clock }: Desk['ports'], strategy: string, outcome: SliceOutcome): StrategyWake => ({
  strategy,
  wake: { on: 'outcome', at: clock.wall(), outcome },
  isAtOnce: false,
});

interface Arming {
  readonly strategy: string;
  /** A wait due before this time counts as already met. */
  readonly soon: Instant;
  /** Whether waits start only after a hold; see `SpinGuard`. */
  readonly isHeld: boolean;
}

/** Emits when `wait` is met. */
function when(desk: Desk, wait: Wait, arming: Arming): Observable<StrategyWake> {
  const { strategy, soon } = arming;
  if (wait.on === 'outcome') return whenEnded(desk, strategy, wait);
  if (wait.on !== 'at')
    return untilTime(desk, wait.notBefore).pipe(mergeMap(() => whenCondition(desk, wait, arming)));
  const { at } = wait;
  return untilTime(desk, at).pipe(
    map((): StrategyWake => ({
      strategy,
      wake: { on: 'at', at: desk.ports.clock.wall(), due: at },
      isAtOnce: at < soon,
    })),
  );
}

/** Evaluates a condition now, and whenever it may have been met. */
function whenCondition(
  desk: Desk,
  wait: Exclude<Wait, { on: 'at' | 'outcome' }>,
  { strategy, soon, isHeld }: Arming,
): Observable<StrategyWake> {
  const isSoon = wait.notBefore < soon;
  let isFirstLook = true;
  // A price that satisfied the wait but is too old after a hold is requested again, because it is not news.
  const fired$ = whenSo(desk, wait).pipe(
    map((wake): StrategyWake => ({ strategy, wake, isAtOnce: isSoon && (isFirstLook || isHeld) })),
  );
  const looked$ = defer(() => {
    isFirstLook = false;
    return EMPTY;
  });
  return merge(fired$, looked$);
}

function whenSo(desk: Desk, wait: Exclude<Wait, { on: 'at' | 'outcome' }>): Observable<Wake> {
  switch (wait.on) {
    case 'price':
      return whenPriced(desk, wait);
    case 'inflow':
      return whenReceived(desk, wait);
    case 'debt':
      return whenOwed(desk, wait);
    case 'lifted':
      return whenLifted(desk, wait);
    case 'drift':
      return whenAdrift(desk, wait);
  }
}

/** Watches the price of the pair, and evaluates every new one. A stale price does not count. */
function whenPriced({ references, ports }: Desk, wait: Wait & { on: 'price' }): Observable<Wake> {
  const { pair, is, level } = wait;
  const bound = price(level);
  const news = references.changed$.pipe(filter((changed) => changed.pair === pair));
  const prices = whenFound(news, (): Wake | undefined => {
    const mid = references.get(pair)?.mid;
    return mid === undefined || !isBeyond(mid, is, bound)
      ? undefined
      : { on: 'price', at: ports.clock.wall(), price: mid };
  });
  // A condition that already holds needs no price request.
  return merge(prices, references.follow([pair], of({ pairs: [pair], wait })));
}

/** Evaluates the balance whenever records were applied. An unknown balance does not count. */
const whenReceived = (
  { changed$, state, ports }: Desk,
  { currency, above }: Wait & { on: 'inflow' },
): Observable<Wake> => {
  const floor = quantity(above);
  return whenFound(changed$, () => {
    const balance = state.balances?.get(currency);
    return balance?.gt(floor) === true ? { on: 'inflow', at: ports.clock.wall(), balance } : undefined;
  });
};

/** Evaluates balances and operator commands, now and whenever records were applied. */
const whenLifted = (desk: Desk, { held, since }: Wait & { on: 'lifted' }): Observable<Wake> => {
  const amounts = Object.entries(held).map(([currency, amount]) => [currency, quantity(amount)] as const);
  return whenFound(desk.changed$, () => {
    const { balances } = desk.state;
    const isOther =
      balances !== undefined &&
      amounts.some(([currency, was]) => !(balances.get(currency) ?? NO_QUANTITY).eq(was));
    return isOther || desk.journal.isFreerSince(since)
      ? { on: 'lifted', at: desk.ports.clock.wall() }
      : undefined;
  });
};

/**
 * Computes when the first debt is to be closed, and recomputes this whenever balances or credit terms may have changed.
 * Waits only for that instant.
 */
function whenOwed(desk: Desk, wait: Wait & { on: 'debt' }): Observable<Wake> {
  const pairs = wait.pairs.map((pair) => desk.instruments.of(pair));
  const { beforeGraceMs, carryBpsMax, leadMs, modes, pieces } = wait;
  const rule = {
    beforeGraceMs,
    leadMs,
    modes,
    pieces: pieces && { largest: money(pieces.largest), intervalMs: pieces.intervalMs },
    carryBpsMax: carryBpsMax === undefined ? undefined : ratio(carryBpsMax),
  };
  const due = (): Instant | undefined =>
    earliest(
      duesOf(pairs, rule, {
        debts: debtsOf(desk.state),
        rateOf: (currency) => desk.pts.rate(currency),
        modeOf: (pair) => desk.pts.mode(pair),
        midOf: (pair) => desk.references.get(pair)?.mid,
      }),
    );
  const due$ = watch(desk.changed$, due).pipe(
    distinctUntilChanged(),
    switchMap((at) => (at === undefined ? EMPTY : untilTime(desk, at))),
  );
  return merge(due$, whenShort(desk, wait)).pipe(
    map((): Wake => ({ on: 'debt', at: desk.ports.clock.wall() })),
  );
}

/** Watches prices while the account owes something, and evaluates its headroom at each change of a price or balance. */
function whenShort(desk: Desk, { pairs, headroom }: Wait & { on: 'debt' }): Observable<unknown> {
  if (headroom === undefined) return EMPTY;
  const { references, changed$, state } = desk;
  const isShort = (): boolean => (excessDebts(desk, ratio(headroom))?.size ?? 0) > 0;
  const short$ = watch(merge(references.changed$, changed$), isShort).pipe(filter(Boolean));
  const prices$ = defer(() => {
    const valuing = [...new Set([...pairs, ...valuingPairs(desk)])];
    return references.follow(valuing, of({ pairs: valuing }));
  });
  return watch(changed$, () => debtsOf(state).size > 0).pipe(
    distinctUntilChanged(),
    switchMap((owes) => (owes ? merge(short$, prices$) : EMPTY)),
  );
}

/** Watches the prices of the portfolio, and evaluates it now and at each change of a price or balance. */
function whenAdrift(desk: Desk, wait: Wait & { on: 'drift' }): Observable<Wake> {
  const { references, changed$, ports } = desk;
  const pairs = Object.keys(wait.targets)
    .filter((currency) => currency !== wait.cash)
    .map((currency) => tradedPair(currency, wait));
  const drifts$ = whenFound(merge(references.changesOf(pairs), changed$), (): Wake | undefined => {
    // The exact drift is computed only for the evaluation that wakes.
    const drift = isAdriftNow(desk, wait) ? driftNow(desk, wait) : undefined;
    return drift && { on: 'drift', at: ports.clock.wall(), drift };
  });
  // A condition that already holds needs no price request.
  return merge(drifts$, references.follow(pairs, drifting(desk, wait, pairs)));
}

/** Emits the data that a drift wait needs, once now and again whenever a balance of the portfolio has changed. */
function drifting(
  { changed$, state }: Desk,
  wait: Wait & { on: 'drift' },
  pairs: readonly string[],
): Observable<Lookout> {
  const currencies = [wait.cash, ...Object.keys(wait.targets)];
  // Amounts are immutable, so a changed amount is a new object.
  let held: readonly unknown[] = [];
  let lookout: Lookout | undefined;
  return watch(changed$, () => {
    const { balances } = state;
    if (lookout === undefined || currencies.some((currency, i) => balances?.get(currency) !== held[i])) {
      held = currencies.map((currency) => balances?.get(currency));
      lookout = { pairs, wait, holdings: balances };
    }
    return lookout;
  }).pipe(distinctUntilChanged());
}

/** Largest drift of the portfolio now; `undefined` while balances or a price are unknown. */
export function driftNow(desk: Desk, wait: Wait & { on: 'drift' }): Ratio | undefined {
  const known = knownOf(desk);
  return known && driftOf(wait, known);
}

function isAdriftNow(desk: Desk, wait: Wait & { on: 'drift' }): boolean {
  const known = knownOf(desk);
  return known !== undefined && hasDrifted(wait, known);
}

function knownOf({ state, references }: Desk): Parameters<typeof hasDrifted>[1] | undefined {
  const { balances } = state;
  return balances && { holdings: balances, midOf: (pair) => references.get(pair)?.mid };
}
