import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { placeOfJournal } from '../../journal/journal-place.ts';
import { isPostgres } from '../../journal/postgres/postgres-url.ts';
import { isFree } from '../../journal/sqlite/lock.ts';
import { isAlive } from './processes.ts';

/** How the commands of this machine find the daemon of a journal: beside it, readable by its owner only. */
export interface ControlFile {
  /** Where the API is; absent when `operate` is off. */
  readonly url?: string | undefined;
  /** Good for everything, for as long as this process lives. */
  readonly token: string;
  readonly pid: number;
  readonly desk: string;
}

const FILE_MODE = 0o600;

/** Writes the file, whole or not at all. Returns the function that removes it; nothing to do for a journal in memory. */
export function writeControlFile(journal: string, content: ControlFile): () => void {
  const path = placeOfJournal(journal);
  if (path === undefined) return () => undefined;
  const file = `${path}.control`;
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(draft, flags, FILE_MODE);
  try {
    writeSync(descriptor, `${JSON.stringify(content)}\n`);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
  return () => {
    // Another daemon may have taken over since.
    if (readControl(file)?.pid === content.pid) rmSync(file, { force: true });
  };
}

/** A daemon of this machine, and its journal. */
export interface FoundDaemon {
  readonly journal: string;
  readonly control: ControlFile | undefined;
  /** Whether the journal is there. */
  readonly isThere: boolean;
  /** Each start begins a journal of its own: nothing that is left beside an older one reaches the next. */
  readonly isOneOfMany: boolean;
}

/**
 * The daemon that runs on a journal. A name with `{started_at}` names many journals: the newest whose process lives. Without a
 * living one `control` is `undefined`, and the journal is the newest that there is. A daemon that was killed leaves its file, and
 * its number may be that of another process by now: only the process that holds the journal is its daemon.
 */
export function findDaemon(pattern: string): FoundDaemon {
  const isOneOfMany = pattern.includes('{started_at}');
  const journals = isOneOfMany ? journalsLike(pattern) : [pattern];
  for (const journal of journals) {
    const path = placeOfJournal(journal) ?? '';
    const control = readControl(`${path}.control`);
    if (control !== undefined && isAlive(control.pid) && !isFree(path))
      return { journal, control, isThere: true, isOneOfMany };
  }
  const journal = journals[0] ?? pattern;
  const path = placeOfJournal(journal) ?? '';
  // A folder is no journal: one was mistyped, or the journal is in it.
  const isThere =
    isPostgres(journal) || (existsSync(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true);
  return { journal, control: undefined, isThere, isOneOfMany };
}

/** Newest first. */
function journalsLike(pattern: string): readonly string[] {
  const path = placeOfJournal(pattern);
  if (path === undefined) return [];
  const [before = '', after = ''] = basename(path).split('{started_at}');
  try {
    return readdirSync(dirname(path))
      .filter((name) => name.startsWith(before) && name.endsWith(after) && !name.includes('{'))
      .map((name) => join(dirname(path), name))
      .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
      .map((file) => `sqlite:${file}`);
  } catch {
    return [];
  }
}

/** `undefined` when there is none that can be read. */
export function readControl(file: string): ControlFile | undefined {
  try {
    const told: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof told !== 'object' || told === null) return undefined;
    const { url, token, pid, desk } = told as Partial<Record<keyof ControlFile, unknown>>;
    if (typeof token !== 'string' || typeof pid !== 'number' || typeof desk !== 'string') return undefined;
    return { url: typeof url === 'string' ? url : undefined, token, pid, desk };
  } catch {
    return undefined;
  }
}
