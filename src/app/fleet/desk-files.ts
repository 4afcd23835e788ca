import { hash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { diff } from 'node:util';
import { parseDocument } from 'yaml';
import { OperatorError } from '../../core/errors.ts';
import { canonicalValue } from '../../core/text/json.ts';
import { writeStoredVersion } from '../daemon/stored-version.ts';
import type { StoredVersion } from '../daemon/stored-version.ts';

/** Config and strategies of a desk, as the store keeps them. They contain no tokens: the config names the token files. */
export interface DeskFiles {
  /** Name of the config among the files. */
  readonly config: string;
  /** Texts by path, relative to the folder that all files have in common. */
  readonly texts: Readonly<Record<string, string>>;
}

const BYTES_MAX = 4 * 1024 * 1024;

/** Reads the config and the other files. @throws OperatorError `config` if they exceed `BYTES_MAX` together */
export function readDeskFiles(config: string, others: readonly string[]): DeskFiles {
  const paths = [config, ...others].map((file) => resolve(file));
  const root = commonFolder(paths.map(dirname));
  const texts = Object.fromEntries(paths.map((path) => [relative(root, path), readFileSync(path, 'utf8')]));
  const bytes = Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > BYTES_MAX)
    throw new OperatorError(
      'config',
      `the files of a desk have ${bytes} bytes in total; at most ${BYTES_MAX} are stored`,
    );
  return { config: relative(root, resolve(config)), texts };
}

function commonFolder(folders: readonly string[]): string {
  let root = folders[0] ?? '/';
  while (!folders.every((folder) => isWithin(root, folder))) root = dirname(root);
  return root;
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}

export const hashOf = (files: DeskFiles): string =>
  hash('sha256', canonicalValue([files.config, files.texts]), 'hex');

/** Returns the lines that differ between one version and the next. */
export function changedLines(before: DeskFiles | undefined, now: DeskFiles): readonly string[] {
  const names = [...new Set([...Object.keys(before?.texts ?? {}), ...Object.keys(now.texts)])].toSorted();
  return names.flatMap((name) => {
    const changes = diff(linesOf(before?.texts[name]), linesOf(now.texts[name]))
      .filter(([kind]) => kind !== 0)
      .map(([kind, line]) => `${kind === 1 ? '-' : '+'} ${line}`);
    return changes.length === 0 ? [] : [`${name}:`, ...changes];
  });
}

const linesOf = (text = ''): readonly string[] =>
  text.split('\n').filter((line, index, all) => line !== '' || index < all.length - 1);

export interface PlacedFiles {
  /** Folder of the desk on this machine. */
  readonly folder: string;
  /** URL of the journal; it replaces the journal that the config names. */
  readonly journal: string;
  /** Name of the network address of this machine. */
  readonly address: string;
  /** Version of the files, and who stored it. */
  readonly stored: StoredVersion;
}

/**
 * Writes the files for `tranche run`, the config last. Returns the config's path.
 *
 * @throws OperatorError `data` if a name points outside `folder`
 */
export function writeDeskFiles(
  { config, texts }: DeskFiles,
  { folder, journal, address, stored }: PlacedFiles,
): string {
  for (const [name, text] of Object.entries(texts)) if (name !== config) writeWithin(folder, name, text);
  const document = parseDocument(texts[config] ?? '');
  document.set('journal', journal);
  document.setIn(['fleet', 'address'], address);
  // A reload reads both files, so the config is written last.
  writeStoredVersion(within(folder, config), stored);
  return writeWithin(folder, config, document.toString());
}

/** Creates the folder of a file of the desk. Returns the path of the file. */
function within(folder: string, name: string): string {
  const path = join(folder, name);
  if (!isWithin(folder, path))
    throw new OperatorError('data', `the store names a file outside the desk's folder: ${name}`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}

function writeWithin(folder: string, name: string, text: string): string {
  const path = within(folder, name);
  const fresh = `${path}.new`;
  writeFileSync(fresh, text, { mode: 0o600 });
  chmodSync(fresh, 0o600);
  renameSync(fresh, path);
  return path;
}
