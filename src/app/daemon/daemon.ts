import { EMPTY, Subject, lastValueFrom, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { alerts } from '../../core/alerts.ts';
import { OperatorError } from '../../core/errors.ts';
import type { FillRecord, StoredRecord, WakeRecord } from '../../core/record.ts';
import { isoOf } from '../../core/time.ts';
import { closingWords, unconfirmedWords } from '../../engine/account/closing-read.ts';
import { Desk } from '../../engine/desk.ts';
import type { Observer } from '../../engine/observer.ts';
import type { BarsPort, Command, HaltPort, RequestLogPort, StrategiesPort } from '../../engine/ports.ts';
import { STATE_FORMAT } from '../../engine/state/snapshot-writer.ts';
import { setKillSwitch } from '../../engine/operator/operator-commands.ts';
import { runDesk } from '../../engine/run.ts';
import { haltFile, haltFileOf } from '../../journal/sidecar/halt-file.ts';
import { placeOfJournal } from '../../journal/journal-place.ts';
import { barsFile } from '../../journal/sidecar/bars-file.ts';
import { sharedRequestLog } from '../../journal/owned/handed-over.ts';
import { requestLogFile } from '../../journal/sidecar/request-log.ts';
import { openJournal } from '../../journal/open-journal.ts';
import type { Journal } from '../../journal/journal.ts';
import { AlertRecords } from '../../operate/alert-records.ts';
import type { Log } from '../../operate/log.ts';
import { systemClock, systemRandom } from './clock.ts';
import { tokenRotation } from './token-rotation.ts';
import type { Config } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import { freeHeapOnceIdle } from './heap.ts';
import { modes } from './modes.ts';
import type { ModeWorld } from './modes.ts';
import { AlertHistory } from './open-alerts.ts';
import { publishHeads } from './publish-heads.ts';
import { secretsOf } from '../notify/notify-config.ts';
import type { NotifyConfig } from '../notify/notify-config.ts';
import { channelsInUse, heartbeatInUse } from './channels-in-use.ts';
import type { Environment } from '../config/yaml.ts';
import { readParts } from '../desk-api/read-parts.ts';
import { serve } from './serve.ts';
import { openAsOwner } from './standby.ts';
import type { StandbyWorld } from './standby.ts';
import { settingsInForce } from './settings-in-force.ts';
import { deskSettingsOf } from '../config/desk-settings.ts';
import type { Progress } from '../cli/progress.ts';
import type { LoadedStrategy } from '../strategies/strategies.ts';
import { Summary } from '../cli/summary.ts';
import { version } from '../version.ts';
import type { ParentProgress } from '../../strategy/kernel.ts';
import { observe, showDesk } from '../cli/watch.ts';

export interface DaemonOptions {
  readonly config: Config;
  readonly configHash: string;
  readonly strategies: readonly LoadedStrategy[];
  /** Returns the port that reloads strategies while the desk runs. */
  readonly files: (useChannels: (notify: NotifyConfig | undefined) => void) => StrategiesPort;
  readonly isUntilDone: boolean;
  readonly hasClosingRead: boolean;
  readonly adoptFills: boolean;
  readonly rearm?: string | undefined;
  readonly withOpenDoubts?: boolean | undefined;
  readonly accountChanged?: string | undefined;
  /** Who started the process, such as `cli:ann`. */
  readonly startedBy: string;
  readonly progress: Progress;
  /** Called with every durable record, for `--json`. */
  readonly onRecord: (stored: StoredRecord) => void;
  readonly onReady: (ready: ReadyFacts) => void;
  /** Called with the venue's new token before any request carries it. */
  readonly onToken: (token: Secret) => void;
  /** Environment variables of the process; commands of `operate.notify` receive a few of them. */
  readonly env: Environment;
  /** How the process waits while another process holds the desk. */
  readonly standby: StandbyWorld;
  /** Creates the log once the secrets are known, so that every line omits them. */
  readonly createLog: (secrets: ModeWorld['secrets']) => Log;
}

export interface ReadyFacts {
  readonly where: string;
  readonly journal: string;
  /** Address of metrics and health; `undefined` if they are switched off. */
  readonly operateUrl: string | undefined;
  /**
   * Returns a new sign-in link for the browser on this machine. Anyone with the link can sign in, so show it only on a terminal.
   */
  readonly newLink: (() => string | undefined) | undefined;
}

/** One running daemon. */
export interface Daemon {
  /** Resolves when the desk has stopped cleanly. Rejects if it could not continue. */
  readonly finished: Promise<void>;
  readonly summary: Summary;
  /** Whether the desk may trade, or did. Before that, no order is in flight. */
  isReady(): boolean;
  /** Returns the number of open doubts. */
  openDoubts(): number;
  /** Returns why the account has not confirmed the last fills, or `undefined` if it has confirmed them or was not read. */
  unconfirmed(): string | undefined;
  isHalted(): boolean;
  /** Executes a command, such as pause, resume, halt or drain. */
  command(command: Command): void;
  /** Reads the files of tokens again. Returns the result for the venue's, or `undefined` if the token has not changed. */
  rereadToken(): Promise<string | undefined>;
}

/** Assembles one desk in its mode and runs it. Returns `undefined` if the process stopped while it stood by. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon | undefined> {
  const { config } = options;
  const warnings: string[] = [];
  const open = (): Journal =>
    openJournal(config.journal, {
      ...config.journalGuard,
      warn: (why) => warnings.push(why),
      states: { program: `${version} ${STATE_FORMAT}` },
    });
  const journal = await openAsOwner(config, open, options.standby);
  if (journal === undefined) return undefined;
  const closers: (() => unknown)[] = [
    () => {
      journal.close();
    },
  ];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.toReversed()) await close();
  };
  try {
    return await assemble(options, { journal, warnings, closers, closeAll });
  } catch (error) {
    await closeAll();
    throw error;
  }
}

interface Parts {
  readonly journal: Journal;
  /** Warnings of the journal's driver, for the log. */
  readonly warnings: readonly string[];
  readonly closers: (() => unknown)[];
  readonly closeAll: () => Promise<void>;
}

