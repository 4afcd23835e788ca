import {
  EMPTY,
  NEVER,
  catchError,
  concat,
  defer,
  filter,
  ignoreElements,
  map,
  merge,
  mergeMap,
  observeOn,
  of,
  shareReplay,
  startWith,
  take,
  takeUntil,
  takeWhile,
  tap,
  throwError,
  timer,
  using,
} from 'rxjs';
import type { Observable } from 'rxjs';
import type { AlertRecord, StoppedRecord } from '../core/record.ts';
import { closingRead, closingReadDue } from './account/closing-read.ts';
import { watchClocks } from './time/watch-clocks.ts';
import { OperatorError } from '../core/errors.ts';
import type { FencedOut } from '../core/errors.ts';
import type { Desk } from './desk.ts';
import { GUARD } from './state/strategy-source.ts';
import { SOON_AFTER_START_MS } from './state/death.ts';
import { watchDoubts } from './account/doubt-alerts.ts';
import { halts, operate } from './operator/operator-commands.ts';
import { isLasting } from '../core/approvals/approval-settings.ts';
import { isUndecided } from '../core/approvals/requests.ts';
import { pipeline } from './pipeline.ts';
import { recover, takeOver } from './operator/recover.ts';
import type { TakeOverOptions } from './operator/recover.ts';
import { patientReloads } from './operator/reload.ts';

export interface RunOptions extends TakeOverOptions {
  /** Ends once every strategy has finished and nothing is open. */
  readonly isUntilDone?: boolean | undefined;
  /** Before it stops, the desk reads the account at the time by which the venue must have booked the last fills. */
  readonly hasClosingRead?: boolean | undefined;
  /** Emits when the renewal of the lease found that another owner has taken over. Omitted: only writes detect it. */
  readonly lost$?: Observable<FencedOut> | undefined;
}

/**
 * Runs a desk: recovers, then trades until `drain$` fires. Emits `ready` when it may trade, and `closing` when it waits
 * for its closing read. Completes once every order in flight has a recorded response and the journal contains a
 * `stopped` record.
 * - Errors: `FencedOut` once another owner has taken over and the responses to orders in flight have arrived or are
 * lost.
 */
export function runDesk(desk: Desk, options: RunOptions = {}): Observable<'ready' | 'closing'> {
  const { isUntilDone = false, hasClosingRead = false } = options;
  const done = desk.changed$.pipe(filter(() => isDone(desk)));
  let why = 'done';
  let wasReady = false;
  const requested = desk.ports.operator$.pipe(
    filter((command) => command.do === 'drain'),
    take(1),
    tap((command) => {
      ({ why } = command);
    }),
    shareReplay(1),
  );
  const full = diskIsFull(desk).pipe(
    tap(() => {
      why = 'the disk is full';
    }),
  );
  const drain$ = merge(requested, isUntilDone ? done : [], full, desk.journal.fencedOut$).pipe(
    take(1),
    tap(() => {
      desk.isStopping = true;
    }),
    // Replayed, so that late subscribers also receive it.
    shareReplay({ bufferSize: 1, refCount: true }),
  );
  const reloads$ = patientReloads(desk);
  const isIdle = (): boolean => isUntilDone && isDone(desk);
  const trading = defer(() => (desk.isStopping || isIdle() ? [] : pipeline(desk, drain$, reloads$)));
  // A stop before the desk may trade does not wait, because the next start reads the account.
  const closing = hasClosingRead ? defer(() => closingRead(desk, wasReady ? NEVER : requested)) : EMPTY;
  const confirmed = (): Partial<StoppedRecord> =>
    hasClosingRead && desk.state.isUnconfirmed ? { closing_read: closingReadDue(desk) === undefined } : {};
  const stopped = defer(() =>
    desk.journal
      .append([
        ...waitingAlerts(desk),
        { kind: 'stopped', why, open_doubts: desk.state.doubts.length, ...confirmed() },
      ])
      .pipe(
        ignoreElements(),
        tap({
          complete: () => {
            desk.snapshotWriter.finish();
          },
        }),
      ),
  );
  const ready = defer(() => {
    wasReady = !desk.isStopping;
    return wasReady ? of('ready' as const) : EMPTY;
  });
  // Commands take effect as soon as they can be recorded, because a halt must not wait for the venue.
  const commanded = merge(
    operate(desk),
    watchClocks(desk),
    watchDoubts(desk),
    noteRunning(desk),
    writeAlerts(desk),
    concat(recover(desk).pipe(takeUntil(drain$)), ready, trading, closing, of('over' as const)),
  ).pipe(takeWhile((phase) => phase !== 'over'));
  const running = concat(commanded, stopped, endOfDisk(desk)).pipe(
    catchError((error: unknown) =>
      concat(
        noteFailure(desk, error),
        throwError(() => error),
      ),
    ),
  );
  const whole = concat(takeOver(desk, options), running).pipe(takeUntil(fencedOut(desk, options)));
  // Subscribed from the start, because a command counts even before the journal has been taken over.
  return using(
    () => merge(drain$, halts(desk), reloads$).subscribe(),
    () => whole,
  );
}

