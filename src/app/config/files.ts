import { readdirSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { readRegularFile } from '../../files/regular-file.ts';
import type { FileProblem } from './problems.ts';
import { YAML_BYTES_MAX, readYaml } from './yaml.ts';
import type { Environment, YamlDocument, YamlFile } from './yaml.ts';
import { isRecord } from '../../core/text/json.ts';

export interface ReadOptions {
  readonly env: Environment;
  /** Working directory. Displayed paths are relative to it. */
  readonly cwd: string;
}

/** Reads one YAML file. Returns a problem for an unreadable file. */
export function readFile(path: string, { cwd, env }: ReadOptions): YamlFile {
  const shown = shownPath(path, cwd);
  try {
    return readYaml(readRegularFile(path, { maxBytes: YAML_BYTES_MAX }), shown, env);
  } catch (cause) {
    return {
      documents: [],
      problems: [problemAt(shown, `the file cannot be read: ${whyUnreadable(cause)}`)],
    };
  }
}

/** Returns a problem with a file as a whole. */
export const problemAt = (file: string, message: string): FileProblem => ({
  file,
  line: 1,
  column: 1,
  path: '',
  message,
  excerpt: '',
});

/** Returns a path for display: relative to the working directory if the path is inside that directory. */
export function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === '' || near.startsWith('..') || isAbsolute(near) ? path : join(near);
}

export function whyUnreadable(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'its permissions do not allow it';
  if (code === 'EISDIR') return 'it is a folder';
  return cause instanceof Error ? cause.message : String(cause);
}

const STRATEGY_FILES_MAX = 1_000;

/** Returns absolute paths of the files that `strategies` selects: the files in the list, or the YAML files directly in the folder, sorted by name. */
export function findStrategyFiles(
  document: YamlDocument,
  folder: string,
): {
  readonly files: readonly string[];
  readonly problems: readonly FileProblem[];
  /** The folder, if `strategies` names one. */
  readonly folder?: string;
} {
  const value = isRecord(document.value) ? document.value['strategies'] : undefined;
  const problems: FileProblem[] = [];
  if (Array.isArray(value)) {
    const files: string[] = [];
    for (const [i, file] of value.entries()) {
      if (typeof file !== 'string') continue; // The schema reports this.
      const path = resolve(folder, file);
      const fault = fileFault(path);
      if (fault === undefined) files.push(path);
      else problems.push(document.problem(['strategies', i], fault));
    }
    return { files: [...new Set(files)], problems };
  }
  if (typeof value !== 'string') return { files: [], problems };
  const path = resolve(folder, value);
  const refuse = (message: string): ReturnType<typeof findStrategyFiles> => ({
    files: [],
    problems: [document.problem(['strategies'], message)],
  });
  try {
    if (statSync(path).isFile()) return { files: [path], problems };
    const names = readdirSync(path).filter((name) => /\.ya?ml$/iu.test(name) && !name.startsWith('.'));
    if (names.length === 0) return refuse(`the folder ${path} contains no .yaml files`);
    if (names.length > STRATEGY_FILES_MAX) return refuse(`more than ${STRATEGY_FILES_MAX} files in ${path}`);
    return { files: names.toSorted().map((name) => join(path, name)), problems, folder: path };
  } catch (cause) {
    return refuse(`${path} cannot be read: ${whyUnreadable(cause)}`);
  }
}

/** Explains why the file cannot be read; `undefined` if it can. */
function fileFault(path: string): string | undefined {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return undefined;
    return `there is no file ${path}`;
  } catch (cause) {
    return `${path} cannot be read: ${whyUnreadable(cause)}`;
  }
}
