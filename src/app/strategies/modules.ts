import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { dirname, relative, resolve, sep } from 'node:path';
import { readRegularFile } from '../../files/regular-file.ts';
import { placeIn } from '../../strategy/kinds/module/module.ts';
import * as sdk from '../../strategy/sdk.ts';
import { shownPath, whyUnreadable } from '../config/files.ts';
import { barredName, barredSource, preludeFrom, pureDate, pureMath, pureTemporal } from './module-prelude.ts';

/** Code of a module. It is part of its strategy's document and hash, and of the journal. */
export interface ModuleSource {
  /** Path as the document names it. */
  readonly file: string;
  /** SHA-256 of the text, hex. */
  readonly sha256: string;
  readonly text: string;
}

/** Largest module. A larger file is not the code of one strategy. */
const BYTES_MAX = 64 * 1024;
/** Virtual folder of modules for the loader; no file exists there. The hash in the URL makes each version a separate module. */
const HOME = 'file:///tranche-module/';
const SDK_NAME = 'tranche/strategy';
const PRELUDE_NAME = 'tranche/strategy/prelude';
/**
 * Names that a module may import. They are the program's own copies, so that amounts on both sides have the same class. A getter, because
 * the bundle loads this file on demand.
 */
const shelf: Readonly<Record<string, object>> = {
  get [SDK_NAME]() {
    return sdk;
  },
  [PRELUDE_NAME]: { barredName, pureDate, pureMath, pureTemporal },
};
/** Global symbol of `shelf`; it is defined only while a module is being loaded. */
const SHELF = Symbol.for('tranche.shelf');

const sources = new Map<
  string,
  { readonly source: string; readonly format: 'module' | 'module-typescript' }
>();
/** Exports of each version by URL, or why it cannot be loaded. */
const loaded = new Map<string, { readonly exported: unknown } | { readonly error: Error }>();
const requireModule = createRequire(import.meta.url);
let isHooked = false;

/**
 * Reads the module that a document names. It must be in the folder of the document or below, even after links are resolved.
 *
 * @throws Error with a message for the operator.
 */
export function readModule(named: string, documentFile: string, cwd: string): ModuleSource {
  const folder = dirname(resolve(cwd, documentFile));
  const path = resolve(folder, named);
  const shown = shownPath(path, cwd);
  const refuse = (why: string): Error => new Error(`${shown} ${why}`);
  if (!isInside(path, folder)) throw refuse('is outside the folder of this file: copy it there');
  const bytes = readBytes(path, refuse);
  if (!isInside(realpathSync(path), realpathSync(folder)))
    throw refuse('is a link to a file outside the folder of this one: copy the file there');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse('is not text in UTF-8');
  }
  return { file: named, sha256: createHash('sha256').update(bytes).digest('hex'), text };
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && resolve(folder, way) === path;
}

function readBytes(path: string, refuse: (why: string) => Error): Buffer {
  try {
    return readRegularFile(path, { maxBytes: BYTES_MAX });
  } catch (cause) {
    throw refuse(`cannot be read: ${whyUnreadable(cause)}; its path is relative to the folder of this file`);
  }
}

/**
 * Runs the module, once for each text, and returns its exports. It can import only `tranche/strategy`, and cannot use the names through
 * which code reaches the process, the network, the clock or randomness. That prevents accidents, not attacks: a module is code of the desk,
 * to be reviewed like its config.
 *
 * @throws Error with a message for the operator.
 */
export function loadModule(source: Pick<ModuleSource, 'file' | 'sha256' | 'text'>): unknown {
  const url = `${HOME}${source.sha256}/${source.file.replace(/^.*\//u, '')}`;
  const found = loaded.get(url) ?? loadAs(url, source.text);
  loaded.set(url, found);
  if ('error' in found) throw found.error;
  return found.exported;
}

function loadAs(url: string, text: string): { readonly exported: unknown } | { readonly error: Error } {
  const refused = barredSource(text);
  if (refused !== undefined) return { error: new Error(refused) };
  hook();
  const format = url.endsWith('.ts') ? 'module-typescript' : 'module';
  sources.set(url, { source: preludeFrom(PRELUDE_NAME) + text, format });
  Object.defineProperty(globalThis, SHELF, { value: shelf, configurable: true });
  try {
    return { exported: requireModule(url) as unknown };
  } catch (cause) {
    return { error: new Error(inWords(cause), { cause }) };
  } finally {
    Reflect.deleteProperty(globalThis, SHELF);
    sources.delete(url);
  }
}

/** Returns the error of the loader, the compiler or the module on one line, with the file and line of the module. */
function inWords(cause: unknown): string {
  if (!(cause instanceof Error)) return `it threw a value of type ${typeof cause} while loading`;
  if ('code' in cause && cause.code === 'ERR_REQUIRE_ASYNC_MODULE')
    return 'it uses top-level await: a module must load synchronously';
  const said = cause.message.split('\n')[0] ?? '';
  const name = cause.name === 'Error' ? '' : `${cause.name}: `;
  return `${name}${said}${placeIn(cause)}`;
}

/** Installs the loader hooks, once. They resolve modules and their imports only. */
function hook(): void {
  if (isHooked) return;
  isHooked = true;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith(HOME)) return { url: specifier, format: 'module', shortCircuit: true };
      if (context.parentURL?.startsWith(HOME) !== true) return next(specifier, context);
      if (Object.hasOwn(shelf, specifier))
        return { url: `${HOME}${specifier}`, format: 'module', shortCircuit: true };
      throw new Error(`it imports ${specifier}: a module may import ${SDK_NAME} only`);
    },
    load(url, context, next) {
      const name = url.slice(HOME.length);
      if (url.startsWith(HOME) && Object.hasOwn(shelf, name))
        return { format: 'module', source: shelfSource(name), shortCircuit: true };
      const found = sources.get(url);
      return found === undefined ? next(url, context) : { ...found, shortCircuit: true };
    },
  });
}

const shelfSource = (name: string): string =>
  `export const { ${Object.keys(shelf[name] ?? {}).join(', ')} } = globalThis[Symbol.for('tranche.shelf')]['${name}'];`;
