import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import type { CommandIo } from '../commands/io.ts';
import { readConfig } from '../config/config.ts';
import type { Mode } from '../config/config.ts';
import { formatProblems } from '../config/problems.ts';
import { findDaemon } from '../daemon/control-file.ts';
import type { ProcessFacts } from '../daemon/process-hardening.ts';
import { readStrategies } from '../strategies/strategies.ts';
import { checkChannels } from './check-channels.ts';
import { checkRights } from './check-files.ts';
import { checkJournal } from './check-journal.ts';
import { checkLimits } from './check-limits.ts';
import { checkDisk, checkRuntime } from './check-machine.ts';
import { checkVenue } from './check-venue.ts';
import { checkOf, exitOf, findingLines } from './finding.ts';
import type { Finding } from './finding.ts';

export interface ConnectOptions {
  readonly config: string;
  readonly mode?: Mode | undefined;
  readonly json?: boolean | undefined;
}

/**
 * Checks everything that a start needs, the venue included, and changes nothing. Returns the exit code: 0, even with warnings, or that
 * of the worst failure.
 */
export async function connect(options: ConnectOptions, io: CommandIo & ProcessFacts): Promise<number> {
  const findings = await examine(options, io);
  if (options.json === true) {
    const body = { ok: exitOf(findings) === 0, findings };
    io.stdout.write(`${escapeMarks(JSON.stringify(body))}\n`);
  } else for (const line of findingLines(findings)) io.stdout.write(`${forTerminal(line)}\n`);
  return exitOf(findings);
}

async function examine(
  { config: file, mode }: ConnectOptions,
  io: CommandIo & ProcessFacts,
): Promise<readonly Finding[]> {
  const settings = { env: io.env, cwd: io.cwd, now: io.now, mode };
  const read = readConfig(file, settings);
  const { loaded } = read;
  const { strategies, problems } = readStrategies(read.strategyFiles, loaded?.config, io);
  const wrong = [...read.problems, ...problems];
  const { ok, fail } = checkOf('config', file);
  const files =
    wrong.length === 0
      ? ok(
          `${loaded?.config.mode ?? ''} mode, desk ${loaded?.config.desk ?? ''}, ${strategies.length} strategies`,
        )
      : fail(
          `it cannot be used\n${formatProblems(wrong, { colour: false }).trim()}`,
          'correct these problems; without --connect, tranche validate lists only these',
        );
  if (loaded === undefined)
    return [
      files,
      ...checkRuntime(undefined, io),
      checkOf('rest').skipped(
        'disk, permissions, venue, limits, channels and journal were not checked: they need a usable config',
      ),
    ];
  const { config, hash } = loaded;
  const found = findDaemon(config.journalPattern);
  return [
    files,
    ...checkRuntime(config, io),
    ...checkDisk(config),
    ...checkRights(config, strategies, io.cwd),
    ...(await checkVenue(config, found.control !== undefined)),
    ...checkLimits(config, strategies, io.now),
    ...(await checkChannels(config)),
    ...checkJournal(config, hash, found),
  ];
}
