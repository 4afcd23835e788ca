import { EMPTY, filter, map, merge, of, switchMap, take } from 'rxjs';
import type { Observable } from 'rxjs';
import { isBeyond } from '../core/market.ts';
import { driftOf, hasDrifted, tradedPair } from '../core/portfolio.ts';
import { money, NO_QUANTITY, price, quantity, ratio } from '../core/money.ts';
import type { Ratio } from '../core/money.ts';
import { duesOf, earliest } from '../core/settling.ts';
import { after } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Wait, Wake } from '../core/wake.ts';
import { atTime, untilTime } from './continuity.ts';
import { debtsOf } from './debts.ts';
import type { Desk } from './desk.ts';
import type { Life } from './desk-state.ts';
import { guard, hear, looking, newestOf } from './flow.ts';
import type { Arming } from './flow.ts';
import type { Lookout } from './ports.ts';
import { AT_ONCE_MS } from './spin-guard.ts';

/** A wake of one strategy. */
export interface StrategyWake {
  readonly strategy: string;
  readonly wake: Wake;
  /** Whether what it waited for was true already, or nearly so, when it began to wait. */
  readonly isAtOnce: boolean;
}

/** Each time a strategy's id arrives its waits are armed anew; the first that comes true is its next wake. */
export function wakes(desk: Desk, armed$: Observable<string>): Observable<StrategyWake> {
  return armed$.pipe(
    newestOf((strategy, arming) => {
      armNext(desk, strategy, arming);
    }),
  );
}

function armNext(desk: Desk, strategy: string, arming: Arming<StrategyWake>): void {
  const life = desk.state.lives.get(strategy);
  if (life === undefined || life.finished !== undefined || !desk.isRun(life)) {
    arming.end();
    return;
  }
  if (desk.state.totals.strategyPausedWhy(strategy) === undefined) armWaits(desk, life, arming);
  else armResumed(desk, strategy, arming);
}

/** What a paused strategy waits for holds again once it is resumed: what came true meanwhile wakes it then. */
function armResumed(desk: Desk, strategy: string, arming: Arming<StrategyWake>): void {
  const isResumed = (): boolean => desk.state.totals.strategyPausedWhy(strategy) === undefined;
  hear(desk.changed$.when(isResumed).pipe(take(1)), arming, {
    next: () => {
      armNext(desk, strategy, arming);
    },
    complete: () => undefined,
  });
}

/**
 * Tells what traded after its slice had ended, at once or as soon as it turns up: a strategy that waits for its next time must not
 * decide anything before it has heard of it.
 */
function whenLate(desk: Desk, waiting: Waiting): void {
  const look = (): void => {
    const late = desk.state.lives.get(waiting.strategy)?.late[0];
    if (late !== undefined) waiting.tell({ on: 'outcome', at: desk.ports.clock.wall(), outcome: late });
  };
  look();
  if (!waiting.by.closed) desk.changed$.listen(waiting.by, look);
}

function armWaits(desk: Desk, life: Life, arming: Arming<StrategyWake>): void {
  const { strategy, waits } = life;
  const waiting = new Waiting(strategy, arming, after(desk.ports.clock.wall(), AT_ONCE_MS));
  const isNew = life.state === undefined;
  // Only between slices: a strategy that waits for an outcome must not take a late one for it.
  if (!isNew && waits.every(isNoOutcome)) whenLate(desk, waiting);
  if (arming.closed) return;
  if (isNew) waiting.tell({ on: 'start', at: desk.ports.clock.wall() });
  else if (waits.length === 0) arming.end();
  else {
    const holdMs = desk.spins.holdMs(life);
    if (holdMs === 0) whenAny(desk, waits, waiting);
    else {
      whenAny(desk, waits.filter(isOutcome), waiting);
      const goOn = (): void => {
        waiting.isHeld = true;
        guard(arming, () => {
          whenAny(desk, waits.filter(isNoOutcome), waiting);
        });
      };
      arming.add(desk.ports.clock.scheduler.schedule(goOn, holdMs));
    }
  }
}

