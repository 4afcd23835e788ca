import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { FileProblem } from '../config/problems.ts';
import { shownPath } from '../config/files.ts';
import type { LoadedStrategy } from './strategies.ts';

/** Result of type-checking modules; the compiler never runs them. */
export interface CheckedTypes {
  readonly problems: readonly FileProblem[];
  /** Modules that could not be checked, with the reason. */
  readonly notices: readonly string[];
}

const TIMEOUT_MS = 60_000;

/** Checks the types of the TypeScript modules of strategies, with the compiler installed beside them or beside this program. */
export function checkModuleTypes(strategies: readonly LoadedStrategy[], cwd: string): CheckedTypes {
  const files = [...new Set(strategies.flatMap((one) => moduleFileOf(one, cwd)))];
  const [first] = files;
  if (first === undefined) return { problems: [], notices: [] };
  const compiler = compilerFor(dirname(first));
  if (compiler === undefined) {
    const named = files.map((file) => shownPath(file, cwd)).join(', ');
    return {
      problems: [],
      notices: [
        `the types of ${named} were not checked: there is no compiler (npm install typescript beside it)`,
      ],
    };
  }
  const folder = mkdtempSync(join(tmpdir(), 'tranche-types-'));
  try {
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settingsFor(files)));
    const { stdout, error } = spawnSync(
      process.execPath,
      [compiler, '-p', join(folder, 'tsconfig.json'), '--pretty', 'false'],
      { cwd: folder, encoding: 'utf8', timeout: TIMEOUT_MS, env: {} },
    );
    if (error !== undefined)
      return { problems: [], notices: [`the types of modules were not checked: ${error.message}`] };
    return { problems: problemsIn(stdout, { folder, files, cwd }), notices: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the absolute path of a strategy's TypeScript module; empty if it has none. */
function moduleFileOf({ kind, document, file }: LoadedStrategy, cwd: string): readonly string[] {
  const { module: named } = document;
  if (kind !== 'module' || typeof named !== 'string' || !named.endsWith('.ts')) return [];
  return [resolve(dirname(resolve(cwd, file)), named)];
}

/** Returns the path of `tsc` as Node resolves it from the folder of the module or from this program. */
function compilerFor(folder: string): string | undefined {
  for (const from of [join(folder, 'x.js'), import.meta.url]) {
    try {
      const file = join(dirname(createRequire(from).resolve('typescript/package.json')), 'bin/tsc');
      if (existsSync(file)) return file;
    } catch {
      // There is no compiler here, so try the next place.
    }
  }
  return undefined;
}

/** Path of the types that modules import: the source, or the declarations of an installed package. */
const SDK = ['../../strategy/sdk.ts', '../../strategy/sdk.d.ts']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

const settingsFor = (files: readonly string[]): object => ({
  files,
  compilerOptions: {
    target: 'esnext',
    lib: ['esnext'],
    types: [],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    moduleDetection: 'force',
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    paths: SDK === undefined ? {} : { 'tranche/strategy': [SDK] },
  },
});

const LINE = /^(?<file>.+?)\((?<line>\d+),(?<column>\d+)\): error (?<code>TS\d+): (?<says>.+)$/gmu;

/** Returns the errors of the compiler that are in the modules themselves. */
function problemsIn(
  said: string,
  {
    folder,
    files,
    cwd,
  }: { readonly folder: string; readonly files: readonly string[]; readonly cwd: string },
): readonly FileProblem[] {
  const known = new Map(files.map((file) => [relative(folder, file), file]));
  return [...said.matchAll(LINE)].flatMap(({ groups = {} }) => {
    const { file = '', line = '', column = '', code = '', says = '' } = groups;
    const path = known.get(file) ?? known.get(relative(folder, resolve(folder, file)));
    if (path === undefined) return [];
    const place = { file: shownPath(path, cwd), line: Number(line), column: Number(column) };
    return [{ ...place, path: '', message: `${says} (${code})`, excerpt: '' }];
  });
}
