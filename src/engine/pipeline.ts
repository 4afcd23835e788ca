import { EMPTY, Subject, filter, merge, mergeMap, of, takeUntil, tap } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import { ignoreElements } from 'rxjs';
import { ATTEMPTS_MAX } from '../core/ids.ts';
import { watchAccount } from './account/watch-account.ts';
import { control } from './stages/control.ts';
import { decide } from './stages/decide.ts';
import type { Desk } from './desk.ts';
import { sliceKey } from './state/engine-state.ts';
import type { OpenSlice } from './state/engine-state.ts';
import { execute } from './attempt/execute.ts';
import { SerialQueue } from './serial-queue.ts';
import { probeSizes } from './market/size-probing.ts';
import { watchLookups } from './account/order-lookup.ts';
import { mergeMapMaybe } from './maybe-async.ts';
import { pace } from './stages/pace.ts';
import { expireLater, record, sliceRecord } from './stages/record.ts';
import { runsNow } from './operator/run-now.ts';
import { reloads } from './operator/reload.ts';
import type { Reload } from './operator/reload.ts';
import { resolutions } from './account/operator-resolutions.ts';
import { size } from './stages/size.ts';
import { wakes } from './stages/triggers.ts';

/**
 * The pipeline of a recovered desk. Never emits; completes once `drain$` has fired and every order in flight has a
 * recorded response. Errors when the journal fails or the code has a bug. `reloads$`: early reload requests, which must
 * not be lost.
 */
export function pipeline(
  desk: Desk,
  drain$: Observable<unknown>,
  reloads$: Observable<Reload>,
): Observable<never> {
  const armed$ = new Subject<string>();
  const again$ = new Subject<OpenSlice>();
  const queue = new SerialQueue();
  const untilDrained = <T>(source: Observable<T>): Observable<T> => source.pipe(takeUntil(drain$));

  const slices$ = merge(wakes(desk, armed$.pipe(queue.observe, untilDrained)), runsNow(desk)).pipe(
    untilDrained,
    decide(desk),
    tap((decided) => {
      if ('stepped' in decided) armed$.next(decided.stepped);
    }),
    filter((decided): decided is OpenSlice => !('stepped' in decided)),
  );
  const ends$ = merge(slices$, again$.pipe(queue.observe, untilDrained)).pipe(
    onlyOpen(desk),
    size(desk, drain$),
    control(desk),
    pace(desk, drain$),
    execute(desk, drain$),
  );
  const proven$ = merge(watchAccount(desk), watchLookups(desk), resolutions(desk)).pipe(untilDrained);

  const trading = merge(ends$, proven$).pipe(
    record(desk, drain$),
    tap((slice) => {
      again$.next(slice);
    }),
  );
  const begin = of(undefined).pipe(
    tap(() => {
      // Slices that are open now. A slice that resumes may end immediately and let another start.
      const open = [...desk.state.slices.values()];
      for (const slice of open) if (slice.openAttempt === undefined) again$.next(slice);
      for (const strategy of desk.strategies.sources.keys()) armed$.next(strategy);
    }),
  );
  const changing = desk.changed$.pipe(
    tap(() => {
      for (const strategy of desk.strategies.takeChanged()) armed$.next(strategy);
    }),
    ignoreElements(),
  );
  const watching = merge(
    changing,
    desk.references.listen(),
    watchTerms(desk),
    probeSizes(desk),
    desk.bars.run(),
  ).pipe(untilDrained);
  // Subscribed last, because early reloads run immediately and change what has started.
  const reloading = reloads(desk, reloads$).pipe(untilDrained);
  return merge(trading, watching, begin, reloading).pipe(ignoreElements());
}

/** Strategies that wait for a debt check again when the credit terms may have changed. */
function watchTerms(desk: Desk): Observable<never> {
  const isNeeded = (): boolean => [...desk.strategies.sources.values()].some(({ bound }) => bound.needsTerms);
  return desk.pts.run({ isNeeded }).pipe(
    tap(() => {
      desk.changed$.next();
    }),
    ignoreElements(),
  );
}

/**
 * Drops a slice that ended, or that got an open attempt, while it waited for its next attempt. Ends a slice that is past
 * its deadline, whose strategy no longer runs, or whose quotes or attempts are used up.
 */
function onlyOpen(desk: Desk): MonoTypeOperatorFunction<OpenSlice> {
  return mergeMapMaybe((slice) => {
    const { parent, slice: number } = slice.intent;
    const isOpen =
      desk.state.slices.get(sliceKey(parent, number)) === slice && slice.openAttempt === undefined;
    return isOpen ? (endIfOver(desk, slice) ?? slice) : EMPTY;
  });
}

/** Ends a slice that will not be tried again; `undefined` if it will. */
function endIfOver(desk: Desk, slice: OpenSlice): Observable<never> | undefined {
  if (desk.ports.clock.wall() >= slice.intent.deadline) {
    return expireLater(desk, slice, { reason: desk.control === 'halted' ? 'halted' : 'deadline' });
  }
  if (!desk.strategies.isRun(slice)) {
    const result = slice.filled.gt(0) ? 'filled' : 'skipped';
    return desk.journal
      .append([sliceRecord(slice, result, { reason: 'aborted' })])
      .pipe(mergeMap(() => EMPTY));
  }
  return slice.attempts >= ATTEMPTS_MAX ? expireLater(desk, slice, { reason: 'retry_budget' }) : undefined;
}