function whenAny(desk: Desk, waits: readonly Wait[], waiting: Waiting): void {
  for (const wait of waits) {
    if (waiting.by.closed) break;
    when(desk, wait, waiting);
  }
}

const isOutcome = ({ on }: Wait): boolean => on === 'outcome';
const isNoOutcome = ({ on }: Wait): boolean => on !== 'outcome';

/** A strategy that waits: the first of its waits to come true is its wake. */
class Waiting {
  readonly strategy: string;
  readonly by: Arming<StrategyWake>;
  /** What is over before this has waited for nothing. */
  readonly soon: Instant;
  /** Whether waits began only after a hold: see `SpinGuard`. */
  isHeld = false;
  isFound = false;

  constructor(strategy: string, by: Arming<StrategyWake>, soon: Instant) {
    this.strategy = strategy;
    this.by = by;
    this.soon = soon;
  }

  tell(wake: Wake, isAtOnce = false): void {
    if (this.isFound) return;
    this.isFound = true;
    this.by.tell({ strategy: this.strategy, wake, isAtOnce });
    this.by.end();
  }
}

/** Tells when `wait` comes true. */
function when(desk: Desk, wait: Wait, waiting: Waiting): void {
  if (wait.on === 'at') whenTime(desk, wait, waiting);
  else if (wait.on === 'outcome') whenEnded(desk, wait, waiting);
  else {
    const { by } = waiting;
    atTime(desk, wait.notBefore, by, () => {
      watch(desk, wait, waiting);
    });
  }
}

/** Looks at a condition now, and whenever it may have come true. */
function watch(desk: Desk, wait: Exclude<Wait, { on: 'at' | 'outcome' }>, waiting: Waiting): void {
  const isSoon = wait.notBefore < waiting.soon;
  let isFirstLook = true;
  const next = (wake: Wake): void => {
    // A price that was true and is too old after a hold is asked for again: that is no news.
    waiting.tell(wake, isSoon && (isFirstLook || waiting.isHeld));
  };
  if (wait.on === 'drift') watchDrift(desk, wait, { waiting, next });
  else hear(whenSo(desk, wait), waiting.by, { next, complete: () => undefined });
  isFirstLook = false;
}

interface Watching {
  readonly waiting: Waiting;
  readonly next: (wake: Wake) => void;
}

function whenTime(desk: Desk, { at }: Wait & { on: 'at' }, waiting: Waiting): void {
  atTime(desk, at, waiting.by, () => {
    waiting.tell({ on: 'at', at: desk.ports.clock.wall(), due: at }, at < waiting.soon);
  });
}

function whenEnded(desk: Desk, wait: Wait & { on: 'outcome' }, waiting: Waiting): void {
  const { strategy, by } = waiting;
  const look = (): void => {
    const outcomes = desk.state.lives.get(strategy)?.outcomes;
    if (outcomes === undefined) return;
    for (const outcome of outcomes) {
      if (outcome.leg !== wait.leg || outcome.slice !== wait.slice) continue;
      waiting.tell({ on: 'outcome', at: desk.ports.clock.wall(), outcome });
      return;
    }
  };
  look();
  if (!by.closed) desk.changed$.listen(by, look);
}

function whenSo(desk: Desk, wait: Exclude<Wait, { on: 'at' | 'outcome' | 'drift' }>): Observable<Wake> {
  switch (wait.on) {
    case 'price':
      return whenPriced(desk, wait);
    case 'inflow':
      return whenReceived(desk, wait);
    case 'debt':
      return whenOwed(desk, wait);
    case 'lifted':
      return whenLifted(desk, wait);
  }
}