async function assemble(
  options: DaemonOptions,
  { journal, warnings, closers, closeAll }: Parts,
): Promise<Daemon> {
  const { config, progress } = options;
  const strategies = options.strategies.filter((strategy) => strategy.enabled);
  if (strategies.length === 0)
    throw new OperatorError('config', 'no strategy is enabled: there is nothing to run');
  const { createMetrics } = await import('../../operate/metrics.ts');
  const metrics = createMetrics({
    version,
    mode: config.mode,
    desk: config.desk,
    now: () => systemClock.wall(),
  });
  closers.push(() => {
    metrics.close();
  });
  const warn: Observer['warn'] = (message, facts) => {
    log.warn(message, facts);
    progress.say(`warning: ${message}${facts === undefined ? '' : ` ${JSON.stringify(facts)}`}`);
  };
  const alert: Observer['alert'] = (id, facts) => {
    const { severity, says } = alerts[id];
    metrics.alerted(id);
    alertRecords.raise(id, facts);
    log[LOG_LEVEL[severity]](says, { alert: id, ...facts });
    // A doubt is shown although its severity is `info`, because people at the desk wait for its end.
    if (severity !== 'info' || id === 'doubt_open')
      progress.say(`${severity}: ${says}${facts === undefined ? '' : ` ${JSON.stringify(facts)}`}`);
  };
  const alertRecords = new AlertRecords(() => systemClock.monotonic());
  const wired: { desk?: Desk } = {};
  const world = await modes[config.mode]({
    config,
    pairs: [...new Set(strategies.flatMap(({ bound }) => bound.pairs))],
    // Before the desk exists, no order may leave.
    mayMoveMoney: () => wired.desk?.killSwitch.isSet === false,
    warn,
    alert,
    pastFills: () => fillsOf(journal),
    onExtras(resource, names) {
      metrics.extraFields(resource, names.length);
    },
  });
  closers.push(async () => {
    await world.close();
  });
  const secrets = [...world.secrets, ...secretsOf(config.operate?.notify)];
  alertRecords.keepOut(secrets);
  const log = options.createLog(secrets);
  for (const why of warnings) log.warn(why);
  closers.push(() => {
    log.close();
  });

  const settings = deskSettingsOf(config, { ...options, areLimitsKept: true });
  const tokens = tokenRotation(config, {
    clock: systemClock,
    tryToken: world.tryToken,
    onReplaced(token) {
      options.onToken(token);
      log.info('the venue token was replaced; new requests carry the new token');
    },
    onRefused(why) {
      alert('token_refused', { why });
    },
  });
  closers.push(() => {
    tokens.close();
  });

  const channels = await channelsInUse(options, { journal, alert, warn });
  closers.push(async () => {
    await channels.close();
  });
  metrics.onScrape(() => {
    metrics.channels(channels.figures());
  });
  const operator$ = new Subject<Command>();
  const summary = new Summary();
  const past = readParts(config.journal, journal, () => wired.desk);
  const { events } = past;
  closers.push(() => {
    past.close();
  });
  const onRecord = (stored: StoredRecord): void => {
    options.onRecord(stored);
    channels.take(stored);
    events.publish(stored);
  };
  const history = new AlertHistory();
  const progressOf = ({ strategy, state }: WakeRecord): ParentProgress | undefined =>
    wired.desk?.strategies.sources.get(strategy)?.bound.progress(state);
  const observer = observe({
    metrics,
    progress,
    summary,
    alerts: history,
    progressOf,
    warn,
    alert,
    onRecord,
  });
  const ports = {
    clock: systemClock,
    random: systemRandom,
    venue: world.venue,
    market: world.market,
    accountFeed: world.accountFeed,
    journal,
    halt: haltOf(config),
    requestLog: requestLogOf(config, { journal, closers }),
    bars: barsOf(config, warn),
    operator$,
    strategies: options.files((notify) => {
      // The log and the alerts omit every secret in this list, including later additions.
      secrets.push(...secretsOf(notify));
      void channels.use(notify);
      void heartbeats.use(notify);
    }),
    alerts: alertRecords,
  };
  const inForce = settingsInForce(config, settings.account);
  const desk = new Desk(
    ports,
    {
      ...settings,
      settings: inForce,
      startedBy: options.startedBy,
    },
    observer,
    strategies,
  );
  wired.desk = desk;
  metrics.onScrape(() => {
    showDesk(desk, metrics);
  });
  const waits = { isReady: false };
  const command = (given: Command): void => {
    // A halt takes effect in this tick, before any subscriber of `operator$` runs and even if there is none.
    if (given.do === 'halt') setKillSwitch(desk, given);
    operator$.next(given);
  };
  const servedAt = await serve(config, {
    metrics,
    desk,
    alerts: history,
    waits,
    closers,
    events,
    command,
    past,
  });
  if (servedAt !== undefined) journal.announce?.(servedAt.address);
  const heartbeats = heartbeatInUse(desk, { waits, warn });
  await heartbeats.use(config.operate?.notify);
  closers.push(() => {
    heartbeats.close();
  });
  const heads = config.operate?.heads;
  const heads$ =
    heads === undefined
      ? EMPTY
      : publishHeads(heads, { journal, url: config.journal, clock: systemClock, alert });
  await journal.reserved;
  const { lost$ } = journal;
  const running = runDesk(desk, { ...options, lost$ }).pipe(
    tap((phase) => {
      if (phase === 'closing') {
        for (const line of closingWords(desk)) progress.say(line);
        return;
      }
      waits.isReady = true;
      const publishing = heads$.subscribe();
      closers.push(() => {
        publishing.unsubscribe();
      });
      closers.push(freeHeapOnceIdle(() => desk.state.slices.size === 0));
      const facts = { where: world.where, journal: config.journal, operateUrl: servedAt?.url };
      log.info('ready', { mode: config.mode, ...facts });
      options.onReady({ ...facts, newLink: servedAt?.newLink });
      for (const line of standing(desk)) progress.say(line);
    }),
  );
  return {
    summary,
    finished: finish(running, log, closeAll),
    isReady: () => waits.isReady,
    openDoubts: () => desk.state.doubts.length,
    unconfirmed: () => unconfirmedWords(desk),
    isHalted: () => desk.control === 'halted',
    command,
    async rereadToken() {
      const why = servedAt?.rereadTokens();
      if (why !== undefined) warn('the tokens of operate.tokens stay as they are', { why });
      return await tokens.reread();
    },
  };
}

