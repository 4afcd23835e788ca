import { hash as hashOf } from 'node:crypto';
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { tapeFromArrow, tapeToArrow } from './arrow-file.ts';
import { makeFolder } from './folder.ts';
import { blockNotes, openLarge, readAhead } from './large-tape.ts';
import { READER_VERSION, tableKindOf } from '../import/kind.ts';
import type { ImportOptions, ImportReport, SourceFile } from '../import/read.ts';
import { keepHash, knownHash, sight } from './known-file.ts';
import type { Tape } from './tape.ts';
import { DATA_BYTES_MAX, readRegularFile } from '../../files/regular-file.ts';
import { changeableByOthers } from '../../files/rights.ts';

/** Tapes on disk: files of market history are imported once, then loaded from the folder of tapes. */

export interface OpenTape extends ImportOptions {
  /** Folder that relative paths start from. */
  readonly cwd: string;
  /** Folder of cached tapes; if omitted, nothing is cached. */
  readonly cacheFolder?: string | undefined;
  /** Protects the writing of a file from signals. If omitted, a signal that ends the process also interrupts the writing. */
  readonly undisturbed?: Undisturbed | undefined;
}

/** Runs a function that writes a file, and defers signals that would end the process during it. */
export type Undisturbed = (write: () => void) => void;

/** Origin of a tape: a tape file, the cache, newly cached, or only in memory. */
export type TapeOrigin = 'tape' | 'cached' | 'imported' | 'not_cached';

export interface OpenedTape {
  readonly tape: Tape;
  readonly report: ImportReport;
  readonly origin: TapeOrigin;
  /** Absolute path of the tape's file; `undefined` when the tape is in memory only. */
  readonly file: string | undefined;
  /** Why the tape was imported again, or could not be cached. */
  readonly said: string | undefined;
}

const REPORT = 'import_report';

/**
 * Opens the tape of files of one pair: tapes (`.arrow`) are loaded directly, other files are imported, or taken from the cache
 * when the same reader has imported the same bytes with the same options before.
 *
 * @throws OperatorError (`data`, `usage`) that names the file and the invalid row.
 */
export async function openTape(files: readonly string[], options: OpenTape): Promise<OpenedTape> {
  const named = options.cacheFolder === undefined ? undefined : resolve(options.cwd, options.cacheFolder);
  // A cache that other users can change is neither read nor written.
  const foreign = named === undefined ? undefined : changeableByOthers(named);
  const cacheFolder = foreign === undefined ? named : undefined;
  const unread = cacheFolder === undefined ? undefined : knownTape(files, options, cacheFolder);
  if (unread !== undefined) return unread;
  const seen = files.map((name) => sight(resolve(options.cwd, name), madeFolder(cacheFolder)));
  const sources = files.map((name) => ({ name, bytes: readBytes(resolve(options.cwd, name), name) }));
  const [only] = sources;
  if (only === undefined) throw new OperatorError('usage', 'name a file with market history');
  const isTapeAlone = sources.length === 1 && tableKindOf(only.bytes) === 'arrow';
  const own = isTapeAlone ? tapeIn(only) : undefined;
  if (own !== undefined) {
    if (options.pair !== undefined && options.pair !== own.tape.pair)
      throw new OperatorError('usage', `${only.name} holds ${own.tape.pair}, not ${options.pair}`);
    return { ...own, origin: 'tape', file: resolve(options.cwd, only.name), said: undefined };
  }
  if (cacheFolder === undefined) {
    const { tape, report } = await imported(sources, options);
    const said = foreign === undefined ? undefined : `not kept: ${foreign}`;
    return { tape, report, origin: 'not_cached', file: undefined, said };
  }
  const hashed = sources.map(({ name, bytes }) => ({ name, sha256: sha256Of(bytes) }));
  const opened = await throughCache(
    sources,
    options,
    join(cacheFolder, `${cacheKey(hashed, options)}.arrow`),
  );
  // Only for a tape that is stored: the hash serves to find its file.
  for (const [n, sighting] of seen.entries())
    if (sighting !== undefined && opened.file !== undefined)
      keepHash(cacheFolder, sighting, hashed[n]?.sha256 ?? '');
  return opened;
}

/** Returns the folder of tapes, and creates it if possible. */
function madeFolder(folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  try {
    makeFolder(folder);
    return folder;
  } catch {
    return undefined; // reported where the tape cannot be stored
  }
}

/** Starts reading a large tape of the cache while the caller does other work: `openTape` continues with it. */
export async function beginTape(files: readonly string[], options: OpenTape): Promise<void> {
  const { cwd, cacheFolder } = options;
  if (cacheFolder === undefined || changeableByOthers(resolve(cwd, cacheFolder)) !== undefined) return;
  try {
    const file = knownFile(files, options, resolve(cwd, cacheFolder));
    if (file !== undefined) await readAhead(file);
  } catch {
    // Reported where the tape is opened.
  }
}

/** Returns the cached tape of files that have not changed since they were hashed, without reading them. */
function knownTape(files: readonly string[], options: OpenTape, folder: string): OpenedTape | undefined {
  const file = knownFile(files, options, folder);
  if (file === undefined) return undefined;
  try {
    const found = keptTape(file);
    return found && { ...found, origin: 'cached', file, said: undefined };
  } catch {
    return undefined; // reported where it is rebuilt
  }
}