/** Errors once another owner has taken over and late responses have been stored. From the takeover on, no order leaves. */
const fencedOut = (desk: Desk, { lost$ = NEVER }: RunOptions): Observable<never> =>
  merge(
    desk.journal.fencedOut$,
    lost$.pipe(
      tap((error) => {
        desk.journal.fenceOut(error);
      }),
      ignoreElements(),
    ),
  ).pipe(
    take(1),
    tap(() => {
      desk.ports.venue.shut?.();
      desk.observer.alert('fenced_out');
    }),
    mergeMap((error) => {
      const lateMs = desk.leaving.size === 0 ? 0 : desk.policy.orderTimeoutMs;
      return timer(lateMs, desk.ports.clock.scheduler).pipe(mergeMap(() => throwError(() => error)));
    }),
  );

/** Emits once the journal uses its disk reserve. The reserve is for recording orders in flight, so nothing new starts. */
const diskIsFull = ({ changed$, ports, observer }: Desk): Observable<void> =>
  changed$.pipe(
    filter(() => ports.journal.isSpent === true),
    take(1),
    tap(() => {
      observer.alert('disk_full');
    }),
  );

/**
 * Records that the process has survived the time after its start in which a death counts as early. Does so only after a
 * crash, because an idle desk may write no other record for half an hour.
 */
const noteRunning = (desk: Desk): Observable<never> =>
  defer(() =>
    desk.state.deaths.length === 0
      ? EMPTY
      : timer(SOON_AFTER_START_MS, desk.ports.clock.scheduler).pipe(
          mergeMap(() => desk.journal.append([{ kind: 'process', state: 'running' }])),
          ignoreElements(),
        ),
  );

/** Alerts are recorded after their cause, and never on the disk reserve, which is for orders. */
const writeAlerts = (desk: Desk): Observable<never> =>
  (desk.ports.alerts?.raised$ ?? EMPTY).pipe(
    startWith(undefined),
    observeOn(desk.ports.clock.scheduler),
    map(() => waitingAlerts(desk)),
    filter((waiting) => waiting.length > 0),
    mergeMap((waiting) => desk.journal.append(waiting)),
    ignoreElements(),
  );

const waitingAlerts = ({ ports: { alerts, journal } }: Desk): readonly AlertRecord[] =>
  journal.isSpent === true ? [] : (alerts?.take() ?? []);

/** Records why the process ends, so that the next start knows the reason. */
function noteFailure(desk: Desk, error: unknown): Observable<never> {
  if (desk.state.runningSince === undefined) return EMPTY;
  const state = error instanceof OperatorError ? 'refused' : 'failed';
  const why = (state === 'refused' && error instanceof Error ? error.message : String(error)).slice(
    0,
    FAILURE_LENGTH_MAX,
  );
  return defer(() => desk.journal.append([...waitingAlerts(desk), { kind: 'process', state, why }])).pipe(
    takeUntil(timer(FAILURE_WAIT_MS, desk.ports.clock.scheduler)),
    // The journal itself may have failed.
    catchError(() => EMPTY),
    ignoreElements(),
  );
}

const FAILURE_LENGTH_MAX = 200;
const FAILURE_WAIT_MS = 1_000;

/** A desk that stopped for lack of disk space has not stopped cleanly. */
const endOfDisk = ({ ports }: Desk): Observable<never> =>
  defer(() =>
    ports.journal.isSpent === true
      ? throwError(
          () => new OperatorError('storage', "the journal's disk is full: free space, then start again"),
        )
      : EMPTY,
  );

/** Every strategy has finished, and no slice or attempt is open. */
export function isDone({ strategies, state }: Desk): boolean {
  if (state.slices.size > 0 || state.attempts.size > 0) return false;
  for (const request of state.approvals.all())
    if (isLasting(request.proposal.for) && isUndecided(request)) return false;
  for (const id of strategies.sources.keys())
    if (id !== GUARD && state.lives.get(id)?.finished === undefined) return false;
  return true;
}
