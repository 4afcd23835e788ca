import {
  EMPTY,
  catchError,
  defer,
  distinctUntilChanged,
  filter,
  ignoreElements,
  map,
  merge,
  mergeMap,
  of,
  repeat,
  switchMap,
  tap,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import type { ControlRecord, RecordBody } from '../../core/record.ts';
import { after, DAY_MS, isoOf } from '../../core/time.ts';
import { untilTime } from '../time/watch-clocks.ts';
import type { Desk } from '../desk.ts';
import { approvalRequests } from './approval-requests.ts';
import { commands } from './approvals.ts';
import { people } from './people.ts';
import type { Command } from '../ports.ts';
import { scopeOf } from '../state/totals.ts';
import { watch } from '../watch.ts';

type Control = Command & { readonly do: 'pause' | 'resume' | 'halt' | 'rearm' };
const isControl = (command: Command): command is Control =>
  ['pause', 'resume', 'halt', 'rearm'].includes(command.do);
type Rearm = Command & { readonly do: 'rearm' };

/** Executes and records operator commands and halt files. Never emits. */
export function operate(desk: Desk): Observable<never> {
  const carriedOut = commands(desk).pipe(
    filter(isControl),
    mergeMap((command) => defer(() => obey(desk, command))),
  );
  const missed = defer(() => noteHalt(desk));
  return merge(
    missed,
    carriedOut,
    approvalRequests(desk),
    people(desk),
    watchLatch(desk),
    resumeInTime(desk),
  ).pipe(ignoreElements());
}

/** Sets the kill switch in the tick of the command, whether or not the journal can record it yet. */
export const halts = (desk: Desk): Observable<unknown> =>
  desk.ports.operator$.pipe(
    filter((command) => command.do === 'halt'),
    tap((command) => {
      setKillSwitch(desk, command);
    }),
  );

/** Sets memory first, in the tick of the command. The reason in a halt file takes precedence over a signal. */
export function setKillSwitch(
  desk: Desk,
  { by, why, isKill, token }: Command & { readonly do: 'halt' },
): void {
  desk.killSwitch.look();
  const level = isKill === true ? 'kill' : 'halt';
  desk.killSwitch.set({ level, by, why, ...(token === undefined ? {} : { token }) });
}

function obey(desk: Desk, command: Control): Observable<unknown> {
  switch (command.do) {
    case 'halt':
      setKillSwitch(desk, command);
      return noteHalt(desk);
    case 'rearm':
      return rearm(desk, command);
    case 'pause':
    case 'resume':
      return turn(desk, command);
  }
}

/** Pauses or resumes the named scope, and responds with the result. */
function turn(desk: Desk, command: Command & { readonly do: 'pause' | 'resume' }): Observable<unknown> {
  const fault = turnFault(desk, command);
  if (fault !== undefined) {
    command.answer?.({ isDone: false, says: fault });
    return EMPTY;
  }
  const { by, parent, pair, strategy, forMs, token } = command;
  const until = forMs === undefined ? undefined : after(desk.ports.clock.wall(), forMs);
  const why = until === undefined ? command.why : `${command.why} (until ${isoOf(until)})`;
  const state = command.do === 'resume' ? 'active' : command.isReducing === true ? 'reducing' : 'paused';
  const what = scopeOf(command);
  const end = until === undefined ? '' : ` until ${isoOf(until)}`;
  command.answer?.({ isDone: true, says: `${what?.replace(':', ' ') ?? 'the desk'} is ${state}${end}` });
  const isSame = desk.control === state && until === undefined && desk.state.controlUntil === undefined;
  if (what === undefined && isSame) return EMPTY;
  const scope = {
    ...(parent === undefined ? {} : { parent }),
    ...(pair === undefined ? {} : { pair }),
    ...(strategy === undefined ? {} : { strategy }),
  };
  return desk.journal.append([
    {
      kind: 'control',
      state,
      ...scope,
      by,
      why,
      ...(token === undefined ? {} : { token }),
      ...(until === undefined ? {} : { until }),
    },
  ]);
}

/** Ends a pause at its end time, even if the pause began before this process started. */
function resumeInTime(desk: Desk): Observable<unknown> {
  return watch(desk.changed$, () => desk.state.controlUntil).pipe(
    distinctUntilChanged(),
    switchMap((until) => (until === undefined ? EMPTY : untilTime(desk, until).pipe(map(() => until)))),
    mergeMap((until) => {
      // A halt or any other command since then takes precedence.
      if (desk.control === 'halted' || desk.state.controlUntil !== until) return EMPTY;
      return desk.journal.append([
        { kind: 'control', state: 'active', by: 'tranche', why: `the pause has ended: ${desk.controlWhy}` },
      ]);
    }),
  );
}

/** A longer pause is a mistake, and its end may not be a valid date. */
const PAUSE_MAX_MS = 366 * DAY_MS;

/** Why the scope cannot be paused or resumed; `undefined` when it can. */
function turnFault(desk: Desk, command: Command & { readonly do: 'pause' | 'resume' }): string | undefined {
  const { slices, totals } = desk.state;
  const { parent, pair, strategy } = command;
  if ([parent, pair, strategy].filter((one) => one !== undefined).length > 1)
    return 'name exactly one of parent, pair or strategy';
  const scope = scopeOf(command);
  if (command.forMs !== undefined && (scope !== undefined || command.do === 'resume'))
    return 'only a pause of the whole desk can have an end';
  if (command.forMs !== undefined && command.forMs > PAUSE_MAX_MS)
    return 'a pause can last at most a year: P366D';
  if (command.isReducing === true && scope !== undefined) return 'reducing applies to the whole desk';
  if (scope === undefined) {
    const isHeld = desk.control === 'paused' || desk.control === 'reducing';
    if (command.forMs !== undefined && isHeld && desk.state.controlUntil === undefined)
      return `the desk is ${desk.control} without an end: ${desk.controlWhy}. A pause with an end would lift that`;
    // A halt is latched; a resume does not lift it.
    return desk.control === 'halted'
      ? `the desk is halted: ${desk.controlWhy}. Lift the halt with rearm`
      : undefined;
  }
  if (command.do === 'resume') {
    if (totals.paused.has(scope)) return undefined;
    const those = [...totals.paused.keys()].join(', ');
    return `${scope} is not paused; ${those === '' ? 'nothing is' : `paused are ${those}`}`;
  }
  const [kind, name, known] =
    parent !== undefined
      ? ['open parent', parent, [...slices.values()].map(({ intent }) => intent.parent)]
      : pair !== undefined
        ? ['pair', pair, [...desk.strategies.sources.values()].flatMap(({ bound }) => bound.pairs)]
        : ['strategy', strategy ?? '', [...desk.strategies.sources.keys()]];
  if (known.includes(name)) return undefined;
  const those = [...new Set(known)].join(', ');
  return `there is no ${kind} ${name}; ${those === '' ? 'none exists now' : `there are ${those}`}`;
}

/**
 * Interval at which the desk itself checks the halt file and records a halt. The same check prepares the next halt
 * file if it was removed, or if the disk had no space for it.
 */
const LOOK_MS = 1_000;

function watchLatch(desk: Desk): Observable<unknown> {
  if (!desk.killSwitch.isWatched) return EMPTY;
  return timer(LOOK_MS, desk.ports.clock.scheduler).pipe(
    mergeMap(() => {
      desk.killSwitch.look();
      const error = desk.killSwitch.prepare();
      if (error !== undefined) desk.observer.alert('halt_not_noted', { error });
      return noteHalt(desk);
    }),
    repeat(),
  );
}

/** Records the current state of the kill switch. */
export function noteHalt(desk: Desk): Observable<unknown> {
  const body = haltNote(desk);
  return body === undefined ? EMPTY : desk.journal.append([body]);
}

/** The part of the current halt that is not in the journal yet. */
export function haltNote(desk: Desk): ControlRecord | undefined {
  const { state } = desk;
  const { halt } = desk.killSwitch;
  if (halt === undefined) return undefined;
  const isClosed = halt.level === 'kill';
  if (state.control === 'halted' && (state.isTransportClosed || !isClosed)) return undefined;
  const { by, why, token } = halt;
  const used = token === undefined ? {} : { token };
  return { kind: 'control', state: 'halted', by, why, ...used, ...(isClosed ? { transport: 'closed' } : {}) };
}

/** Ids of orders whose outcome is unknown or still awaited. */
const openOrders = (desk: Desk): readonly string[] => [...desk.state.attempts.keys()];

/** Why the desk may not be re-armed in this way; `undefined` when it may. */
export function rearmFault(
  desk: Desk,
  { by, why, withOpenDoubts }: Pick<Rearm, 'by' | 'why'> & { readonly withOpenDoubts?: boolean | undefined },
): string | undefined {
  if (by.trim() === '') return 'name the person who re-arms the desk';
  if (why.trim() === '') return 'give a reason: what was wrong and how it was fixed';
  const open = openOrders(desk);
  if (open.length === 0 || withOpenDoubts === true) return undefined;
  const orders = open.length === 1 ? 'of 1 order' : `of ${open.length} orders`;
  return `the outcome ${orders} is unknown: ${open.join(', ')}. Wait for the proof, resolve it, or add --with-open-doubts`;
}

/** The record that re-arms the desk: who, why, and with which open doubts. */
export function rearmRecord(desk: Desk, { by, why, token }: Pick<Rearm, 'by' | 'why' | 'token'>): RecordBody {
  const doubts = openOrders(desk);
  const used = token === undefined ? {} : { token };
  return { kind: 'control', state: 'active', by, why, ...used, ...(doubts.length === 0 ? {} : { doubts }) };
}

function rearm(desk: Desk, command: Rearm): Observable<unknown> {
  const answer = (isDone: boolean, says: string): void => {
    command.answer?.({ isDone, says });
  };
  if (desk.control !== 'halted') {
    answer(false, `the desk is not halted, it is ${desk.control}`);
    return EMPTY;
  }
  const fault = desk.killSwitch.halt?.level === 'kill' ? KILLED : rearmFault(desk, command);
  if (fault !== undefined) {
    answer(false, fault);
    return EMPTY;
  }
  return desk.journal.append([rearmRecord(desk, command)]).pipe(
    tap(() => {
      desk.killSwitch.clear();
      desk.changed$.next();
      answer(true, 'the desk trades again');
    }),
    catchError((error: unknown) => {
      if (desk.state.control === 'halted') throw error;
      // The record is durable, but the file could not be removed. The kill switch stays set, and the desk records that.
      answer(
        false,
        `the halt file cannot be removed: ${error instanceof Error ? error.message : String(error)}`,
      );
      return of(undefined);
    }),
  );
}

const KILLED =
  'this process can no longer send orders: stop it, then start it with tranche run --rearm "reason"';
