import {
  EMPTY,
  catchError,
  concat,
  defer,
  forkJoin,
  ignoreElements,
  merge,
  mergeMap,
  of,
  repeat,
  retry,
  takeWhile,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { inherited } from '../../core/cycle/proof.ts';
import { OperatorError, VenueError } from '../../core/errors.ts';
import type { Pair } from '../../core/pairs.ts';
import type { RecordBody } from '../../core/record.ts';
import { BOOT_STEP_MS, MINUTE_MS, after, passedSince } from '../../core/time.ts';
import { unknownLifeMs } from '../../core/venue.ts';
import { haltRecord } from '../account/halt.ts';
import { readOnce } from '../account/watch-account.ts';
import { checkClock } from '../time/clock-back.ts';
import type { Desk } from '../desk.ts';
import type { Death } from '../state/death.ts';
import { asked } from './approvals.ts';
import { haltNote, rearmFault, rearmRecord } from './operator-commands.ts';
import {
  approvalsInForce,
  raisedLimits,
  requirementOfRequest,
} from '../../core/approvals/limits-in-force.ts';
import { LAST_REQUEST_MS } from '../rate-limit/rate-limiter.ts';
import { limitsToKeep, settingsAtStart } from '../state/recorded-settings.ts';
import { attemptRecord, record } from '../stages/record.ts';
import { firstSteps } from '../stages/decide.ts';
import { toObservable } from '../maybe-async.ts';
import type { Planned } from './reload-plan.ts';
import { beginnings, faultLine, infeasible, planFor, tellKept, unknownPairs, wishes } from './reload.ts';
import { skewRefusal } from '../time/clock-skew.ts';
import { resolutions } from '../account/operator-resolutions.ts';
import type { StrategyFault } from '../state/strategy-source.ts';

/**
 * Start-up is recovery. `takeOver` folds the journal into the state and turns attempts that a dead process left open
 * into doubts. `recover` loads the venue's currencies and pairs and reads the account before any quote request.
 * Completes when the desk may trade; while the venue cannot be reached, it waits and reports that.
 * - Errors: `OperatorError` when a strategy cannot run.
 */
export function recover(desk: Desk): Observable<never> {
  const steps = concat(
    defer(() => learnVenue(desk)),
    defer(() => checkPairs(desk)),
    defer(() => firstRead(desk)),
    // Last, because a strategy without `start_time` begins now, and a long first read must not cost it its first slots.
    defer(() => beginLives(desk)),
    of('over' as const),
  );
  // If the venue is permanently gone, only a person can resolve the doubts, and the person must not have to wait for
  // the venue.
  const resolved = resolutions(desk).pipe(record(desk, EMPTY), ignoreElements());
  return merge(steps, resolved).pipe(
    takeWhile((step) => step !== 'over'),
    ignoreElements(),
  );
}

export interface TakeOverOptions {
  /** Lifts a pause or halt that the journal holds, for this reason. */
  readonly rearm?: string | undefined;
  /** Lifts the halt even with open doubts. */
  readonly withOpenDoubts?: boolean | undefined;
  /** Why the journal may continue with another token or address. The operator thereby confirms that it is the same account. */
  readonly accountChanged?: string | undefined;
}

const OTHER_ACCOUNT = [
  'this journal was written with another token, address or mode.',
  'A new token of the same account: run with --account-changed "reason".',
  'Another account, or a dry run beside a live desk: use a separate journal.',
].join('\n');

/**
 * Replays the journal and records that this process has taken it over. From then on the desk can record commands of the
 * operator.
 * - Errors: `OperatorError` when the journal belongs to another account.
 */
export function takeOver(
  desk: Desk,
  { rearm, accountChanged, withOpenDoubts }: TakeOverOptions = {},
): Observable<never> {
  const { state, policy, ports } = desk;
  try {
    for (const stored of ports.journal.read(desk.snapshotWriter.resume())) {
      state.apply(stored);
      desk.observer.replay(stored);
      desk.snapshotWriter.saw(stored);
    }
  } catch (error) {
    ports.journal.prove?.(); // damaged records may not make sense before the damage is detected
    throw error;
  }
  // A journal that has never read an account does not belong to one yet, so that a mistyped token does not bind it.
  const isOther =
    state.account !== undefined && state.account !== policy.account && state.balancesReadAt !== undefined;
  if (isOther && accountChanged === undefined)
    return throwError(() => new OperatorError('config', OTHER_ACCOUNT));
  desk.account.inheritedAt = state.lastRecordAt;
  if (state.isUnconfirmed) {
    // The quotes had arrived before this process began, and their ages are unknown.
    desk.account.bookedBy = after(ports.clock.monotonic(), policy.inDoubt.bookingMarginMs);
    for (const { fill, lifeMs } of state.unshown.values()) desk.account.booked(fill, lifeMs);
  }
  checkClock(desk);
  if (state.lastRecordAt !== undefined) desk.limitDay.inherit(state.lastRecordAt);
  holdBack(desk);
  const suspicion = suspicionOf(desk);
  const kept = limitsToKeep(policy);
  const { startedBy = 'operator' } = policy;
  const settings = desk.settings.begin(state.settings, settingsAtStart(policy, state.people.all()), {
    cause: 'start',
    by: startedBy,
    why:
      state.settings === undefined ? 'first settings of this journal' : 'changed while the desk was stopped',
  });
  const { hash } = desk.settings;
  const bodies: RecordBody[] = [
    {
      kind: 'started',
      version: policy.version,
      mode: policy.mode,
      desk: policy.desk,
      config_hash: policy.configHash,
      account: policy.account,
      ...kept,
      ...(hash === undefined ? {} : { by: startedBy, settings: hash }),
    },
    ...settings,
  ];
  if (isOther) {
    bodies.push({
      kind: 'control',
      state: state.control,
      by: 'operator',
      why: `account changed: ${accountChanged ?? ''}`,
      ...(state.isTransportClosed ? { transport: 'closed' } : {}),
    });
  }
  const startedAt = ports.clock.monotonic();
  const boot = ports.clock.boot?.();
  const isShared = ports.journal.fence !== undefined;
  const lifeMaxMs = unknownLifeMs(policy.inDoubt.lifeMaxMs);
  for (const { intent, doubt, quote } of state.attempts.values()) {
    const atWorst = {
      startedAt,
      lifeMs: lifeMaxMs,
      bookingMarginMs: policy.inDoubt.bookingMarginMs,
      isTraded: doubt?.reason === 'certainly_traded',
    };
    // An owner that still runs uses its own clocks, which may have stopped, so every period counts from this takeover.
    const phase = isShared
      ? inherited(atWorst)
      : inherited({
          ...atWorst,
          lifeMs: quote?.life_ms ?? lifeMaxMs,
          boot,
          asked: intent.boot,
          clockSlackMs: policy.continuity.divergenceMs + policy.continuity.lateMs,
          known: doubt,
        });
    // Recorded unless the next process can continue from the existing record.
    const isKnown = !isShared && doubt?.proof !== undefined && doubt.proof.boot?.id === boot?.id;
    if (!isKnown) bodies.push(attemptRecord(desk, intent, { ...phase, result: 'doubt' }));
    desk.account.doubts.set(intent.client_order_id, phase);
  }
  const isHeld = state.control !== 'active' || suspicion !== undefined || desk.killSwitch.isNoted;
  if (rearm !== undefined && isHeld) {
    const command = { by: 'operator', why: rearm, withOpenDoubts };
    const fault = rearmFault(desk, command) ?? unapprovedFault(desk, command);
    if (fault !== undefined) return throwError(() => new OperatorError('again', `not re-armed: ${fault}`));
    bodies.push(rearmRecord(desk, command));
    return desk.journal.append(bodies).pipe(
      tap(() => {
        desk.killSwitch.clear();
        beginRequestLog(desk);
      }),
      ignoreElements(),
    );
  }
  if (suspicion !== undefined && state.control !== 'halted') bodies.push(haltRecord(suspicion));
  else bodies.push(...heldBack(desk));
  return desk.journal.append(bodies).pipe(
    tap(() => {
      beginRequestLog(desk);
    }),
    ignoreElements(),
  );
}

/** Checks, where lifting a halt needs approval, that it was approved in the previous process and within the time limit. */
function unapprovedFault(
  desk: Desk,
  command: { readonly withOpenDoubts?: boolean | undefined },
): string | undefined {
  const { policy, ports, state } = desk;
  // An approval covers the limits that were raised then, not those that this start raises.
  const limits = { agreed: state.limits.agreed, raised: limitsToKeep(policy) };
  const raised = raisedLimits(limits);
  const settings = raised.length > 0 ? approvalsInForce(limits, policy.approvals) : policy.approvals;
  if (requirementOfRequest({ for: 'rearm' }, settings, raised) === undefined) return undefined;
  const one = state.approvals.of(asked(desk, { do: 'rearm', ...command }, raised).subject);
  const isApproved = one?.isApproved === true && one.ended === undefined;
  return isApproved && ports.clock.wall() < one.proposal.expires_at
    ? undefined
    : 'operate.approvals requires another person to agree: start without --rearm, let one send tranche rearm and another tranche approve';
}

/** From here on, requests are logged for the next process. */
function beginRequestLog({ state, ports, requestsKnownSince }: Desk): void {
  const boot = ports.clock.boot?.();
  if (boot !== undefined && state.startSeq !== undefined)
    ports.requestLog?.begin(state.startSeq, requestsKnownSince ?? boot);
}

/** A halt from an earlier process stays. A halt known only from the halt file is recorded. */
function heldBack(desk: Desk): readonly RecordBody[] {
  const { state, killSwitch } = desk;
  const { controlBy: by, controlWhy: why } = state;
  if (state.control === 'halted')
    killSwitch.set({ level: state.isTransportClosed ? 'kill' : 'halt', by, why });
  const note = haltNote(desk);
  return note === undefined ? [] : [note];
}

/** Why the desk must not trade before a person has checked; `undefined` if nothing is unusual. */
function suspicionOf({ state, policy, ports, observer }: Desk): string | undefined {
  const { oddity } = ports.journal;
  if (oddity?.what === 'no_anchor') observer.warn(oddity.why);
  if (oddity?.what === 'rolled_back') {
    observer.alert('journal_rolled_back', { why: oddity.why });
    return oddity.why;
  }
  const raised = raisedLimits({ agreed: state.limits.agreed, raised: limitsToKeep(policy) });
  if (raised.length > 0) {
    observer.alert('limits_raised', { raised: raised.join(', ') });
    return `limits raised since the last start: ${raised.join(', ')}`;
  }
  const { startsMax, withinMs } = policy.crashLoop;
  const deaths = state.diedSince(after(ports.clock.wall(), -withinMs));
  if (deaths.length < startsMax) return undefined;
  const minutes = Math.round(withinMs / MINUTE_MS);
  const causes = causesOf(deaths);
  observer.alert('crash_loop', { deaths: deaths.length, minutes, causes });
  return `crash loop: the process died ${deaths.length} times within ${minutes} minutes (${causes})`;
}

/** Such as `3 x killed or lost soon after the start, 2 x TypeError: x is not a function`. */
function causesOf(deaths: readonly Death[]): string {
  const counts = new Map<string, number>();
  for (const { error } of deaths) {
    const cause = error ?? 'killed or lost soon after the start';
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
  }
  return [...counts].map(([cause, count]) => `${count} x ${cause}`).join(', ');
}

/**
 * An earlier process may have used the rate limits until its last record if it stopped cleanly, or until a moment ago
 * if it died, because probes and reads leave no record. If it logged its requests, they are known exactly. The last
 * requests may still be on their way.
 */
function holdBack(desk: Desk): void {
  const { state, rateLimiter, policy, ports, observer } = desk;
  if (state.lastRecordAt === undefined) return;
  let longestMs = 0;
  const boot = ports.clock.boot?.();
  const known =
    state.startSeq === undefined || boot === undefined
      ? undefined
      : ports.requestLog?.earlier(state.startSeq, boot);
  const stoppedMs = state.isStopped ? Math.max(0, ports.clock.wall() - state.lastRecordAt) : 0;
  // Later requests are known individually; earlier requests are at least this old.
  const agoMs = Math.max(stoppedMs, known === undefined ? 0 : passedSince(known.since, boot));
  if (known !== undefined) {
    desk.requestsKnownSince = known.since;
    for (const { route, boot: at, isBlock } of known.requests)
      if (isBlock) rateLimiter.block(route, Math.max(0, at.ms - (boot?.ms ?? 0) + BOOT_STEP_MS));
      else if (route !== 'all') rateLimiter.recall(route, LAST_REQUEST_MS - passedSince(at, boot));
  }
  for (const route of ['quote', 'order', 'transactions', 'read', 'all'] as const) {
    const perMs = policy.pace.windows[route]?.perMs;
    if (perMs === undefined) continue;
    const waitMs = Math.max(0, perMs + LAST_REQUEST_MS - agoMs);
    longestMs = Math.max(longestMs, waitMs);
    rateLimiter.block(route, waitMs);
  }
  if (longestMs > 2 * LAST_REQUEST_MS) {
    observer.warn('an earlier process may have used the rate limits of the venue; waiting until they reset', {
      seconds: Math.ceil(longestMs / 1_000),
    });
  }
}

/** Loads what the account can access. Retries indefinitely, because nothing can be sized without this information. */
export function learnVenue(desk: Desk): Observable<never> {
  const { venue } = desk.ports;
  const read = <T>(source: Observable<T>): Observable<T> =>
    desk.rateLimiter
      .through({ route: 'read', priority: 'execute', key: 'start' }, source)
      .pipe(retry({ delay: (error, count) => backOff(desk, error, count) }));
  const pairs: Observable<readonly Pair[] | undefined> =
    venue.pairs === undefined ? of(undefined) : read(venue.pairs().pipe(catchError(noSuchRoute)));
  return forkJoin([read(venue.currencies()), pairs]).pipe(
    tap(([currencies, listed]) => {
      desk.venueHealth.answered();
      desk.instruments.learn(currencies, listed);
      desk.rates.forget();
      const refusal = skewRefusal(desk);
      if (refusal !== undefined) throw refusal;
    }),
    ignoreElements(),
  );
}

/** A capability that the venue does not have is a mistake in the config, not an outage. */
function noSuchRoute(error: unknown): Observable<never> {
  if (error instanceof VenueError && (error.status === 404 || error.status === 405)) {
    const why = 'the venue has no list of currency pairs: write venue.capabilities.pairs: false';
    return throwError(() => new OperatorError('config', why, error));
  }
  return throwError(() => error);
}

function backOff(desk: Desk, error: unknown, count: number): Observable<unknown> {
  if (!(error instanceof VenueError)) return throwError(() => error);
  if (error.code === 'unauthorised') {
    return throwError(
      () =>
        new OperatorError(
          'unavailable',
          `the venue refuses the token: ${error.said ?? error.message}`,
          error,
        ),
    );
  }
  const waitMs = Math.min(desk.policy.retry.baseMs * 2 ** count, desk.policy.retry.capMs);
  desk.venueHealth.readFailed(error);
  // The server is probably not the venue. This has its own alert.
  if (error.code !== 'certificate')
    desk.observer.warn('the venue does not respond; retrying', { error: error.message, wait_ms: waitMs });
  return timer(waitMs, desk.ports.clock.scheduler);
}

/** Every pair of every strategy must be one that the account can access. */
function checkPairs(desk: Desk): Observable<never> {
  const [first] = unknownPairs(desk, [...desk.strategies.sources.values()]);
  return first === undefined ? EMPTY : throwError(() => new OperatorError('config', first));
}

/**
 * Starts the strategies that this journal has not seen; the others continue. A strategy edited while its parent runs continues
 * with the document it started with, as it would have without the restart.
 */
function beginLives(desk: Desk): Observable<never> {
  const sources = [...desk.strategies.sources.values()];
  const planned = planFor(desk, { sources, off: [] }, { by: 'tranche', why: 'the desk starts' });
  const { run, faults } = planned;
  // A run that continues with its old document may trade a pair that no file names any longer.
  const [fault] = [...faults, ...unknownPairs(desk, run)];
  if (fault !== undefined) return throwError(() => new OperatorError('config', fault));
  return toObservable(infeasible(desk, planned)).pipe(
    mergeMap(({ refused, running }) => {
      if (refused.length > 0) throw new OperatorError('config', infeasibleWords(refused));
      for (const standing of running) desk.observer.warn(faultLine(standing));
      return beginAll(desk, planned);
    }),
  );
}

function beginAll(desk: Desk, planned: Planned): Observable<never> {
  const { begin, changes, run } = planned;
  tellKept(desk, changes);
  desk.strategies.run(run);
  const asked$ = planned.wishes.length === 0 ? EMPTY : desk.journal.append(wishes(desk, planned.wishes));
  if (begin.length === 0) return asked$.pipe(ignoreElements());
  // Two appends in total. With one append per strategy, a thousand strategies would wait for the disk a thousand times.
  return concat(
    desk.journal.append(beginnings(desk, begin)).pipe(ignoreElements()),
    defer(() => firstSteps(desk, begin)).pipe(ignoreElements()),
    asked$.pipe(ignoreElements()),
  );
}

const infeasibleWords = (faults: readonly StrategyFault[]): string =>
  ['the strategies cannot trade as they are written:', ...faults.map(faultLine)].join('\n  ');

/** The first whole read of the account, before the first quote; retried until it succeeds. */
function firstRead(desk: Desk): Observable<never> {
  return defer(() => readOnce(desk)).pipe(
    record(desk, EMPTY),
    ignoreElements(),
    repeat({ delay: () => (desk.account.lastReadAt === undefined ? of(undefined) : EMPTY) }),
  );
}
