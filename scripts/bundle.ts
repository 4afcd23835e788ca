/**
 * Bundles the compiled code of `tranche backtest`, with a file for each part that loads separately. An installed package runs these files
 * (bin/bundled.js); all other commands, and a checkout, load module by module.
 *
 * Run: `npm run build`.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { rolldown } from 'rolldown';
import type { Plugin } from 'rolldown';
import { licences } from './licences.ts';
import { isPreset, presetModel, presets } from '../src/research/run/model.ts';
import { configSchema } from '../src/app/config/config-schema.ts';
import { venueOptionsSchema } from '../src/simulator/options/options.ts';

/** Bundles the compiled files in that folder into `bundle` below it. */
export async function bundle(compiled: string): Promise<void> {
  const dist = realpathSync(compiled);
  const folder = join(dist, 'bundle');
  rmSync(folder, { recursive: true, force: true });
  const build = await rolldown({
    input: { main: join(dist, 'app/main.js'), sdk: join(dist, 'strategy/sdk.js') },
    platform: 'node',
    plugins: [
      placesOf(dist, folder),
      otherCommands,
      sdkApart,
      lightDescriptions,
      sharedMembers,
      knownSections,
      knownPresets,
      oneLanguage,
      modernStreams,
    ],
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`);
    },
  });
  const { output } = await build.generate({
    format: 'cjs',
    strict: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    comments: { legal: false, annotation: false, jsdoc: false },
  });
  await build.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const hash = createHash('sha256');
  mkdirSync(folder, { recursive: true });
  for (const { fileName, code } of chunks) {
    // A function, which `bin/bundled.js` calls.
    const text = `(function (exports, require, module, __filename, __dirname) {${plain(direct(plainly(late(code))))}\n})\n`;
    hash.update(fileName).update(text);
    writeFileSync(join(folder, fileName), text);
  }
  // The cache of compiled code uses this name, which identifies exactly these files.
  writeFileSync(join(folder, 'id'), hash.digest('hex').slice(0, 32));
  const modules = chunks.flatMap((chunk) => Object.keys(chunk.modules));
  const foreign = modules.filter((id) => !id.startsWith(dist) && id !== join(dist, '../package.json'));
  writeFileSync(join(folder, 'LICENSES.txt'), licences(foreign));
}

/** Keeps the paths of modules relative to their compiled files, above all for threads, which run the compiled modules. */
const placesOf = (dist: string, folder: string): Plugin => ({
  name: 'places',
  transform(code, id) {
    if (!id.startsWith(dist)) return undefined;
    const place = JSON.stringify(relative(folder, id).replaceAll('\\', '/'));
    const replaced = code.replaceAll(/\bimport\.meta\.url\b/gu, `new URL(${place}, import.meta.url).href`);
    if (/\bimport\.meta\.(?!url\b)\w/u.test(code)) throw new Error(`${id}: only import.meta.url is bundled`);
    return replaced === code ? undefined : { code: replaced, map: null };
  },
});

/** Excludes the command lines of other commands: `groupsFor` loads only the one of the command that runs. */
const otherCommands: Plugin = {
  name: 'other commands',
  resolveId(id, importer) {
    const isCommand =
      importer !== undefined && basename(importer) === 'groups.js' && /^\.\.\/commands\/|-cli\.js$/u.test(id);
    return isCommand && id !== './backtest-cli.js' ? { id: `not-bundled:${id}`, external: true } : undefined;
  },
};

/** Keeps the SDK apart: the file that user modules import contains all of zod, and is loaded only when there is such a module. */
const sdkApart: Plugin = {
  name: 'sdk apart',
  resolveId: (id) => (id === SDK ? { id, external: true } : undefined),
  transform(code, id) {
    if (!/[\\/]app[\\/]strategies[\\/]modules\.js$/u.test(id)) return undefined;
    const apart = code
      .replace("import * as sdk from '../../strategy/sdk.js';", '')
      .replace(/\breturn sdk;/u, `return require(${JSON.stringify(SDK)});`);
    if (/\bsdk\b(?!\.cjs)/u.test(apart)) throw new Error(`${id} uses sdk in another way`);
    return { code: apart, map: null };
  },
};
const SDK = './sdk.cjs';

/**
 * Makes descriptions light: zod copies the whole shape for a description, for each of 400 settings; an object that inherits from
 * the shape behaves the same.
 */
const lightDescriptions: Plugin = {
  name: 'light descriptions',
  transform(code, id) {
    if (!/[\\/]zod[\\/]v4[\\/]classic[\\/]schemas\.js$/u.test(id)) return undefined;
    const light = code.replace(
      /(?<=\bdescribe\(description\) \{\s+const cl = )this\.clone\(\);(?=\s+core\.globalRegistry\.add\(cl, \{ description \}\);\s+return cl;)/u,
      'Object.create(this);',
    );
    if (light === code) throw new Error(`${id} describes in another way`);
    return { code: light, map: null };
  },
};

/** Shares the methods of shapes: zod defines mostly the same methods anew on all thirty kinds, which now inherit them. */
const sharedMembers: Plugin = {
  name: 'shared members',
  transform(code, id) {
    if (!/[\\/]zod[\\/]v4[\\/]core[\\/]util\.js$/u.test(id)) return undefined;
    const shared = code.replace(
      /^export function members\((?=proto, table\) \{)/mu,
      `const known = new WeakMap();
export function members(proto, table) {
    const above = Object.getPrototypeOf(proto);
    const isOwn = (name) => name !== 'constructor' && name in table;
    if (above === null || Object.getOwnPropertyNames(proto).some(isOwn)) {
        ownMembers(proto, table);
        return;
    }
    if (!known.has(table)) known.set(table, new Map());
    const links = known.get(table);
    if (!links.has(above)) {
        links.set(above, Object.create(above));
        ownMembers(links.get(above), table);
    }
    Object.setPrototypeOf(proto, links.get(above));
}
function ownMembers(`,
    );
    if (shared === code) throw new Error(`${id} makes members in another way`);
    return { code: shared, map: null };
  },
};

/** Precomputes the value of omitted sections, which is always the same; the shape is built only where a section is given. */
const knownSections: Plugin = {
  name: 'known sections',
  transform(code, id) {
    const said = sections.get(id.split(/[\\/]/u).slice(-2).join('/'));
    if (said === undefined) return undefined;
    const known = code.replaceAll(SECTION, (whole, begin: string, name: string) => {
      const text = JSON.stringify(said[name] ?? null);
      return isDeepStrictEqual(JSON.parse(text), said[name]) ? `${begin}.default(() => (${text}))` : whole;
    });
    if (known === code) throw new Error(`${id} names its sections in another way`);
    return { code: known, map: null };
  },
};
const sections = new Map<string, Readonly<Record<string, unknown>>>([
  ['config/config-schema.js', configSchema.parse({ strategies: '.' })],
  ['options/options.js', venueOptionsSchema.parse({})],
]);
const SECTION = /^(?<begin>\s+(?<name>\w+): \w+)\s*\.prefault\(\{\}\)/gmu;

/** Precomputes the presets of the execution model in the same way. */
const knownPresets: Plugin = {
  name: 'known presets',
  transform(code, id) {
    if (!/[\\/]run[\\/]model\.js$/u.test(id)) return undefined;
    const said = Object.fromEntries(
      Object.keys(presets)
        .filter(isPreset)
        .map((name) => [name, presetModel(name)]),
    );
    const text = JSON.stringify(said);
    const known = code.replace('modelSchema.parse(presets[name])', `(${text})[name]`);
    if (known === code || !isDeepStrictEqual(JSON.parse(text), said))
      throw new Error(`${id} has other presets`);
    return { code: known, map: null };
  },
};

/** Removes the messages of zod in sixty languages except English. */
const oneLanguage: Plugin = {
  name: 'one language',
  load: (id) =>
    /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/u.test(id)
      ? "export { default as en } from './en.js';"
      : undefined,
};

/** Uses the build of rxjs with classes: by default, Node gets the one for old engines, from which unused code cannot be removed. */
const modernStreams: Plugin = {
  name: 'modern streams',
  async resolveId(id, importer) {
    const found = id === 'rxjs' ? await this.resolve(id, importer, { skipSelf: true }) : undefined;
    return found?.id.replace(/[\\/]dist[\\/]cjs[\\/]index\.js$/u, '/dist/esm/index.js');
  },
};

/**
 * Loads built-in modules that Node has not loaded by itself on their first use: a short backtest does without most of them, and
 * child_process and crypto alone take as long as a year of hours.
 */
const late = (code: string): string =>
  code.replaceAll(BUILTIN, (whole, name: string, id: string) => {
    const uses = code.replace(whole, '').matchAll(new RegExp(String.raw`\b${name}\b(?:\.(\w+))?`, 'gu'));
    const getters = [...new Set(Array.from(uses, ([, what]) => what))].map((what) => {
      if (what === undefined) throw new Error(`${id} is used as a whole`);
      const value = `require("${id}")${what === 'default' ? '' : `.${what}`}`;
      return `\tget ${what}() { return Object.defineProperty(this, "${what}", { value: ${value} }).${what}; }`;
    });
    return `const ${name} = {\n${getters.join(',\n')}\n};\n`;
  });
const BUILTIN =
  /^let (?<name>\w+) = require\("(?<id>node:(?!(?:events|fs|module|path|process|url)")[\w/]+)"\);\n(?:\k<name> = require_rolldown_runtime\.__toESM\(\k<name>, 1\);\n)?/gmu;

/** Accesses the exports of Node modules directly, instead of through a copy of all exports for each file. */
const plainly = (code: string): string =>
  code.replaceAll(COPIED, (_, name: string) => `${name} = { __proto__: ${name}, default: ${name} };\n`);
const COPIED =
  /(?<=^let (?<name>\w+) = require\("node:[\w/]+"\);\n)\k<name> = require_rolldown_runtime\.__toESM\(\k<name>, 1\);\n/gmu;

/** Replaces the getters of exports that never change by plain values: there were 500. */
const direct = (code: string): string =>
  code.replaceAll(EXPORT, (whole, name: string, own: string) => {
    const sets = new RegExp(
      String.raw`(?<![\w$.])${RegExp.escape(own)}\s*(?:[-+*/%&|^?<>]{0,3}=(?![=>])|\+\+|--)`,
      'gu',
    );
    return [...code.matchAll(sets)].length > 1 ? whole : `exports.${name} = ${own};\n`;
  });
const EXPORT =
  /^Object\.defineProperty\(exports, "(?<name>[\w$]+)", \{\n\tenumerable: true,\n\tget: function\(\) \{\n\t\treturn (?<own>[\w$]+);\n\t\}\n\}\);\n?/gmu;

/**
 * Escapes non-ASCII characters: with a single one, V8 would store the whole text in two bytes per character. They occur only in
 * texts and patterns.
 */
const plain = (code: string): string => code.replaceAll(/\P{ASCII}/gu, escaped);
const escaped = (sign: string): string =>
  Array.from(
    { length: sign.length },
    (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await bundle(fileURLToPath(new URL('../dist', import.meta.url)));
