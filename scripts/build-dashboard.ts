/**
 * Builds the dashboard of the daemon, `src/operate/dashboard`, into `dist/dashboard`: one page, one script, one style sheet.
 *
 * Run: `npm run build:dashboard`. `npm ci` runs it too (scripts/prepare.js).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';
import type { Plugin } from 'vite';
import { licences } from './licences.ts';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Unused members of uPlot's function, which a bundler cannot remove by itself. */
const UNUSED = ['(paths.stepped = stepped);', '(paths.bars    = bars);', '(paths.spline  = monotoneCubic);', 'uPlot.join = join;']; // prettier-ignore

/** Removes the other shapes from the script of the page, whose charts are lines. */
const linesOnly: Plugin = {
  name: 'lines only',
  transform(code, id) {
    if (!id.endsWith('uPlot.esm.js')) return undefined;
    const missing = UNUSED.filter((member) => !code.includes(member));
    if (missing.length > 0) throw new Error(`${id}: no longer has ${missing.join(' ')}`);
    return { code: UNUSED.reduce((left, member) => left.replace(member, ''), code), map: null };
  },
};

/** Builds into that folder, and removes its previous content. */
export async function buildDashboard(folder: string): Promise<void> {
  // The page gets the production code of its packages, whatever mode the building program runs in.
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  const built = await build({
    configFile: false,
    root: pathOf('../src/operate/dashboard'),
    // The daemon serves the page at `/` and at `/sign-in`; its files have one address.
    base: '/',
    logLevel: 'warn',
    publicDir: false,
    plugins: [linesOnly],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      // Nothing inline: the policy of the page allows only files of its own origin.
      assetsInlineLimit: 0,
      modulePreload: false,
      reportCompressedSize: false,
    },
  });
  if (before === undefined) delete process.env['NODE_ENV'];
  else process.env['NODE_ENV'] = before;
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) =>
    'output' in one ? one.output : [],
  );
  const modules = outputs.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(folder, 'LICENSES.txt'), licences(modules.filter((id) => id.includes('node_modules'))));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildDashboard(pathOf('../dist/dashboard'));