/** Watches the price of the pair, and looks at every new one. A price that is stale says nothing. */
function whenPriced({ references, ports }: Desk, wait: Wait & { on: 'price' }): Observable<Wake> {
  const { pair, is, level } = wait;
  const bound = price(level);
  const news = references.changed$.pipe(filter((changed) => changed.pair === pair));
  const prices = looking(news, (): Wake | undefined => {
    const mid = references.get(pair)?.mid;
    return mid === undefined || !isBeyond(mid, is, bound)
      ? undefined
      : { on: 'price', at: ports.clock.wall(), price: mid };
  });
  // What holds already needs no price to be asked for.
  return merge(prices, references.follow([pair], of({ pairs: [pair], wait })));
}

/** Looks at the balance whenever records were applied. One that is not known yet says nothing. */
const whenReceived = (
  { changed$, state, ports }: Desk,
  { currency, above }: Wait & { on: 'inflow' },
): Observable<Wake> => {
  const floor = quantity(above);
  return looking(changed$, () => {
    const balance = state.balances?.get(currency);
    return balance?.gt(floor) === true ? { on: 'inflow', at: ports.clock.wall(), balance } : undefined;
  });
};

/** Looks at the balances and at what the operator said, now and whenever records were applied. */
const whenLifted = (desk: Desk, { held, since }: Wait & { on: 'lifted' }): Observable<Wake> => {
  const amounts = Object.entries(held).map(([currency, amount]) => [currency, quantity(amount)] as const);
  return looking(desk.changed$, () => {
    const { balances } = desk.state;
    const isOther =
      balances !== undefined &&
      amounts.some(([currency, was]) => !(balances.get(currency) ?? NO_QUANTITY).eq(was));
    return isOther || desk.isFreerSince(since) ? { on: 'lifted', at: desk.ports.clock.wall() } : undefined;
  });
};

/**
 * Works out when the first debt is to be closed, anew whenever balances or the venue's terms may have changed, and waits
 * for that instant alone.
 */
function whenOwed(desk: Desk, wait: Wait & { on: 'debt' }): Observable<Wake> {
  const pairs = wait.pairs.map((pair) => desk.instrument(pair));
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
  return desk.changed$.seen(due).pipe(
    switchMap((at) => (at === undefined ? EMPTY : untilTime(desk, at))),
    map((): Wake => ({ on: 'debt', at: desk.ports.clock.wall() })),
  );
}

/** Watches the prices of the portfolio, and looks now and whenever a price or a balance has changed. */
function watchDrift(desk: Desk, wait: Wait & { on: 'drift' }, { waiting, next }: Watching): void {
  const { by } = waiting;
  const { references, changed$, ports } = desk;
  const pairs = Object.keys(wait.targets)
    .filter((currency) => currency !== wait.cash)
    .map((currency) => tradedPair(currency, wait));
  const look = (): void => {
    // What it comes to is divided out for the one look that wakes; what follows from that is not looked at again.
    if (waiting.isFound || !isAdriftNow(desk, wait)) return;
    const drift = driftNow(desk, wait);
    if (drift !== undefined) next({ on: 'drift', at: ports.clock.wall(), drift });
  };
  look();
  // What holds already needs no price to be asked for.
  if (by.closed) return;
  references.onChange(pairs, by, look);
  changed$.listen(by, look);
  hear(references.follow(pairs, drifting(desk, wait, pairs)), by, {
    next: () => undefined,
    complete: () => undefined,
  });
}

/** What a drift is waited for with: once now, and again whenever a balance of the portfolio has changed. */
function drifting(
  { changed$, state }: Desk,
  wait: Wait & { on: 'drift' },
  pairs: readonly string[],
): Observable<Lookout> {
  const currencies = [wait.cash, ...Object.keys(wait.targets)];
  // Amounts are never changed in place: another amount is another object.
  let held: readonly unknown[] = [];
  let lookout: Lookout | undefined;
  return changed$.seen(() => {
    const { balances } = state;
    if (lookout === undefined || currencies.some((currency, i) => balances?.get(currency) !== held[i])) {
      held = currencies.map((currency) => balances?.get(currency));
      lookout = { pairs, wait, holdings: balances };
    }
    return lookout;
  });
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