/** Returns the path of the cached tape of files whose hashes are stored; `undefined` for any other files. */
function knownFile(files: readonly string[], options: OpenTape, folder: string): string | undefined {
  const hashed: HashedFile[] = [];
  for (const name of files) {
    const sighting = sight(resolve(options.cwd, name));
    const sha256 = sighting && knownHash(folder, sighting);
    if (sha256 === undefined) return undefined;
    hashed.push({ name, sha256 });
  }
  return join(folder, `${cacheKey(hashed, options)}.arrow`);
}

async function throughCache(
  sources: readonly SourceFile[],
  options: OpenTape,
  file: string,
): Promise<OpenedTape> {
  const folder = dirname(file);
  let said: string | undefined;
  try {
    const found = keptTape(file);
    if (found !== undefined) return { ...found, origin: 'cached', file, said };
    said = `${file} is not a tape: rebuilding it`;
  } catch (cause) {
    // Usually, there is no file. A damaged one is rebuilt, which costs a second and changes no result.
    if (cause instanceof OperatorError) said = `${cause.message}: made anew`;
  }
  const { tape, report } = await imported(sources, options);
  const { undisturbed = plainly } = options;
  try {
    makeFolder(folder);
    undisturbed(() => {
      writeTape(file, tape, report);
    });
    sweepUp(folder, statSync(file).mtimeMs);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown';
    return { tape, report, origin: 'not_cached', file: undefined, said: `not kept in ${folder}: ${why}` };
  }
  return { tape, report, origin: 'imported', file, said };
}

/** Imports files. The code that reads them is loaded on first use. */
async function imported(
  sources: readonly SourceFile[],
  options: ImportOptions,
): Promise<{ readonly tape: Tape; readonly report: ImportReport }> {
  const { importTape } = await import('../import/read.ts');
  return await importTape(sources, options);
}

/**
 * Returns the cache key of a tape: the bytes, their names (some contain the pair or the day), the options and the version of the
 * reader.
 */
function cacheKey(sources: readonly HashedFile[], options: ImportOptions): string {
  const { format, unit, barMs, priceScale, pair, anyPair, keep, sort } = options;
  const files = sources.map(({ name, sha256 }) => [basename(name), sha256]);
  const what = JSON.stringify([
    READER_VERSION,
    files,
    { format, unit, barMs, priceScale, pair, anyPair, keep, sort },
  ]);
  return sha256Of(what).slice(0, 32);
}

interface HashedFile {
  readonly name: string;
  readonly sha256: string;
}

const sha256Of = (what: Uint8Array | string): string => hashOf('sha256', what);

const plainly: Undisturbed = (write) => {
  write();
};

/** Age at which an unfinished file counts as left over from a crash, because no write takes that long. */
const LEFT_OVER_MS = 600_000;
const ASIDE = /\.new-[A-Za-z0-9]{6}$/u;

/** Removes unfinished files of crashed processes from the folder of tapes. */
function sweepUp(folder: string, nowMs: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const aside = ASIDE.test(name) ? statSync(path, { throwIfNoEntry: false }) : undefined;
    if (aside !== undefined && nowMs - aside.mtimeMs > LEFT_OVER_MS)
      rmSync(path, { recursive: true, force: true });
  }
}

/** Writes a tape completely or not at all; replaces a file of that name. */
export function writeTape(file: string, tape: Tape, report: ImportReport): void {
  const aside = mkdtempSync(`${file}.new-`);
  try {
    const written = join(aside, 'tape.arrow');
    writeFileSync(written, tapeToArrow(tape, { [REPORT]: JSON.stringify(report), ...blockNotes(tape) }));
    renameSync(written, file);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** Reads the tape in a file of the cache; a large one in parts. */
function keptTape(file: string): ReadTape | undefined {
  const large = openLarge(file);
  if (large !== undefined) return withReport(large, file);
  return tapeIn({ name: file, bytes: readRegularFile(file, { maxBytes: DATA_BYTES_MAX }) });
}

interface ReadTape {
  readonly tape: Tape;
  readonly report: ImportReport;
}

/** Reads a tape and the report of its import; `undefined` when another program wrote the Arrow file. */
function tapeIn({ name, bytes }: SourceFile): ReadTape | undefined {
  const found = tapeFromArrow(bytes, name);
  return found && withReport(found, name);
}

function withReport(
  { tape, notes }: { readonly tape: Tape; readonly notes: ReadonlyMap<string, string> },
  name: string,
): ReadTape {
  const report = parsed(notes.get(REPORT) ?? '');
  if (!isReportOf(tape, report))
    throw new OperatorError('data', `${name}: damaged tape: it does not match the report of its import`);
  return { tape, report };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Whether the report belongs to the tape. That check suffices, because only this program writes the report. */
const isReportOf = ({ hash, rows, pair, barMs }: Tape, value: unknown): value is ImportReport =>
  typeof value === 'object' &&
  value !== null &&
  'hash' in value &&
  'rows' in value &&
  'pair' in value &&
  'barMs' in value &&
  value.hash === hash &&
  value.rows === rows &&
  // No checksum covers these two, but the report contains them too.
  value.pair === pair &&
  value.barMs === barMs;

function readBytes(path: string, name: string): Uint8Array {
  try {
    return readRegularFile(path, { maxBytes: DATA_BYTES_MAX });
  } catch (cause) {
    throw new OperatorError('data', `cannot read ${name}: ${whyUnreadable(cause)}`, cause);
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder: name the files in it',
  EACCES: 'this user may not read it',
};

function whyUnreadable(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return UNREADABLE[code] ?? (cause instanceof Error ? cause.message : 'unknown');
}
