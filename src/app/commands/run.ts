import { OperatorError, exitCodes } from '../../core/errors.ts';
import { escapeMarks } from '../../core/text/escape.ts';
import { isPostgres, readPostgresUrl } from '../../journal/postgres/postgres-url.ts';
import { isLoopbackName, parseListen } from '../../operate/listen.ts';
import { createLog } from '../../operate/log.ts';
import type { Log, LogSecret } from '../../operate/log.ts';
import { systemClock } from '../daemon/clock.ts';
import type { Config, Mode } from '../config/config.ts';
import { startDaemon } from '../daemon/daemon.ts';
import type { Daemon, ReadyFacts } from '../daemon/daemon.ts';
import type { StandbyWorld } from '../daemon/standby.ts';
import { commandFiles, secretsOf } from '../notify/notify-config.ts';
import { noProgress, progressOn } from '../cli/progress.ts';
import type { Progress } from '../cli/progress.ts';
import { rightsProblems } from '../strategies/rights-problems.ts';
import { placeOfJournal } from '../../journal/journal-place.ts';
import { loadAll } from '../strategies/strategies.ts';
import { strategyFiles } from '../strategies/strategy-files.ts';
import { summaryLines } from '../cli/summary.ts';
import { refuseUnhardened } from '../daemon/process-hardening.ts';
import { eventOf } from '../cli/watch.ts';
import { modeOption } from '../cli/options.ts';
import type { AddCommands } from '../cli/options.ts';
import { whoami } from './io.ts';
import type { Given, RunIo } from './io.ts';

/** Adds `tranche run`. */
export const addRun: AddCommands = (cli, { io, config, done }) => {
  cli
    .command('run')
    .description('run a desk: recover from the journal, then trade until stopped')
    .addOption(config())
    .addOption(modeOption())
    .option('--until-done', 'exit when every strategy has finished')
    .option('--no-closing-read', 'exit without the closing account read, which confirms the last fills')
    .option('--json', 'print one JSON object per event to stdout')
    .option('--rearm <reason>', 'lift a halt that the journal records, with this reason')
    .option('--with-open-doubts', 'with --rearm: proceed even if doubts are open')
    .option(
      '--account-changed <reason>',
      'continue a journal that was written with another token or venue URL of the same account',
    )
    .option('--adopt', 'book trades of this desk that are missing from the journal, without halting')
    .action(async (options) => {
      done(await run(options, io));
    });
};

type RunCommandOptions = Given<
  'rearm' | 'accountChanged',
  'untilDone' | 'closingRead' | 'json' | 'adopt' | 'withOpenDoubts'
> & {
  readonly config: string;
  readonly mode?: Mode | undefined;
};

/**
 * Longest drain, excluding the wait for the account. With the usual 10 s of `in_doubt.booking_margin`, the whole drain
 * stays below the 30 s that supervisors usually allow.
 */
const DRAIN_MS = 15_000;

/** Longest stop of a desk that is not ready, so that it ends within a second although a server does not respond. */
const STOP_MS = 750;