async function finish(running: Observable<unknown>, log: Log, closeAll: () => Promise<void>): Promise<void> {
  try {
    await lastValueFrom(running, { defaultValue: undefined });
    log.info('stopped');
  } catch (error) {
    log.error('the desk cannot continue', { error });
    throw error;
  } finally {
    await closeAll();
  }
}

function* fillsOf(journal: Journal): Generator<FillRecord> {
  for (const { body } of journal.read()) if (body.kind === 'fill') yield body;
}

/** Returns the halt file beside the journal; a journal in memory has none. */
function haltOf({ journal }: Config): HaltPort | undefined {
  const file = haltFileOf(journal);
  return file === undefined ? undefined : haltFile(file);
}

/** Returns the log of the newest requests, beside the journal; a journal in memory needs none, because it has no next process. */
function requestLogOf(
  config: Config,
  { journal, closers }: Pick<Parts, 'journal' | 'closers'>,
): RequestLogPort | undefined {
  const place = placeOfJournal(config.journal);
  if (place === undefined) return undefined;
  const file = requestLogFile(`${place}.requests`);
  if (journal.lease === undefined) return file;
  const shared = sharedRequestLog(file, journal.former, systemClock.boot?.());
  closers.push(() => {
    journal.handOver?.(shared.handOver(systemClock.boot?.()));
  });
  return shared;
}

/** Returns the file of the modules' bars, beside the journal. */
function barsOf({ journal }: Config, warn: Observer['warn']): BarsPort | undefined {
  const file = placeOfJournal(journal);
  if (file === undefined) return undefined;
  return barsFile(`${file}.bars`, (error) => {
    warn('the bars of the modules could not be saved for the next start', { error });
  });
}

const LOG_LEVEL = { info: 'info', warning: 'warn', critical: 'error' } as const;

/** Returns what an operator should know at the start: why the desk does not trade, and which strategies have finished. */
function standing({ control, controlWhy, state, strategies }: Desk): readonly string[] {
  const wayOut = {
    active: undefined,
    paused:
      state.controlUntil === undefined
        ? 'Nothing trades until tranche resume.'
        : `Nothing trades until ${isoOf(state.controlUntil)}, or tranche resume.`,
    reducing: 'Only orders that repay a borrowed balance trade, until tranche resume.',
    halted: 'Nothing trades until tranche rearm, or a start with --rearm "reason".',
  }[control];
  const stopped = wayOut === undefined ? [] : [`The desk is ${control}: ${controlWhy}. ${wayOut}`];
  const finished = [...strategies.sources.keys()]
    .filter((id) => state.lives.get(id)?.finished !== undefined)
    .map((id) => `${id} has finished in this journal and does not run again; to repeat it, give it a new id`);
  return [...stopped, ...finished];
}
