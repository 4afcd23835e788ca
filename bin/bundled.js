// Runs the files that scripts/bundle.ts made, with the code that earlier runs compiled. Node's own cache holds of a file what it
// needs to start; this one also holds the functions that were called, which is most of a short command.
import { createRequire, getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { Script, constants } from 'node:vm';

// Imports of these would load all that they export (bin/tranche.js).
const { closeSync, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } =
  process.getBuiltinModule('node:fs');
const { crc32 } = process.getBuiltinModule('node:zlib');

/**
 * @typedef {object} Kept
 * @property {readonly number[]} lines Checksums of the command lines whose functions are in it.
 * @property {ReadonlyMap<string, Buffer>} code By the name of the file.
 */

/** @typedef {{ main?: () => Promise<void> }} Exports Of the entry; other files export what they like. */

/** Another line of arguments may call other functions: that many are waited for, and then what there is is enough. */
const LINES_MAX = 16;
const ENTRY = 'main.cjs';

/**
 * Runs the command line of the bundle in this folder.
 *
 * @param {string} folder
 * @returns {Promise<void>}
 */
export async function runBundled(folder) {
  const cacheFolder = getCompileCacheDir();
  const id = readFileSync(join(folder, 'id'), 'latin1').trim();
  const file = cacheFolder === undefined ? undefined : join(cacheFolder, `tranche-${id}.code`);
  const kept = file === undefined ? undefined : read(file);
  const require = createRequire(join(folder, ENTRY));
  /** @type {Map<string, Script>} */
  const scripts = new Map();
  /** @type {Map<string, { exports: Exports }>} */
  const modules = new Map();
  let isRefused = false;

  /** @type {(name: string) => Exports} */
  const load = (name) => {
    const had = modules.get(name);
    if (had !== undefined) return had.exports;
    const path = join(folder, name);
    const cachedData = kept?.code.get(name);
    const script = new Script(readFileSync(path, 'latin1'), {
      filename: path,
      ...(cachedData && { cachedData }),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    isRefused ||= script.cachedDataRejected === true;
    scripts.set(name, script);
    const module = { exports: {} };
    modules.set(name, module);
    /** @type {(id: string) => unknown} */
    const requireFrom = (from) => (from.startsWith('./') ? load(from.slice(2)) : require(from));
    /** @type {unknown} */
    const run = script.runInThisContext();
    if (typeof run !== 'function') throw new TypeError(`${path} is no bundle`);
    Reflect.apply(run, undefined, [module.exports, requireFrom, module, path, folder]);
    return module.exports;
  };

  const line = crc32(process.argv.slice(2).join('\n'));
  process.on('exit', (status) => {
    const lines = isRefused ? [] : (kept?.lines ?? []);
    if (file === undefined || status !== 0 || lines.includes(line) || lines.length >= LINES_MAX) return;
    write(file, [...lines, line], scripts, kept);
  });
  await load(ENTRY).main?.();
}

/**
 * The file begins with the checksum of all that follows, then the length of a head, the head (lines of text), and the code of each file,
 * each at a place that eight divides. Code is only run out of a file of this very user.
 *
 * @param {string} file
 * @returns {Kept | undefined}
 */
function read(file) {
  try {
    const opened = openSync(file, 'r');
    try {
      const { uid, mode } = fstatSync(opened);
      if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0))
        return undefined;
      const bytes = readFileSync(opened);
      if (bytes.readUInt32LE(0) !== crc32(bytes.subarray(4))) return undefined;
      let at = 8 + bytes.readUInt32LE(4);
      const [lines = '', ...parts] = bytes.toString('utf8', 8, at).split('\n');
      /** @type {Map<string, Buffer>} */
      const code = new Map();
      for (const part of parts) {
        const [name = '', length] = part.split(' ');
        at = Math.ceil(at / 8) * 8;
        code.set(name, bytes.subarray(at, at + Number(length)));
        at += Number(length);
      }
      return { lines: lines.split(' ').map(Number), code };
    } finally {
      closeSync(opened);
    }
  } catch {
    return undefined; // no file is the usual case
  }
}

/**
 * @param {string} file
 * @param {readonly number[]} lines
 * @param {ReadonlyMap<string, Script>} scripts
 * @param {Kept | undefined} kept What other lines loaded and this one did not stays.
 */
function write(file, lines, scripts, kept) {
  const aside = `${file}.new-${process.pid}`;
  try {
    const code = new Map(kept?.code);
    for (const [name, script] of scripts) code.set(name, script.createCachedData());
    const parts = [...code].map(([name, { length }]) => `${name} ${length}`);
    const head = Buffer.from([lines.join(' '), ...parts].join('\n'));
    const size = [...code.values()].reduce(
      (at, { length }) => Math.ceil(at / 8) * 8 + length,
      8 + head.length,
    );
    const bytes = Buffer.alloc(size);
    bytes.writeUInt32LE(head.length, 4);
    let at = 8 + head.copy(bytes, 8);
    for (const part of code.values()) {
      at = Math.ceil(at / 8) * 8;
      at += part.copy(bytes, at);
    }
    bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
    writeFileSync(aside, bytes, { mode: 0o600 });
    renameSync(aside, file);
  } catch {
    // What cannot be kept is compiled again the next time.
    rmSync(aside, { force: true });
  }
}