/** Runs the daemon. Exit codes: 0, 75 when an outcome is still unknown, 70 when the desk is halted, and those of `OperatorError`. */
async function run(options: RunCommandOptions, io: RunIo): Promise<number> {
  const settings = { env: io.env, cwd: io.cwd, now: io.now, mode: options.mode };
  const { config, hash, sections, strategies } = loadAll(options.config, settings);
  if (config.mode === 'live') refuseUnhardened(io, config.allowEnvironment);
  const rights = rightsProblems(options.config, strategies, io.cwd, [
    config.venue.caFile,
    placeOfJournal(config.journal),
    ...commandFiles(config.operate?.notify),
  ]);
  if (config.mode === 'live' && rights.length > 0)
    throw new OperatorError(
      'config',
      ['live mode refuses to start: other users could change what the desk trades or runs', ...rights].join(
        '\n  ',
      ),
    );
  const notices = [...noticesOf(config), ...rights];
  for (const secret of [config.venue.token, ...secretsOf(config.operate?.notify)]) io.forget(secret);
  const progress = options.json === true || config.log.file === '-' ? noProgress : progressOn(io.stderr);
  const event = (body: object): void => {
    if (options.json === true) io.stdout.write(`${escapeMarks(JSON.stringify(body))}\n`);
  };
  greet(config, progress);
  for (const notice of notices) progress.say(`warning: ${notice}`);
  let metricsUrl: string | undefined;
  const drainMs = DRAIN_MS + (options.closingRead === false ? 0 : config.inDoubt.bookingMarginMs);
  const signals = obey(io, progress, drainMs);
  const starting = startDaemon({
    config,
    configHash: hash,
    strategies,
    files: (useChannels) =>
      strategyFiles({ configFile: options.config, options: settings, config, sections, useChannels }),
    isUntilDone: options.untilDone ?? false,
    hasClosingRead: options.closingRead ?? true,
    adoptFills: options.adopt ?? false,
    rearm: options.rearm,
    withOpenDoubts: options.withOpenDoubts,
    accountChanged: options.accountChanged,
    startedBy: whoami(io),
    progress,
    env: io.env,
    onRecord(stored) {
      event(eventOf(stored));
    },
    onReady(facts) {
      event({ event: 'ready', where: facts.where, journal: facts.journal, operate_url: facts.operateUrl });
      introduce(facts, { progress, self: io.self, isSeen: io.stderr.isTTY === true });
      metricsUrl = facts.operateUrl;
    },
    onToken(token) {
      io.forget(token);
    },
    standby: {
      log: standbyLog(config),
      say: (line) => {
        progress.say(line);
      },
      onStandby({ owner, address }) {
        event({ event: 'standby', desk: config.desk, owner, owner_url: address });
      },
      stop: signals.stop,
      onSignal: (listener) => io.onSignal(listener),
    },
    createLog(secrets) {
      const log = logOf(config, secrets);
      for (const notice of notices) log.warn(notice);
      return log;
    },
  });
  const daemon = await starting.catch((error: unknown) => {
    signals.forget();
    throw error;
  });
  if (daemon === undefined) return 0;
  signals.passTo(daemon);
  const distrust = (error: unknown): void => {
    if (!isBug(error)) return;
    // This text goes into the journal, so it omits the message, which may contain the token. stderr shows the message, redacted.
    const kind = error instanceof Error ? error.name : typeof error;
    daemon.command({ do: 'halt', by: 'tranche', why: `bug: ${kind}; details are on stderr` });
  };
  const forgetBugs = io.onBug(distrust);
  try {
    await daemon.finished;
  } catch (error) {
    distrust(error);
    throw error;
  } finally {
    signals.forget();
    forgetBugs();
  }
  event({
    event: 'summary',
    strategies: daemon.summary.rows().map(({ costBps, executionBps, timingBps, ...row }) => ({
      ...row,
      cost_bps: costBps,
      execution_bps: executionBps,
      timing_bps: timingBps,
    })),
    open_doubts: daemon.openDoubts(),
    unconfirmed: daemon.unconfirmed(),
  });
  conclude({ daemon, config, metricsUrl, self: io.self }, progress);
  return codeOf(daemon);
}

function codeOf(daemon: Daemon): number {
  if (daemon.openDoubts() > 0) return exitCodes.again;
  if (daemon.isHalted()) return exitCodes.software;
  return daemon.unconfirmed() === undefined ? 0 : exitCodes.again;
}

/**
 * Returns whether an error is a bug: neither an `OperatorError` nor a failed system call. After a bug, any state of the process may be
 * wrong. The desk therefore halts, and stays halted at the next start until a person re-arms it.
 */
const isBug = (error: unknown): boolean =>
  !(error instanceof OperatorError) && !(error instanceof Error && 'syscall' in error);

/**
 * Handles the signals: TERM and INT drain, a second INT ends the process, HUP rereads the token and reloads the strategies, USR2 halts.
 * The desk also receives those that came before it existed. TERM and INT abort `stop`. `drainMs`: longest drain of a desk that is ready.
 */
function obey(io: RunIo, progress: Progress, drainMs: number) {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let daemon: Daemon | undefined;
  const early: string[] = [];
  const giveUp = (): void => {
    const isLate = daemon?.isReady() === true;
    const words = 'orders in flight did not finish in time; the next start recovers them';
    if (isLate) progress.say(daemon?.unconfirmed() ?? words);
    io.exitNow(isLate ? exitCodes.again : daemon === undefined ? 0 : codeOf(daemon));
  };
  const forget = io.onSignal((signal) => {
    const isStop = signal === 'SIGTERM' || signal === 'SIGINT';
    if (isStop && stopping.signal.aborted) {
      if (signal === 'SIGINT') io.exitNow(130);
      return;
    }
    if (isStop) {
      progress.say(
        `${signal}: finishing orders in flight; press Ctrl-C again to stop immediately (the next start recovers them)`,
      );
      // Does not keep the process alive, but ends one that a connection keeps alive.
      timer = setTimeout(giveUp, daemon?.isReady() === true ? drainMs : STOP_MS).unref();
      stopping.abort();
    }
    if (daemon === undefined) early.push(signal);
    else pass(daemon, signal, progress);
  });
  return {
    stop: stopping.signal,
    passTo(started: Daemon): void {
      daemon = started;
      for (const signal of early) pass(started, signal, progress);
    },
    forget(): void {
      clearTimeout(timer);
      forget();
    },
  };
}

