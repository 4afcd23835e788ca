import {
  closeSync,
  constants,
  accessSync,
  existsSync,
  fsyncSync,
  openSync,
  statSync,
  statfsSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { folderChangeableByOthers } from '../../files/rights.ts';
import { placeOfJournal } from '../../journal/journal-place.ts';
import { networkUnder } from '../../journal/sqlite/filesystem-place.ts';
import type { Config } from '../config/config.ts';
import { hardeningProblems } from '../daemon/process-hardening.ts';
import type { ProcessFacts } from '../daemon/process-hardening.ts';
import { checkOf } from './finding.ts';
import type { Finding } from './finding.ts';

/** Checks Node and its environment. Live mode refuses everything that is not known to be safe. */
export function checkRuntime(config: Config | undefined, facts: ProcessFacts): readonly Finding[] {
  const isLive = config?.mode === 'live';
  const { ok, ...bad } = checkOf('environment');
  const dangers = hardeningProblems(facts, config?.allowEnvironment ?? []);
  return [
    checkOf('node', process.execPath).ok(`Node ${process.version}`),
    dangers.length === 0
      ? ok('no environment variable or Node option could expose the token')
      : bad[isLive ? 'fail' : 'warn'](
          `${isLive ? 'live mode refuses to start with' : 'live mode would refuse'}${dangers.map(({ name, why }) => `\n${name}: ${why}`).join('')}`,
          `remove these settings, or set allow_environment: [${dangers.map(({ name }) => `"${name}"`).join(', ')}] if they are intended`,
        ),
  ];
}

const MIB = 1_048_576;
/** Free space below which a person should check; a desk writes a few hundred megabytes per year. */
const ROOM_WARN = 512 * MIB;
/** In-memory file systems, which lose their content at a restart, by their types in statfs(2). */
const IN_MEMORY: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
]);
/** Threshold of the alert rule TrancheJournalSlow. */
const FLUSH_WARN_MS = 50;
const FLUSHES = 5;

/**
 * Checks space, flushes and permissions where the journal is, or will be. Reads and flushes, but writes nothing.
 */
export function checkDisk(config: Config): readonly Finding[] {
  const file = placeOfJournal(config.journal);
  if (file === undefined) return [checkOf('disk', config.journal).ok('the journal is in memory')];
  const folder = nearestFolder(dirname(file));
  const { bavail, bsize, type } = statfsSync(folder);
  const free = bavail * bsize;
  const reserved = statSync(`${file}.reserve`, { throwIfNoEntry: false })?.size ?? 0;
  const wanted = Math.max(0, config.journalGuard.reserveBytes - reserved);
  const network = networkUnder(folder);
  const inMemory = IN_MEMORY.get(type >>> 0);
  const verdict = free < wanted ? 'fail' : free < wanted + ROOM_WARN ? 'warn' : 'ok';
  const room = checkOf('disk', folder)[verdict](
    `${inMib(free)} MiB are free${reserveWords(config.journalGuard.reserveBytes, wanted)}`,
    'free space, or set journal to a file on another disk',
    'storage',
  );
  return [room, flushFinding(file, folder, network, inMemory), folderFinding(folder)];
}

function reserveWords(bytes: number, wanted: number): string {
  if (bytes === 0) return '';
  return wanted > 0
    ? `; the journal's reserve takes ${inMib(wanted)} of them at the next start`
    : "; the journal's reserve is set aside";
}

const inMib = (bytes: number): string => Math.floor(bytes / MIB).toLocaleString('en-US');

function flushFinding(
  file: string,
  folder: string,
  network: string | undefined,
  inMemory: string | undefined,
): Finding {
  const flush = checkOf('flush', folder);
  const local = 'put it on a local disk';
  if (network !== undefined)
    return flush.fail(
      `the journal would be on ${network}, where locks and flushes are unreliable: a desk refuses to start there`,
      local,
      'storage',
    );
  if (inMemory !== undefined)
    return flush.warn(`the journal is on ${inMemory}: it is lost when the machine restarts`, local);
  const ms = flushMs(existsSync(file) ? file : folder);
  return flush[ms > FLUSH_WARN_MS ? 'warn' : 'ok'](
    `a flush takes ${ms.toFixed(1)} ms; every order waits for one`,
    'put the journal on a faster disk, or on a dedicated one',
  );
}

/** Returns the median duration of a flush, which needs no write permission. */
function flushMs(path: string): number {
  const descriptor = openSync(path, 'r');
  try {
    const times = Array.from({ length: FLUSHES }, () => {
      const from = performance.now();
      fsyncSync(descriptor);
      return performance.now() - from;
    });
    return times.toSorted((a, b) => a - b)[Math.floor(FLUSHES / 2)] ?? 0;
  } finally {
    closeSync(descriptor);
  }
}

function folderFinding(folder: string): Finding {
  const { ok, fail } = checkOf('journal_folder', folder);
  const problem = folderChangeableByOthers(folder);
  if (problem !== undefined) return fail(problem, undefined, 'storage');
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    return fail(
      "this user may not write to the journal's folder",
      'run this command as the desk\'s user, or change the owner of the folder with "chown"',
      'storage',
    );
  }
  return ok("only its owner can change the journal's folder");
}

/** Returns the folder or, if it does not exist yet, the folder in which it will be created. */
const nearestFolder = (folder: string): string =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true || dirname(folder) === folder
    ? folder
    : nearestFolder(dirname(folder));
