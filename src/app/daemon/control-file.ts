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

/**
 * Content of the file beside a journal through which commands on this machine find the journal's daemon. Only the owner
 * of the file can read it.
 */
export interface ControlFile {
  /** URL of the API; absent if `operate` is off. */
  readonly url?: string | undefined;
  /** Token that permits everything for as long as this process lives. */
  readonly token: string;
  readonly pid: number;
  readonly desk: string;
}

const FILE_MODE = 0o600;

/** Writes the file atomically. Returns the function that removes it. Does nothing for a journal in memory. */
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
    // Another daemon may have replaced the file.
    if (readControl(file)?.pid === content.pid) rmSync(file, { force: true });
  };
}

/** A journal, and the daemon that runs on it. */
export interface FoundDaemon {
  readonly journal: string;
  readonly control: ControlFile | undefined;
  /** Whether the journal exists. */
  readonly isThere: boolean;
  /** Whether each start creates a journal of its own, so that a file left beside one journal does not affect the next start. */
  readonly isOneOfMany: boolean;
}

/**
 * Finds the daemon that runs on a journal. A name with `{started_at}` matches many journals; the result is the newest
 * journal with a running daemon. If no daemon runs, `control` is `undefined`, and the journal is the newest. A killed
 * daemon leaves its file behind, and another process may have its pid by now. The journal must therefore also be
 * locked.
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
  // A folder is not a journal. Either the name is mistyped, or the journal is in the folder.
  const isThere =
    isPostgres(journal) || (existsSync(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true);
  return { journal, control: undefined, isThere, isOneOfMany };
}

/** Returns the journals that match a name with `{started_at}`, newest first. */
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

/** Reads a control file. Returns `undefined` if the file is missing or malformed. */
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