function pass(daemon: Daemon, signal: string, progress: Progress): void {
  if (signal === 'SIGUSR2') {
    daemon.command({ do: 'halt', by: 'signal', why: 'SIGUSR2' });
  } else if (signal === 'SIGHUP') {
    // A closed terminal sends SIGHUP, which must not stop the desk. It reloads the files, which contain what the desk
    // runs or is about to run.
    const rereadToken = async (): Promise<void> => {
      const outcome = await daemon.rereadToken();
      if (outcome !== undefined) progress.say(`SIGHUP: ${outcome}`);
    };
    void rereadToken();
    daemon.command({
      do: 'reload',
      by: 'signal',
      why: 'SIGHUP',
      isPatient: true,
      answer({ says }) {
        for (const line of `SIGHUP: ${says}`.split('\n')) progress.say(line);
      },
    });
  } else {
    daemon.command({ do: 'drain', why: signal });
  }
}

/** Returns warnings about settings that are allowed but unsafe. */
function noticesOf({ mode, venue, operate }: Config): readonly string[] {
  const notices: string[] = [];
  if (mode !== 'paper' && venue.tokenSource === 'environment')
    notices.push(
      'the token comes from an environment variable, which other programs of this user can read; token_file is safer',
    );
  if (operate !== undefined && operate.tls === undefined && !isLoopbackName(parseListen(operate.listen).host))
    notices.push(
      'operate.listen is reachable from the network without encryption, so tokens can be read: set operate.tls',
    );
  return notices;
}

function greet({ mode, desk, strategyFiles: files }: Config, progress: Progress): void {
  const words = {
    paper: 'paper: simulated venue on this machine, no real money',
    dry_run: 'dry run: real quotes; orders are executed only locally',
    live: 'LIVE: real orders',
  } as const;
  progress.say(
    `Tranche, desk ${desk}, ${words[mode]}; ${files.length} strategy file${files.length === 1 ? '' : 's'}`,
  );
}

/** Prints the desk's URLs. If nobody is at the terminal (`isSeen`), the lines may be stored, so it prints no sign-in link. */
function introduce(
  { where, journal, operateUrl, newLink }: ReadyFacts,
  {
    progress,
    self,
    isSeen,
  }: { readonly progress: Progress; readonly self: string; readonly isSeen: boolean },
): void {
  progress.say(`trading at ${where}`);
  progress.say(`journal  ${journal}`);
  if (operateUrl !== undefined) {
    progress.say(`metrics  ${operateUrl}/metrics`);
    const link = isSeen ? newLink?.() : undefined;
    progress.say(
      `open     ${link === undefined ? `the link that "${self} sign-in" prints meanwhile` : `${link} (works once)`}`,
    );
  }
  progress.say('');
}

interface Ending {
  readonly daemon: Daemon;
  readonly config: Config;
  readonly metricsUrl: string | undefined;
  readonly self: string;
}

function conclude({ daemon, config, metricsUrl, self }: Ending, progress: Progress): void {
  progress.say('');
  for (const line of summaryLines(daemon.summary.rows())) progress.say(line);
  if (daemon.openDoubts() > 0)
    progress.say(`${daemon.openDoubts()} doubts are open: run again to resolve them`);
  const unconfirmed = daemon.unconfirmed();
  if (unconfirmed !== undefined) progress.say(unconfirmed);
  if (daemon.isHalted())
    progress.say('the desk is halted: run again with --rearm "reason" once the cause is fixed');
  const url = config.journal;
  progress.say('');
  progress.say(`journal  ${url}`);
  if (metricsUrl !== undefined)
    progress.say(`metrics  were at ${metricsUrl}/metrics; docs/metrics.md explains them`);
  // The URL may contain characters that a shell interprets.
  const quoted = /^[\w./:-]+$/u.test(url) ? url : `'${url}'`;
  progress.say(`next     ${self} journal verify ${quoted}`);
  progress.say(`         ${self} journal export --format csv --kind fills ${quoted}`);
  if (config.mode === 'paper')
    progress.say(`         ${self} init my-desk     your own config and strategies to edit`);
}

const logOf = (config: Config, secrets: readonly LogSecret[]): Log =>
  createLog({ level: levelOf(config), file: logFile(config), now: () => systemClock.wall(), secrets });

/** Writes each line to the log of the desk, which is closed again, because the desk opens it after the takeover. */
function standbyLog(config: Config): StandbyWorld['log'] {
  const write =
    (level: 'info' | 'warn') =>
    (message: string, fields?: object): void => {
      const log = logOf(config, []);
      log[level](message, fields);
      log.close();
    };
  return { info: write('info'), warn: write('warn') };
}

const levelOf = ({ log }: Config): 'debug' | 'info' | 'warn' | 'error' =>
  log.level === 'trace' ? 'debug' : log.level;

/** Returns the path of the log, by default beside the journal; `undefined`, also for `-`, means standard error. */
function logFile({ log, journal }: Config): string | undefined {
  if (log.file !== undefined) return log.file === '-' ? undefined : log.file;
  if (isPostgres(journal)) return `${readPostgresUrl(journal).files}.log`;
  return journal.startsWith('sqlite:') ? `${journal.slice('sqlite:'.length)}.log` : undefined;
}
