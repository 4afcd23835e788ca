import {
  EMPTY,
  NEVER,
  concat,
  concatMap,
  defer,
  filter,
  finalize,
  from,
  ignoreElements,
  interval,
  map,
  mergeMap,
  of,
  repeat,
  startWith,
  take,
  takeUntil,
  takeWhile,
  tap,
  timer,
  toArray,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { classifyQuote } from '../../core/cycle/answer.ts';
import type { QuoteMeaning } from '../../core/cycle/answer.ts';
import { ladderShares } from '../../core/risk/impact-curve.ts';
import type { Rung } from '../../core/risk/impact-curve.ts';
import { cost, ratio, roundDown, scale } from '../../core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { QuoteRequest, Size } from '../../core/venue.ts';
import type { LadderWish } from '../../strategy/kernel.ts';
import { maximumRecord } from '../attempt/learnt-maximum.ts';
import { halt } from '../account/halt.ts';
import type { Desk } from '../desk.ts';
import { toObservable } from '../maybe-async.ts';
import { freshRounds } from './size-probes.ts';

/** Number of rounds in a curve, and their maximum age. */
const ROUNDS_KEPT = 5;
/** Interval between two rounds of one ladder; longer after a round without prices. */
const ROUND_GAP_MS = 15 * SECOND_MS;
const FAILED_GAP_MS = MINUTE_MS;
/** Prices that are further apart in time than this do not show the impact of size. */
const ROUND_MAX_MS = 10 * SECOND_MS;
/** Probes only for strategies that trade now or will within this time. */
const LEAD_MS = 5 * MINUTE_MS;
/** No probes this shortly before planned activity, so that the whole limit is free for that activity's quotes. */
const QUIET_MS = 3 * SECOND_MS;
const LOOK_MS = SECOND_MS;
const RARE_LOOK_MS = MINUTE_MS;
const IDLE_LOOK_MS = 200;

/**
 * Probes the sizes of ladders while the quote limit is idle. A probe has no client id, so it can never be executed. It
 * uses one place in an otherwise empty window, and no place shortly before planned activity. Never emits.
 */
export function probeSizes(desk: Desk): Observable<never> {
  const { clock, strategies } = desk.ports;
  return defer(() => {
    // A reload may add a ladder to a desk that had none.
    const wishes = wishesOf(desk);
    if (wishes.length === 0 && strategies === undefined) return NEVER;
    const due = wishes.find(({ id, wish }) => isDue(desk, id, wish));
    const climbing = due === undefined ? EMPTY : climb(desk, due.wish);
    return concat(climbing, timer(wishes.length === 0 ? RARE_LOOK_MS : LOOK_MS, clock.scheduler));
  }).pipe(ignoreElements(), repeat());
}

const wishesOf = ({ strategies }: Desk): readonly { readonly id: string; readonly wish: LadderWish }[] =>
  [...strategies.sources].flatMap(([id, { bound }]) =>
    bound.ladder === undefined ? [] : [{ id, wish: bound.ladder }],
  );

function isDue(desk: Desk, strategy: string, { pair, side }: LadderWish): boolean {
  const { clock } = desk.ports;
  const life = desk.state.lives.get(strategy);
  if (life === undefined || life.finished !== undefined || life.state === undefined) return false;
  const now = clock.monotonic();
  const known = desk.sizeProbes.of(pair, side);
  if (now < known.nextAt || freshRounds(known, now).length >= ROUNDS_KEPT) return false;
  const soon = clock.wall() + LEAD_MS;
  const isNear = life.waits.some((wait) => wait.on === 'outcome' || (wait.on === 'at' && wait.at <= soon));
  return isNear && desk.footprint.allowsLadder(pair);
}

/** Requests one size after the other; keeps the round if all were priced in time. */
function climb(desk: Desk, wish: LadderWish): Observable<never> {
  const { clock } = desk.ports;
  const { pair, side } = wish;
  const known = desk.sizeProbes.of(pair, side);
  known.nextAt = clock.monotonic() + FAILED_GAP_MS;
  const sizes = sizesOf(desk, wish);
  return from(sizes).pipe(
    concatMap((size) => whenIdle(desk).pipe(mergeMap(() => probe(desk, { pair, side, size })))),
    takeWhile((rung) => rung !== undefined),
    takeUntil(timer(ROUND_MAX_MS, clock.scheduler)),
    toArray(),
    tap((round) => {
      if (round.length < sizes.length) return;
      const now = clock.monotonic();
      known.rounds.push({ at: now, round });
      known.rounds.splice(0, known.rounds.length - ROUNDS_KEPT);
      known.nextAt = now + ROUND_GAP_MS;
    }),
    ignoreElements(),
  );
}

/** The sizes of a ladder, smallest first, without those below the minimum; a single size is not a ladder. */
function sizesOf(desk: Desk, { pair, size }: LadderWish): readonly Size[] {
  const { basePrecision, quotePrecision, minimum } = desk.instruments.of(pair);
  const sizes = ladderShares.flatMap((part): readonly Size[] => {
    if (size.by === 'quantity') {
      const quantity = roundDown(scale(size.quantity, ratio(part)), basePrecision);
      return quantity.lt(minimum.quantity ?? `1e-${basePrecision}`) ? [] : [{ by: 'quantity', quantity }];
    }
    const amount = roundDown(scale(size.amount, ratio(part)), quotePrecision);
    return amount.lt(minimum.notional ?? `1e-${quotePrecision}`) ? [] : [{ by: 'amount', amount }];
  });
  return sizes.length < 2 ? [] : sizes;
}

/** Emits once, when nothing else wants a quote. */
const whenIdle = (desk: Desk): Observable<unknown> =>
  interval(IDLE_LOOK_MS, desk.ports.clock.scheduler).pipe(
    startWith(undefined),
    filter(() => isIdle(desk)),
    take(1),
  );

function isIdle(desk: Desk): boolean {
  if (desk.control !== 'active' || desk.isStopping || !desk.rateLimiter.isIdle('quote')) return false;
  const now = desk.ports.clock.wall();
  for (const life of desk.state.lives.values()) {
    const { strategy, waits, finished } = life;
    // A strategy that is stopped or paused plans nothing, although its wait remains.
    if (finished !== undefined || !desk.strategies.isRun(life)) continue;
    if (desk.state.totals.strategyPausedWhy(strategy) !== undefined) continue;
    if (waits.some((wait) => wait.on === 'at' && wait.at <= now + QUIET_MS)) return false;
  }
  return true;
}

function probe(desk: Desk, request: QuoteRequest): Observable<Rung | undefined> {
  const { clock, venue } = desk.ports;
  const { pair } = request;
  const instrument = desk.instruments.of(pair);
  return desk.rateLimiter.take({ route: 'quote', priority: 'probe', key: 'ladder' }).pipe(
    mergeMap((permit) => {
      desk.observer.paced('quote', 'probe', permit.waitedMs);
      const askedAt = clock.monotonic();
      return toObservable(venue.quote(request)).pipe(
        finalize(() => {
          permit.settle();
        }),
        map((answer) => classifyQuote(request, answer, instrument)),
        tap((meaning) => {
          const result =
            meaning.means === 'quote' ? 'quote' : meaning.means === 'smaller' ? 'too_large' : meaning.reason;
          desk.observer.quoted(pair, result, clock.monotonic() - askedAt);
          desk.venueHealth.quoted(pair, result, 'detail' in meaning ? meaning.detail : '');
          desk.footprint.asked(pair, 'ladder', meaning.means === 'quote');
        }),
      );
    }),
    mergeMap((meaning) => heed(desk, request, meaning)),
  );
}

/** The result of a probe. The venue's other responses count as for a slice. */
function heed(desk: Desk, { pair, size }: QuoteRequest, meaning: QuoteMeaning): Observable<Rung | undefined> {
  switch (meaning.means) {
    case 'quote': {
      const { quantity, price } = meaning.quote;
      return of({ amount: cost(price, quantity), price });
    }
    case 'halt':
      return halt(desk, `the venue refused the token: ${meaning.detail}`);
    case 'smaller': {
      const mid = desk.references.get(pair)?.mid;
      const amount = size.by === 'amount' ? size.amount : mid && cost(mid, size.quantity);
      const { quote } = desk.instruments.of(pair);
      return desk.journal
        .append([maximumRecord({ pair, quote, stated: meaning, amount })])
        .pipe(map(() => undefined));
    }
    case 'later':
      if (meaning.reason === 'rate_limited') desk.rateLimiter.block('quote', meaning.waitMs ?? 2 * SECOND_MS);
      return of(undefined);
    case 'never':
      return of(undefined);
  }
}
