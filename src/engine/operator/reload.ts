import { EMPTY, concatMap, defer, filter, map, merge, mergeMap, shareReplay, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { ReloadRecord, RecordBody } from '../../core/record.ts';
import { noRate } from '../market/conversion-rates.ts';
import type { Desk } from '../desk.ts';
import { andThen, toObservable } from '../maybe-async.ts';
import type { MaybeAsync } from '../maybe-async.ts';
import type { Command, CommandAnswer, StrategiesPort } from '../ports.ts';
import { proposalOf } from './approval-requests.ts';
import { planChange } from './reload-plan.ts';
import type { Change, Planned } from './reload-plan.ts';
import { strategyVerdict } from './reload-approvals.ts';
import type { ReloadedBy } from './reload-approvals.ts';
import type { Wish } from './proposals.ts';
import { differences } from './text-differences.ts';
import type { StrategyFault, StrategySource } from '../state/strategy-source.ts';
import { limitTexts, tighterLimits } from '../../core/risk/limit-table.ts';
import { limitLines, planLimits } from './limits-reload.ts';
import type { PlannedLimits } from './limits-reload.ts';
import { channelLines, planChannels } from './channels-reload.ts';
import type { PlannedChannels } from './channels-reload.ts';

export type Reload = Command & { readonly do: 'reload' };

/** Number of early reload requests that are kept until the desk can read its strategies. */
const EARLY_MAX = 8;

type Stop = Command & { readonly do: 'stop' };
const isStop = (command: Command): command is Stop => command.do === 'stop';
const isReload = (command: Command): command is Reload => command.do === 'reload';

/**
 * Keeps reload requests from callers that cannot retry, made before the desk trades, and executes them once there are runs to
 * compare the files with.
 */
export const patientReloads = ({ ports }: Desk): Observable<Reload> =>
  ports.operator$.pipe(
    filter(isReload),
    filter(({ isPatient }) => isPatient === true),
    shareReplay({ bufferSize: EARLY_MAX, refCount: true }),
  );

/** Reloads the strategies on command, and after an approval. Never emits. */
export function reloads(desk: Desk, patient: Observable<Reload>): Observable<never> {
  const { operator$ } = desk.ports;
  const requested = operator$.pipe(
    filter(isReload),
    filter(({ isPatient }) => isPatient !== true),
  );
  const approved = desk.approved$.pipe(
    filter((request) => request.for === 'strategy' || request.for === 'limits'),
    map(({ request }): Reload => ({ do: 'reload', by: 'tranche', why: `${request} is approved` })),
  );
  // One at a time, because a reload's new runs cannot be compared with the files until the reload is durable.
  const reloading = merge(patient, requested, approved).pipe(
    concatMap((command) => defer(() => reload(desk, command))),
  );
  const stopping = operator$.pipe(
    filter(isStop),
    concatMap((command) => defer(() => stop(desk, command))),
  );
  return merge(reloading, stopping).pipe(mergeMap(() => EMPTY));
}

/** Ends one strategy permanently in the journal, so that no restart continues it. */
function stop(desk: Desk, command: Stop): Observable<unknown> {
  const { strategy, by, why, token } = command;
  const life = desk.state.lives.get(strategy);
  if (life === undefined || !desk.strategies.sources.has(strategy) || life.finished !== undefined) {
    const says =
      life?.finished === undefined
        ? notRunning(desk, strategy)
        : `${strategy} has ended already: ${life.finished}`;
    command.answer({ isDone: false, says });
    return EMPTY;
  }
  const isOpen = [...desk.state.slices.values()].some((slice) => slice.strategy === strategy);
  const used = token === undefined ? {} : { token };
  return desk.journal
    .append([
      {
        kind: 'reload',
        by,
        why,
        ...used,
        result: 'applied',
        changes: [{ strategy, what: 'stops', from: life.hash, why: 'an operator stopped it permanently' }],
      },
      {
        kind: 'wake',
        strategy,
        hash: life.hash,
        on: 'at',
        detail: {},
        reason: 'by_operator',
        note: `${by}: ${why}`,
        ...(life.state === undefined ? {} : { state: life.state }),
        waits: [],
        intents: [],
        missed: [],
        finished: 'by_operator',
      },
    ])
    .pipe(
      tap(() => {
        desk.strategies.rearm([strategy]);
        command.answer({
          isDone: true,
          says: `${strategy} is stopped permanently${isOpen ? '; open slices end without another order' : ''}. To trade the rest, give it another id`,
        });
      }),
    );
}

function notRunning({ strategies }: Desk, strategy: string): string {
  const ids = [...strategies.sources.keys()].join(', ');
  return `no strategy ${strategy} runs; ${ids === '' ? 'none does' : `there are ${ids}`}`;
}

function reload(desk: Desk, command: Reload): Observable<unknown> {
  const read = desk.ports.strategies?.read();
  if (read === undefined)
    return answered(command, { isDone: false, says: 'this desk cannot reload its strategies' });
  if ('problems' in read) return refused(desk, command, read.problems);
  const before = planFor(desk, read, command);
  const checked = before.begin.length === 0 ? { refused: [], running: [] } : infeasible(desk, before);
  return toObservable(andThen(checked, (faults) => reloaded(desk, command, read, faults)));
}

type Read = Exclude<ReturnType<StrategiesPort['read']>, { readonly problems: string }>;

/** Applies files that were read. Strategies may have ended during the check of what begins. */
function reloaded(
  desk: Desk,
  command: Reload,
  read: Read,
  { refused: unfit }: Infeasible,
): Observable<unknown> {
  const planned = planFor(desk, read, command);
  const faults = [...planned.faults, ...unknownPairs(desk, planned.run), ...unfit.map(faultLine)];
  if (faults.length > 0) return refused(desk, command, faults.join('\n'));
  const { notes } = read;
  const settings = {
    limits: planLimits(desk, read.limits, command),
    channels: planChannels(read.channels, command.by),
  };
  const { limits, channels } = settings;
  const lines = [...limitLines(limits), ...channelLines(channels)];
  if (planned.changes.length + limits.changes.length + channels.changes.length === 0) {
    if (limits.kept.length + channels.kept.length > 0)
      return settingsKept(desk, command, { settings, problems: [...lines, ...notes].join('\n') });
    return answered(command, { isDone: true, says: ['nothing has changed', ...notes].join('\n') });
  }
  const says = [...lines, ...wordsOf(desk, planned, read.sources, notes)];
  const isDry = command.isDryRun === true;
  command.answer?.({
    isDone: true,
    says: [isDry ? 'a reload would apply these changes:' : 'reloaded:', ...says].join('\n'),
    facts: {
      changes: planned.changes,
      limit_changes: limits.changes,
      ...(limits.kept.length === 0 ? {} : { limits_kept: limits.kept }),
      ...(channels.changes.length === 0 ? {} : { channel_changes: channels.changes }),
      ...(channels.kept.length === 0 ? {} : { channels_kept: channels.kept }),
      notes,
    },
  });
  if (isDry) return EMPTY;
  tellKept(desk, planned.changes);
  if (limits.loosened.length > 0)
    desk.observer.alert('limits_raised', { by: command.by, raised: limits.loosened.join(', ') });
  const remarks = [...notes, ...limits.kept, ...channels.kept];
  const approvals = [planned.approvals, limits.approval ?? []].flat();
  return apply(desk, planned, settings, {
    kind: 'reload',
    by: command.by,
    why: command.why,
    ...(command.token === undefined ? {} : { token: command.token }),
    result: 'applied',
    changes: planned.changes.map(plain),
    ...(approvals.length === 0 ? {} : { approvals }),
    ...(limits.limits === undefined
      ? {}
      : { limit_changes: limits.changes, limits: limitTexts(limits.limits) }),
    ...(channels.changes.length === 0 ? {} : { channel_changes: channels.changes }),
    ...(remarks.length === 0 ? {} : { notes: remarks }),
  });
}

/** Compares the strategies in the files with those that run. */
export const planFor = (
  desk: Desk,
  { sources, off }: { readonly sources: readonly StrategySource[]; readonly off: readonly string[] },
  asker: ReloadedBy,
): Planned =>
  planChange(
    {
      running: desk.strategies.sources,
      lives: desk.state.lives,
      open: new Set([...desk.state.slices.values()].map(({ strategy }) => strategy)),
      revive: (begun) => desk.ports.strategies?.revive(begun),
      approval: (source) => strategyVerdict(desk, source, askerOf(asker)),
    },
    sources,
    off,
  );

/** The person who requested the reload, without the rest of the command. */
const askerOf = ({ by, why, token }: ReloadedBy): ReloadedBy => ({ by, why, token });

/** The effect of a reload on the config's settings. */
interface Settings {
  readonly limits: PlannedLimits;
  readonly channels: PlannedChannels;
}

/** The record, with the runs that it starts: all or nothing. Until it is durable, no changed strategy wakes. */
function apply(desk: Desk, planned: Planned, settings: Settings, record: ReloadRecord): Observable<unknown> {
  const { limits } = settings.limits;
  desk.strategies.run(planned.run);
  // Tighter limits apply from this tick; looser ones once they are durable.
  if (limits !== undefined)
    desk.policy = { ...desk.policy, limits: tighterLimits(desk.policy.limits, limits) };
  const { by, why, token, approvals } = record;
  const author = { cause: 'reload', by, why, token, approvals } as const;
  return desk.journal
    .append([
      record,
      ...beginnings(desk, planned.begin),
      ...desk.settings.reload(limits, settings.channels.settings, author),
      ...wishes(desk, [
        ...planned.wishes,
        ...(settings.limits.wish === undefined ? [] : [settings.limits.wish]),
      ]),
    ])
    .pipe(
      tap(() => {
        if (limits !== undefined) {
          desk.policy = { ...desk.policy, limits };
          desk.changed$.next();
        }
        settings.channels.use?.();
        desk.strategies.rearm(planned.changes.map(({ strategy }) => strategy));
      }),
    );
}

/** Records of the approvals to request. */
export const wishes = (desk: Desk, all: readonly Wish[]): readonly RecordBody[] =>
  all.map((wish) => proposalOf(desk, wish));

/** Records of the runs that start now. */
export const beginnings = (desk: Desk, sources: readonly StrategySource[]): readonly RecordBody[] =>
  sources.map(({ id, kind, hash, document }) => ({
    kind: 'strategy',
    strategy: id,
    hash,
    type: kind,
    begun_at: desk.ports.clock.wall(),
    document,
  }));

/** Reports running strategies that keep their document although their file differs. */
export function tellKept(desk: Desk, changes: readonly Change[]): void {
  for (const { strategy, what, why } of changes)
    if (what === 'kept')
      desk.observer.warn('a strategy that runs keeps the text that it started with', { strategy, why });
}

/** Pairs that the account cannot access, in words. */
export const unknownPairs = (desk: Desk, sources: readonly StrategySource[]): readonly string[] =>
  sources.flatMap(({ id, bound }) =>
    bound.pairs.flatMap((pair) => {
      const known = desk.instruments.pair(pair);
      const why = 'problem' in known ? known.why : unknownRate(desk, known.quote);
      return why === undefined ? [] : [`strategy ${id}: ${why}`];
    }),
  );

/** Faults of the strategies that will run. */
interface Infeasible {
  /** Faults of strategies that would start now, which the desk refuses to start. */
  readonly refused: readonly StrategyFault[];
  /** Faults of strategies that already run. They continue, because their orders need this desk. */
  readonly running: readonly StrategyFault[];
}

/** States which strategies could not trade as they are written. */
export function infeasible(desk: Desk, { run, begin }: Planned): MaybeAsync<Infeasible> {
  const { ports, state } = desk;
  const known = { lives: state.lives, now: ports.clock.wall() };
  const faults$ = ports.strategies?.infeasible?.(run, known);
  const isRefused = ({ strategy }: StrategyFault): boolean =>
    strategy === undefined ? begin.length > 0 : begin.some(({ id }) => id === strategy);
  return andThen(faults$, (faults = []) => ({
    refused: faults.filter(isRefused),
    running: faults.filter((fault) => !isRefused(fault)),
  }));
}

export const faultLine = ({ strategy, says }: StrategyFault): string =>
  `${strategy === undefined ? 'the strategies together' : `strategy ${strategy}`}: ${says}`;

/** If the limits are in another currency, a rate is needed, because every trade would otherwise be refused. */
function unknownRate({ policy, rates }: Desk, quote: string): string | undefined {
  const { currency, orderNotionalMax, dayNotionalMax } = policy.limits;
  if (orderNotionalMax === undefined && dayNotionalMax === undefined) return undefined;
  return rates.pairs(quote, currency) === undefined
    ? noRate(quote, currency, policy.rates ?? new Map())
    : undefined;
}

/** Nothing changes. Reports the result, and records it unless it was a dry run. */
function refused(desk: Desk, command: Reload, problems: string): Observable<unknown> {
  command.answer?.({ isDone: false, says: `nothing was changed:\n${problems}` });
  if (command.isDryRun === true) return EMPTY;
  desk.observer.alert('reload_refused', { problems });
  const { by, why, token } = command;
  const used = token === undefined ? {} : { token };
  return desk.journal.append([
    { kind: 'reload', by, why, ...used, result: 'refused', changes: [], problems },
  ]);
}

/** The files change only settings that they may not change. The desk notifies a person, and records who tried. */
function settingsKept(
  desk: Desk,
  command: Reload,
  { settings, problems }: { readonly settings: Settings; readonly problems: string },
): Observable<unknown> {
  command.answer?.({ isDone: false, says: `nothing was changed:\n${problems}` });
  const { by, why, token, isDryRun } = command;
  if (isDryRun === true || by === 'tranche') return EMPTY;
  const used = token === undefined ? {} : { token };
  return desk.journal.append([
    { kind: 'reload', by, why, ...used, result: 'refused', changes: [], problems },
    ...wishes(desk, settings.limits.wish === undefined ? [] : [settings.limits.wish]),
  ]);
}

function answered(command: Reload, answer: CommandAnswer): Observable<never> {
  command.answer?.(answer);
  return EMPTY;
}

/** Omitted rather than `undefined`, because the journal holds plain JSON. */
const plain = ({ strategy, what, from, to, why }: Change): Change => ({
  strategy,
  what,
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
  ...(why === undefined ? {} : { why }),
});

const WORDS: Readonly<Record<Change['what'], string>> = {
  begins: 'begins',
  goes_on: 'resumes',
  replaces: 'replaces its running version',
  stops: 'stops',
  kept: 'is NOT changed',
  over: 'has finished and does not run again',
  waits: 'waits for approval',
};

/** The differences for people: one line per strategy, followed by the changed fields. */
function wordsOf(
  desk: Desk,
  { changes }: Planned,
  sources: readonly StrategySource[],
  notes: readonly string[],
): readonly string[] {
  const lines = changes.flatMap(({ strategy, what, from, to, why }) => {
    const hashes = [from, to].filter((hash) => hash !== undefined).map((hash) => hash.slice(0, 12));
    const head = `  ${strategy} ${WORDS[what]} (${hashes.join(' → ')})${why === undefined ? '' : `: ${why}`}`;
    const before = desk.state.lives.get(strategy)?.document;
    const now = sources.find(({ id }) => id === strategy)?.document;
    const isEdited = from !== undefined && to !== undefined;
    return [head, ...(isEdited ? differences(before, now).map((line) => `    ${line}`) : [])];
  });
  return [...lines, ...notes.map((note) => `  ${note}`)];
}
