import { hash as hashOf } from 'node:crypto';
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { isArrow, tapeFromArrow, tapeToArrow } from './arrow-file.ts';
import { READER_VERSION } from '../import/plan.ts';
import type { ImportOptions, ImportReport, SourceFile } from '../import/read.ts';
import type { Tape } from './tape.ts';
import { makeFolders } from '../../files/folders.ts';
import { DATA_BYTES_MAX, readRegularFile } from '../../files/regular-file.ts';
import { changeableByOthers } from '../../files/rights.ts';

/** Tapes on disk. Files of market history are imported once, and then loaded from the folder of tapes. */

export interface OpenTape extends ImportOptions {
  /** Folder that relative paths start from. */
  readonly cwd: string;
  /** Folder of cached tapes; if omitted, nothing is cached. */
  readonly cacheFolder?: string | undefined;
}

/** Origin of a tape: it comes from a tape file or from the cache, was newly cached, or is only in memory. */
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
 * Opens the tape of one pair's files. Tapes (`.arrow`) are loaded directly. Other files are imported, or taken from the
 * cache if the same reader has already imported the same bytes with the same options.
 *
 * @throws OperatorError (`data`, `usage`) that names the file and the invalid row.
 */
export async function openTape(files: readonly string[], options: OpenTape): Promise<OpenedTape> {
  const { cwd, cacheFolder, pair } = options;
  const sources = files.map((name) => ({ name, bytes: readBytes(resolve(cwd, name), name) }));
  const [only] = sources;
  if (only === undefined) throw new OperatorError('usage', 'name a file with market history');
  if (sources.length === 1 && isArrow(only.bytes)) {
    const own = tapeIn(only);
    if (pair !== undefined && pair !== own.tape.pair)
      throw new OperatorError('usage', `${only.name} holds ${own.tape.pair}, not ${pair}`);
    return { ...own, origin: 'tape', file: resolve(cwd, only.name), said: undefined };
  }
  return cacheFolder === undefined
    ? { ...(await imported(sources, options)), origin: 'not_cached', file: undefined, said: undefined }
    : await throughCache(sources, options, resolve(cwd, cacheFolder));
}

async function throughCache(
  sources: readonly SourceFile[],
  options: OpenTape,
  folder: string,
): Promise<OpenedTape> {
  // A cache that other users can change is neither read nor written.
  const foreign = changeableByOthers(folder);
  if (foreign !== undefined)
    return { ...(await imported(sources, options)), origin: 'not_cached', file: undefined, said: `not kept: ${foreign}` }; // prettier-ignore
  const file = join(folder, `${cacheKey(sources, options)}.arrow`);
  let said: string | undefined;
  try {
    const found = tapeIn({ name: file, bytes: readRegularFile(file, { maxBytes: DATA_BYTES_MAX }) });
    return { ...found, origin: 'cached', file, said };
  } catch (cause) {
    // Usually, there is no file. A damaged file is rebuilt, which costs a second and changes no result.
    if (cause instanceof OperatorError) said = `${cause.message}: made anew`;
  }
  const { tape, report } = await imported(sources, options);
  try {
    makeFolders(folder);
    writeTape(file, tape, report);
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
function cacheKey(sources: readonly SourceFile[], options: ImportOptions): string {
  const { format, unit, barMs, priceScale, pair, anyPair, keep, sort } = options;
  const files = sources.map(({ name, bytes }) => [basename(name), hashOf('sha256', bytes)]);
  const how = { format, unit, barMs, priceScale, pair, anyPair, keep, sort };
  return hashOf('sha256', JSON.stringify([READER_VERSION, files, how])).slice(0, 32);
}

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
    writeFileSync(written, tapeToArrow(tape, { [REPORT]: JSON.stringify(report) }));
    renameSync(written, file);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

interface ReadTape {
  readonly tape: Tape;
  readonly report: ImportReport;
}

/** Reads a tape and the report of its import. */
function tapeIn({ name, bytes }: SourceFile): ReadTape {
  const { tape, notes } = tapeFromArrow(bytes, name);
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
  // No checksum covers these two, but the report also contains them.
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
